# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The IR that README.md shows is what the compiler prints."""

import re
from pathlib import Path

import pytest
from small_models import ORACLE
from snippets import missing_part

import torq_mlir
from torq_mlir import pipelines

README = (Path(__file__).parents[3] / "README.md").read_text(encoding="utf-8")
SNIPPETS = re.findall(r"<!-- level: ([\w-]+) -->\n```mlir\n(.*?)```", README, re.DOTALL)


@pytest.fixture(scope="module")
def compiled():
    return torq_mlir.compile(ORACLE / "conv3x3_same_zp.onnx")


def text(compiled, level):
    if level != "fused":
        return compiled.mlir(level, elide=True)
    module = compiled.levels["linalg"].clone()
    pipelines.run(module, "builtin.module(torq-signed-storage,torq-fuse-quantized-ops)")
    return module.operation.get_asm(large_elements_limit=16)


def test_shows_every_step():
    assert [level for level, _ in SNIPPETS] == ["torch", "linalg", "fused", "torq-hl"]


@pytest.mark.parametrize(("level", "snippet"), SNIPPETS, ids=[level for level, _ in SNIPPETS])
def test_ir(compiled, level, snippet):
    assert missing_part(snippet, text(compiled, level)) is None
