# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of compiled programs: what they take and refuse, and from how many threads."""

import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from kernel_modules import CONTEXT, Cases, convolution, integers
from torch_mlir import ir
from torch_mlir.dialects import arith

from torq_mlir.backends import cpu, interpreter
from torq_mlir.backends.cpu import machine
from torq_mlir.compiler import CompiledModel
from torq_mlir.errors import CompileError, InputError
from torq_mlir.executing import Execution


def collected() -> Cases:
    cases = Cases()
    convolution(cases, 5, 17, (6, 7), (3, 3), pad=(1, 1, 1, 1))
    cases.add([np.linspace(-2, 2, 12, dtype=np.float32).reshape(3, 4)], lambda x: arith.mulf(x, x))
    return cases


CASES = collected()


@pytest.fixture(scope="module")
def compiled():
    return cpu.compile(CASES.module(), num_threads=2, opt_level=1)


@pytest.fixture(scope="module")
def expected():
    return interpreter.run(CASES.module(), CASES.inputs)


def check(actual, expected):
    for a, b in zip(actual, expected, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


def test_wrong_inputs_are_refused(compiled):
    image, floats = CASES.inputs
    with pytest.raises(InputError, match="expected 2 inputs, got 1"):
        compiled([image])
    with pytest.raises(InputError, match="input 0 is uint8, expected int8"):
        compiled([image.view(np.uint8), floats])
    with pytest.raises(InputError, match="input 1 is float64, expected float32"):
        compiled([image, floats.astype(np.float64)])
    with pytest.raises(InputError, match=r"input 1 has shape \(4, 3\), expected 3x4"):
        compiled([image, floats.T])
    with pytest.raises(InputError, match=r"input 1 has shape \(12,\), expected 3x4"):
        compiled([image, floats.reshape(-1)])


def strided(array):
    return np.repeat(array, 2, axis=-1)[..., ::2]


def backwards(array):
    return np.ascontiguousarray(array[..., ::-1])[..., ::-1]


def unaligned(array):
    memory = np.zeros(array.nbytes + 1, np.uint8)
    memory[1:] = array.reshape(-1).view(np.uint8)
    return memory[1:].view(array.dtype).reshape(array.shape)


@pytest.mark.parametrize("rearranged", [np.asfortranarray, strided, backwards, unaligned])
def test_any_memory_layout(compiled, expected, rearranged):
    inputs = [rearranged(array) for array in CASES.inputs]
    check(compiled(inputs), expected)
    check(inputs, CASES.inputs)


def test_read_only_and_equal_arrays(compiled, expected):
    image, floats = (array.copy() for array in CASES.inputs)
    image.flags.writeable = floats.flags.writeable = False
    check(compiled([image, floats]), expected)
    check(compiled([image.tolist() and image, np.broadcast_to(floats[:1], (3, 4))])[:1], expected[:1])


def test_results_are_not_written_by_later_calls(compiled, expected):
    first = compiled(CASES.inputs)
    compiled([np.zeros_like(array) for array in CASES.inputs])
    check(first, expected)


@pytest.mark.parametrize("threads", [1, 2])
def test_calls_from_several_threads(threads):
    """Each with other inputs: memory that calls shared would mix them."""
    module = CASES.module()
    compiled = cpu.compile(module, num_threads=threads, opt_level=1)
    inputs = [[integers(*CASES.inputs[0].shape), CASES.inputs[1] * number] for number in range(4)]
    references = [interpreter.run(module, each) for each in inputs]

    def repeatedly(number: int) -> None:
        for _ in range(12):
            check(compiled(inputs[number]), references[number])

    with ThreadPoolExecutor(len(inputs)) as pool:
        for call in [pool.submit(repeatedly, number) for number in range(len(inputs))]:
            call.result()


def test_a_program_that_is_dropped_after_a_call(expected):
    """A thread may only then come to the call."""
    for _ in range(5):
        compiled = cpu.compile(CASES.module(), num_threads=4, opt_level=1)
        check(compiled(CASES.inputs), expected)
        del compiled


def test_python_runs_meanwhile():
    """Another thread counts while one call computes: it could not with Python's lock held."""
    cases = Cases()
    convolution(cases, 64, 64, (60, 60), (7, 7), pad=(3, 3, 3, 3))
    compiled = cpu.compile(cases.module(), cpu="generic", num_threads=1, opt_level=1)
    compiled(cases.inputs)
    start = time.perf_counter()
    call = threading.Thread(target=compiled, args=[cases.inputs])
    call.start()
    moments = []
    while call.is_alive():
        moments.append(time.perf_counter() - start)
        time.sleep(0.0005)
    duration = time.perf_counter() - start
    assert sum(duration / 4 < moment < 3 * duration / 4 for moment in moments) >= 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes do not fork here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process(compiled, expected):
    """It has none of the threads that the executable has started."""
    check(compiled(CASES.inputs), expected)
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # which ends it
        actual = compiled(CASES.inputs)
        os._exit(int(not all(map(np.array_equal, actual, expected))))
    assert os.waitpid(child, 0)[1] == 0


def test_numbers_of_threads():
    module = CASES.module()
    with pytest.raises(ValueError, match="the number of threads is 0"):
        cpu.compile(module, num_threads=0)
    assert cpu.compile(module, opt_level=0).num_threads >= 1


def test_a_cpu_that_is_not_there():
    module = CASES.module()
    with pytest.raises(CompileError, match="there is no cpu 'z80'; there are avx512-vnni, avx-vnni, avx2, generic"):
        cpu.compile(module, cpu="z80")


def test_a_cpu_from_the_environment(monkeypatch):
    monkeypatch.setenv("TORQ_CPU", "generic")
    assert cpu.compile(CASES.module(), num_threads=1, opt_level=0).program.cpu == "generic"
    best = machine.available()[0].name
    assert cpu.compile(CASES.module(), cpu=best, num_threads=1, opt_level=0).program.cpu == best
    monkeypatch.setenv("TORQ_CPU", "z80")
    with pytest.raises(CompileError, match="there is no cpu 'z80'"):
        cpu.compile(CASES.module())


def test_a_cpu_that_the_machine_is_not(monkeypatch):
    monkeypatch.setattr(machine, "_flags", lambda: frozenset({"sse2", "avx2", "fma"}))
    machine.available.cache_clear()
    try:
        assert [each.name for each in machine.available()] == ["avx2", "generic"]
        assert machine.detect().name == "avx2"
        with pytest.raises(CompileError, match="cannot run code for avx-vnni: it has no avx_vnni"):
            cpu.compile(CASES.module(), cpu="avx-vnni")
    finally:
        machine.available.cache_clear()


DYNAMIC = """
func.func @main(%x: tensor<?x3xf32> {torq_hl.name = "x"}) -> (tensor<?x3xf32> {torq_hl.name = "y"}) {
  %0 = arith.mulf %x, %x : tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}
"""


def test_shapes_that_are_not_static_are_left_to_the_jit():
    module = ir.Module.parse(DYNAMIC, CONTEXT)
    with pytest.raises(cpu.NotPlannedError, match="not a tensor of static shape"):
        cpu.compile(module)
    name, executable = Execution("cpu").compile(module)
    assert name == "jit"
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(executable([x])[0], x * x)


CALLING = """
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = func.call @square(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
func.func private @square(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = arith.mulf %x, %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}
"""


def test_functions_that_are_called_are_left_to_the_jit():
    name, executable = Execution("cpu").compile(ir.Module.parse(CALLING, CONTEXT))
    assert name == "jit"
    np.testing.assert_array_equal(executable([np.float32([1, 2, 3])])[0], [1, 4, 9])


def test_a_model_says_what_executes_it(expected):
    model = CompiledModel(CASES.module(), backend=Execution("cpu", num_threads=1))
    check(model(*CASES.inputs), expected)
    assert model.backend == "cpu"
    with pytest.raises(InputError):
        model(CASES.inputs[0])
