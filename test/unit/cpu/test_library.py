# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models as libraries and object files for C: their bytes, on any number of threads, are those of the interpreter."""

import ctypes
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from kernel_modules import Cases, convolution
from torch_mlir.dialects import arith, math

from torq_mlir.backends.cpu import available
from torq_mlir.compiler import CompiledModel
from torq_mlir.errors import CompileError
from torq_mlir.executing import Execution

EXAMPLE = Path(__file__).parents[3] / "examples" / "c"
OK, BAD_ARGUMENT = 0, 3

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")


def cases(outputs: int = 17) -> Cases:
    """Two convolutions, and an operation in float that has no kernel."""
    collected = Cases()
    convolution(collected, 5, outputs, (6, 7), (3, 3), pad=(1, 1, 1, 1))
    convolution(collected, 4, 33, (2, 3))
    collected.add([np.linspace(-2, 2, 12, dtype=np.float32).reshape(3, 4)], lambda x: arith.mulf(x, x))
    return collected


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The cases, the interpreter's results, and a folder with library and header."""
    folder, collected = tmp_path_factory.mktemp("library"), cases()
    model = CompiledModel(collected.module(), backend="interpreter")
    assert model.write_library(folder / "model.so") == folder / "model.h"
    return collected, model(*collected.inputs), folder


