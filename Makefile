# Everything runs from a fresh clone with Python 3.11+ and make; the first target that needs it makes the environment.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DEV := $(VENV)/.ready-dev
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
# A file to a process, in the order of tests/conftest.py: the longest first.
TESTS := $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder --durations 25

.PHONY: demo test test-fast nightly bench docs pictures wheel lint clean

$(READY): pyproject.toml setup.py constraints.txt $(wildcard src/earnshaw/descent/native/*.[ch])
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "earnshaw needs Python 3.11 or newer; set PYTHON=python3.11")'
	test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	$(PIP) -e .
	touch $(READY)

$(DEV): $(READY)
	$(PIP) -e '.[dev]'
	touch $(DEV)

demo: $(READY)
	$(BIN)/earnshaw demo

# Types are checked beside the tests: one core would wait for the other.
test: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright & types=$$!; $(TESTS) -m 'not nightly'; tests=$$?; wait $$types && exit $$tests

test-fast: $(DEV)
	$(BIN)/python -m pytest -m 'not slow and not nightly'

# What is long and need not run every time.
nightly: $(DEV)
	$(TESTS) -m nightly

lint: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

# Speed against a plain implementation; with BASE=<commit>, against the code of that commit.
ifdef BASE
bench: $(READY)
	$(BIN)/python benchmarks/compare.py $(BASE)
else
bench: $(READY)
	$(BIN)/python benchmarks/sweep.py
	$(BIN)/python benchmarks/potentials.py
	$(BIN)/python benchmarks/streamed.py
endif

docs: $(DEV)
	$(BIN)/sphinx-build -W --keep-going -q -b html docs out/site

# The pictures of docs/gallery.md, by the commands that stand there: some minutes.
pictures: $(READY)
	$(BIN)/python docs/images/gallery.py

# For this Python and this kind of machine, with the native kernel where there is a C compiler: dist/earnshaw-VERSION-cp311-cp311-linux_x86_64.whl, say.
wheel: $(DEV)
	$(BIN)/python -m build --wheel --no-isolation --outdir dist .

clean:
	rm -rf $(VENV) build dist out runs .pytest_cache .ruff_cache .hypothesis
