"""The C core behind cffi. The header native/include/acpcore.h says what each function does."""

from typing import Any

ffi: Any
lib: Any
