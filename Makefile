# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= auto
DEFINITIONS := $(shell find dialects passes -name '*.td') CMakeLists.txt $(wildcard cmake/*)

.PHONY: venv demo test test-full lint docs figures bench clean

venv: $(VENV)/.installed

# The build runs in the environment itself: a changed definition is regenerated in seconds.
$(VENV)/.dependencies: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/pip install --quiet --group dev
	touch $@

$(VENV)/.installed: $(VENV)/.dependencies $(DEFINITIONS)
	$(BIN)/pip install --quiet --no-build-isolation --editable '.[torch,distributed,images]'
	touch $@

demo: venv
	$(BIN)/python -m demo

# A process for each core leaves no core for threads of numpy and PyTorch.
test test-full: export OPENBLAS_NUM_THREADS = 1
test test-full: export OMP_NUM_THREADS = 1

test: venv
	$(BIN)/python -m pytest -n $(JOBS) -m 'not slow'

test-full: venv
	$(BIN)/python -m pytest -n $(JOBS)

lint: venv
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# The documentation generated from the definitions, as the repository shows it.
GENERATED = $(wildcard $(VENV)/lib/python3*/site-packages/torq_mlir/_generated)

docs: venv
	mkdir -p docs/dialects
	cp $(GENERATED)/TorqHL.md $(GENERATED)/QuantizedDecomposed.md docs/dialects/
	cp $(GENERATED)/passes.md docs/passes.md
	$(BIN)/python -m torq_mlir.gen_config.files.documentation > docs/gen-config-files.md

# The table of docs/models.md, from networks that are compiled, run and compared for some minutes.
figures: venv
	$(BIN)/python -m e2e.figures docs/models.md

# Speed beside that of other runtimes; nothing else should run meanwhile. BENCH="--models resnet50 --check" and so on.
bench: venv
	$(BIN)/pip install --quiet --no-build-isolation --editable '.[torch,distributed,images,bench]'
	$(BIN)/python -m benchmarks $(BENCH)

clean:
	rm -rf $(VENV) build
