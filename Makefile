# `make` alone lists what can be made; `make lab` and `make test` are all that a fresh clone needs.
#
# Variables worth setting: PYTHON (which interpreter makes the virtual environment), VENV (where it
# lies), PINS (what is installed before us), PYTEST_ARGS, LAB_ARGS, COURSE (the folder of `make
# lab`), FROM (whose solutions go), SEED (of random kernels),
# BUDGET (seconds of processors that the tests of `make test` may take).

PYTHON ?= python3
VENV ?= .venv
# torch has builds with and without CUDA. A pin takes the build that pip finds for this very version; a
# range may prefer a newer one with gigabytes of CUDA libraries. `PINS=` leaves the choice to pip.
PINS ?= torch==2.13.0
# A file's tests share what they build (a wheel, a JupyterLab), so a file stays with one worker; and the files come in
# the order of tests/conftest.py, in which the workers end together.
PYTEST_ARGS ?= -n 2 --dist loadfile --no-loadscope-reorder
LAB_ARGS ?=
COURSE ?= my-course
COURSE_ARGS ?=
FROM ?= notebooks
SEED ?= 0
HOSTILE_ARGS ?=
BUDGET ?=
CASES ?=
CATALOGUE_ARGS ?=

BIN := $(abspath $(VENV))/bin
# Node and jlpm come from the environment: nothing else on the machine is needed.
export PATH := $(BIN):$(PATH)
# Hundreds of processes that tests start read the package: it is parsed once, and so are the tests, whatever an image says.
unexport PYTHONDONTWRITEBYTECODE

