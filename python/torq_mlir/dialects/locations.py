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
    if type(location) is ir.Location:  # diagnostics give locations of unknown kind
        location = ir.Location.from_attr(location.attr, location.context)
    if isinstance(location, ir.FusedLoc):
        return list(dict.fromkeys(name for child in location.locations for name in source_names(child)))
    if isinstance(location, ir.NameLoc):
        return [location.name_str]
    return []


def fuse(locations: Iterable[ir.Location]) -> ir.Location:
    """One location that names the sources of all, in order."""
    names = dict.fromkeys(name for location in locations for name in source_names(location))
    if not names:
        return ir.Location.unknown()
    parts = [ir.Location.name(name) for name in names]
    return parts[0] if len(parts) == 1 else ir.Location.fused(parts)
