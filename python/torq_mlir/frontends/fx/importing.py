# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exported programs to the torch dialect, by the importer of the torch-mlir wheel."""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch.export import ExportedProgram
from torch_mlir import ir
from torch_mlir.extras import fx_importer

from torq_mlir import dialects
from torq_mlir.dialects import elements, tensor_types
from torq_mlir.errors import ModelError

from .dtypes import element_type, to_numpy
from .loading import LoadedProgram, load, operator_name


def import_program(program: ExportedProgram | LoadedProgram, context: ir.Context) -> ir.Module:
    """Level 0 of a program: one function, `main`, of torch tensors; parameters and buffers are constants in it.

    The function takes the inputs of the program and then the buffers that a call updates, and returns the outputs and
    then the new values of what a call updates: `LoadedProgram.inputs` and `outputs`. The location of each operation is
    the name of its node in the program, that of each argument the name of the input.

    Args:
      program: as `torch.export` makes it, not modified, or as `load` returns it.

    Raises:
      ModelError: as `load`; or an operator has an argument that the torch dialect has no form for.
    """
    loaded = program if isinstance(program, LoadedProgram) else load(program)
    dialects.register(context)
    importer = _Importer(context, loaded.source_name)
    with context:  # the importer relies on a current context in places
        try:
            function = importer.import_program(loaded.program)
        except ValueError as error:  # of what it rewrites before the import, such as views by strides
            raise ModelError(" ".join(str(error).split())) from error
    for argument, info in zip(function.regions[0].blocks[0].arguments, loaded.inputs, strict=True):
        argument.set_location(ir.Location.name(info.name, context=context))
    return importer.module


class _Importer(fx_importer.FxImporter):
    """The importer of torch-mlir, with our locations, constants and errors."""

    def __init__(self, context: ir.Context, source_name: Callable[[torch.fx.Node], str]) -> None:
        super().__init__(context=context, hooks=_Constants(), graph_node_importer_cls=_Nodes)
        self._cc = _Types(context, source_name)
        self.source_name = source_name


class _Types(fx_importer.ContextCache):
    """Locations by the names of nodes, which unlike lines of Python files are unique."""

    __slots__ = ("_source_name",)

    def __init__(self, context: ir.Context, source_name: Callable[[torch.fx.Node], str]) -> None:
        super().__init__(context)
        self._source_name = source_name

    def get_node_location(self, node: torch.fx.Node) -> ir.Location:
        return ir.Location.name(self._source_name(node), context=self._c)


class _Nodes(fx_importer.GraphNodeImporter):
    """The importer of nodes, whose errors do not say which one they are about."""

    __slots__ = ()

    def import_nodes(self, nodes: Iterable[torch.fx.Node], **options: Any) -> None:
        for node in nodes:
            try:
                super().import_nodes([node], **options)
            except (AssertionError, KeyError, NotImplementedError, RuntimeError, TypeError, ValueError) as error:
                name = f"{self.fx_importer.source_name(node)} ({operator_name(node)})"
                raise ModelError(f"{name}: {' '.join(str(error).split())}") from error


class _Constants(fx_importer.FxImporterHooks):
    """Tensors as dense elements, through their memory; one operation for the tensors that share it."""

    def __init__(self) -> None:
        self._literals: dict[tuple, ir.Value] = {}

    def resolve_literal(
        self, gni: fx_importer.GraphNodeImporter, literal: Any, info: fx_importer.InputInfo | None
    ) -> ir.Value | None:
        if not isinstance(literal, torch.Tensor):
            return None
        key = (literal.data_ptr(), literal.dtype, tuple(literal.shape), literal.stride()) if literal.numel() else None
        if key not in self._literals or key is None:
            self._literals[key] = _literal(literal)
        return self._literals[key]

    def resolve_input(
        self, gni: fx_importer.GraphNodeImporter, value: Any, info: fx_importer.InputInfo
    ) -> ir.Value | None:
        return self.resolve_literal(gni, value, info)  # as a boolean tensor, which the importer makes an ui8 of


def _literal(tensor: torch.Tensor) -> ir.Value:
    element = element_type(tensor.dtype)
    type_ = tensor_types.torch_tensor(tuple(tensor.shape), element)
    return elements.torch_literal(elements.from_numpy(to_numpy(tensor), element), type_)
