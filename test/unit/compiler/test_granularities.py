# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The IR on the pages of docs/granularities is what the passes make of the IR before them."""

import re
from pathlib import Path

import pytest
from snippets import missing_part
from torch_mlir import ir

from torq_mlir import dialects, pipelines

PAGES = sorted((Path(__file__).parents[3] / "docs" / "granularities").glob("*.md"))
MARKED = re.compile(r"<!-- ir: ([\w,-]+) -->\n```mlir\n(.*?)```", re.DOTALL)
SNIPPETS = [(page.stem, *found) for page in PAGES for found in MARKED.findall(page.read_text(encoding="utf-8"))]
BEFORE = {page: text for page, passes, text in SNIPPETS if passes == "before"}
AFTER = [(page, passes, text) for page, passes, text in SNIPPETS if passes != "before"]


def test_a_page_for_each_granularity():
    assert list(BEFORE) == ["per-channel", "per-group", "per-tensor", "per-token"]


@pytest.mark.parametrize(("page", "passes", "snippet"), AFTER, ids=[f"{page}-{passes}" for page, passes, _ in AFTER])
def test_ir(page, passes, snippet):
    context = ir.Context()
    dialects.register(context)
    module = ir.Module.parse(BEFORE[page], context)
    pipelines.run(module, f"builtin.module({passes})")
    assert missing_part(snippet, str(module)) is None
