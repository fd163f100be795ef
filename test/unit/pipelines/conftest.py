# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A context, a module with two functions, and small passes on them."""

from collections.abc import Callable

import pytest
from torch_mlir import ir

from torq_mlir import dialects
from torq_mlir.passes import OptionInfo, PassFailure, PassInfo
from torq_mlir.pipelines import Pipeline

SOURCE = """
func.func @f(%a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  %1 = arith.addi %a, %a : i32
  %2 = arith.muli %0, %1 : i32
  return %2 : i32
}
func.func @g(%a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  %1 = arith.addi %a, %a : i32
  %2 = arith.muli %0, %1 : i32
  return %2 : i32 loc("last"("model.onnx":3:1))
}
"""


@pytest.fixture
def context():
    context = ir.Context()
    dialects.register(context)
    return context


@pytest.fixture
def module(context):
    return ir.Module.parse(SOURCE, context)


def option(name: str, type_: str, default: str | None) -> OptionInfo:
    return OptionInfo.from_declaration(
        {"name": name, "type": type_, "default": default, "description": "", "list": False}
    )


def make_pass(name: str, run: Callable[..., None], operation: str = "any", options=()) -> PassInfo:
    return PassInfo(name, f"Summary of {name}", "", operation, ("arith",), tuple(options), run)


def operations(op: ir.Operation) -> list[ir.Operation]:
    """All operations inside `op`."""
    inside = [child.operation for region in op.regions for block in region for child in block]
    return [each for child in inside for each in (child, *operations(child))]


def mark(op: ir.Operation, text: str = "", count: int = 1) -> None:
    """Appends to the attribute `test.marks`, with the number of additions that the op has inside."""
    additions = sum(inner.name == "arith.addi" for inner in operations(op))
    old = op.attributes["test.marks"].value if "test.marks" in op.attributes else ""
    op.attributes["test.marks"] = ir.StringAttr.get(old + f"{text}{additions};" * count)


def fail_with_error(op: ir.Operation) -> None:
    """Fails at the return of @g."""
    for inner in operations(op):
        if inner.name == "func.return" and isinstance(inner.location, ir.NameLoc):
            inner.location.emit_error("the result is not to my taste")
            raise PassFailure


def fail_silently(op: ir.Operation) -> None:
    raise PassFailure


def raise_key_error(op: ir.Operation) -> None:
    raise KeyError("the key")


def raise_mlir_error(op: ir.Operation) -> None:
    ir.Module.parse("not a module")


def break_the_ir(op: ir.Operation) -> None:
    if op.name == "func.func":
        op.attributes["sym_name"] = ir.UnitAttr.get()


MARK_OPTIONS = (option("text", "std::string", None), option("count", "int", "1"))
PASSES = {
    info.name: info
    for info in (
        make_pass("mark", mark, options=MARK_OPTIONS),
        make_pass("mark-function", mark, "func.func", MARK_OPTIONS),
        make_pass("mark-module", mark, "builtin.module", MARK_OPTIONS),
        make_pass("fail-with-error", fail_with_error),
        make_pass("fail-silently", fail_silently),
        make_pass("raise-key-error", raise_key_error),
        make_pass("raise-mlir-error", raise_mlir_error),
        make_pass("break-the-ir", break_the_ir),
    )
}


@pytest.fixture
def make_pipeline(context):
    """A pipeline of the passes above and those of the wheel."""

    def make(text: str, verify: bool = True) -> Pipeline:
        return Pipeline(text, context, verify=verify, passes=PASSES)

    return make


@pytest.fixture
def sample_passes():
    return PASSES
