# Two commands matter: `make demo` and `make test`. Each sets up .venv by itself.
PYTHON ?= python3
VENV := .venv
comma := ,
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# The demo needs the kernels for this machine alone, and no tools; what `make test` set up serves too.
DEMO_STAMP := $(if $(wildcard $(STAMP)),$(STAMP),$(VENV)/.demo)
NATIVE := $(shell find cpp/bind cpp/include -name '*.cpp' -o -name '*.hpp') CMakeLists.txt pyproject.toml

.PHONY: demo test test-native fuzz lint format bench docs clean

demo: $(DEMO_STAMP)
	$(BIN)/python examples/demo.py demo

test: $(STAMP) test-native
	$(BIN)/python -m pytest --numprocesses auto
	set -e; for isa in $$($(BIN)/python -c "$(OTHER_ISAS)"); do \
	  echo "on $$isa:"; COTERIE_ISA=$$isa $(BIN)/python -m pytest --numprocesses auto $(ISA_TESTS); done

# Floating point of the mixtures differs between instruction sets; the rest is held to the same bits.
ISA_TESTS := tests/mixture tests/fuzz
OTHER_ISAS := from coterie import show_config as c; print(*(set(c()['isas']) - {c()['isa']}))

# The kernels' own tests, under the address and undefined-behaviour sanitizers.
test-native: $(STAMP)
	$(BIN)/cmake -S . -B build/native -G Ninja -DCMAKE_BUILD_TYPE=Release -DCOTERIE_SANITIZE=ON \
	  -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja > build/native-configure.log || (cat build/native-configure.log; exit 1)
	$(BIN)/cmake --build build/native -- --quiet
	$(BIN)/ctest --test-dir build/native --output-on-failure

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

docs: $(STAMP)
	$(BIN)/python docs/figures/make_all.py

# Editable: a change of a .py file is live; only native changes build again.
PIP_INSTALL := $(BIN)/python -m pip install --disable-pip-version-check --no-build-isolation
BUILD_TOOLS := "pip>=24" "scikit-build-core>=0.10" "nanobind>=2.4" cmake ninja

# $(call install,extras,instruction sets): the build shows its steps, what comes from PyPI does not.
define install
	test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	$(PIP_INSTALL) --quiet --upgrade $(BUILD_TOOLS)
	@echo "Building the kernels ($(2) instruction sets): some minutes."
	$(PIP_INSTALL) --verbose --no-deps --config-settings=cmake.define.COTERIE_ISAS=$(2) --editable .
	@echo "Fetching what coterie[$(1)] needs."
	$(PIP_INSTALL) --quiet "coterie[$(1)]"
	touch $@
endef

$(STAMP): $(NATIVE)
	$(call install,all$(comma)test$(comma)lint,all)

$(VENV)/.demo: $(NATIVE)
	$(call install,cli$(comma)report,native)

$(VENV)/.bench: $(STAMP)
	$(BIN)/python -m pip install --quiet --no-build-isolation --editable ".[bench]"
	touch $@

clean:
	rm -rf build $(VENV) demo dist
