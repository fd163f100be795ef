# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pipelines of Python and C++ passes: order, nesting, options and failures."""

import re

import pytest
from torch_mlir import ir
from torch_mlir.passmanager import PassManager

from torq_mlir import pipelines
from torq_mlir.passes import registry
from torq_mlir.pipelines import PassParseError, PassText, PipelineFailure, PipelineSyntaxError


def marks(operation) -> str:
    attributes = operation.operation.attributes
    return attributes["test.marks"].value if "test.marks" in attributes else ""


def functions(module):
    return list(module.body.operations)


def test_python_and_cpp_passes_run_in_order(module, make_pipeline):
    make_pipeline("builtin.module(mark,cse,mark{text=after count=2})").run(module)
    assert marks(module) == "4;after2;after2;"


def test_nested_passes_run_on_each_function(module, make_pipeline):
    make_pipeline("builtin.module(mark,func.func(mark{text=x},cse,mark-function{text=y}),mark-module)").run(module)
    assert marks(module) == "4;2;"
    assert [marks(function) for function in functions(module)] == ["x2;y1;", "x2;y1;"]


def test_pipeline_on_a_function(module, make_pipeline):
    first, second = functions(module)
    make_pipeline("func.func(cse,mark)").run(first)
    assert (marks(first), marks(second)) == ("1;", "")


def test_pipeline_on_any_operation(module, make_pipeline):
    make_pipeline("any(mark,any(mark{text=inner},cse))").run(module)
    assert marks(module) == "4;"
    assert [marks(function) for function in functions(module)] == ["inner2;", "inner2;"]


def test_pipeline_on_another_operation(module, make_pipeline):
    with pytest.raises(ValueError, match=r"can't run 'func.func' pass manager on 'builtin.module' op"):
        make_pipeline("func.func(cse)").run(module)


def test_nested_modules(context, make_pipeline):
    module = ir.Module.parse("module { func.func private @f() }\nfunc.func private @g()", context)
    make_pipeline("builtin.module(builtin.module(func.func(mark)))").run(module)
    inner, outside = functions(module)
    assert marks(inner.regions[0].blocks[0].operations[0]) == "0;"
    assert marks(outside) == ""


def test_pipeline_runs_again_on_another_module(module, context, make_pipeline):
    pipeline = make_pipeline("builtin.module(func.func(cse,mark))")
    other = ir.Module.parse("func.func private @h()", context)
    pipeline.run(module)
    pipeline.run(other)
    assert marks(functions(module)[1]) == "1;"
    assert marks(functions(other)[0]) == "0;"


def test_run_by_text_and_by_name(module):
    pipelines.run(module, "builtin.module(func.func(cse),torq-signed-storage)")
    assert str(module).count("arith.addi") == 2
    pipelines.run(module, "torq-linalg-to-torq-hl")
    assert str(module).count("arith.addi") == 2


def test_text_is_expanded_with_options(make_pipeline):
    pipeline = make_pipeline("builtin.module(mark{count=2},func.func(cse),func.func(mark-function),symbol-dce)")
    assert str(pipeline) == (
        "builtin.module(mark{text={} count=2},func.func(cse,mark-function{text={} count=1}),symbol-dce)"
    )
    assert [each.name for each in pipeline.passes()] == ["mark", "cse", "mark-function", "symbol-dce"]


def test_pipelines_of_the_wheel_are_expanded_to_their_passes(context, make_pipeline):
    name = "torch-backend-to-linalg-on-tensors-backend-pipeline"
    pipeline = make_pipeline(f"builtin.module({name})")
    names = [each.name for each in pipeline.passes()]
    assert names[:2] == ["torch-restructure-non-constant-axes", "torch-fuse-quantized-ops"]
    assert names[-1] == "torch-verify-linalg-on-tensors-backend-contract"
    theirs = str(PassManager.parse(f"builtin.module({name})", context))
    assert str(pipeline) == theirs.replace("),func.func(", ",")


def test_expanded_pipeline_has_the_same_result(context):
    source = """
    func.func @f(%a: !torch.vtensor<[2,3],f32>, %b: !torch.vtensor<[3,4],f32>) -> !torch.vtensor<[2,4],f32> {
      %0 = torch.aten.mm %a, %b : !torch.vtensor<[2,3],f32>, !torch.vtensor<[3,4],f32> -> !torch.vtensor<[2,4],f32>
      %1 = torch.aten.relu %0 : !torch.vtensor<[2,4],f32> -> !torch.vtensor<[2,4],f32>
      return %1 : !torch.vtensor<[2,4],f32>
    }
    """
    text = "builtin.module(torch-backend-to-linalg-on-tensors-backend-pipeline)"
    ours, theirs = ir.Module.parse(source, context), ir.Module.parse(source, context)
    pipelines.run(ours, text)
    PassManager.parse(text, context).run(theirs.operation)
    assert "linalg.matmul" in str(ours)
    assert str(ours) == str(theirs)


@pytest.mark.parametrize("name", pipelines.named)
def test_named_pipelines_are_well_formed(name, context):
    pipeline = pipelines.Pipeline(f"builtin.module({name})", context)
    assert str(pipeline) == str(pipelines.Pipeline(pipelines.named[name], context))
    assert pipelines.NAMED_PIPELINES[name].summary


