//===- TokenAndGroupOps.td - parameters per token and per channel group --===//
//
// Part of the torq-mlir project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TORQ_QUANTIZED_DECOMPOSED_TOKEN_AND_GROUP_OPS_TD
#define TORQ_QUANTIZED_DECOMPOSED_TOKEN_AND_GROUP_OPS_TD

include "torq_mlir/Dialect/QuantizedDecomposed/QuantizedDecomposed.td"

//===----------------------------------------------------------------------===//
// Per token
//===----------------------------------------------------------------------===//

def QD_QuantizePerTokenOp : QD_Op<"quantize_per_token"> {
  let summary = "Quantize with one scale and zero point for each row of the last dimension";
  let description = [{
    `output[t, :] = clamp(round_half_even(input[t, :] * (1 / scales[t, 0]) + zero_points[t, 0]), quant_min, quant_max)`

    for an input of shape `[t.., n]` and parameters of shape `[t.., 1]`. The zero
    point, 0 when absent, is added before rounding; with `round_first` it is
    added after, as in `quantize_per_tensor`. Each step rounds to the type to
    which its operands promote, also to f16 and bf16.

    ```mlir
    %q = "quantized_decomposed.quantize_per_token"(%x, %scales, %zps)
        {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8}
        : (tensor<4x64xf32>, tensor<4x1xf64>, tensor<4x1xi64>) -> tensor<4x64xi8>
    ```
  }];
  let arguments = (ins QD_FloatTensor:$input, QD_Scales:$scales,
      Optional<QD_ZeroPoints>:$zero_points, I64Attr:$quant_min,
      I64Attr:$quant_max, QD_StorageTypeAttr:$dtype, UnitAttr:$round_first);
  let results = (outs QD_StorageTensor:$output);
}

def QD_DequantizePerTokenOp : QD_Op<"dequantize_per_token"> {
  let summary = "Dequantize with one scale and zero point for each row of the last dimension";
  let description = [{
    `output[t, :] = (input[t, :] - zero_points[t, 0]) * scales[t, 0]`

    for an input of shape `[t.., n]` and parameters of shape `[t.., 1]`; an absent
    zero point is 0. The difference of integers does not wrap around in their
    own type, that with a floating-point zero point has its type. The product
    rounds to the type to which its operands promote, and then to that of the
    result.

    ```mlir
    %x = "quantized_decomposed.dequantize_per_token"(%q, %scales, %zps)
        {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8}
        : (tensor<4x64xi8>, tensor<4x1xf64>, tensor<4x1xi64>) -> tensor<4x64xf32>
    ```
  }];
  let arguments = (ins QD_StorageTensor:$input, QD_Scales:$scales,
      Optional<QD_ZeroPoints>:$zero_points, I64Attr:$quant_min,
      I64Attr:$quant_max, QD_StorageTypeAttr:$dtype);
  let results = (outs QD_FloatTensor:$output);
}

//===----------------------------------------------------------------------===//
// Per channel group
//===----------------------------------------------------------------------===//

def QD_QuantizePerChannelGroupOp : QD_Op<"quantize_per_channel_group"> {
  let summary = "Quantize with one scale and zero point for each group along an axis";
  let description = [{
    `output[.., i, ..] = clamp(round_half_even(input[.., i, ..] * (1 / scales[.., i / group_size, ..]) + zero_points[.., i / group_size, ..]), quant_min, quant_max)`

    with `i` along `axis`, the last one by default. Parameters have the shape of
    the input but for the axis, which has one element for each group. A group
    longer than the axis takes all of it. The zero point, 0 when absent, is added
    before rounding; with `round_first` it is added after, as in
    `quantize_per_channel`. Each step rounds to the type to which its operands
    promote, also to f16 and bf16.

    ONNX blocked QuantizeLinear is `divide` (as in `quantize_per_tensor`)
    together with `round_first`, for any rank and axis; PyTorch has matrices and
    their last axis.

    ```mlir
    %q = "quantized_decomposed.quantize_per_channel_group"(%w, %scales, %zps)
        {quant_min = -8 : i64, quant_max = 7 : i64, dtype = si8, group_size = 32 : i64}
        : (tensor<64x128xf32>, tensor<64x4xf32>, tensor<64x4xi32>) -> tensor<64x128xi8>
    ```
  }];
  let arguments = (ins QD_FloatTensor:$input, QD_Scales:$scales,
      Optional<QD_ZeroPoints>:$zero_points, I64Attr:$quant_min,
      I64Attr:$quant_max, QD_StorageTypeAttr:$dtype,
      ConfinedAttr<I64Attr, [IntPositive]>:$group_size,
      DefaultValuedOptionalAttr<I64Attr, "-1">:$axis, UnitAttr:$divide,
      UnitAttr:$round_first);
  let results = (outs QD_StorageTensor:$output);
}

def QD_DequantizePerChannelGroupOp : QD_Op<"dequantize_per_channel_group"> {
  let summary = "Dequantize with one scale and zero point for each group along an axis";
  let description = [{
    `output[.., i, ..] = (input[.., i, ..] - zero_points[.., i / group_size, ..]) * scales[.., i / group_size, ..]`

    with `i` along `axis`, the last one by default. Parameters as in
    `quantize_per_channel_group`, arithmetic as in `dequantize_per_token`.

    ```mlir
    %x = "quantized_decomposed.dequantize_per_channel_group"(%q, %scales, %zps)
        {quant_min = -8 : i64, quant_max = 7 : i64, dtype = si4, group_size = 32 : i64}
        : (tensor<64x128xi4>, tensor<64x4xf32>, tensor<64x4xi4>) -> tensor<64x128xf32>
    ```
  }];
  let arguments = (ins QD_StorageTensor:$input, QD_Scales:$scales,
      Optional<QD_ZeroPoints>:$zero_points, I64Attr:$quant_min,
      I64Attr:$quant_max, QD_StorageTypeAttr:$dtype,
      ConfinedAttr<I64Attr, [IntPositive]>:$group_size,
      DefaultValuedOptionalAttr<I64Attr, "-1">:$axis);
  let results = (outs QD_FloatTensor:$output);
}

#endif // TORQ_QUANTIZED_DECOMPOSED_TOKEN_AND_GROUP_OPS_TD
