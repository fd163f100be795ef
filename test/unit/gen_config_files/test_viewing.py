# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reports in the terminal: what is said, what is left out where there is no room, what counts as a failure."""

import dataclasses
import io

import pytest
from sample_reports import CLOSE, FAR, cnn_report, error, large_report, layer, result

from torq_mlir.errors import TorqError
from torq_mlir.gen_config import view
from torq_mlir.gen_config.explaining import notes, outcome
from torq_mlir.gen_config.files import ExecutorResult, Metrics, Status, Tolerance
from torq_mlir.gen_config.viewing import failures
from torq_mlir.gen_config.wording import decibels, differences, duration, limits, number, printable, shown_flags

TABLE = """\
cnn  models/cnn.onnx
quantize, full-integer, quant-format=qdq, skip-ops=Flatten

#  layer           operator      nss         css      host     use    max diff.  SQNR dB  line:col    time
0  Conv_0          Conv          success     success  success  nss        0 LSB      inf      12:5  200 us
1  Relu_1          Relu          success     success  success  nss        0 LSB      inf            200 us
2  Conv_2          Conv          difference  success  error    css        1 LSB     58.2      30:5  300 us
3  Relu_3          Relu          success     success  success  nss        0 LSB      inf            200 us
4  GlobalLpPool_4  GlobalLpPool  error       error    error    none                           41:5
5  Flatten_5       Flatten       success     skipped  -        nss        1 LSB     58.2      44:5
6  Gemm_6          Gemm          success     success  success  host*      1 LSB     58.2      47:5  600 us

notes
  fused in the full model, without a line in the compiler file: Relu_1 into Conv_0, Relu_3 into Conv_2
  Conv_2: nss: 1024 of 4096 differ, by up to 5 LSB, where 1 LSB is allowed
  GlobalLpPool_4: no executor takes it; nss, css, host: error, GlobalLpPool has no lowering to torch
  Gemm_6: set by hand to host; discovery recommends nss
  identical layers, of which one was tested: Relu_3 is Relu_1

SQNR at the output when one layer alone is quantized
    24.5 dB  Gemm_6
    41.0 dB  Conv_0
  to keep in float: Gemm_6

full model: difference
  logits: difference, 1024 of 4096 differ, by up to 5 LSB, SQNR 21.5 dB, cosine 0.98
  the first tensor outside the tolerance: t3

7 layers (1 identical to another): 4 on nss, 1 on css, 1 on host, 1 without an executor
6 success, 1 error
no executor takes: GlobalLpPool_4
"""


def shown(report, **arguments):
    stream = io.StringIO()
    view(report, stream=stream, **arguments)
    return stream.getvalue()


class Terminal(io.StringIO):
    def isatty(self):
        return True


def on_terminal(monkeypatch, width, report=None, **environment):
    for name, value in ({"TERM": "xterm-256color", "COLUMNS": str(width), "NO_COLOR": ""} | environment).items():
        monkeypatch.setenv(name, value)
    stream = Terminal()
    view(report or cnn_report(), stream=stream)
    return stream.getvalue()


def test_table():
    assert shown(cnn_report()) == TABLE


def test_colours_on_a_terminal_alone(monkeypatch):
    assert "\x1b[32msuccess" in on_terminal(monkeypatch, 120)
    assert on_terminal(monkeypatch, 120, NO_COLOR="1") == TABLE
    assert on_terminal(monkeypatch, 20, TERM="dumb") == TABLE


@pytest.mark.parametrize(
    ("width", "header"),
    [
        (40, "layer           use"),
        (60, "#  layer           nss         css      host     use"),
        (80, "#  layer           operator      nss         css      host     use    max diff."),
    ],
)
def test_narrow_terminals(monkeypatch, width, header):
    text = on_terminal(monkeypatch, width, NO_COLOR="1")
    assert header in text.splitlines()
    assert max(map(len, text.splitlines())) <= width
    assert "fused in the full model, without" in " ".join(text.split())


def test_long_names_are_not_cut(monkeypatch):
    name = "/backbone/" + "block" * 20
    report = dataclasses.replace(cnn_report(), layers=(layer(0, "Conv", {"nss": result(CLOSE)}, name=name),))
    assert name in shown(report)
    assert name in on_terminal(monkeypatch, 44, report, NO_COLOR="1").replace("\n", "").replace(" ", "")


def test_names_from_a_model_do_not_act_on_the_terminal():
    name = "\x1b[31mred[/]\r\n:smile: [bold]"
    report = dataclasses.replace(cnn_report(), layers=(layer(0, "Conv", {"nss": error(name)}, name=name),))
    text = shown(report)
    assert "\x1b" not in text
    assert " [31mred[/]  :smile: [bold]" in text