@pytest.mark.parametrize(
    ("text", "position", "reason"),
    [
        ("builtin.module(cse,nope)", 19, "'nope' does not refer to a registered pass or pass pipeline"),
        ("builtin.module(func.func(cse,nope{x=1}))", 29, "'nope' does not refer to a registered pass"),
        ("builtin.module(cse, mark-function)", 20, "'mark-function' runs on 'func.func', not on 'builtin.module'"),
        ("any(mark-function)", 4, "'mark-function' runs on 'func.func', not on 'any'"),
        ("builtin.module(mark{count=x})", 15, "'x' is no value of option count"),
        ("builtin.module(mark,mark{speed=1})", 20, "no such option speed; mark has text, count"),
        ("builtin.module(torch-decompose-complex-ops)", 15, "restricted to 'func.func' on a PassManager intended"),
        (
            "builtin.module(func.func(torch-simplification-pipeline))",
            25,
            "restricted to 'builtin.module' on a PassManager",
        ),
        ("builtin.module(canonicalize{speed=1})", 15, "with options `speed=1`: no such option speed"),
        ("builtin.module(func.func(torq-linalg-to-torq-hl))", 25, "runs on 'builtin.module', not on 'func.func'"),
        ("builtin.module(torq-hl-to-linalg{x=1})", 15, "pipeline 'torq-hl-to-linalg' has no options"),
    ],
)
def test_elements_that_do_not_fit(text, position, reason, sample_passes, context):
    passes = {**sample_passes, **registry()}
    with pytest.raises(PipelineSyntaxError, match=re.escape(reason)) as caught:
        pipelines.Pipeline(text, context, passes=passes)
    assert caught.value.position == position


def test_nest_puts_each_pass_on_its_operation(context, sample_passes):
    elements = [
        PassText("mark-function", "count=2"),
        PassText("torch-decompose-complex-ops"),
        PassText("canonicalize"),
        PassText("mark"),
        PassText("torq-linalg-to-torq-hl"),
    ]
    assert str(pipelines.nest(elements, context, passes=sample_passes)) == (
        "builtin.module(func.func(mark-function{count=2}),func.func(torch-decompose-complex-ops),"
        "canonicalize,mark,torq-linalg-to-torq-hl)"
    )


def test_nest_refuses_what_it_does_not_know(context):
    with pytest.raises(PassParseError, match="'nope' does not refer to a registered pass"):
        pipelines.nest([PassText("nope")], context)


def test_failure_names_the_pass_and_the_node(module, make_pipeline):
    with pytest.raises(PipelineFailure) as caught:
        make_pipeline("builtin.module(mark,func.func(mark,fail-with-error,mark{text=no}))").run(module)
    failure = caught.value
    assert (failure.pass_name, failure.operation) == ("fail-with-error", "'func.func' @g")
    assert [diagnostic.message for diagnostic in failure.diagnostics] == ["the result is not to my taste"]
    assert str(failure) == "last: the result is not to my taste (pass fail-with-error failed on 'func.func' @g)"
    assert [marks(function) for function in functions(module)] == ["2;no2;", "2;"]


def test_failure_of_a_cpp_pass(context, make_pipeline):
    module = ir.Module.parse(
        "func.func @f() -> !torch.int { %0 = torch.constant.int 1\n return %0 : !torch.int }", context
    )
    name = "torch-verify-linalg-on-tensors-backend-contract"
    with pytest.raises(PipelineFailure) as caught:
        make_pipeline(f"builtin.module(cse,{name})").run(module)
    assert str(caught.value).endswith(f"(pass {name} failed on 'builtin.module')")


def test_failure_without_a_diagnostic(module, make_pipeline):
    with pytest.raises(PipelineFailure) as caught:
        make_pipeline("builtin.module(fail-silently)").run(module)
    assert str(caught.value) == "pass fail-silently failed on 'builtin.module'"


def test_failure_with_a_diagnostic_handler(module, context, make_pipeline):
    messages = []
    context.emit_error_diagnostics = True
    handler = context.attach_diagnostic_handler(lambda diagnostic: messages.append(diagnostic.message) or True)
    with pytest.raises(PipelineFailure) as caught:
        make_pipeline("builtin.module(fail-with-error)").run(module)
    handler.detach()
    assert messages == ["the result is not to my taste"]
    assert caught.value.diagnostics == ()


def test_unexpected_exception_is_not_a_failure_of_the_pass(module, make_pipeline):
    pipeline = make_pipeline("builtin.module(cse,func.func(raise-key-error))")
    for _ in range(2):
        with pytest.raises(KeyError, match="the key") as caught:
            pipeline.run(module)
        assert caught.value.__notes__ == ["raised by pass raise-key-error"]
        assert caught.traceback[-1].name == "raise_key_error"


def test_error_of_mlir_inside_a_pass_is_not_a_failure_of_the_pass(module, make_pipeline):
    with pytest.raises(ir.MLIRError, match="Unable to parse module assembly"):
        make_pipeline("builtin.module(raise-mlir-error)").run(module)


def test_ir_is_verified_after_each_pass(module, make_pipeline):
    with pytest.raises(PipelineFailure) as caught:
        make_pipeline("builtin.module(func.func(break-the-ir),mark)").run(module)
    assert caught.value.pass_name == "break-the-ir"
    assert "attribute 'sym_name'" in caught.value.diagnostics[0].message
    assert marks(module) == ""


def test_verification_can_be_disabled(module, make_pipeline):
    make_pipeline("builtin.module(func.func(break-the-ir),mark)", verify=False).run(module)
    assert marks(module) == "4;"
