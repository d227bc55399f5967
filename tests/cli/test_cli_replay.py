"""``acpcore replay``: what it prints of recorded bytes, and that no cut of them changes it."""

from __future__ import annotations

import io
import json
import os
import random
import subprocess
from base64 import b64decode
from pathlib import Path
from typing import Any

import msgspec
import pytest
from running import command, environment, run, said, start

from acpcore.cli.cutting import LineCutter, read_chunks
from acpcore.cli.host import RESULTS
from acpcore.cli.replay import Options, Replay, read_pending
from acpcore.schema import METHODS, decode

CASES = Path(__file__).parent.parent / "cases"
CUTS = ("1", "7", "random:1", "random:2", "random:x")
PENDING = "0,1,2,3,4,5"

Line = dict[str, Any]


def replay(data: bytes, chunk: str = "", **options: Any) -> list[Line]:
    out = io.BytesIO()
    player = Replay(Options(file="", chunk=chunk, **options), out)
    for part in read_chunks(io.BytesIO(data), chunk):
        player.feed(part)
    player.end()
    return [json.loads(line) for line in out.getvalue().splitlines()]


def case(name: str) -> Path:
    return next(CASES.glob(f"{name}*.bin"))


def line(value: Any) -> bytes:
    return json.dumps(value).encode() + b"\n"


def request(ident: Any, method: str, **params: Any) -> bytes:
    return line({"jsonrpc": "2.0", "id": ident, "method": method, "params": params})


def notification(method: str, **params: Any) -> bytes:
    return line({"jsonrpc": "2.0", "method": method, "params": params})


def short(value: Line) -> str:
    """One printed line in a word: ``=1`` answers call 1, ``?=1`` nobody's, ``>1!-32601`` is sent with that error code,
    ``bad:json@3#1`` makes call 1 fail, ``echo(1)*`` has params that do not fit."""
    if "send" in value:
        sent = value["send"]
        return f">[{' '.join(sorted(map(answer, sent)))}]" if isinstance(sent, list) else f">{answer(sent)}"
    event = value["event"]
    if event == "response":
        return ("=" if value["matched"] else "?=") + answer(value)
    if event == "request":
        return f"{value['method']}({json.dumps(value['id'])}){'*' if 'invalid' in value else ''}"
    if event == "notification":
        return value["method"].removeprefix("session/")
    if event == "bad_frame":
        return f"bad:{value['reason']}@{value['column']}" + (f"#{value['failed']}" if "failed" in value else "")
    if event == "closed":
        return f"closed{value['pending']}".replace(" ", "")
    return event


def answer(value: Line) -> str:
    return json.dumps(value["id"]) + (f"!{value['error']['code']}" if "error" in value else "")


