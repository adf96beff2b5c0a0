# Two commands matter: `make demo` and `make test`. Each sets up .venv by itself.
PYTHON ?= python3
VENV := .venv
comma := ,
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# The demo needs the kernels for this machine alone, and no tools; what `make test` set up serves too.
DEMO_STAMP := $(if $(wildcard $(STAMP)),$(STAMP),$(VENV)/.demo)
NATIVE := $(shell find cpp/bind cpp/include -name '*.cpp' -o -name '*.hpp') CMakeLists.txt pyproject.toml

.PHONY: demo test test-native test-clang test-package fuzz lint format bench docs figures wheel clean

demo: $(DEMO_STAMP)
	$(BIN)/python examples/demo.py demo

test: $(STAMP) test-native
	$(BIN)/python -m pytest --numprocesses auto
	set -e; for isa in $$($(BIN)/python -c "$(OTHER_ISAS)"); do \
	  echo "on $$isa:"; COTERIE_ISA=$$isa $(BIN)/python -m pytest --numprocesses auto $(ISA_TESTS); done

# Floating point of the mixtures differs between instruction sets; the rest is held to the same bits.
ISA_TESTS := tests/mixture tests/fuzz
OTHER_ISAS := from coterie import show_config as c; print(*(set(c()['isas']) - {c()['isa'], c()['isa'].rstrip('n')}))

# $(call native_tests,folder of build/,options of CMake): the kernels' own tests, without Python.
define native_tests
	$(BIN)/cmake -S . -B build/$(1) -G Ninja -DCMAKE_BUILD_TYPE=Release $(2) \
	  -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja > build/$(1)-configure.log || (cat build/$(1)-configure.log; exit 1)
	$(BIN)/cmake --build build/$(1) -- --quiet
	$(BIN)/ctest --test-dir build/$(1) --output-on-failure
endef

# Under the address and undefined-behaviour sanitizers.
test-native: $(STAMP)
	$(call native_tests,native,-DCOTERIE_SANITIZE=ON)

# By the other compiler, where a warning is an error, unless it is about what an older standard library does.
test-clang: $(STAMP)
	$(call native_tests,native-clang,-DCMAKE_CXX_COMPILER=clang++ -DCMAKE_COMPILE_WARNING_AS_ERROR=ON \
	  -DCMAKE_CXX_FLAGS=-Wno-error=deprecated-declarations)

# Any number of drawn calls; `make fuzz CASES=100000`. `make test` runs the first few thousand.
CASES ?= 5000
fuzz: $(STAMP)
	$(BIN)/python tests/fuzz --cases $(CASES)

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run --Werror $(shell find cpp -name '*.cpp' -o -name '*.hpp')

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(shell find cpp -name '*.cpp' -o -name '*.hpp')

bench: $(STAMP) $(VENV)/.bench
	$(BIN)/python -m benchmarks

# The site, from what is here alone: no network, and a warning is an error. Then it is tested.
docs: $(STAMP)
	$(BIN)/python -m sphinx --builder html --jobs auto --fail-on-warning --keep-going --quiet docs build/site
	$(BIN)/python -m pytest tests/site

# The pictures of the pages, which are kept in the repository.
figures: $(STAMP)
	$(BIN)/python docs/figures/make_all.py

# Wheel and sdist, into dist/. The wheel takes the kernels that are built already; `test-package`
# proves that the sdist lacks nothing, in an empty environment each.
wheel: $(STAMP)
	rm -rf dist
	$(BIN)/python -c "from scikit_build_core.build import build_sdist; build_sdist('dist')"
	$(BIN)/python -m pip wheel --disable-pip-version-check --no-build-isolation --no-deps --wheel-dir dist .

test-package: wheel
	$(BIN)/python tests/package dist

# Editable: a change of a .py file is live; only native changes build again.
PIP_INSTALL := $(BIN)/python -m pip install --disable-pip-version-check --no-build-isolation
BUILD_TOOLS := "pip>=24" "scikit-build-core>=0.10" "nanobind>=2.4" cmake ninja

# $(call install,extras,instruction sets): the build shows its steps, what comes from PyPI does not.
define install
	test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV)
	$(PIP_INSTALL) --quiet --upgrade $(BUILD_TOOLS)
	@echo "Building the kernels ($(2) instruction sets): some minutes."
	$(PIP_INSTALL) --verbose --no-deps --config-settings=cmake.define.COTERIE_ISAS=$(2) --editable .
	@echo "Fetching what coterie[$(1)] needs."
	$(PIP_INSTALL) --quiet "coterie[$(1)]"
	touch $@
endef

$(STAMP): $(NATIVE)
	$(call install,all$(comma)test$(comma)lint$(comma)docs,all)

$(VENV)/.demo: $(NATIVE)
	$(call install,cli$(comma)report,native)

$(VENV)/.bench: $(STAMP)
	$(BIN)/python -m pip install --quiet --no-build-isolation --editable ".[bench]"
	touch $@

clean:
	rm -rf build $(VENV) demo dist
