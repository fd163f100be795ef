# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lets the tests here import `quantized_networks`, and gives each of them a TorchDynamo without code of others."""

import logging
import sys
from pathlib import Path

import pytest
import torch

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True)
def _without_compiled_code(monkeypatch):
    monkeypatch.setattr(
        logging.getLogger("torch.__trace"), "disabled", True
    )  # a log of every graph, for pytest to keep
    torch._dynamo.reset()
    with torch.no_grad():
        yield
    torch._dynamo.reset()


@pytest.fixture
def fallbacks(caplog):
    """What has been logged of graphs that run in eager mode: their reasons."""
    caplog.set_level(logging.INFO, "torq_mlir.pytorch")

    def reasons() -> list[str]:
        lines = [record.getMessage() for record in caplog.records if record.name == "torq_mlir.pytorch"]
        assert all(" runs in eager mode: " in line and "\n" not in line for line in lines)
        return [line.partition(" runs in eager mode: ")[2] for line in lines]

    return reasons