# As cases/EXPECT.md has them. A client waits for the answers to 0 to 5, an agent for none.
CLIENT = {
    "05a": "update =1 closed[0,2,3,4,5]",
    "05b": "update truncated closed[0,1,2,3,4,5]",
    "06": "update =1 closed[0,2,3,4,5]",
    "07": "update bad:json@3 closed[0,1,2,3,4,5]",
    "08": "update =1 closed[0,2,3,4,5]",
    "09": "bad:utf8@0 bad:utf8@52 bad:utf8@52 bad:utf8@52 =1 closed[0,2,3,4,5]",
    "10": "update update =1 closed[0,2,3,4,5]",
    "12": "bad:json@3 bad:json@0 bad:not_object@0 bad:not_object@0 bad:not_object@0 bad:not_object@0 bad:version@0 "
    "bad:json@0 =1 closed[0,2,3,4,5]",
    "13": "bad:json@23 update closed[0,1,2,3,4,5]",
    "14": "?=null!-32700 bad:id@0 =1 closed[0,2,3,4,5]",
    "15": "bad:json@52 =3 closed[0,1,2,4,5]",
    "19": "bad:json@51 bad:json@48 _t/esc =1 closed[0,2,3,4,5]",
    "22b": '?="1" =1 closed[0,2,3,4,5]',
    "25": "=1 bad:json@47 =3 closed[0,2,4,5]",
    "26": "bad:surrogate@57 bad:surrogate@54 _t/pair =1 closed[0,2,3,4,5]",
    "29": "bad:utf8@41 =2 closed[0,1,3,4,5]",
    "30": "update update update update closed[0,1,2,3,4,5]",
    "31": "invalid_params invalid_params invalid_params invalid_params update closed[0,1,2,3,4,5]",
    "32": "update update update update update update update closed[0,1,2,3,4,5]",
    "34": "update closed[0,1,2,3,4,5]",
    "36": "bad:version@0 bad:version@0#1 bad:version@11#2 bad:version@11#3 =4 closed[0,5]",
    "39e": "=2 =1 update =3 closed[0,4,5]",
    "40": "bad:response@44#1 bad:response@0#2 bad:response@32#3 =4 =5!-32800 closed[0]",
    "42": "update =1 update update =2 closed[0,3,4,5]",
    "44": "update update =1 update closed[0,2,3,4,5]",
    "49": '?=999 ?="nope" =1 ?=1 =2 closed[0,3,4,5]',
    "82": "update update update update update closed[0,1,2,3,4,5]",
    "83": "update update update update update closed[0,1,2,3,4,5]",
}
AGENT = {
    "11": "bad:json@0 >null!-32700 bad:json@129 >null!-32700 session/list(2) >2",
    "12": "bad:json@3 >null!-32700 bad:json@0 >null!-32700 bad:not_object@0 >null!-32600 bad:not_object@0 >null!-32600 "
    "bad:not_object@0 >null!-32600 bad:not_object@0 >null!-32600 bad:version@0 >null!-32600 "
    "bad:json@0 >null!-32700 ?=1",
    "14": "?=null!-32700 bad:id@0 ?=1",
    "22a": r'_t/echo(1) >1 _t/echo("1") >"1" _t/echo(0) >0 _t/echo(-1) >-1 _t/echo("") >"" '
    r'_t/echo("a/b \u00e9") >"a/b \u00e9" _t/echo(null) >null',
    "24": "bad:json@33 >null!-32700 _t/echo(0) >0",
    "27": "bad:json@57 >null!-32700 bad:json@57 >null!-32700 bad:json@58 >null!-32700 _t/echo(4)* >4!-32602 "
    "_t/echo(5) >5 _t/echo(6) >6",
    "33": "_t/costly(2) >2!-32601 _t/echo(3) >3 ?=4",
    "35": "initialize(1) >1 session/list(2) >2 session/list(3) >3",
    "37": "session/prompt(1)* >1!-32602 session/list(2) >2",
    "38": "initialize(1)* >1!-32602 initialize(2) >2",
    "39a": '_t/echo(1) _t/note bad:not_object@0 _t/missing("x") >["x"!-32601 1 null!-32600] _t/echo(9) >9',
    "39b": "bad:empty_array@0 >null!-32600 _t/echo(9) >9",
    "39c": "bad:not_object@0 bad:not_object@0 bad:not_object@0 >[null!-32600 null!-32600 null!-32600] _t/echo(9) >9",
    "39d": "_t/a _t/b _t/echo(9) >9",
    "39f": "bad:json@81 >null!-32700 _t/echo(9) >9",
    "48": "_t/slow(7) bad:duplicate_id@0 >7!-32600 _t/echo(8) >8 >7",
}


@pytest.mark.parametrize("name", CLIENT)
def test_a_case_as_a_client_sees_it(name: str) -> None:
    printed = replay(case(name).read_bytes(), pending=PENDING)
    assert " ".join(map(short, printed)) == CLIENT[name]


@pytest.mark.parametrize("name", AGENT)
def test_a_case_as_an_agent_sees_it(name: str) -> None:
    printed = replay(case(name).read_bytes(), role="agent")
    assert " ".join(map(short, printed)) == AGENT[name] + " closed[]"


@pytest.mark.parametrize("path", sorted(CASES.glob("*.bin")), ids=lambda path: path.stem)
def test_no_cut_changes_what_is_printed(path: Path) -> None:
    data = path.read_bytes()
    for role, pending in (("client", PENDING), ("agent", "")):
        whole = replay(data, role=role, pending=pending)
        for chunk in CUTS:
            assert replay(data, chunk, role=role, pending=pending) == whole, (role, chunk)


