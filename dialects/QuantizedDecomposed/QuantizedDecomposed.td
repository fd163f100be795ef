//===- QuantizedDecomposed.td - the quantized_decomposed dialect ----------===//
//
// Part of the torq-mlir project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TORQ_QUANTIZED_DECOMPOSED_TD
#define TORQ_QUANTIZED_DECOMPOSED_TD

include "torq_mlir/Dialect/TorqOp.td"

def QuantizedDecomposed_Dialect : Dialect {
  let name = "quantized_decomposed";
  let summary = "Explicit quantize and dequantize operations with SSA parameters";
  let description = [{
    PyTorch's `quantized_decomposed` namespace as first-class operations. A
    quantized model is float computation surrounded by `quantize_*` and
    `dequantize_*`; scales and zero points are operands, so static and dynamic
    quantization have one form, and nothing about the quantization is hidden in
    a type.

    An operator with overloads (`.tensor`, `.tensor2`, `.no_fuse`) is one
    operation; the types of its operands tell them apart. The result type takes
    the place of `out_dtype` and `output_dtype`.

    Every operation accepts `!torch.vtensor` values (level 1) and builtin
    tensors (level 2). Storage types are signless on builtin tensors, so the
    attribute `dtype` carries the signedness.
  }];
  let cppNamespace = "::torq_mlir::quantized_decomposed";
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

class QD_TorchType<string mnemonic, string description>
    : Type<CPred<"::torq_mlir::quantized_decomposed::isTorchType($_self, \"" # mnemonic # "\")">, description>;

def QD_TorchTensor : QD_TorchType<"vtensor", "torch value tensor">;
def QD_TorchFloat : QD_TorchType<"float", "torch float">;
def QD_TorchInt : QD_TorchType<"int", "torch int">;

// f16, bf16, f32, f64 values; computation is in f32 or wider.
def QD_FloatTensor
    : AnyTypeOf<[TensorOf<[F16, BF16, F32, F64]>, QD_TorchTensor],
                "tensor of floating-point values">;

def QD_I4 : I<4>;

// Integers as they are stored: signless on builtin tensors.
def QD_StorageTensor
    : AnyTypeOf<[TensorOf<[QD_I4, I8, I16, I32]>, QD_TorchTensor],
                "tensor of quantized values">;

def QD_Scale
    : AnyTypeOf<[F32, F64, TensorOf<[F16, BF16, F32, F64]>, QD_TorchFloat,
                 QD_TorchTensor],
                "scale: a float or a tensor of floats">;

def QD_ZeroPoint
    : AnyTypeOf<[I32, I64, TensorOf<[QD_I4, I8, I16, I32, I64]>, QD_TorchInt,
                 QD_TorchTensor],
                "zero point: an integer or a tensor of integers">;

// Parameters of which there are many: one for each token or group. Zero points
// may be floats, as those that choose_qparams_per_token gives.
def QD_Scales
    : AnyTypeOf<[TensorOf<[F16, BF16, F32, F64]>, QD_TorchTensor],
                "tensor of scales">;

def QD_ZeroPoints
    : AnyTypeOf<[TensorOf<[QD_I4, I8, I16, I32, I64, F16, BF16, F32, F64]>,
                 QD_TorchTensor],
                "tensor of integer or floating-point zero points">;

def QD_F32Tensor
    : AnyTypeOf<[TensorOf<[F32]>, QD_TorchTensor], "tensor of f32 values">;

def QD_SignedTensor
    : AnyTypeOf<[TensorOf<[I8, I16, I32, I64]>, QD_TorchTensor],
                "tensor of signed integers">;

def QD_NumberTensor
    : AnyTypeOf<[TensorOf<[I1, I8, I16, I32, I64, F16, BF16, F32, F64]>,
                 QD_TorchTensor],
                "tensor of booleans, integers or floating-point values">;

def QD_Range
    : AnyTypeOf<[I64, TensorOf<[I8, I16, I32, I64]>, QD_TorchInt,
                 QD_TorchTensor],
                "bound of the quantized range">;

// The storage type with its signedness.
def QD_StorageTypeAttr
    : TypeAttrBase<"::mlir::IntegerType",
                   "storage type: si4, ui4, si8, ui8, si16, ui16 or si32"> {
  let predicate = And<[
      CPred<"::llvm::isa<::mlir::TypeAttr>($_self)">,
      CPred<"::torq_mlir::quantized_decomposed::isStorageType(::llvm::cast<::mlir::TypeAttr>($_self).getValue())">]>;
}

// What a tensor holds, with the signedness that signless integers do not tell.
def QD_ElementTypeAttr
    : TypeAttrBase<"::mlir::Type",
                   "element type: f16, bf16, f32, f64, i1, si8, ui8, si16, ui16, si32 or si64"> {
  let predicate = And<[
      CPred<"::llvm::isa<::mlir::TypeAttr>($_self)">,
      CPred<"::torq_mlir::quantized_decomposed::isElementType(::llvm::cast<::mlir::TypeAttr>($_self).getValue())">]>;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

class QD_Op<string mnemonic, list<Trait> traits = []>
    : Torq_Op<QuantizedDecomposed_Dialect, mnemonic, traits>;

#endif // TORQ_QUANTIZED_DECOMPOSED_TD
