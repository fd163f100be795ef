# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Static shapes for the inputs of a program that was exported with dynamic ones."""

from collections.abc import Mapping, Sequence

import sympy
import torch
from torch.export import ExportedProgram

from torq_mlir.errors import ModelError

from .signature import user_inputs

# A dimension: its size, or an expression of symbols.
_Dimension = int | sympy.Expr


def fix_input_shapes(
    program: ExportedProgram, input_shapes: Mapping[str, Sequence[int]], batch: int | None
) -> ExportedProgram:
    """The program, exported again for static shapes where its inputs have dynamic dimensions.

    Raises:
      ModelError: a dimension stays dynamic, or an argument does not fit the program.
    """
    if batch is not None and batch < 1:
        raise ModelError(f"the batch has to be positive, not {batch}")
    shapes = {name: _dimensions(value) for name, value in user_inputs(program) if isinstance(value, torch.Tensor)}
    for name in input_shapes.keys() - shapes.keys():
        raise ModelError(f"the model has no input '{name}' to give a shape to; its inputs are {sorted(shapes)}")
    sizes: dict[sympy.Symbol, int] = {}
    for name, shape in shapes.items():
        if name in input_shapes:
            _set_shape(name, shape, tuple(input_shapes[name]), sizes)
        elif batch is not None and shape and not isinstance(shape[0], int):
            _set_size(name, 0, shape[0], batch, sizes)
    static = {name: _static_shape(name, shape, sizes) for name, shape in shapes.items()}
    _check_ranges(program, shapes, sizes)
    return _export_again(program, static) if sizes else program


def _dimensions(value: torch.Tensor) -> tuple[_Dimension, ...]:
    return tuple(size.node.expr if isinstance(size, torch.SymInt) else size for size in value.shape)


def _set_shape(name: str, shape: Sequence[_Dimension], wanted: tuple[int, ...], sizes: dict) -> None:
    if len(wanted) != len(shape):
        raise ModelError(f"input '{name}': has {len(shape)} dimensions; the shape {wanted} does not fit")
    if any(size < 0 for size in wanted):
        raise ModelError(f"input '{name}': the shape {wanted} has a negative size")
    for axis, (dimension, size) in enumerate(zip(shape, wanted, strict=True)):
        _set_size(name, axis, dimension, size, sizes)


def _set_size(name: str, axis: int, dimension: _Dimension, size: int, sizes: dict[sympy.Symbol, int]) -> None:
    """Gives `dimension` a size, and with it the one symbol that it depends on."""
    known = sympy.sympify(dimension).subs(sizes)
    free = known.free_symbols
    if not free and known != size:
        raise ModelError(f"input '{name}': dimension {axis} is {known}, not {size}")
    if len(free) == 1:
        (symbol,) = free
        solutions = [value for value in sympy.solve(known - size, symbol) if value.is_integer and value >= 0]
        if not solutions:
            raise ModelError(f"input '{name}': dimension {axis} is {known}, which cannot be {size}")
        sizes[symbol] = int(solutions[0])


def _static_shape(name: str, shape: Sequence[_Dimension], sizes: Mapping[sympy.Symbol, int]) -> tuple[int, ...]:
    known = [sympy.sympify(dimension).subs(sizes) for dimension in shape]
    for axis, size in enumerate(known):
        if not size.free_symbols:
            continue
        way_out = "batch=1 or " if axis == 0 else ""
        text = ", ".join("?" if each.free_symbols else str(each) for each in known)
        raise ModelError(
            f"input '{name}': dimension {axis} ('{size}') is dynamic; fix it with {way_out}"
            f"input_shapes={{'{name}': ({text}{',' if len(known) == 1 else ''})}}"
        )
    return tuple(int(size) for size in known)


def _check_ranges(
    program: ExportedProgram, shapes: Mapping[str, Sequence[_Dimension]], sizes: Mapping[sympy.Symbol, int]
) -> None:
    """The sizes are among those that the program was exported for."""
    for name, shape in shapes.items():
        for axis, dimension in enumerate(shape):
            for symbol in sympy.sympify(dimension).free_symbols:
                values = program.range_constraints.get(symbol)
                if values is not None and not values.lower <= sizes[symbol] <= values.upper:
                    raise ModelError(
                        f"input '{name}': dimension {axis} ('{symbol}') was exported for sizes of {values.lower} to "
                        f"{values.upper}, not {sizes[symbol]}"
                    )


def _export_again(program: ExportedProgram, shapes: Mapping[str, tuple[int, ...]]) -> ExportedProgram:
    flat = [
        torch.zeros(shapes[name], dtype=value.dtype) if isinstance(value, torch.Tensor) else value
        for name, value in user_inputs(program)
    ]
    arguments, keywords = program.call_spec.in_spec.unflatten(flat)
    return torch.export.export(program.module(), arguments, keywords)
