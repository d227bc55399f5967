# make run          set up, then stream a command that prints about 214 MB through an agent, and say how it went
# make test         everything that is quick enough for every change: pytest and the C tests
# make check        style, types, warnings, import arrows
# make native-test  the C tests under AddressSanitizer and UndefinedBehaviorSanitizer, with gcc and clang
# make test-full    the long tests too
# make clean        remove what was built (not .venv)
#
# PYTHON chooses the interpreter, VENV where its environment lives: make test PYTHON=python3.12 VENV=.venv-3.12
# With CI=true a missing Debian package is installed; otherwise it is named.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/stamps
PYTEST_ARGS ?=
NATIVE := $(wildcard native/include/*.h native/src/*.[ch] native/*.py)
INTEROP := tests/interop/node_modules/.package-lock.json
RUN_COMMAND ?= seq 1 25000000

CMAKE_VERSION := 4.4.5
CMAKE = $(if $(shell command -v cmake),cmake,$(BIN)/cmake)
CTEST = $(if $(shell command -v cmake),ctest,$(BIN)/ctest)
SANITIZE := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
WARN := -Wall -Wextra -Wpedantic -Werror

# Debian's name for this interpreter's packages: python3, or python3.12 if that was asked for.
DEBIAN_PYTHON := $(or $(filter python3%,$(notdir $(PYTHON))),python3)

# need TEST PACKAGE...: if the shell command TEST fails, install Debian's packages (CI=true) or name them.
NEED = need() { \
	  if eval "$$1" >/dev/null 2>&1; then return; fi; probe=$$1; shift; \
	  if [ "$$CI" = true ]; then \
	    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$$@" >/dev/null \
	      && eval "$$probe" >/dev/null 2>&1 && return; \
	  fi; \
	  echo "acpcore: something is missing; on Debian: apt-get install $$*" >&2; return 1; \
	}

.PHONY: run test pytest ctest check check-python check-native check-arrows native-test test-full clean
.DELETE_ON_ERROR:

# --- setting up: each stamp is a finished step

SETUP := $(STAMPS)/python-$(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)

$(SETUP):
	@$(NEED); need '$(PYTHON) --version' $(DEBIAN_PYTHON)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "acpcore: Python 3.10 or newer is needed")'
	@$(NEED); need '$(PYTHON) -c "import ensurepip, venv"' $(DEBIAN_PYTHON)-venv
	@$(NEED); need 'test -f "$$($(PYTHON) -c "import sysconfig; print(sysconfig.get_path(\"include\"))")/Python.h"' $(DEBIAN_PYTHON)-dev
	@$(NEED); need 'command -v cc' gcc libc6-dev
	$(PYTHON) -m venv $$(test -d $(STAMPS) && echo --clear) $(VENV)
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/tools: $(SETUP) tests/requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r tests/requirements.txt
	@touch $@

# All of the extension is compiled again: a changed header must not meet an object file of yesterday.
$(STAMPS)/acpcore: $(SETUP) pyproject.toml setup.py $(NATIVE)
	rm -rf build/temp.*
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(STAMPS)/cmake: $(SETUP)
	@command -v cmake >/dev/null || $(BIN)/python -m pip install --quiet --disable-pip-version-check cmake==$(CMAKE_VERSION)
	@touch $@

# Without Node the tests that talk to JavaScript peers say so and are skipped; in CI they must run.
$(INTEROP): tests/interop/package.json tests/interop/.npmrc
	@$(NEED); if [ "$$CI" = true ]; then need 'command -v node' nodejs && need 'command -v npm' npm; fi
	@if command -v npm >/dev/null; then \
	  cd tests/interop && npm install --no-audit --no-fund --loglevel=error && touch node_modules/.package-lock.json; \
	else \
	  echo "acpcore: no npm, so the tests against JavaScript peers are skipped; on Debian: apt-get install nodejs npm"; \
	fi

# --- running

# A summary on a terminal, one line of JSON elsewhere.
run: $(STAMPS)/acpcore
	@if [ -t 2 ]; then form=; else form=--json; fi; \
	echo "acpcore stream $$form -- $(RUN_COMMAND) > /dev/null"; \
	$(BIN)/acpcore stream $$form -- $(RUN_COMMAND) > /dev/null

test: ctest pytest

pytest: $(STAMPS)/tools $(STAMPS)/acpcore $(INTEROP)
	$(BIN)/python -m pytest $(PYTEST_ARGS)

test-full: ctest $(STAMPS)/tools $(STAMPS)/acpcore $(INTEROP)
	ACPCORE_FULL=1 $(BIN)/python -m pytest -m 'full or not full' $(PYTEST_ARGS)

# $(call native,NAME,COMPILER,FLAGS): build native/ with CMake in a folder of its own and run its tests.
native = $(CMAKE) -S native -B native/build/$(1) -DCMAKE_C_COMPILER=$(2) -DCMAKE_C_FLAGS='$(3)' >native/build/$(1).log \
	  || { cat native/build/$(1).log; exit 1; }; \
	$(CMAKE) --build native/build/$(1) --parallel 2 && $(CTEST) --test-dir native/build/$(1) --output-on-failure --no-tests=error

ctest: $(STAMPS)/cmake
	@mkdir -p native/build
	@$(call native,release,cc,-O2)

native-test: $(STAMPS)/cmake
	@$(NEED); need 'command -v gcc' gcc libc6-dev
	@mkdir -p native/build
	@$(call native,sanitize-gcc,gcc,$(SANITIZE))
	@$(NEED); if [ "$$CI" = true ]; then need '$(CLANG_RUNS)' clang libclang-rt-dev; fi
	@if $(CLANG_RUNS); then $(call native,sanitize-clang,clang,$(SANITIZE)); \
	else echo "acpcore: no clang with its sanitizers, so this half is skipped; on Debian: apt-get install clang libclang-rt-dev"; fi

# A compiler without its sanitizer libraries is found out by linking.
CLANG_RUNS = { echo "int main(void) { return 0; }" | clang -fsanitize=address,undefined -x c - -o native/build/clang-runs; } 2>/dev/null

# --- checking

check: check-python check-native check-arrows

check-python: $(STAMPS)/tools $(STAMPS)/acpcore
	$(BIN)/ruff check .
	$(BIN)/ruff format --check --quiet .
	$(BIN)/mypy

check-native:
	@$(NEED); if [ "$$CI" = true ]; then need 'command -v gcc' gcc && need 'command -v g++' g++ && need 'command -v clang++' clang; fi
	@for cc in gcc clang; do \
	  if ! command -v $$cc >/dev/null; then echo "acpcore: no $$cc, so its warnings are not looked at; on Debian: apt-get install $$cc"; continue; fi; \
	  for file in $(wildcard native/src/*.c native/tests/*.c native/fuzz/*.c); do \
	    echo "$$cc -std=c11 -O2 $(WARN) $$file"; \
	    $$cc -std=c11 -O2 $(WARN) -Inative/include -Inative/src -Inative/tests -c $$file -o /dev/null || exit 1; \
	  done; \
	done
	@for cxx in g++ clang++; do \
	  if ! command -v $$cxx >/dev/null; then echo "acpcore: no $$cxx, so the header is not tried as C++"; continue; fi; \
	  echo "$$cxx -std=c++17 $(WARN) acpcore.h"; \
	  echo '#include "acpcore.h"' | $$cxx -std=c++17 $(WARN) -Inative/include -fsyntax-only -x c++ - || exit 1; \
	done

check-arrows: $(STAMPS)/tools $(STAMPS)/acpcore
	$(BIN)/python -m pytest -q tests/test_house.py

clean:
	rm -rf build dist *.egg-info native/build acpcore/_native*.so acpcore/_native*.c $(STAMPS)/acpcore
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find acpcore native tests -name __pycache__ -not -path '*/node_modules/*' -prune -exec rm -rf {} +