# A change in any of these makes an installation stale.
EXTENSION := $(wildcard labextension/*.json labextension/yarn.lock labextension/.yarnrc.yml labextension/src/* \
	labextension/src/*/* labextension/schema/* \
	labextension/style/*) labextension/.front
INSTALLED := pyproject.toml $(EXTENSION)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help vscode lab test test-all pytest durations test-gpu test-native test-arm64 coverage mutation hostile lint format hooks check-extension check-lab check-views notebooks \
	course-student course-zh \
	translations catalogue gallery mistakes \
	site bench upstream libraries wheel \
	install clean platform

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# The learner's own copy: a second call keeps what was answered in it. `make lab COURSE=solved COURSE_ARGS=--solutions`
# opens the other edition.
lab: $(VENV)/.lab ## Open the course in JupyterLab, its exercises to be solved, its kernels running on the CPU
	$(BIN)/triton-lab course $(COURSE) $(COURSE_ARGS)
	TRITON_DEFAULT_BACKEND=triton_lab $(BIN)/triton-lab lab $(COURSE) $(LAB_ARGS)

# Lint and types stop the rest: makes of their own, so that this holds for `make -j` and `make -k` too. mypy takes one
# core, and what checks TypeScript another.
test: $(VENV)/.test ## Lint, type-check and run the tests that a change can break, within five minutes
	@$(MAKE) --no-print-directory --jobs=2 --output-sync lint check-extension
	@$(MAKE) --no-print-directory pytest PYTEST_ARGS="$(PYTEST_ARGS) -p tests.selection $(if $(BUDGET),--budget=$(BUDGET))"

test-all: $(VENV)/.test ## Lint, type-check and run all tests
	@$(MAKE) --no-print-directory --jobs=2 --output-sync lint check-extension
	@$(MAKE) --no-print-directory pytest

pytest: $(VENV)/.test ## Run all tests, without lint and types
	$(BIN)/python -m pytest $(PYTEST_ARGS)

# One worker, so that each second is counted where it is spent.
durations: $(VENV)/.test ## Measure all tests anew, for their order and for `make test`; CASES=2 in a third of the time
	$(BIN)/python -m pytest -p tests.durations $(if $(CASES),--cases=$(CASES))
	$(BIN)/python -m tests.durations

# Cheap from Python 3.12 on, where the interpreter itself tells which lines run (sys.monitoring).
coverage: $(VENV)/.test ## Run all tests and print which lines of the package none of them ran
	$(BIN)/python -m pytest --cov --cov-report=term-missing $(PYTEST_ARGS)

test-gpu: $(VENV)/.test ## Run what needs an NVIDIA GPU: make test-gpu PINS= takes a torch with CUDA
	$(BIN)/python -m pytest -n 8 --dist loadfile tests/gpu

test-native: $(VENV)/.test ## Run the tests of kernels on the native engine, and 1,000 random kernels on both
	TRITON_LAB_ENGINE=native $(BIN)/python -m pytest $(PYTEST_ARGS) tests/interpreter tests/examples tests/planted tests/native
	$(BIN)/python -m tests.native.fuzz --examples 1000 --seed $(SEED)

test-arm64: $(VENV)/.test ## Run random kernels as code for three arm64 processors, which QEMU emulates
	for each in cortex-a72 neoverse-n1 neoverse-v1; do \
		$(BIN)/python -m tests.native.emulated $$each fuzz --examples 300 --seed $(SEED) || exit 1; done

mutation: $(VENV)/.test ## Measure the tests by changing the code: make mutation MUTATION_ARGS="--sample 300 --seed 1"
	$(BIN)/python -m tests.mutation $(MUTATION_ARGS)

hostile: $(VENV)/.test ## Try hostile notebooks, scripts, scenes, loop nests and launch files, and count what became of them
	$(BIN)/python -m tests.hostile --seed $(SEED) $(HOSTILE_ARGS)

lint: $(VENV)/.test ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.test ## Put the Python files into the form that lint asks for
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

hooks: $(VENV)/.test labextension/node_modules ## Lint before each commit, type-check before each push (pre-commit)
	$(BIN)/pre-commit install

check-extension: check-lab check-views ## Type-check and test the JupyterLab extension and the views' scripts

check-lab: $(VENV)/.test labextension/node_modules
	cd labextension && jlpm check && jlpm test

check-views: $(VENV)/.test labextension/node_modules
	labextension/node_modules/.bin/tsc -p triton_lab/views/front/jsconfig.json
	labextension/node_modules/.bin/tsc -p tests/views/front
	node --test 'tests/views/front/*.test.ts'

notebooks: $(VENV)/.test ## Make the notebooks anew from their sources, and run them
	$(BIN)/python -m tests.notebooks.course

course-student: $(VENV)/.lab ## Write the course without its solutions: make course-student DIR=... [FROM=...]
	@test -n "$(DIR)" || { echo "make course-student DIR=folder-to-write-to"; exit 1; }
	$(BIN)/python -m triton_lab.course.edition "$(FROM)" "$(DIR)"

course-zh: $(VENV)/.lab ## Write the course in Chinese: make course-zh DIR=...
	@test -n "$(DIR)" || { echo "make course-zh DIR=folder-to-write-to"; exit 1; }
	$(BIN)/python -m triton_lab.course.translation notebooks zh "$(DIR)"

translations: $(VENV)/.lab ## Bring the catalogues of translations up to the notebooks, and say what is to be translated
	$(BIN)/python -m triton_lab.course.translation notebooks zh

catalogue: $(VENV)/.test ## Collect the texts for users, and bring their translations up to them: CATALOGUE_ARGS="--new zh_CN"
	$(BIN)/python -m tests.catalogue $(CATALOGUE_ARGS)

gallery: $(VENV)/.test ## Draw every view on one page
	$(BIN)/python -m triton_lab.views.launch.gallery

mistakes: $(VENV)/.test ## Photograph the cards of thirty mistakes, to be looked at
	$(BIN)/python -m tests.mistakes

site: $(VENV)/.test ## Build the site into site/: open site/index.html, no server needed
	$(BIN)/python -m pip install --quiet --editable '.[site]'
	$(BIN)/python -m sphinx --builder html --fail-on-warning --keep-going -j 2 docs site

bench: $(VENV)/.test ## Print the speed figures of this machine
	$(BIN)/python -m bench

upstream: $(VENV)/.test ## Run Triton's own tests and say why some fail: make upstream TESTS=path-of-a-checkout
	$(BIN)/python -m tests.upstream $(TESTS) -n 2

# Without what they depend on: torch and Triton stay as they are.
libraries: $(VENV)/.test ## Install versions of libraries with known mistakes into .libraries, and show each mistake
	$(BIN)/python -m pip install --quiet --no-deps --upgrade --target .libraries \
		$$($(BIN)/python -c 'from tests.libraries import CASES; print(*(f"{c.package}=={c.version}" for c in CASES))')
	$(BIN)/python -m tests.libraries .libraries

vscode: $(VENV)/.test labextension/node_modules ## Build the extension that draws pictures in VS Code: dist/triton-lab.vsix
	cd labextension && jlpm build-vscode
	$(BIN)/python labextension/vscode/pack.py labextension/vscode/out dist/triton-lab.vsix

wheel: $(VENV)/.test ## Build the wheel, with a JupyterLab extension made from scratch
	rm -rf dist triton_lab/labextension labextension/lib
	$(BIN)/python -m pip wheel --no-deps --wheel-dir dist .

install: $(VENV)/.test ## Make the virtual environment with all that tests need

clean: ## Remove the virtual environment and all that was built
	rm -rf $(VENV) dist triton_lab/labextension labextension/lib labextension/node_modules
	rm -rf .hypothesis .mypy_cache .pytest_cache .ruff_cache mistakes

# JupyterLab refuses to run as root unless told; in a container one often is.

# The build of the extension installs what it needs, if it could be had then.
labextension/node_modules: | $(VENV)/.test
	cd labextension && jlpm install --immutable

# The extension bundles the views' scripts, and its build looks at nothing but the times in its own folder.
labextension/.front: $(shell find triton_lab/views/front -name '*.js' -o -name '*.css')
	@touch $@

# A stamp each for `.[lab]` and `.[test]`; the second includes the first.
$(VENV)/.lab: $(INSTALLED) | $(VENV)/bin/python
	$(call pip-install,.[lab])
	@$(call stamp,$@)

$(VENV)/.test: $(INSTALLED) | $(VENV)/bin/python
	$(call pip-install,.[test])
	@$(call stamp,$@ $(VENV)/.lab)

# Of 13,000 files, tests import one in six, and Python compiles each with its first import. pip would take 25 s for all.
define pip-install
$(if $(PINS),$(BIN)/python -m pip install --no-compile $(PINS))
$(BIN)/python -m pip install --no-compile --editable '$(1)'
endef

# pip says nothing where the npm packages could not be had. Without a stamp the next make tries again.
define stamp
if [ -e triton_lab/labextension/package.json ]; then touch $(1); else \
	echo "The JupyterLab extension was not built, since the npm packages could not be had: saved notebooks will show"; \
	echo "no live pictures. Make this again when the npm registry answers."; fi
endef

$(VENV)/bin/python: | platform
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' \
		|| { echo "triton-lab needs Python 3.10 or newer: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)

platform:
	@[ "$$(uname -s)" = Linux ] || { \
		echo "Triton has wheels for Linux only, so triton-lab cannot run on $$(uname -s) itself."; \
		echo "Ways round it: WSL2 on Windows, a Linux container (Docker), or Colab. See README.md."; \
		exit 1; }
