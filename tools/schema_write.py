"""Writes shapes as Python source, in the layout ruff gives it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from textwrap import wrap

import schema_plan as plan
from schema_shapes import EITHER, STATE, Defs, shapes
from schema_source import LINK, Field, Shape

DOCS: dict[str, str] = dict(
    line.split(": ", 1)
    for line in (Path(__file__).parent / "schema_docs.txt").read_text("utf-8").splitlines()
    if ": " in line and not line.startswith("# ")
)
PACKAGE = Path("acpcore/schema")
WIDTH = 120
ENVELOPES = ("AgentNotification", "ClientNotification", "ProtocolLevelNotification")
RESULTS: dict[str, str] = {}

UNTAGGED_TEXT = {
    "EmbeddedResourceResource": '''\
if TYPE_CHECKING:
    EmbeddedResourceResource: TypeAlias = TextResourceContents | BlobResourceContents
else:

    class EmbeddedResourceResource(Custom):
        """{doc}"""

        alternatives = (TextResourceContents, BlobResourceContents)
        from_builtins = classmethod(first_that_fits)

    EmbeddedResourceResource.register(TextResourceContents)
    EmbeddedResourceResource.register(BlobResourceContents)
''',
    "SessionConfigSelectOptions": '''\
if TYPE_CHECKING:
    SessionConfigSelectOptions: TypeAlias = list[SessionConfigSelectOption] | list[SessionConfigSelectGroup]
else:

    class SessionConfigSelectOptions(Custom):
        """{doc}"""

        alternatives = (list[SessionConfigSelectOption], list[SessionConfigSelectGroup])
        from_builtins = classmethod(first_that_fits)

    SessionConfigSelectOptions.register(list)
''',
    "ElicitationContentValue": """\