@pytest.mark.parametrize("seed", range(6))
def test_no_cut_changes_a_mixture_either(seed: int) -> None:
    """Lines of all cases, shuffled and doubled: ids that come twice, cancels of what is asked."""
    rng = random.Random(seed)
    lines = [part for path in CASES.glob("*.bin") for part in path.read_bytes().splitlines(keepends=True)]
    lines += [notification("$/cancel_request", requestId=ident) for ident in (7, 8, 1, "1")]
    data = b"".join(rng.choices(lines, k=300))
    for role in ("client", "agent"):
        whole = replay(data, role=role, pending=PENDING, max_frame=400)
        assert {"bad_frame", "request", "notification", "response"} <= {one.get("event") for one in whole}
        for chunk in (str(rng.randrange(1, 2000)), *CUTS):
            assert replay(data, chunk, role=role, pending=PENDING, max_frame=400) == whole, (role, chunk)


# --- the details of the lines


def test_terminal_bytes_are_printed_as_messages() -> None:
    printed = replay(case("83").read_bytes())[:-1]
    updates = [one["params"]["update"] for one in printed]
    assert b"".join(b64decode(u["data"]) for u in updates if u["terminalId"] == "t1") == b"x\xe7\x95\x8cy"


def test_what_is_said_of_bad_lines() -> None:
    first, second = (one for one in replay(case("11").read_bytes()) if one.get("event") == "bad_frame")
    assert first.items() >= {"reason": "json", "offset": 0, "preview": "Content-Length: 129"}.items()
    assert "Content-Length" in first["hint"]
    assert second["offset"] == 152
    assert len(second["preview"]) <= 81


def test_glued_noise_can_be_skipped() -> None:
    printed = replay(case("13").read_bytes(), pending="1", salvage=True)
    assert [short(one) for one in printed] == ["bad:json@23", "=1", "update", "closed[]"]
    assert printed[0]["salvaged"] is True


def test_a_line_beyond_the_limit() -> None:
    data = request(1, "_t/echo", pad="x" * 200) + request(2, "_t/echo") + line({"id": 3, "result": "x" * 200})
    for chunk in ("", "1", "50"):
        printed = replay(data, chunk, role="agent", pending="3", max_frame=100)
        assert printed[0] == {"event": "frame_too_large", "offset": 0, "limit": 100, "id": 1, "method": "_t/echo"}
        assert [short(one) for one in printed[1:4]] == [">1!-32600", "_t/echo(2)", ">2"]
        assert (printed[4]["event"], printed[4]["id"], printed[4]["failed"]) == ("frame_too_large", 3, 3)


def test_an_answer_that_is_too_large_shows_its_id_at_the_end() -> None:
    data = b'{"jsonrpc":"2.0","result":"' + b"x" * 200 + b'","id":4}\n'
    printed = replay(data, pending="4", max_frame=100)
    assert [one["event"] for one in printed] == ["frame_too_large", "response", "closed"]
    assert printed[1].items() >= {"id": 4, "matched": True, "broken": True}.items()


def test_params_no_number_can_hold() -> None:
    printed = replay(case("27").read_bytes(), role="agent")
    event = next(one for one in printed if one.get("id") == 4)
    assert event["params"] is None
    assert event["invalid"]
    refusal = next(one["send"] for one in printed if "send" in one and one["send"]["id"] == 4)
    assert refusal["error"]["code"] == -32602


def test_a_refusal_names_what_is_missing() -> None:
    printed = replay(case("37").read_bytes(), role="agent")
    assert "prompt" in printed[1]["send"]["error"]["message"]
    assert printed[0]["params"]["content"] == [{"type": "text", "text": "hi"}]


def test_invalid_updates_say_where() -> None:
    errors = [one["error"] for one in replay(case("31").read_bytes()) if one["event"] == "invalid_params"]
    assert [error.split(":")[0] for error in errors] == [
        "update.content",
        "update.data",
        "update.data",
        "update.sessionUpdate",
    ]


