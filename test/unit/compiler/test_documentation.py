# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The documentation names what there is, and its links lead somewhere."""

import re
from pathlib import Path

import pytest

from torq_mlir.passes import registry
from torq_mlir.pipelines import named

ROOT = Path(__file__).parents[3]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [*registry(), *named])
def test_architecture_names_passes_and_pipelines(name):
    assert f"`{name}`" in ARCHITECTURE


def test_architecture_names_packages():
    folders = (path for path in (ROOT / "python" / "torq_mlir").iterdir() if path.is_dir())
    packages = sorted(path.name for path in folders if path.name != "__pycache__")
    assert sorted(re.findall(r"^\| `python/torq_mlir/(\w+)/`", ARCHITECTURE, re.MULTILINE)) == packages


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links(page):
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target
