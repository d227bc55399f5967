"""The C extension; everything else is in pyproject.toml."""

import sysconfig

from setuptools import setup

STABLE_ABI = {} if sysconfig.get_config_var("Py_GIL_DISABLED") else {"bdist_wheel": {"py_limited_api": "cp310"}}

setup(cffi_modules=["native/build_ffi.py:ffibuilder"], options=STABLE_ABI)
