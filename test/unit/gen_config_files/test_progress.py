# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The display of a discovery that goes on: lines where it is read later, a bar where it is looked at."""

import io
import os
import pty
import re

import pytest
from sample_reports import CLOSE, FAR, error, result

from torq_mlir.gen_config.progress import SILENT, display

LINES = """\
calibrated with synthetic data
[ 9/12] Conv_0  nss   success     3 of 4096 differ, by up to 1 LSB  (120 ms)
[10/12] Conv_0  css   difference  1024 of 4096 differ, by up to 5 LSB  (3.50 s)
[11/12] Relu_1  host  error       a reason in [red]two[/] lines  (10 ms)
[12/12] Relu_2  host  success     3 of 4096 differ, by up to 1 LSB
"""


def events(progress):
    progress.note("calibrated with synthetic data")
    progress.started("Conv_0", "nss")
    progress.started("Conv_0", "css")
    progress.finished("Conv_0", "nss", result(CLOSE), 0.12)
    progress.finished("Conv_0", "css", result(FAR), 3.5)
    progress.started("Relu_1", "host")
    progress.finished("Relu_1", "host", error("a reason in [red]two[/]\nlines"), 0.01)
    progress.finished("Relu_2", "host", result(CLOSE))


def test_lines():
    stream = io.StringIO()
    with display(12, 8, stream) as progress:
        events(progress)
    assert stream.getvalue() == LINES


def on_terminal(monkeypatch, **environment):
    for name, value in ({"TERM": "xterm-256color", "COLUMNS": "100", "NO_COLOR": ""} | environment).items():
        monkeypatch.setenv(name, value)
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w") as stream, display(12, 8, stream) as progress:
        events(progress)
    text = b""
    while True:
        try:
            text += os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
    os.close(ours)
    return text.decode().replace("\r\n", "\n")


def test_bar(monkeypatch):
    text = on_terminal(monkeypatch)
    assert "\x1b[33m difference " in text
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
    for line in LINES.splitlines():
        assert line.partition("] ")[2] in plain
    assert "8/12" in plain
    assert "left" in plain


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_plain_terminal(monkeypatch, environment):
    assert on_terminal(monkeypatch, **environment) == LINES


def test_silent(capfd):
    events(SILENT)
    assert capfd.readouterr() == ("", "")
