# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled code in a folder: what is there is used, and what is damaged is not."""

import os
import subprocess
import sys
import warnings

import numpy as np
import pytest
from kernel_modules import CONTEXT, Cases, convolution
from torch_mlir import ir
from torch_mlir.execution_engine import ExecutionEngine

from torq_mlir.backends import cpu, interpreter
from torq_mlir.backends.cpu import library
from torq_mlir.files import write_atomically

pytestmark = pytest.mark.skipif(library.c_compiler() is None, reason="there is no C compiler")


@pytest.fixture(scope="module")
def cases():
    collected = Cases()
    convolution(collected, 5, 17, (3, 4))
    return collected


@pytest.fixture(scope="module")
def module(cases):
    return cases.module()


@pytest.fixture(scope="module")
def expected(cases, module):
    return interpreter.run(module, cases.inputs)


def check(cases, module, expected, folder) -> None:
    compiled = cpu.compile(module, num_threads=1, opt_level=0, cache_dir=folder)
    np.testing.assert_array_equal(compiled(cases.inputs), expected)


@pytest.fixture
def folder(tmp_path, cases, module, expected):
    """With one entry."""
    check(cases, module, expected, tmp_path)
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".json", ".so"]
    return tmp_path


@pytest.fixture
def no_code_generator(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("code is generated")

    monkeypatch.setattr(ExecutionEngine, "__init__", refuse)


def test_an_entry_is_used(folder, cases, module, expected, no_code_generator):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check(cases, module, expected, folder)


def test_equal_modules_have_equal_libraries(folder, tmp_path_factory, cases, module):
    """So that it does not matter which of several writers was the last one."""
    other = tmp_path_factory.mktemp("other")
    cpu.compile(cases.module(), opt_level=0, cache_dir=other)
    (first,), (second,) = folder.glob("*.so"), other.glob("*.so")
    assert first.name == second.name
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.skipif(len(cpu.available()) == 1, reason="the machine has instructions for one kind of code only")
def test_other_options_and_modules_have_other_entries(folder, cases, module):
    cpu.compile(module, opt_level=1, cache_dir=folder)
    other_cpu = next(each.name for each in reversed(cpu.available()) if each != cpu.select())
    cpu.compile(module, cpu=other_cpu, opt_level=0, cache_dir=folder)
    other = Cases()
    convolution(other, 5, 18, (3, 4))
    cpu.compile(other.module(), opt_level=0, cache_dir=folder)
    assert len(list(folder.glob("*.so"))) == len(list(folder.glob("*.json"))) == 4


def damaged_json(folder):
    (path,) = folder.glob("*.json")
    path.write_text(path.read_text()[:-20])


def damaged_values(folder):
    (path,) = folder.glob("*.json")
    path.write_text(path.read_text().replace('"arena_bytes"', '"other"'))


def no_text(folder):
    (path,) = folder.glob("*.json")
    path.write_bytes(b"\xff\xfe\x00")


def no_object(folder):
    (path,) = folder.glob("*.json")
    path.write_text("[1, 2]")


def replace(path, content):
    """This process runs code of the file, which therefore stays as it is."""
    write_atomically(path, lambda file: file.write(content))


def truncated_library(folder):
    (path,) = folder.glob("*.so")
    replace(path, path.read_bytes()[:5000])


def changed_library(folder):
    (path,) = folder.glob("*.so")
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    replace(path, content)


@pytest.mark.parametrize(
    "damage", [damaged_json, damaged_values, no_text, no_object, truncated_library, changed_library]
)
def test_a_damaged_entry_is_compiled_again(damage, folder, cases, module, expected):
    damage(folder)
    with pytest.warns(UserWarning, match="not used, compiling again"):
        check(cases, module, expected, folder)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check(cases, module, expected, folder)


def test_an_entry_without_its_description_is_compiled_again(folder, cases, module, expected):
    (path,) = folder.glob("*.json")
    path.unlink()
    check(cases, module, expected, folder)
    assert path.exists()


def test_a_folder_that_cannot_be_written(tmp_path, cases, module, expected):
    (tmp_path / "file").touch()
    with pytest.warns(UserWarning, match=r"the compiled program is not kept in .*file"):
        check(cases, module, expected, tmp_path / "file")


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_folder_that_is_read_only(tmp_path, cases, module, expected):
    tmp_path.chmod(0o500)
    with pytest.warns(UserWarning, match="the compiled program is not kept"):
        check(cases, module, expected, tmp_path)


def test_without_a_compiler(tmp_path, cases, module, expected, monkeypatch):
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.warns(UserWarning, match="the compiled program is not kept in .*: there is no C compiler"):
        check(cases, module, expected, tmp_path)


_WRITER = """
import sys, warnings
import numpy as np
from torch_mlir import ir
from torq_mlir import dialects
from torq_mlir.backends import cpu
warnings.simplefilter("error")
context = ir.Context()
dialects.register(context)
module = ir.Module.parse(open(sys.argv[1], "rb").read(), context)
for cached in (True, True):
    compiled = cpu.compile(module, num_threads=1, opt_level=0, cache_dir=sys.argv[2])
    np.save(sys.argv[3], compiled([np.load(sys.argv[1] + ".npy")])[0])
"""


def test_processes_that_write_the_same_entry(tmp_path, cases, module, expected):
    file, folder = tmp_path / "module.mlirbc", tmp_path / "cache"
    with CONTEXT, ir.Location.unknown(), file.open("wb") as stream:
        module.operation.write_bytecode(stream)
    np.save(f"{file}.npy", cases.inputs[0])
    results = [tmp_path / f"result{number}.npy" for number in range(2)]
    writers = [subprocess.Popen([sys.executable, "-c", _WRITER, file, folder, result]) for result in results]
    assert [writer.wait() for writer in writers] == [0] * len(writers)
    for result in results:
        np.testing.assert_array_equal(np.load(result), expected[0])
    assert sorted(path.suffix for path in folder.iterdir()) == [".json", ".so"]