@pytest.mark.parametrize(
    ("arguments", "layers"),
    [
        ({"layers": "Conv"}, ["Conv_0", "Conv_2"]),
        ({"layers": ["*_0", "Gemm_6"]}, ["Conv_0", "Gemm_6"]),
        ({"statuses": ["error"]}, ["GlobalLpPool_4"]),
        ({"layers": "ALL", "statuses": ["difference"]}, []),
    ],
)
def test_selection(arguments, layers):
    header, *rest = shown(cnn_report(), **arguments).split("\n\n")[1].splitlines()
    assert header.startswith("#  layer")
    assert [line.split()[1] for line in rest] == layers


def test_executors_to_show():
    header = shown(cnn_report(), executors=("nss",)).splitlines()[3]
    assert ("nss" in header, "css" in header) == (True, False)


def test_a_name_that_fits_no_layer():
    with pytest.raises(TorqError, match="no layer of cnn is called 'conv_0', contains or matches it"):
        view(cnn_report(), layers="conv_0")


def test_discovery_that_was_stopped():
    report = cnn_report()
    layers = (*report.layers[:3], *(dataclasses.replace(each, executors={}) for each in report.layers[3:]))
    report = dataclasses.replace(report, layers=layers, complete=False)
    assert "discovery has not finished: 3 of 7 layers" in shown(report)
    assert failures(report, "error") == ["discovery has not finished"]


@pytest.mark.parametrize(
    ("fail_on", "executors", "expected"),
    [
        ("error", (), ["GlobalLpPool_4: error on every executor"]),
        ("difference", (), ["GlobalLpPool_4: error on every executor", "full model: difference"]),
        ("error", ("nss",), ["GlobalLpPool_4: error on nss"]),
        (
            "difference",
            ("nss", "host"),
            [
                "Conv_2: difference on nss",
                "Conv_2: error on host",
                "GlobalLpPool_4: error on nss",
                "GlobalLpPool_4: error on host",
                "full model: difference",
            ],
        ),
    ],
)
def test_failures(fail_on, executors, expected):
    assert failures(cnn_report(), fail_on, executors) == expected


SKIPPED = ExecutorResult(Status.SKIPPED, "--skip-ops")


@pytest.mark.parametrize(
    ("executors", "more", "status", "note"),
    [
        ({"nss": result(CLOSE)}, {}, Status.SUCCESS, None),
        ({"nss": error("a"), "css": error("a")}, {"recommended_executor": None}, Status.ERROR, "no executor takes it"),
        ({"nss": SKIPPED}, {"recommended_executor": None}, Status.SKIPPED, "not tried; nss: skipped, --skip-ops"),
        ({}, {}, Status.SKIPPED, None),
        (
            {"nss": error("zero point"), "css": result(CLOSE)},
            {"recommended_executor": "css"},
            Status.SUCCESS,
            "zero point",
        ),
        (
            {"nss": result(FAR)},
            {},
            Status.DIFFERENCE,
            "nss: 1024 of 4096 differ, by up to 5 LSB, where 1 LSB is allowed",
        ),
        (
            {"nss": result(CLOSE, seconds=2.0), "host": result(CLOSE, seconds=1.0)},
            {"recommended_executor": "host"},
            Status.SUCCESS,
            "nss: succeeds, but is slower",
        ),
        (
            {"nss": result(CLOSE)},
            {"recommended_executor": None, "edited": True},
            Status.SKIPPED,
            "set by hand to no executor",
        ),
        ({"nss": result(CLOSE)}, {"mlir_location": None}, Status.SUCCESS, "nothing is left of it in the full model"),
    ],
)
def test_notes(executors, more, status, note):
    this = layer(0, "Conv", executors, **({"mlir_location": "1:1"} | more))
    found = notes(cnn_report(), this)
    assert outcome(this) is status
    assert len(found) == (note is not None)
    assert note is None or note in found[0]


def test_large_report_groups_what_it_says():
    assert shown(large_report(500)).count("1024 of 4096 differ") == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (number(0), "0"),
        (number(0.12345678), "0.1235"),
        (number(float("nan")), "nan"),
        (decibels(58.25), "58.2"),
        (decibels(float("inf")), "inf"),
        (duration(8.5e-7), "850 ns"),
        (duration(1.234e-5), "12.3 us"),
        (duration(4.5601e-3), "4.56 ms"),
        (duration(0.9996), "1.00 s"),
        (duration(0.0), "0 ns"),
        (duration(75.0), "75.00 s"),
        (printable("a\nb\x1bé"), "a b é"),
        (differences(Metrics(10, 2, None, 0.25, 1.0, 30.0, 1.0)), "2 of 10 differ, by up to 0.25"),
        (limits(FAR, Tolerance(mismatch_rate=0.1)), "1 LSB in 10 % of the elements"),
        (limits(Metrics(10, 2, None, 0.25, 3.0, 30.0, 1.0), Tolerance()), "1e-05 + 0.001 of 3"),
        (", ".join(shown_flags({"a": True, "b": False, "c": 0, "d": None, "e": ("x", "y"), "f": ()})), "a, c=0, e=x,y"),
    ],
)
def test_wording(text, expected):
    assert text == expected