def pointers(arrays):
    return (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("own_scratch", [False, True])
def test_library_computes_the_same(built, threads, own_scratch):
    collected, expected, folder = built
    library = ctypes.CDLL(str(folder / "model.so"))
    library.torq_model_scratch_bytes.restype = ctypes.c_size_t
    size = library.torq_model_scratch_bytes()
    guarded = np.full(size + 64, 0xA5, np.uint8)
    scratch = guarded.ctypes.data + 1 if own_scratch else None  # at any address
    outputs = [np.zeros_like(array) for array in expected]
    inputs = pointers(collected.inputs), pointers(outputs)
    assert library.torq_model_run(*inputs, ctypes.c_void_p(scratch), threads) == OK
    for output, reference in zip(outputs, expected, strict=True):
        np.testing.assert_array_equal(output, reference)
    assert (guarded[1 + size :] == 0xA5).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", [each.name for each in available()])
def test_libraries_of_each_processor(built, name, tmp_path):
    collected, expected, _ = built
    model = CompiledModel(collected.module(), backend=Execution(cpu=name))
    model.write_library(tmp_path / f"{name}.so")
    library = ctypes.CDLL(str(tmp_path / f"{name}.so"))
    outputs = [np.zeros_like(array) for array in expected]
    assert library.torq_model_run(pointers(collected.inputs), pointers(outputs), None, 2) == OK
    for output, reference in zip(outputs, expected, strict=True):
        np.testing.assert_array_equal(output, reference)


@pytest.mark.skipif(platform.machine() != "x86_64" or shutil.which("objdump") is None, reason="looks at code of x86")
def test_a_library_for_any_processor_has_no_wide_registers(tmp_path):
    collected = cases()
    collected.add([np.linspace(1, 2, 64, dtype=np.float32)], lambda x: math.log(x))  # which has no kernel
    for name, registers in (("generic", ()), (available()[0].name, ("%ymm", "%zmm"))):
        CompiledModel(collected.module(), backend=Execution(cpu=name)).write_library(tmp_path / "model.o")
        code = subprocess.run(["objdump", "-d", tmp_path / "model.o"], capture_output=True, text=True, check=True)
        assert "%xmm" in code.stdout
        assert any(each in code.stdout for each in registers) == bool(registers)
        assert registers or not any(each in code.stdout for each in ("%ymm", "%zmm"))


def test_wrong_arguments_have_a_code(built):
    collected, expected, folder = built
    library = ctypes.CDLL(str(folder / "model.so"))
    inputs, outputs = pointers(collected.inputs), pointers(expected)
    assert library.torq_model_run(inputs, outputs, None, 0) == BAD_ARGUMENT
    assert library.torq_model_run(None, outputs, None, 1) == BAD_ARGUMENT
    assert library.torq_model_run(inputs, None, None, 1) == BAD_ARGUMENT
    missing = pointers(collected.inputs)
    missing[1] = None
    assert library.torq_model_run(missing, outputs, None, 1) == BAD_ARGUMENT
    library.torq_model_input.restype = ctypes.c_void_p
    assert library.torq_model_input(-1) is None
    assert library.torq_model_input(len(collected.inputs)) is None


def test_library_exports_its_functions_alone(built):
    _, _, folder = built
    library = ctypes.CDLL(str(folder / "model.so"))
    for hidden in ("barrier", "island_0", "_mlir_island_0", "torq_entry"):
        assert not hasattr(library, hidden)


def run_example(folder: Path, program: str, collected: Cases, expected: list[np.ndarray], threads: int) -> None:
    files = [folder / f"input{position}.bin" for position in range(len(collected.inputs))]
    for file, array in zip(files, collected.inputs, strict=True):
        array.tofile(file)
    results = [folder / f"output{position}.bin" for position in range(len(expected))]
    subprocess.run([folder / program, str(threads), *files, *results], check=True)
    for file, reference in zip(results, expected, strict=True):
        assert file.read_bytes() == reference.tobytes()


def test_example_in_c(built, tmp_path):
    """As its Makefile builds it, from a model in torq_hl."""
    collected, expected, _ = built
    CompiledModel(collected.module()).save(tmp_path / "model.mlirbc")
    compiler = f"{sys.executable} -m torq_mlir.tools.torq_compile"
    arguments = ["MODEL=model.mlirbc", f"TORQ_COMPILE={compiler}"]
    subprocess.run(["make", "--silent", "-f", EXAMPLE / "Makefile", *arguments], cwd=tmp_path, check=True)
    run_example(tmp_path, "run_model", collected, expected, threads=2)
    run_example(tmp_path, "run_model_alone", collected, expected, threads=1)
    told = subprocess.run([tmp_path / "run_model"], capture_output=True, text=True)
    assert told.returncode == 1
    assert "int8 [1, 5, 6, 7]" in told.stdout


TWO_MODELS = """
#include "first.h"
#include "second.h"
int main(void) {
  return first_input_count() != 3 || second_input_count() != 3 || first_output(0)->shape[1] != 17 ||
         second_output(0)->shape[1] != 19 || first_run(0, 0, 0, 1) != FIRST_BAD_ARGUMENT ||
         second_run(0, 0, 0, 1) != SECOND_BAD_ARGUMENT;
}
"""


def test_two_models_in_one_program(tmp_path):
    for name, outputs in (("first", 17), ("second", 19)):
        CompiledModel(cases(outputs).module()).write_library(tmp_path / f"{name}.o", prefix=name)
    (tmp_path / "main.c").write_text(TWO_MODELS)
    command = ["cc", "-std=c11", "-no-pie", "main.c", "first.o", "second.o", "-pthread", "-lm", "-o", "main"]
    subprocess.run(command, cwd=tmp_path, check=True)
    subprocess.run([tmp_path / "main"], check=True)


def test_without_a_compiler(tmp_path, monkeypatch):
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(CompileError, match="there is no C compiler 'no-such-compiler'; install one, or name it in CC"):
        CompiledModel(cases().module()).write_library(tmp_path / "model.so")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("prefix", ["1st", "a-b", "größe", ""])
def test_prefix_must_be_a_name_in_c(prefix, tmp_path):
    with pytest.raises(CompileError, match="not the beginning of names in C"):
        CompiledModel(cases().module()).write_library(tmp_path / "model.o", prefix=prefix)


def test_a_compiler_that_fails_is_reported(tmp_path, monkeypatch):
    monkeypatch.setenv("CC", "false")
    with pytest.raises(CompileError, match="false failed"):
        CompiledModel(cases().module()).write_library(tmp_path / "model.so")
