//===- QuantizedDecomposedOps.td - operations -----------------------------===//
//
// Part of the torq-mlir project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TORQ_QUANTIZED_DECOMPOSED_OPS_TD
#define TORQ_QUANTIZED_DECOMPOSED_OPS_TD

include "torq_mlir/Dialect/QuantizedDecomposed/QuantizedDecomposed.td"

//===----------------------------------------------------------------------===//
// Per tensor
//===----------------------------------------------------------------------===//

def QD_QuantizePerTensorOp : QD_Op<"quantize_per_tensor"> {
  let summary = "Quantize a tensor with one scale and zero point";
  let description = [{
    `output = clamp(round_half_even(input * (1 / scale)) + zero_point, quant_min, quant_max)`

    With `divide` the product by the reciprocal becomes a division,
    `input / scale`, as ONNX QuantizeLinear computes it; the two differ in the
    last bit of the quotient and therefore near ties.

    `range` is empty, or holds the run-time `quant_min` and `quant_max` of the
    `.tensor2` overload; then the attributes are absent.

    ```mlir
    %q = "quantized_decomposed.quantize_per_tensor"(%x, %scale, %zp)
        {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8}
        : (tensor<1x8xf32>, tensor<f32>, tensor<i8>) -> tensor<1x8xi8>
    ```
  }];
  let arguments = (ins QD_FloatTensor:$input, QD_Scale:$scale,
      QD_ZeroPoint:$zero_point, Variadic<QD_Range>:$range,
      OptionalAttr<I64Attr>:$quant_min, OptionalAttr<I64Attr>:$quant_max,
      QD_StorageTypeAttr:$dtype, UnitAttr:$divide);
  let results = (outs QD_StorageTensor:$output);
}

def QD_DequantizePerTensorOp : QD_Op<"dequantize_per_tensor"> {
  let summary = "Dequantize a tensor with one scale and zero point";
  let description = [{
    `output = (input - zero_point) * scale`

    The input is not clamped: `quant_min` and `quant_max` state the range the
    values were quantized to. The result element type is f32 unless asked for
    otherwise (`out_dtype` in PyTorch).

    ```mlir
    %x = "quantized_decomposed.dequantize_per_tensor"(%q, %scale, %zp)
        {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8}
        : (tensor<1x8xi8>, tensor<f32>, tensor<i8>) -> tensor<1x8xf32>
    ```
  }];
  let arguments = (ins QD_StorageTensor:$input, QD_Scale:$scale,
      QD_ZeroPoint:$zero_point, Variadic<QD_Range>:$range,
      OptionalAttr<I64Attr>:$quant_min, OptionalAttr<I64Attr>:$quant_max,
      QD_StorageTypeAttr:$dtype);
  let results = (outs QD_FloatTensor:$output);
}

//===----------------------------------------------------------------------===//
// Per channel
//===----------------------------------------------------------------------===//

def QD_QuantizePerChannelOp : QD_Op<"quantize_per_channel"> {
  let summary = "Quantize with one scale and zero point for each index of an axis";
  let description = [{
    `output[.., c, ..] = clamp(round_half_even(input[.., c, ..] * (1 / scales[c])) + zero_points[c], quant_min, quant_max)`

    with `c` along `axis`, which may be negative. `divide` as in
    `quantize_per_tensor`.

    ```mlir
    %q = "quantized_decomposed.quantize_per_channel"(%x, %scales, %zps)
        {axis = 0 : i64, quant_min = -127 : i64, quant_max = 127 : i64, dtype = si8}
        : (tensor<16x3xf32>, tensor<16xf32>, tensor<16xi64>) -> tensor<16x3xi8>
    ```
  }];
  let arguments = (ins QD_FloatTensor:$input, QD_Scale:$scales,
      QD_ZeroPoint:$zero_points, I64Attr:$axis, I64Attr:$quant_min,
      I64Attr:$quant_max, QD_StorageTypeAttr:$dtype, UnitAttr:$divide);
  let results = (outs QD_StorageTensor:$output);
}

def QD_DequantizePerChannelOp : QD_Op<"dequantize_per_channel"> {
  let summary = "Dequantize with one scale and zero point for each index of an axis";
  let description = [{
    `output[.., c, ..] = (input[.., c, ..] - zero_points[c]) * scales[c]`

    with `c` along `axis`, which may be negative.

    ```mlir
    %x = "quantized_decomposed.dequantize_per_channel"(%q, %scales, %zps)
        {axis = 0 : i64, quant_min = -127 : i64, quant_max = 127 : i64, dtype = si8}
        : (tensor<16x3xi8>, tensor<16xf32>, tensor<16xi64>) -> tensor<16x3xf32>
    ```
  }];
  let arguments = (ins QD_StorageTensor:$input, QD_Scale:$scales,
      QD_ZeroPoint:$zero_points, I64Attr:$axis, I64Attr:$quant_min,
      I64Attr:$quant_max, QD_StorageTypeAttr:$dtype);
  let results = (outs QD_FloatTensor:$output);
}

def QD_FakeQuantPerChannelOp : QD_Op<"fake_quant_per_channel"> {
  let summary = "Quantize and dequantize per channel in floating point";
  let description = [{
    `output = (clamp(round_half_even(input * (1 / scales[c])) + zero_points[c], quant_min, quant_max) - zero_points[c]) * scales[c]`

    with `c` along `axis`, which may be negative. Everything is f32: scales are
    converted before their reciprocal is taken, zero points, which are signed,
    by way of i32. Training uses it; nothing is stored as an integer, so NaN
    stays NaN.

    ```mlir
    %y = "quantized_decomposed.fake_quant_per_channel"(%x, %scales, %zps)
        {axis = 0 : i64, quant_min = -127 : i64, quant_max = 127 : i64}
        : (tensor<16x3xf32>, tensor<16xf32>, tensor<16xi32>) -> tensor<16x3xf32>
    ```
  }];
  let arguments = (ins QD_F32Tensor:$input, QD_Scales:$scales,
      QD_SignedTensor:$zero_points, I64Attr:$axis, I64Attr:$quant_min,
      I64Attr:$quant_max);
  let results = (outs QD_F32Tensor:$output);
}

include "torq_mlir/Dialect/QuantizedDecomposed/TokenAndGroupOps.td"
include "torq_mlir/Dialect/QuantizedDecomposed/ChooseQParamsOps.td"

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

def QD_ConvertElementTypeOp : QD_Op<"convert_element_type"> {
  let summary = "Convert to another element type";
  let description = [{
    `output = convert(input, dtype)`

    PyTorch's `convert_element_type.no_fuse`, which no compiler is to merge with
    what surrounds it. `input_dtype` and `dtype` tell the signedness of
    integers, which builtin tensors do not.

    Integers become f16 and bf16 by way of f32, as f64 does. Floats become
    integers towards zero, in 64 bits for si64 and ui8 and in 32 bits otherwise;
    NaN and what these do not hold become the least of them, of which a narrower
    type keeps the low bits, as PyTorch does on x86-64. Integers wrap around. All
    but zero is true.

    ```mlir
    %y = "quantized_decomposed.convert_element_type"(%x)
        {input_dtype = ui8, dtype = f32} : (tensor<8xi8>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins QD_NumberTensor:$input, QD_ElementTypeAttr:$input_dtype,
      QD_ElementTypeAttr:$dtype);
  let results = (outs QD_NumberTensor:$output);
}

#endif // TORQ_QUANTIZED_DECOMPOSED_OPS_TD
