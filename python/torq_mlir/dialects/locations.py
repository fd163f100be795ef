# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Names of source nodes in MLIR locations.

A node of the source model is a NameLoc. An operation that stands for several nodes has a FusedLoc of theirs, the
computing node first and the quantizing node last.
"""

from collections.abc import Iterable

from torch_mlir import ir


def source_names(location: ir.Location) -> list[str]:
    """Names in `location`, in order, without repetition."""
    return list(dict.fromkeys(leaf.name_str for leaf in _leaves(location) if isinstance(leaf, ir.NameLoc)))


def file_positions(location: ir.Location) -> list[tuple[int, int]]:
    """Lines and columns in the files that `location` names, from 1, in order, without repetition."""
    positions = []
    for leaf in _leaves(location):
        inner = leaf.child_loc if isinstance(leaf, ir.NameLoc) else leaf
        if isinstance(inner, ir.FileLineColLoc):
            positions.append((inner.start_line, inner.start_col))
    return list(dict.fromkeys(positions))


def fuse(locations: Iterable[ir.Location]) -> ir.Location:
    """One location that names the sources of all, in order, with their positions in a file where they have one."""
    parts: dict[str, ir.Location] = {}
    for location in locations:
        for leaf in _leaves(location):
            parts.setdefault(leaf.name_str if isinstance(leaf, ir.NameLoc) else str(leaf), leaf)
    if not parts:
        return ir.Location.unknown()
    return next(iter(parts.values())) if len(parts) == 1 else ir.Location.fused(list(parts.values()))


def _leaves(location: ir.Location) -> list[ir.Location]:
    """The NameLocs and FileLineColLocs that `location` consists of."""
    if type(location) is ir.Location:  # diagnostics give locations of unknown kind
        location = ir.Location.from_attr(location.attr, location.context)
    if isinstance(location, ir.FusedLoc):
        return [leaf for child in location.locations for leaf in _leaves(child)]
    return [location] if isinstance(location, ir.NameLoc | ir.FileLineColLoc) else []
