# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Names and positions in locations."""

import pytest
from torch_mlir import ir

from torq_mlir.dialects.locations import file_positions, fuse, source_names


@pytest.fixture
def conv():
    """A node at a line of a file, in a context."""
    with ir.Context():
        yield ir.Location.name("conv", ir.Location.file("model.mlir", 3, 4))


def test_names_and_positions(conv):
    relu = ir.Location.name("relu", ir.Location.file("model.mlir", 5, 6))
    both = ir.Location.fused([conv, relu, ir.Location.name("quantize")])
    assert source_names(both) == ["conv", "relu", "quantize"]
    assert file_positions(both) == [(3, 4), (5, 6)]
    assert file_positions(ir.Location.file("model.mlir", 7, 8)) == [(7, 8)]
    assert (source_names(ir.Location.unknown()), file_positions(ir.Location.unknown())) == ([], [])


def test_what_is_fused_keeps_its_positions_once(conv):
    fused = fuse([conv, fuse([conv, ir.Location.name("quantize")])])
    assert source_names(fused) == ["conv", "quantize"]
    assert file_positions(fused) == [(3, 4)]
    assert fuse([conv, conv]) == conv
    assert fuse([ir.Location.unknown()]) == ir.Location.unknown()
