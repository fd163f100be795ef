# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The compiler as a backend of the `onnx` package.

    from torq_mlir import onnx_backend

    prepared = onnx_backend.prepare(onnx.load("model.onnx"))
    (logits,) = prepared.run([image])

    (sum,) = onnx_backend.run_node(onnx.helper.make_node("Add", ["a", "b"], ["c"]), [a, b])

Options of `prepare`, `run_model` and `run_node` are those of `torq_mlir.compile`. A model is compiled at once where its
inputs have static shapes. Where they have not, or where the shape of a result depends on the values of an input (such
as that of Reshape, or the axes of a reduction), it is compiled at the first call with such shapes and values.
"""

import inspect
from collections import OrderedDict
from collections.abc import Mapping, Sequence

import numpy as np
import onnx
from onnx import defs, helper, shape_inference
from onnx.backend import base

from torq_mlir.compiler import CompiledModel, compile
from torq_mlir.errors import InputError, ModelError, TorqError
from torq_mlir.frontends.onnx import deciding_inputs
from torq_mlir.frontends.onnx.naming import describe

__all__ = [
    "TorqBackend",
    "TorqBackendRep",
    "is_compatible",
    "prepare",
    "run_model",
    "run_node",
    "supports_device",
]

# Compiled models that a prepared model keeps; the least recently used one is forgotten.
_MOST_KEPT = 16
_OPTIONS = tuple(inspect.signature(compile).parameters)[1:]


class TorqBackendRep(base.BackendRep):
    """A model that is ready to run, as `prepare` gives it."""

    def __init__(self, model: onnx.ModelProto, options: Mapping[str, object]) -> None:
        self._model, self._options = model, dict(options)
        constants = {tensor.name for tensor in model.graph.initializer}
        inputs = [value for value in model.graph.input if value.name not in constants]
        self._names = [value.name for value in inputs]
        self._tensors = {value.name for value in inputs if value.type.HasField("tensor_type")}
        self._outputs = [value.name for value in model.graph.output]
        self._deciding = deciding_inputs.names(model)
        self._open = deciding_inputs.of_open_shape(inputs) - self._deciding - self._fixed_shapes(inputs)
        self._compiled: OrderedDict[tuple, CompiledModel] = OrderedDict()
        if not self._deciding and not self._open:
            self._specialized({})

    def run(self, inputs: object, **kwargs: object) -> tuple[np.ndarray, ...]:
        """The outputs, in order, as a tuple that also takes their names as keys.

        Args:
          inputs: arrays in the order of the inputs of the model, or by name; the array itself where there is one.

        Raises:
          InputError: an input is missing or unknown, or does not fit.
          ModelError, CompileError: the model cannot be compiled for these inputs.
        """
        if kwargs:
            raise TypeError(f"run takes no option {next(iter(kwargs))!r}; options of the compiler are those of prepare")
        given = self._by_name(inputs)
        compiled = self._specialized(given)
        outputs = compiled(**{name: array for name, array in given.items() if name not in self._deciding})
        return base.namedtupledict("Outputs", self._outputs)(*outputs)

    def _fixed_shapes(self, inputs: Sequence[onnx.ValueInfoProto]) -> set[str]:
        """The inputs of open shape that the options say the shape of."""
        fixed = set(self._options.get("input_shapes") or ())
        if self._options.get("batch") is not None:
            fixed |= {value.name for value in inputs if deciding_inputs.is_open_in_batch_alone(value)}
        return fixed

    def _by_name(self, inputs: object) -> dict[str, np.ndarray]:
        if isinstance(inputs, Mapping):
            given = dict(inputs)
        else:
            arrays = inputs if isinstance(inputs, list | tuple) else [inputs]
            if len(arrays) > len(self._names):
                raise InputError(f"the model has {len(self._names)} inputs, but {len(arrays)} arrays were passed")
            given = dict(zip(self._names, arrays, strict=False))
        missing = [name for name in self._names if name not in given]
        if missing:
            raise InputError(f"no array was passed for input {', '.join(map(repr, missing))}")
        return {name: np.asarray(value) if name in self._tensors else value for name, value in given.items()}

    def _specialized(self, given: Mapping[str, np.ndarray]) -> CompiledModel:
        """The model, compiled for the values of the deciding inputs and the shapes of those that are open."""
        values = {name: given[name] for name in sorted(self._deciding)}
        shapes = {name: given[name].shape for name in sorted(self._open)}
        key = (*((name, v.dtype.str, v.shape, v.tobytes()) for name, v in values.items()), *shapes.items())
        if key not in self._compiled:
            model = deciding_inputs.with_values(self._model, values) if values else self._model
            options = self._options
            if shapes:
                options = options | {"input_shapes": {**(options.get("input_shapes") or {}), **shapes}}
            self._compiled[key] = compile(model, **options)
        self._compiled.move_to_end(key)
        if len(self._compiled) > _MOST_KEPT:
            self._compiled.popitem(last=False)
        return self._compiled[key]


class TorqBackend(base.Backend):
    """`onnx.backend.base.Backend` on top of `torq_mlir.compile`; its class methods are functions of this module too."""

    @classmethod
    def is_compatible(cls, model: onnx.ModelProto, device: str = "CPU", **options: object) -> bool:
        """Whether the model can be compiled; of one that is compiled at its first call, whether it may be."""
        if not cls.supports_device(device):
            return False
        try:
            cls.prepare(model, device, **options)
        except TorqError:
            return False
        return True

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = "CPU", **options: object) -> TorqBackendRep:
        """Compile a model.

        Args:
          model: which is not modified.
          device: "CPU".
          options: of `torq_mlir.compile`, such as `backend="interpreter"`.

        Raises:
          ValueError: there is no such device.
          TypeError: there is no such option.
          ModelError, CompileError: as `torq_mlir.compile`.
        """
        _check_device(device)
        _check_options(options)
        if not isinstance(model, onnx.ModelProto):
            raise TypeError(f"prepare takes an onnx.ModelProto, not {type(model).__name__}")
        return TorqBackendRep(model, options)

    @classmethod
    def run_model(
        cls, model: onnx.ModelProto, inputs: object, device: str = "CPU", **options: object
    ) -> tuple[np.ndarray, ...]:
        """Compile a model and run it once; as `prepare` and `TorqBackendRep.run`."""
        return cls.prepare(model, device, **options).run(inputs)

    @classmethod
    def run_node(
        cls,
        node: onnx.NodeProto,
        inputs: object,
        device: str = "CPU",
        outputs_info: Sequence[tuple[np.dtype, tuple[int, ...]]] | None = None,
        **options: object,
    ) -> tuple[np.ndarray, ...]:
        """Compile one operator and run it once.

        Args:
          inputs: arrays of the inputs that the node has, in order, or by name. One that it has twice may be given once.
          outputs_info: dtype and shape of each output; inferred where it is not given.
          options: as for `prepare`; `opset_version`, of the operator, is the latest one unless it is given.
        """
        _check_device(device)
        opset = options.pop("opset_version", defs.onnx_opset_version())
        given_names = [name for name in node.input if name]
        names = list(dict.fromkeys(given_names))
        arrays = inputs if isinstance(inputs, list | tuple | Mapping) else [inputs]
        if len(arrays) > len(given_names) and not isinstance(arrays, Mapping):
            raise InputError(f"the node has {len(given_names)} inputs, but {len(arrays)} arrays were passed")
        order = given_names if len(arrays) == len(given_names) else names
        given = dict(arrays) if isinstance(arrays, Mapping) else dict(zip(order, arrays, strict=False))
        missing = [name for name in names if name not in given]
        if missing:
            raise InputError(f"no array was passed for input {', '.join(map(repr, missing))}")
        model = _node_model(node, {name: np.asarray(given[name]) for name in names}, outputs_info, opset)
        return cls.run_model(model, given, device, **options)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Whether models run on a device, such as "CPU" or "CUDA:1"."""
        return device.partition(":")[0] == "CPU"


