//===- TorqHL.td - the torq_hl dialect ------------------------------------===//
//
// Part of the torq-mlir project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TORQ_HL_TD
#define TORQ_HL_TD

include "mlir/IR/EnumAttr.td"
include "torq_mlir/Dialect/TorqOp.td"

def TorqHL_Dialect : Dialect {
  let name = "torq_hl";
  let summary = "High-level operations of the Torq NPU";
  let description = [{
    Integer neural-network operations as the Torq NPU executes them. Operations
    are destination-style: `init` is the output buffer, `tensor.empty()` of the
    result's type. Fixed-point rescaling is

    ```
    rescale(a, multiplier, shift) = floor((a * multiplier + 2^(shift - 1)) / 2^shift)
    ```

    with a 64-bit product; nothing is added for shift 0. `scale_bias` holds
    `[bias_0, multiplier_0, bias_1, multiplier_1, ...]`, one pair per output
    channel, or one pair for all. `pad` is `[left, right, top, bottom]` and pads
    with `input_zp`.

    The discardable attribute `torq-executor` ("nss", "css" or "host") names
    who executes an operation.
  }];
  let cppNamespace = "::torq_mlir::torq_hl";
}

//===----------------------------------------------------------------------===//
// Types and attributes
//===----------------------------------------------------------------------===//

def TorqHL_AnyTensor
    : RankedTensorOf<[I1, I8, I16, I32, BF16, F32]>;
def TorqHL_Activation : RankedTensorOf<[I8, I16, I32, BF16, F32]>;
def TorqHL_Indices : RankedTensorOf<[I32, I64]>;
def TorqHL_TableTensor : RankedTensorOf<[I8, I16]>;
def TorqHL_Weights : RankedTensorOf<[I8, I16, BF16, F32]>;
def TorqHL_ScaleBias
    : AnyTypeOf<[1DTensorOf<[I32, F32]>],
                "1-d tensor of interleaved (bias, multiplier) pairs">;
def TorqHL_Pad4
    : ConfinedAttr<DenseI64ArrayAttr, [DenseArrayCount<4>, DenseArrayNonNegative<DenseI64ArrayAttr>]>;
def TorqHL_Pad2
    : ConfinedAttr<DenseI64ArrayAttr, [DenseArrayCount<2>, DenseArrayNonNegative<DenseI64ArrayAttr>]>;
def TorqHL_Pair
    : ConfinedAttr<DenseI64ArrayAttr, [DenseArrayCount<2>, DenseArrayStrictlyPositive<DenseI64ArrayAttr>]>;
def TorqHL_Single
    : ConfinedAttr<DenseI64ArrayAttr, [DenseArrayCount<1>, DenseArrayStrictlyPositive<DenseI64ArrayAttr>]>;
def TorqHL_Shift
    : ConfinedAttr<I32Attr, [IntNonNegative]>;
def TorqHL_Shift8
    : ConfinedAttr<I8Attr, [IntNonNegative]>;
// Optional, so that what is not written is not printed.
def TorqHL_False : DefaultValuedOptionalAttr<BoolAttr, "false">;

// One of a list of strings.
class TorqHL_OneOf<list<string> values>
    : ConfinedAttr<StrAttr, [AttrConstraint<
          Or<!foreach(value, values,
              CPred<"::llvm::cast<::mlir::StringAttr>($_self).getValue() == \"" # value # "\"">)>,
          "that is one of: " # !interleave(values, ", ")>]>;

def TorqHL_VectorizationMode
    : I32EnumAttr<"VectorizationMode", "vectorization mode",
                  [I32EnumAttrCase<"None", 0, "none">]> {
  let cppNamespace = "::torq_mlir::torq_hl";
}

def TorqHL_DepthToSpaceMode
    : I32EnumAttr<"DepthToSpaceMode", "order of the channels of a block", [
        I32EnumAttrCase<"DCR", 0, "dcr">, I32EnumAttrCase<"CRD", 1, "crd">]> {
  let cppNamespace = "::torq_mlir::torq_hl";
}

def TorqHL_ElementwiseOp
    : I32EnumAttr<"ElementwiseOp", "elementwise operation", [
        I32EnumAttrCase<"BitwiseAnd", 0, "bitwise_and">,
        I32EnumAttrCase<"BitwiseOr", 1, "bitwise_or">,
        I32EnumAttrCase<"BitwiseXor", 2, "bitwise_xor">,
        I32EnumAttrCase<"BitwiseNot", 3, "bitwise_not">,
        I32EnumAttrCase<"Minimum", 4, "minimum">,
        I32EnumAttrCase<"Maximum", 5, "maximum">,
        I32EnumAttrCase<"Greater", 6, "greater">,
        I32EnumAttrCase<"GreaterEqual", 7, "greater_equal">,
        I32EnumAttrCase<"Equal", 8, "equal">,
        I32EnumAttrCase<"LogicalAnd", 9, "logical_and">,
        I32EnumAttrCase<"LogicalOr", 10, "logical_or">,
        I32EnumAttrCase<"LogicalXor", 11, "logical_xor">,
        I32EnumAttrCase<"LogicalNot", 12, "logical_not">,
        I32EnumAttrCase<"Sub", 13, "sub">,
        I32EnumAttrCase<"Add", 14, "add">]> {
  let cppNamespace = "::torq_mlir::torq_hl";
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

class TorqHL_Op<string mnemonic, list<Trait> traits = []>
    : Torq_Op<TorqHL_Dialect, mnemonic, traits>;

#endif // TORQ_HL_TD