#: {doc}
ElicitationContentValue: TypeAlias = str | int | float | bool | list[str]
""",
    "MultiSelectItems": '''\
if TYPE_CHECKING:
    MultiSelectItems: TypeAlias = StringMultiSelectItems | TitledMultiSelectItems | OtherMultiSelectItems
else:

    class MultiSelectItems(Custom):
        """{doc}"""

        alternatives = (StringMultiSelectItems | Never, TitledMultiSelectItems)
        other = OtherMultiSelectItems
        from_builtins = classmethod(first_that_fits)

    MultiSelectItems.register(StringMultiSelectItems)
    MultiSelectItems.register(TitledMultiSelectItems)
    MultiSelectItems.register(OtherMultiSelectItems)
''',
}


def files(defs: Defs) -> dict[Path, str]:
    """The text of every generated file."""
    made = shapes(defs)
    RESULTS.update(_results(defs))
    topics: dict[str, list[Shape]] = {}
    for shape in made:
        topics.setdefault(topic_of(shape), []).append(shape)
    home = {shape.name: topic for topic, group in topics.items() for shape in group}
    out = {PACKAGE / "types" / f"{topic}.py": _module(topic, group, home) for topic, group in topics.items()}
    out[PACKAGE / "v2.py"] = _index(topics)
    return _laid_out(out)


def _laid_out(texts: dict[Path, str]) -> dict[Path, str]:
    ruff = shutil.which("ruff", path=str(Path(sys.executable).parent)) or shutil.which("ruff")
    if ruff is None:
        raise SystemExit("the generator needs ruff to lay out what it writes")
    with tempfile.TemporaryDirectory() as place:
        for path, text in texts.items():
            (Path(place) / path).parent.mkdir(parents=True, exist_ok=True)
            (Path(place) / path).write_text(text, "utf-8")
        options = ["--quiet", "--no-cache", "--isolated", "--target-version=py310", f"--line-length={WIDTH}", "."]
        for step in (["check", "--select=I,RUF022", "--preview", "--fix"], ["format"]):
            subprocess.run([ruff, *step, *options], cwd=place, check=True)
        return {path: (Path(place) / path).read_text("utf-8") for path in texts}


def topic_of(shape: Shape) -> str:
    """The module of a shape: variants live beside their union."""
    if shape.union and (shape.kind == "other" or shape.definition not in ("", shape.name) or shape.tag):
        return plan.topic_of(shape.union)
    return plan.topic_of(shape.definition)


def _results(defs: Defs) -> dict[str, str]:
    """The result type of each request type."""
    found = {}
    for name in defs:
        result = name.removesuffix("Request") + "Response"
        if name.endswith("Request") and "x-method" in defs[name] and result in defs:
            found[name] = result
    return found


def _module(topic: str, group: list[Shape], home: dict[str, str]) -> str:
    body = "\n\n".join(_text(shape) for shape in _spaced(group))
    names = set(re.findall(r"[A-Za-z_][A-Za-z0-9_]*", _without_docs(body)))
    parts = [f'"""{_topic_doc(topic)}\n\nWritten by tools/generate_schema.py; changes belong there."""']
    parts.append("from __future__ import annotations")
    parts.append(_imports(topic, names, home))
    parts.append("__all__ = [" + "".join(f'"{name}", ' for name in _names(group)) + "]")
    return "\n\n".join(parts) + "\n\n" + body.rstrip() + "\n"


def _spaced(group: list[Shape]) -> list[Shape]:
    return sorted(group, key=lambda shape: {"alias": 0, "enum": 1}.get(shape.kind, 2))


def _without_docs(text: str) -> str:
    return re.sub(r"#:.*", "", re.sub(r'""".*?"""', "", text, flags=re.S))


def _topic_doc(topic: str) -> str:
    return DOCS[f"#{topic}"]


TYPING = ("TYPE_CHECKING", "Annotated", "Any", "ClassVar", "Final", "Literal", "TypeAlias")
MSGSPEC = ("UNSET", "Meta", "UnsetType", "field")
CUSTOM = ("Base64", "Custom", "first_that_fits")
MODEL = (
    "STATES", "Double", "Int32", "Int64", "JsonObject", "Model", "Never", "Notification", "Request", "UInt16", "UInt32",
    "UInt64", "become", "check_either", "check_uint64", "constant", "plain",
)  # fmt: skip


def _imports(topic: str, names: set[str], home: dict[str, str]) -> str:
    sources = {"typing": TYPING, "msgspec": MSGSPEC, "..custom": CUSTOM, "..model": MODEL, "..other": ("Other",)}
    lines = [_import(module, [name for name in offered if name in names]) for module, offered in sources.items()]
    others = sorted({home[name] for name in names if name in home and home[name] != topic})
    lines += [_import(f".{other}", sorted(name for name in names if home.get(name) == other)) for other in others]
    return "\n".join(filter(None, lines))


def _import(module: str, names: list[str]) -> str:
    if not names:
        return ""
    return f"from {module} import {', '.join(names)}"


def _text(shape: Shape) -> str:
    writer = {
        "alias": _alias,
        "enum": _enum,
        "other": _other,
        "union": _union,
        "mixin": _mixin,
        "untagged": _untagged,
        "bind": _bind,
    }
    return writer.get(shape.kind, _struct)(shape)


def doc_of(shape: Shape) -> str:
    """Our words on a class or alias; every one has its own."""
    return DOCS[shape.name]


def _docstring(shape: Shape, indent: str = "    ") -> str:
    text = "\n".join(wrap(doc_of(shape), WIDTH - len(indent) - 3)).replace("\n", "\n" + indent)
    return f'{indent}"""{text}\n\n{indent}{LINK}{shape.definition.lower()}\n{indent}"""\n'


def _comment(shape: Shape) -> str:
    return "\n".join(f"#: {line}" for line in wrap(doc_of(shape), WIDTH - 3))


def _alias(shape: Shape) -> str:
    return f"{_comment(shape)}\n{shape.name}: TypeAlias = {shape.type}"


def _literal(values: list[object]) -> str:
    return ", ".join(f'"{value}"' if isinstance(value, str) else str(value) for value in values)


def constant_name(name: str) -> str:
    """The constant that lists the known values of an enum."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).upper() + "_VALUES"


