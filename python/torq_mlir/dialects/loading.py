# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Registers the dialects in a context, through IRDL.

IRDL declares operations and their names and numbers of operands and results. It knows neither optional attributes nor
the predicates of the ODS, so these are checked by a verifier attached to every operation.
"""

from torch_mlir import ir
from torch_mlir._mlir_libs import _mlir, _stablehlo, _torchMlir
from torch_mlir.dialects import ext, irdl
from torch_mlir.passmanager import PassManager

from torq_mlir.dialects import ods, quantized_decomposed, torq_hl, verification

_VARIADICITY = {
    "single": irdl.Variadicity.single,
    "optional": irdl.Variadicity.optional,
    "variadic": irdl.Variadicity.variadic,
}

# The bindings look for the module of a dialect by name whenever they make an object of an op class, and remember it
# when they found it. Without this, half the time of verifying an operation would go into failing imports.
_mlir.globals.append_dialect_search_prefix("torq_mlir.dialects")

# torch_c and tm_tensor cannot be loaded by name. Running a pass loads what it depends on, on an empty module as well.
_TORCH_CONVERSIONS = "builtin.module(torch-func-backend-type-conversion,func.func(convert-torch-to-tmtensor))"


def register(context: ir.Context) -> None:
    """Makes the torch, stablehlo, quantized_decomposed and torq_hl dialects known to `context`.

    Doing so again has no effect.
    """
    _torchMlir.register_dialect(context)
    _stablehlo.register_dialect(context)
    if not context.is_dialect_loaded("torch_c"):
        PassManager.parse(_TORCH_CONVERSIONS, context).run(ir.Module.parse("", context).operation)
    for dialect in (quantized_decomposed.DIALECT, torq_hl.DIALECT):
        # Loading a dialect of that name twice is not an error in IRDL; it corrupts the context.
        if context.is_dialect_loaded(dialect.name):
            continue
        with context, ir.Location.unknown():
            irdl.load_dialects(_declaration(dialect))
        for operation in dialect.operations:
            if operation.pure:
                _attach_pure(operation.name, context)
            ir.DynamicOpTrait.attach(operation.name, verification.Verifier, context)


def _attach_pure(name: str, context: ir.Context) -> None:
    ext.Pure.NoMemoryEffect.attach(name, context=context)
    ext.Pure.AlwaysSpeculatable.attach(name, context=context)


def _declaration(dialect: ods.Dialect) -> ir.Module:
    module = ir.Module.create()
    with ir.InsertionPoint(module.body):
        declaration = irdl.dialect(dialect.name)
    for operation in dialect.operations:
        with ir.InsertionPoint(declaration.body):
            body = irdl.operation_(operation.name.removeprefix(f"{dialect.name}.")).body
        with ir.InsertionPoint(body):
            for declare, values in ((irdl.operands_, operation.operands), (irdl.results_, operation.results)):
                if values:
                    # An irdl.any is a variable: a shared one would require equal types.
                    types = [irdl.any() for _ in values]
                    declare(types, [each.name for each in values], [_VARIADICITY[each.variadicity] for each in values])
    return module
