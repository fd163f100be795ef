# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shape and element type of builtin tensors and of `!torch.vtensor`, whose type has no class in the bindings."""

import functools
import re
from typing import NamedTuple

from torch_mlir import ir

# None is a dimension that is not known.
Shape = tuple[int | None, ...]

_VTENSOR = re.compile(r"!torch\.vtensor(?:<(?:\*|\[(?P<shape>[^\]]*)\]),(?:unk|(?P<element>complex<\w+>|[^>,]+)).*>)?")


class TensorInfo(NamedTuple):
    """A type taken apart. `shape` is None when there is no rank, and () for a scalar, whose `element` is its type.

    `element` is None when a torch tensor does not tell its dtype.
    """

    type: ir.Type
    shape: Shape | None
    element: ir.Type | None
    is_torch: bool

    @property
    def is_integer(self) -> bool:
        return isinstance(self.element, ir.IntegerType)


def describe(type_: ir.Type) -> TensorInfo:
    """Takes a builtin tensor, torch tensor or scalar type apart."""
    if isinstance(type_, ir.RankedTensorType):
        sizes = type_.shape
        if not type_.has_static_shape:
            sizes = [None if ir.ShapedType.is_dynamic_size(size) else size for size in sizes]
        return TensorInfo(type_, tuple(sizes), type_.element_type, False)
    if isinstance(type_, ir.UnrankedTensorType):
        return TensorInfo(type_, None, type_.element_type, False)
    parsed = _parse_vtensor(str(type_))
    if parsed is None:
        return TensorInfo(type_, (), type_, False)
    known, element = parsed
    return TensorInfo(type_, known, ir.Type.parse(element, type_.context) if element else None, True)


@functools.lru_cache(maxsize=4096)
def _parse_vtensor(text: str) -> tuple[Shape | None, str | None] | None:
    match = _VTENSOR.fullmatch(text)
    if match is None:
        return None
    if match["shape"] is None:
        return None, match["element"]
    return tuple(None if size == "?" else int(size) for size in match["shape"].split(",") if size), match["element"]


def is_torch_tensor(type_: ir.Type) -> bool:
    """Whether `type_` is a `!torch.vtensor`."""
    return describe(type_).is_torch


def shape(type_: ir.Type) -> Shape | None:
    """The shape of a type, see `TensorInfo`."""
    return describe(type_).shape


def element_type(type_: ir.Type) -> ir.Type | None:
    """The element type of a type, see `TensorInfo`."""
    return describe(type_).element


def tensor(shape: Shape, element: ir.Type) -> ir.RankedTensorType:
    """A builtin tensor type."""
    dynamic = ir.ShapedType.get_dynamic_size()
    sizes = [dynamic if size is None else size for size in shape]
    return ir.RankedTensorType.get(sizes, element, loc=ir.Location.unknown(element.context))


def torch_tensor(shape: Shape | None, element: ir.Type) -> ir.Type:
    """A `!torch.vtensor`; its integers have a sign."""
    sizes = "*" if shape is None else f"[{','.join('?' if size is None else str(size) for size in shape)}]"
    return ir.Type.parse(f"!torch.vtensor<{sizes},{element}>", element.context)


def with_element(type_: ir.Type, element: ir.Type) -> ir.Type:
    """A tensor of the same kind and shape as `type_`."""
    return with_shape(type_, describe(type_).shape, element)


def with_shape(type_: ir.Type, shape: Shape | None, element: ir.Type) -> ir.Type:
    """A tensor of the same kind as `type_`, builtin or torch."""
    if is_torch_tensor(type_):
        return torch_tensor(shape, element)
    if shape is None:
        return ir.UnrankedTensorType.get(element, loc=ir.Location.unknown(element.context))
    return tensor(shape, element)


def compatible(first: Shape | None, second: Shape | None) -> bool:
    """Whether two shapes can be that of one tensor."""
    if first is None or second is None:
        return True
    return len(first) == len(second) and all(
        left is None or right is None or left == right for left, right in zip(first, second, strict=True)
    )


def text(shape: Shape | None) -> str:
    """A shape as it appears in a tensor type."""
    if shape is None:
        return "*"
    return "x".join("?" if size is None else str(size) for size in shape) or "()"