def test_what_is_slow_is_answered_when_the_input_has_ended() -> None:
    data = request(1, "_t/slow") + request(2, "_t/slow") + request(3, "_t/echo")[:-1]
    for chunk in ("", "1"):
        printed = replay(data, chunk, role="agent")
        expected = ["_t/slow(1)", "_t/slow(2)", "_t/echo(3)", ">3", ">1", ">2", "closed[]"]
        assert [short(one) for one in printed] == expected


def test_what_is_slow_can_be_cancelled() -> None:
    cancel = notification("$/cancel_request", requestId=1)
    printed = replay(request(1, "_t/slow") + cancel + cancel, role="agent")
    assert [short(one) for one in printed] == [
        "_t/slow(1)",
        "$/cancel_request",
        ">1!-32800",
        "$/cancel_request",
        "closed[]",
    ]


def test_updates_are_grouped_where_nobody_answers() -> None:
    update, other = b'{"method":"session/update"}\n', b'{"id":1,"method":"session/update"}\n'
    cutter = LineCutter(updates_together=True)
    assert list(cutter.cut(update * 3 + other + update * 2 + b'{"me')) == [update * 3, other, update * 2, b'{"me']
    assert list(cutter.cut(b'"session/update"}\n' + update)) == [b'"session/update"}\n', update]
    assert list(LineCutter(updates_together=False).cut(update * 2)) == [update, update]


@pytest.mark.parametrize("method", [one for one in METHODS if one.kind == "request"], ids=lambda one: one.name)
def test_results_fit_their_methods(method: Any) -> None:
    assert decode(method.result, msgspec.json.encode(RESULTS.get(method.name, {}))) is not None


def test_ids_are_json_values() -> None:
    assert read_pending('1,"1", 2') == [1, "1", 2]
    assert read_pending("") == []
    for text in ("x", "1.5", "null", "[1]", "1,", "true"):
        with pytest.raises(ValueError, match="--pending"):
            read_pending(text)


# --- as a program


def test_the_command_prints_compact_lines() -> None:
    done = run("replay", str(case("39a")), "--role", "agent", "--chunk", "random:3", "--max-frame", "1000")
    assert (done.returncode, said(done)) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == b'{"event":"request","id":1,"method":"_t/echo","params":{}}'
    assert lines[-1] == b'{"event":"closed","reason":"end of input","pending":[]}'
    assert [json.loads(one) for one in lines] == replay(case("39a").read_bytes(), role="agent")


def test_standard_input_is_read_as_it_comes() -> None:
    with start("replay", "-", "--pending", "1", stdin=subprocess.PIPE, bufsize=0) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(line({"jsonrpc": "2.0", "id": 1, "result": 5}))
        assert json.loads(process.stdout.readline()) == {"event": "response", "id": 1, "matched": True, "result": 5}
        process.stdin.close()
        assert json.loads(process.stdout.readline())["event"] == "closed"
        assert process.wait(60) == 0


@pytest.mark.parametrize("file", ["/no/such/file", "/"])
def test_a_file_that_cannot_be_read(file: str) -> None:
    done = run("replay", file)
    assert (done.returncode, done.stdout) == (1, b"")
    assert said(done).startswith(f"acpcore: {file}: ")


@pytest.mark.parametrize(
    "options", [["--chunk", "0"], ["--chunk", "random"], ["--pending", "1,1"], ["--max-frame", "0"], ["--role", "peer"]]
)
def test_wrong_options(options: list[str]) -> None:
    done = run("replay", str(case("05a")), *options)
    assert (done.returncode, done.stdout) == (2, b"")
    assert "Usage:" in said(done)


def test_a_reader_that_goes_is_no_accident(tmp_path: Path) -> None:
    (tmp_path / "long").write_bytes(notification("_t/x", pad="x" * 1000) * 5000)
    words = command("replay", str(tmp_path / "long"))
    reader, writer = os.pipe()
    with subprocess.Popen(words, stdout=writer, stderr=subprocess.PIPE, env=environment()) as process:
        os.close(writer)
        os.read(reader, 100)
        os.close(reader)
        _, errors = process.communicate(timeout=60)
        assert (process.returncode, errors) == (141, b"")
