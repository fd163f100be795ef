# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ONNX to `torch.operator "onnx.*"`, by the importer of the torch-mlir wheel."""

import onnx
from onnx import numpy_helper
from torch_mlir import ir
from torch_mlir.extras import onnx_importer

from torq_mlir import dialects
from torq_mlir.dialects import elements
from torq_mlir.dialects.locations import source_names
from torq_mlir.errors import ModelError

from . import naming


class _Types(onnx_importer.ContextCache):
    """Constants as dense elements: what passes compute with has to be readable, which resources are not."""

    __slots__ = ()

    def tensor_proto_to_attr(self, tp: onnx.TensorProto) -> ir.Attribute:
        with ir.Location.unknown(self._c):
            element = self.tensor_element_type(tp.data_type)
            array = numpy_helper.to_array(tp)
            if isinstance(element, ir.IntegerType) and 1 < element.width < 8:
                array = array.astype(elements.numpy_dtype(element))
            return elements.from_numpy(array, element)

    def type_proto_to_type(self, tp: onnx.TypeProto | str) -> ir.Type:
        if tp == "":  # an output that the model leaves out, which the importer warns of
            return self.get_none_type()
        return super().type_proto_to_type(tp)


def import_model(model: onnx.ModelProto, context: ir.Context) -> ir.Module:
    """Level 0 of a model that `load` returned: one function, `main`, of torch tensors.

    The location of each operation is the name of the node of the source model that it comes from, that of each argument
    the name of the input.

    Raises:
      ModelError: the model has a type or an attribute that the torch dialect has no form for.
    """
    dialects.register(context)
    module = ir.Module.create(ir.Location.unknown(context))
    graph = onnx_importer.ModelInfo(model).main_graph
    try:
        importer = onnx_importer.NodeImporter.define_function(graph, module.operation, _Types(context))
        importer.import_all()
    except onnx_importer.OnnxImportError as error:
        raise ModelError(" ".join(str(error).split())) from error
    function = module.body.operations[0]
    _name_sources(function.operation, model.graph)
    function.attributes["sym_name"] = ir.StringAttr.get("main", context)
    return module


def _name_sources(function: ir.Operation, graph: onnx.GraphProto) -> None:
    """Locations of nodes that stand for others name those."""
    sources = {node.name: naming.source_of(node)[0] for node in graph.node}
    for operation in function.regions[0].blocks[0].operations:
        for name in source_names(operation.location):
            if sources.get(name, name) != name:
                operation.location = ir.Location.name(sources[name], context=function.context)