def _enum(shape: Shape) -> str:
    values = _literal(shape.values)
    known = _fit(f"{constant_name(shape.name)}: Final = (", [*_quoted(shape.values)], ")")
    if shape.type == "closed":
        return f"{_comment(shape)}\n{shape.name}: TypeAlias = Literal[{values}]\n{known}"
    real = "str" if isinstance(shape.values[0], str) else "int"
    runtime = "str" if real == "str" else "Int32"
    static = f"    {shape.name}: TypeAlias = (Literal[{', '.join(_quoted(shape.values))}] | {real})"
    return f"{_comment(shape)}\nif TYPE_CHECKING:\n{static}\nelse:\n    {shape.name} = {runtime}\n{known}"


def _quoted(values: Sequence[object]) -> list[str]:
    return [f'"{value}"' if isinstance(value, str) else str(value) for value in values]


def _fit(head: str, items: list[str], tail: str) -> str:
    comma = "," if len(items) == 1 and head.endswith("= (") else ""
    return head + ", ".join(items) + comma + tail


def _other(shape: Shape) -> str:
    assert shape.tag
    mixin = f", {shape.union}" if shape.union in plan.PARAMS_UNIONS else ""
    doc = f"A ``{shape.union}`` whose ``{shape.tag[0]}`` this version does not know."
    lines = [f"\nclass {shape.name}(Other{mixin}):", f'    """{doc}"""', "", "    __slots__ = ()"]
    lines.append(f'    tag_field = "{shape.tag[0]}"')
    lines.append(_fit("    known = frozenset({", _quoted(sorted(shape.values)), "})").replace("})", "})"))
    strings = [wire for wire in shape.required if wire != "value"]
    if strings:
        lines.append(f"    required = ({', '.join(_quoted(strings))}{',' if len(strings) == 1 else ''})")
    if "value" in shape.required:
        lines.append('    present = ("value",)')
    if shape.union == "CreateElicitationRequest":
        lines.append("    scoped = True")
    return "\n".join(lines) + "\n"


def _union(shape: Shape) -> str:
    assert shape.tag
    static = [*shape.members, f"Other{shape.name}"]
    if STATE in static:
        static.insert(static.index(STATE) + 1, "OtherStateUpdate")
    runtime = shape.members if len(shape.members) > 1 else [*shape.members, "Never"]
    joined = f"    {shape.name}: TypeAlias = ({' | '.join(static)})"
    union = f"    {shape.name} = {' | '.join(runtime)}"
    return f"\n{_comment(shape)}\nif TYPE_CHECKING:\n{joined}\nelse:\n{union}\n"


def _bind(shape: Shape) -> str:
    return f"\n{shape.definition}.__acp_union__ = {' | '.join(shape.members)}\n"


def _mixin(shape: Shape) -> str:
    base = f'Request["{RESULTS[shape.name]}"]' if shape.name in RESULTS else ""
    head = f"class {shape.name}({base}):" if base else f"class {shape.name}:"
    return f"\n{head}\n{_docstring(shape)}\n    __slots__ = ()\n    __acp_union__: ClassVar[Any]\n"


def _untagged(shape: Shape) -> str:
    return "\n" + UNTAGGED_TEXT[shape.name].format(doc=doc_of(shape)) + ""


def _struct(shape: Shape) -> str:
    lines = [f"\nclass {shape.name}({_bases(shape)}):\n{_docstring(shape)}"]
    lines += [_field_line(one) for one in shape.fields]
    marks = _marks(shape)
    if marks:
        lines += [""] * bool(shape.fields) + marks
    lines += _post_init(shape)
    if shape.base == STATE:
        lines.append(f'\n\nSTATES["{shape.fields[0].default[10:-2]}"] = {shape.name}')
    return "\n".join(lines).rstrip() + "\n"


