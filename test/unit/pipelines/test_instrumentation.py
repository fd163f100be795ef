# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What runs around passes: callbacks, printing, timing and files."""

import re

import pytest
from torch_mlir import ir

from torq_mlir.pipelines import EVERY_PASS, DumpIR, Instrumentation, PipelineFailure, PrintIR, Timing


class Recorder(Instrumentation):
    """Names of all events."""

    def __init__(self, prefix: str = "", events: list | None = None):
        self.prefix = prefix
        self.events = [] if events is None else events

    def _record(self, event: str) -> None:
        self.events.append(self.prefix + event)

    def prepare_pass(self, scheduled):
        self._record(f"prepare {scheduled.text}")

    def before_pipeline(self, pipeline, operation):
        self._record(f"begin {pipeline.anchor}")

    def after_pipeline(self, pipeline, operation):
        self._record(f"end {pipeline.anchor}")

    def before_pass(self, scheduled, operation):
        self._record(f"before {scheduled.name} {operation.name}")

    def after_pass(self, scheduled, operation):
        self._record(f"after {scheduled.name} {operation.name}")

    def after_pass_failed(self, scheduled, operation):
        self._record(f"failed {scheduled.name} {operation.name}")


def test_events_of_python_and_cpp_passes(module, make_pipeline):
    pipeline = make_pipeline("builtin.module(cse,func.func(mark))")
    recorder = Recorder()
    pipeline.add_instrumentation(recorder)
    pipeline.run(module)
    nested = ["begin func.func", "before mark func.func", "after mark func.func", "end func.func"]
    assert recorder.events == [
        "prepare cse",
        "prepare mark{text={} count=1}",
        "before cse builtin.module",
        "after cse builtin.module",
        *nested,
        *nested,
    ]


@pytest.mark.parametrize(("name", "exception"), [("fail-silently", PipelineFailure), ("raise-key-error", KeyError)])
def test_events_of_a_failure(name, exception, module, make_pipeline):
    pipeline = make_pipeline(f"builtin.module(func.func({name}),cse)")
    recorder = Recorder()
    pipeline.add_instrumentation(recorder)
    with pytest.raises(exception):
        pipeline.run(module)
    assert recorder.events[2:] == [
        "begin func.func",
        f"before {name} func.func",
        f"failed {name} func.func",
        "end func.func",
    ]


def test_instrumentations_nest(module, make_pipeline):
    pipeline = make_pipeline("builtin.module(cse)")
    outer = Recorder("outer ")
    inner = Recorder("inner ", outer.events)
    for recorder in (outer, inner):
        pipeline.add_instrumentation(recorder)
    outer.events.clear()
    pipeline.run(module)
    name = "cse builtin.module"
    assert outer.events == [
        f"outer before {name}",
        f"inner before {name}",
        f"inner after {name}",
        f"outer after {name}",
    ]


@pytest.mark.parametrize(
    ("printing", "headers"),
    [
        (PrintIR(before=("mark",)), ["Before Mark: mark{text={} count=1}"]),
        (PrintIR(after=("cse", "mark")), ["After CSEPass: cse", "After Mark: mark{text={} count=1}"]),
        (PrintIR(before=EVERY_PASS), ["Before Mark: mark{text={} count=1}", "Before CSEPass: cse"]),
        (PrintIR(after=EVERY_PASS, only_changes=True), ["After Mark: mark{text={} count=1}"]),
        (PrintIR(after=EVERY_PASS, only_failures=True), []),
        (PrintIR(), []),
    ],
)
def test_print(printing, headers, context, make_pipeline, capfd):
    module = ir.Module.parse("func.func private @f()", context)
    pipeline = make_pipeline("builtin.module(mark,cse)")
    pipeline.add_instrumentation(printing)
    pipeline.run(module)
    assert sorted(re.findall(r"IR Dump (.*) //-----", capfd.readouterr().err)) == sorted(headers)


def test_print_scope_and_elision(context, make_pipeline, capfd):
    body = "%0 = arith.constant dense<[1, 2, 3]> : tensor<3xi8>\n return %0 : tensor<3xi8>"
    module = ir.Module.parse(f"func.func @f() -> tensor<3xi8> {{ {body} }}\nfunc.func private @g()", context)
    for scope in (False, True):
        pipeline = make_pipeline("builtin.module(func.func(mark))")
        pipeline.add_instrumentation(PrintIR(after=("mark",), module_scope=scope, elements_limit=2))
        pipeline.run(module)
        printed = capfd.readouterr().err
        assert printed.count("__elided__") == (2 if scope else 1)
        assert printed.count("module {") == (2 if scope else 0)


def test_dump(module, make_pipeline, tmp_path):
    pipeline = make_pipeline("builtin.module(mark,func.func(cse,fail-with-error))")
    pipeline.add_instrumentation(DumpIR(tmp_path / "ir"))
    with pytest.raises(PipelineFailure):
        pipeline.run(module)
    files = sorted(path.name for path in (tmp_path / "ir").iterdir())
    assert files == [
        "001_mark.mlir",
        "002_cse_f.mlir",
        "003_fail-with-error_f.mlir",
        "004_cse_g.mlir",
        "005_fail-with-error_failed_g.mlir",
    ]
    additions = [(tmp_path / "ir" / name).read_text().count("arith.addi") for name in files]
    assert additions == [4, 3, 3, 2, 2]


def test_timing(module, make_pipeline):
    pipeline = make_pipeline("builtin.module(mark,func.func(cse,mark),mark)")
    timing = Timing()
    pipeline.add_instrumentation(timing)
    with timing.phase("Parser"):
        pass
    pipeline.run(module)
    lines = timing.report().splitlines()
    assert [line[21:] for line in lines[6:]] == [
        "Parser",
        "mark",
        "'func.func' Pipeline",
        "  cse",
        "  mark",
        "mark",
        "Rest",
        "Total",
    ]
    seconds = [float(line[:10]) for line in lines[6:]]
    assert sum(seconds[index] for index in (0, 1, 2, 5, 6)) == pytest.approx(seconds[-1], abs=5e-4)
    assert seconds[3] + seconds[4] <= seconds[2] + 2e-4


def test_timing_of_a_failure(module, make_pipeline):
    pipeline = make_pipeline("builtin.module(func.func(fail-silently))")
    timing = Timing()
    pipeline.add_instrumentation(timing)
    with pytest.raises(PipelineFailure):
        pipeline.run(module)
    assert [line[21:] for line in timing.report().splitlines()[6:8]] == ["'func.func' Pipeline", "  fail-silently"]
