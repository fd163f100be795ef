# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tests of the suite, and how one ends."""

import contextlib
import dataclasses
import enum
import functools
import importlib
import io
import unittest
import warnings
from collections import defaultdict
from collections.abc import Sequence

import onnx
from onnx.backend.test import BackendTest

from torq_mlir import Execution, TorqError, onnx_backend

# Where the operators with quantized operands have their tests.
QUANTIZATION = ("convinteger", "dequantizelinear", "dynamicquantizelinear", "matmulinteger", "qlinearconv")
QUANTIZATION += ("qlinearmatmul", "quantizelinear")
_DEVICE = "_cpu"


class Status(enum.Enum):
    """How a test ended. What is refused ended with an error of ours that says why."""

    PASS = "pass"
    REFUSED = "refused"
    DIFFERS = "differs"
    ERROR = "error"
    CRASH = "crash"


@dataclasses.dataclass(frozen=True)
class Outcome:
    """How the test `name`, as in "node/test_abs", ended, and why."""

    name: str
    status: Status
    reason: str = ""


class Backend(onnx_backend.TorqBackend):
    """The backend with code that is made quickly: what each test runs takes no time."""

    @classmethod
    def is_compatible(cls, model: onnx.ModelProto, device: str = "CPU", **options: object) -> bool:
        """Of all: what is refused says why, where the suite would leave a test out."""
        return True

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = "CPU", **options: object) -> onnx_backend.TorqBackendRep:
        return super().prepare(model, device, **{"backend": Execution("cpu", opt_level=0, num_threads=1), **options})


@functools.cache
def tests() -> dict[str, unittest.TestCase]:
    """Every test of the suite that is for a CPU, by name."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")  # some tests are about values that overflow
        return _by_name(BackendTest(Backend, __name__))


def quantization_tests() -> dict[str, unittest.TestCase]:
    """Those of operators with quantized operands, in a twentieth of the time that all of them take to make."""
    return _by_name(_Selected(Backend, QUANTIZATION))


class _Selected(BackendTest):
    """Tests from some modules of the suite."""

    def __init__(self, backend: type[onnx_backend.TorqBackend], modules: Sequence[str]) -> None:
        from onnx.backend.test.case import node

        for name in modules:
            importlib.import_module(f"{node.__name__}.{name}")
        self.backend, self._parent_module, self._test_kwargs = backend, __name__, {}
        self._include_patterns, self._exclude_patterns, self._xfail_patterns = set(), set(), set()
        self._test_items = defaultdict(dict)
        for case in node._NodeTestCases:
            self._add_model_test(case, "Node")


def _by_name(suite: BackendTest) -> dict[str, unittest.TestCase]:
    found = {}
    for class_name, case in suite.test_cases.items():
        kind = class_name.removeprefix("OnnxBackend").removesuffix("ModelTest")
        for name in unittest.defaultTestLoader.getTestCaseNames(case):
            if name.endswith(_DEVICE):
                found[f"{_KINDS[kind]}/{name.removesuffix(_DEVICE)}"] = case(name)
    return found


_KINDS = {
    "Node": "node",
    "Real": "light",
    "Simple": "simple",
    "PyTorchConverted": "pytorch-converted",
    "PyTorchOperator": "pytorch-operator",
}


def run(name: str, chosen: dict[str, unittest.TestCase] | None = None) -> Outcome:
    """Run one test; what is neither a refusal nor a difference is raised."""
    test = (tests() if chosen is None else chosen)[name]
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            getattr(test, test._testMethodName)()
    except TorqError as error:
        return Outcome(name, Status.REFUSED, f"{type(error).__name__}: {one_line(error)}")
    except AssertionError as error:
        return Outcome(name, Status.DIFFERS, one_line(error))
    return Outcome(name, Status.PASS)


def one_line(error: BaseException) -> str:
    """The message of an error, without line breaks."""
    return " ".join(str(error).split())