def _bases(shape: Shape) -> str:
    bases = [shape.base or "Model"]
    if shape.union in plan.PARAMS_UNIONS:
        bases.append(shape.union)
    if shape.name in RESULTS:
        bases.append(f'Request["{RESULTS[shape.name]}"]')
    if shape.name.endswith("Notification") and shape.name not in (
        "AgentNotification",
        "ClientNotification",
        "ProtocolLevelNotification",
    ):
        bases.append("Notification")
    if shape.tag:
        bases.append(f'tag_field="{shape.tag[0]}", tag="{shape.tag[1]}"')
    return ", ".join([*bases, "kw_only=True"])


def _field_line(one: Field) -> str:
    kind = one.type
    if kind != "Any" and one.nullable:
        kind += " | None"
    if one.default == "UNSET":
        kind += " | UnsetType"
    narrowed = "  # pyright: ignore[reportIncompatibleVariableOverride]" if "constant(" in one.default else ""
    return f"    {one.name}: {kind}" + (f" = {one.default}" if one.default else "") + narrowed


def _marks(shape: Shape) -> list[str]:
    marks = []
    for mark, chosen in (
        ("lenient", [f for f in shape.fields if f.lenient]),
        ("skip", [f for f in shape.fields if f.skip]),
    ):
        if chosen:
            marks.append(_fit(f"    __acp_{mark}__ = (", _quoted([f.name for f in chosen]), ")"))
    if len(shape.tag or ()) == 2 and shape.union:
        marks.append(f"    __acp_other__ = Other{shape.union}")
    if shape.name in EITHER:
        marks.append(f"    __acp_either__ = ({', '.join(_quoted(EITHER[shape.name]))})")
    if shape.name == STATE:
        marks.append("    __acp_inner__ = OtherStateUpdate")
    return marks


def _post_init(shape: Shape) -> list[str]:
    body = []
    big = [f"self.{one.name}" for one in shape.fields if one.type == "UInt64"]
    if big:
        body.append(f"check_uint64({', '.join(big)})")
    if shape.name in EITHER:
        body.append("check_either(self)")
    if shape.name == "ToolCallPermissionSubject":
        body.append("self.tool_call = plain(self.tool_call, ToolCallPatch)")
    if shape.name == STATE:
        body.append("if type(self) is StateUpdate:\n            become(self, STATES[self.state])")
    return ["", "    def __post_init__(self) -> None:", *(f"        {line}" for line in body)] if body else []


WRITERS = {
    "alias": _alias,
    "bind": _bind,
    "enum": _enum,
    "mixin": _mixin,
    "other": _other,
    "struct": _struct,
    "union": _union,
    "untagged": _untagged,
}

INDEX_DOC = """All types of ACP v2 (schema 2.0.0-alpha.2), by the names of the schema.

Written by tools/generate_schema.py; changes belong there."""


def _names(group: list[Shape]) -> list[str]:
    names = [shape.name for shape in group if shape.kind != "bind"]
    names += [constant_name(shape.name) for shape in group if shape.kind == "enum"]
    return sorted(names, key=lambda name: (not name.isupper(), name))


def _index(topics: dict[str, list[Shape]]) -> str:
    # The names are spelled out because type checkers lose a sum of lists at the next star import.
    lines = ["# ruff: noqa: F403, F405", f'"""{INDEX_DOC}"""', "", "from __future__ import annotations", ""]
    lines += [f"from .types.{topic} import *" for topic in sorted(topics)]
    lines += [
        "",
        "__all__ = [",
        *(f'"{name}",' for group in topics.values() for name in _names(group)),
        "]",
    ]
    return "\n".join(lines) + "\n"
