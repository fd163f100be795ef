# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The text of the page, without a browser."""

import dataclasses
import math
import re
from html.parser import HTMLParser

import pytest
from sample_reports import EQUAL, cnn_report, large_report, layer, result, values

from torq_mlir.gen_config import view
from torq_mlir.gen_config.files import (
    Distribution,
    ExecutorResult,
    IrText,
    Metrics,
    ModelInfo,
    Report,
    Status,
    Values,
    write_report,
)
from torq_mlir.gen_config.page import render_page
from torq_mlir.gen_config.page.charts import HEIGHT, WIDTH, histogram, percent, sqnr_percent

VOID = {"meta", "link", "input", "rect", "path"}


class Balanced(HTMLParser):
    """Every element that is opened is closed, in the right order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.references = [], [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.references += [value for name, value in attributes if name in ("src", "href", "action", "data-src")]
        if "id" in found:
            self.ids.append(found["id"])
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        assert tag in VOID
        self.handle_starttag(tag, attributes)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def report_of(*layers):
    return Report(ModelInfo("m", "m.onnx", "00" * 32), {}, layers)


@pytest.mark.parametrize("report", [cnn_report(), large_report(30), report_of()], ids=["cnn", "large", "empty"])
def test_is_one_page_that_refers_to_nothing_else(report):
    page = Balanced(render_page(report))
    assert len(page.ids) == len(set(page.ids))
    outside = [reference for reference in page.references if not reference.startswith(("#", "data:,"))]
    assert outside == []
    assert {reference[1:] for reference in page.references if reference.startswith("#")} <= set(page.ids)


def test_no_url_in_style_and_script():
    assert re.findall(r"https?:|url\(|@import|fetch\(|XMLHttp", render_page(report_of())) == []


def test_names_from_a_model_are_text():
    name = "</template></script><script>alert(1)</script>\"'><img src=x onerror=alert(1)>&amp;"
    bad = layer(
        0, name, {"nss": result(values=values(name), ir=IrText(name))}, name=name, ir=IrText(name), fused_into=name
    )
    report = dataclasses.replace(
        report_of(bad), model=ModelInfo(name, name, name), flags={name: name}, versions={name: name}
    )
    page = Balanced(render_page(report))
    assert "x" not in page.references
    assert render_page(report).count("<script") == 1


def test_links_are_unique_whatever_the_names_are():
    names = ["/a/b", "a-b", "a b", "é", "ß", "."]
    page = render_page(report_of(*(layer(index, "Conv", {}, name=name) for index, name in enumerate(names))))
    links = re.findall(r'<tbody id="([^"]*)"', page)
    assert links == ["layer-a-b", "layer-a-b-2", "layer-a-b-3", "layer-3", "layer-4", "layer-."]


def test_ir_in_files(tmp_path):
    (tmp_path / "ir").mkdir()
    (tmp_path / "ir" / "before.mlir").write_text("module @before")
    (tmp_path.parent / "secret.mlir").write_text("module @secret")
    files = ["ir/before.mlir", "ir/missing.mlir", "../secret.mlir", str(tmp_path.parent / "secret.mlir")]
    layers = [layer(index, "Conv", {}, ir=IrText(file=file)) for index, file in enumerate(files)]
    write_report(tmp_path / "report.json", report_of(*layers))
    view(tmp_path / "report.json", html=tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "module @before" in page
    assert "ir/missing.mlir: No such file or directory" in page
    assert "module @secret" not in page
    assert page.count("is not in the folder of the report") == 2


def test_long_ir_is_cut():
    page = render_page(report_of(layer(0, "Conv", {}, ir=IrText("x" * 40_000))))
    assert "... 10000 more characters" in page
    assert len(page) < 70_000


def test_figures_that_are_no_numbers():
    nan = Metrics(4, 4, math.nan, math.nan, 1.0, math.nan, math.nan)
    inside = Values("y", math.nan, math.inf, Distribution(math.nan, 1.0), Distribution(0.0, math.inf))
    broken = ExecutorResult(Status.DIFFERENCE, metrics=nan, values=inside)
    page = render_page(report_of(layer(0, "Conv", {"nss": broken}), layer(1, "Conv", {"nss": result(EQUAL)})))
    assert 'data-difference="1e+308" data-sqnr="-1e+308"' in page
    assert 'data-difference="0.0" data-sqnr="1e+308"' in page
    assert "∞ dB" in page


def test_layers_without_a_result():
    page = render_page(dataclasses.replace(report_of(layer(0, "Conv", {}), layer(1, "Add", {})), complete=False))
    assert "Discovery has not finished: 0 of 2 layers." in page


def test_times_where_they_were_taken():
    assert 'data-sort="time"' in render_page(report_of(layer(0, "Conv", {"nss": result(EQUAL, seconds=1e-3)})))
    page = render_page(report_of(layer(0, "Conv", {"nss": result(EQUAL)})))
    assert ('data-sort="time"' in page, "longest time" in page) == (False, False)


def test_identical_layers_are_drawn_once():
    drawn = {"nss": result(values=values("y"))}
    first, copy = layer(0, "Add", drawn, name="first"), layer(1, "Add", drawn, name="copy", duplicate_of="first")
    page = render_page(report_of(first, copy))
    start = page.index("Where values differ most")
    assert page[start : page.index('id="layers"')].count("<figure") == 1


def test_histogram():
    drawing = histogram(Values("y", -1, 1, Distribution(-1, 1, (0, 4)), Distribution(-1, 0, (1, 0))))
    assert drawing.reference == f"M0 {HEIGHT}V{HEIGHT}.0H{WIDTH / 2}V0.0H{WIDTH}.0V{HEIGHT}Z"
    assert drawing.ours == f"M0 {HEIGHT}V{HEIGHT / 2}H{WIDTH / 2}V{HEIGHT}.0H{WIDTH}.0V{HEIGHT}Z"
    assert drawing.description == "y: reference from -1 to 1, ours from -1 to 0"


@pytest.mark.parametrize(
    ("length", "expected"),
    [
        (sqnr_percent(40.0), 50.0),
        (sqnr_percent(math.inf), 100.0),
        (sqnr_percent(-3.0), 0.0),
        (sqnr_percent(math.nan), 0.0),
        (percent(1.0, 4.0), 25.0),
        (percent(math.inf, 4.0), 100.0),
        (percent(0.0, 0.0), 0.0),
        (percent(math.nan, 1.0), 0.0),
    ],
)
def test_bars(length, expected):
    assert length == expected