def _check_device(device: str) -> None:
    if not TorqBackend.supports_device(device):
        raise ValueError(f"there is no device {device!r}; models run on 'CPU'")


def _check_options(options: Mapping[str, object]) -> None:
    unknown = [name for name in options if name not in _OPTIONS]
    if unknown:
        raise TypeError(f"there is no option {unknown[0]!r}; the options are {', '.join(_OPTIONS)}")


def _node_model(
    node: onnx.NodeProto,
    arrays: Mapping[str, np.ndarray],
    outputs_info: Sequence[tuple[np.dtype, tuple[int, ...]]] | None,
    opset: int,
) -> onnx.ModelProto:
    """A model of one operator."""
    types = {
        name: helper.make_tensor_type_proto(helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for name, array in arrays.items()
    }
    imports = [helper.make_opsetid(node.domain, opset)]
    results = [name for name in node.output if name]
    if outputs_info is not None:
        known = (helper.make_tensor_type_proto(helper.np_dtype_to_tensor_dtype(d), s) for d, s in outputs_info)
        outputs = dict(zip(results, known, strict=False))
    else:
        if not defs.has(node.op_type, opset, node.domain):
            raise ModelError(f"{describe(node)}: not an operator of ONNX opset {opset}")
        schema = defs.get_schema(node.op_type, opset, node.domain)
        try:
            outputs = shape_inference.infer_node_outputs(schema, node, types, opset_imports=imports)
        except shape_inference.InferenceError as error:
            raise ModelError(f"{describe(node)}: {' '.join(str(error).split())}") from error
    values = [
        [helper.make_value_info(n, known[n]) for n in order] for order, known in ((arrays, types), (results, outputs))
    ]
    graph = helper.make_graph([node], node.name or node.op_type, *values)
    return helper.make_model(graph, opset_imports=imports)


is_compatible = TorqBackend.is_compatible
prepare = TorqBackend.prepare
run_model = TorqBackend.run_model
run_node = TorqBackend.run_node
supports_device = TorqBackend.supports_device
