"""The C core behind cffi (API mode); native/include/acpcore.h says what each function does.

Pointers and structs are cffi objects, here ``Any``; every number is an ``int``.
"""

from collections.abc import Callable
from typing import Any, Protocol

class _FFI(Protocol):
    NULL: Any
    new: Callable[..., Any]
    cast: Callable[..., Any]
    from_buffer: Callable[..., Any]
    buffer: Callable[..., Any]
    memmove: Callable[..., None]
    string: Callable[..., bytes]
    unpack: Callable[..., Any]
    addressof: Callable[..., Any]
    offsetof: Callable[..., int]
    sizeof: Callable[..., int]
    typeof: Callable[..., Any]
    gc: Callable[..., Any]
    release: Callable[..., None]

class _Lib(Protocol):
    ACP_MAX_SIZE: int
    ACP_MAX_DEPTH: int
    ACP_MAX_RUN: int
    ACP_TAIL: int

    # acp_status
    ACP_OK: int
    ACP_MORE: int
    ACP_OPENED: int
    ACP_SHUT: int
    ACP_E_ARGUMENT: int
    ACP_E_ROOM: int
    ACP_E_JSON: int
    ACP_E_BASE64: int
    ACP_E_OVERRUN: int

    # acp_kind
    ACP_NONE: int
    ACP_REQUEST: int
    ACP_NOTIFICATION: int
    ACP_RESULT: int
    ACP_ERROR: int
    ACP_ARRAY: int
    ACP_LINE: int
    ACP_SKIPPED: int
    ACP_BAD: int

    # acp_reason
    ACP_R_NONE: int
    ACP_R_TOO_LARGE: int
    ACP_R_TRUNCATED: int
    ACP_R_UTF8: int
    ACP_R_JSON: int
    ACP_R_SURROGATE: int
    ACP_R_DEPTH: int
    ACP_R_NOT_OBJECT: int
    ACP_R_VERSION: int
    ACP_R_ID: int
    ACP_R_METHOD: int
    ACP_R_PARAMS: int
    ACP_R_RESPONSE: int
    ACP_R_EMPTY_ARRAY: int

    # acp_id_type
    ACP_ID_NONE: int
    ACP_ID_NULL: int
    ACP_ID_INTEGER: int
    ACP_ID_STRING: int

    # acp_tag
    ACP_T_NONE: int
    ACP_T_OTHER: int
    ACP_T_USER_MESSAGE_CHUNK: int
    ACP_T_USER_MESSAGE: int
    ACP_T_AGENT_MESSAGE_CHUNK: int
    ACP_T_AGENT_MESSAGE: int
    ACP_T_AGENT_THOUGHT_CHUNK: int
    ACP_T_AGENT_THOUGHT: int
    ACP_T_STATE_UPDATE: int
    ACP_T_TOOL_CALL_CONTENT_CHUNK: int
    ACP_T_TOOL_CALL_UPDATE: int
    ACP_T_TERMINAL_UPDATE: int
    ACP_T_TERMINAL_OUTPUT_CHUNK: int
    ACP_T_PLAN_UPDATE: int
    ACP_T_PLAN_REMOVED: int
    ACP_T_AVAILABLE_COMMANDS_UPDATE: int
    ACP_T_CONFIG_OPTION_UPDATE: int
    ACP_T_SESSION_INFO_UPDATE: int
    ACP_T_USAGE_UPDATE: int

    # acp_frame_flag
    ACP_F_ESCAPED: int
    ACP_F_REPEATED: int
    ACP_F_META: int
    ACP_F_DECODED: int
    ACP_F_RESPONSE: int
    ACP_F_EXACT: int
    ACP_F_CALL: int

    # acp_group_kind
    ACP_G_ONE: int
    ACP_G_TERMINAL: int
    ACP_G_UPDATES: int

    # acp_scan_flag
    ACP_LINES: int
    ACP_ROUTE: int
    ACP_HOT: int
    ACP_NO_ARRAYS: int
    ACP_EOF: int

    def acp_abi(self) -> int: ...
    def acp_version(self) -> Any: ...
    def acp_strerror(self, status: int, /) -> Any: ...
    def acp_reason_text(self, reason: int, /) -> Any: ...
    def acp_method_id(self, name: Any, len: int, /) -> int: ...
    def acp_method_name(self, id: int, /) -> Any: ...
    def acp_tag_id(self, name: Any, len: int, /) -> int: ...
    def acp_tag_name(self, tag: int, /) -> Any: ...
    def acp_scanner_init(self, s: Any, max_frame: int, flags: int, /) -> int: ...
    def acp_scan(
        self,
        s: Any,
        data: Any,
        size: int,
        flags: int,
        frames: Any,
        frames_cap: int,
        groups: Any,
        groups_cap: int,
        arena: Any,
        arena_cap: int,
        taken: Any,
        /,
    ) -> int: ...
    def acp_entries(self, s: Any, data: Any, array: Any, cursor: Any, frames: Any, frames_cap: int, /) -> int: ...
    def acp_message(self, line: Any, size: int, flags: int, frame: Any, /) -> int: ...
    def acp_check(self, json: Any, size: int, error_at: Any, reason: Any, /) -> int: ...
    def acp_string(self, dst: Any, cap: int, body: Any, size: int, /) -> int: ...
    def acp_terminal_size(self, body: Any, size: int, /) -> int: ...
    def acp_terminal_data(self, dst: Any, cap: int, body: Any, size: int, used: Any, /) -> int: ...
    def acp_terminal_head(
        self,
        dst: Any,
        cap: int,
        session: Any,
        session_len: int,
        terminal: Any,
        terminal_len: int,
        /,
    ) -> int: ...
    def acp_terminal_chunk(self, dst: Any, cap: int, head: Any, head_len: int, raw: Any, size: int, /) -> int: ...
    def acp_base64_size(self, size: int, /) -> int: ...
    def acp_base64_encode(self, dst: Any, cap: int, src: Any, size: int, /) -> int: ...
    def acp_base64_decode(self, dst: Any, cap: int, src: Any, size: int, /) -> int: ...
    def acp_build_size(self, id_len: int, method_len: int, body_len: int, /) -> int: ...
    def acp_build(
        self,
        dst: Any,
        cap: int,
        kind: int,
        id: Any,
        id_len: int,
        method: Any,
        method_len: int,
        body: Any,
        body_len: int,
        /,
    ) -> int: ...
    def acp_gate_init(self, g: Any, high: int, low: int, hard: int, /) -> int: ...
    def acp_gate_add(self, g: Any, bytes: int, /) -> int: ...
    def acp_gate_sub(self, g: Any, bytes: int, /) -> int: ...

ffi: _FFI
lib: _Lib
