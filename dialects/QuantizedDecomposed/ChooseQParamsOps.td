//===- ChooseQParamsOps.td - parameters chosen at run time ---------------===//
//
// Part of the torq-mlir project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TORQ_QUANTIZED_DECOMPOSED_CHOOSE_QPARAMS_OPS_TD
#define TORQ_QUANTIZED_DECOMPOSED_CHOOSE_QPARAMS_OPS_TD

include "torq_mlir/Dialect/QuantizedDecomposed/QuantizedDecomposed.td"

def QD_ChooseInput
    : AnyTypeOf<[TensorOf<[F16, BF16, F32]>, QD_TorchTensor],
                "tensor of f16, bf16 or f32 values">;

def QD_IntegerTensor
    : AnyTypeOf<[TensorOf<[I64]>, QD_TorchTensor], "tensor of 64-bit integers">;

def QD_F64Tensor
    : AnyTypeOf<[TensorOf<[F64]>, QD_TorchTensor], "tensor of f64 values">;

//===----------------------------------------------------------------------===//
// Per tensor
//===----------------------------------------------------------------------===//

def QD_ChooseQParamsOp : QD_Op<"choose_qparams"> {
  let summary = "Scale and zero point for the range of a tensor";
  let description = [{
    `scale = max((high - low) / (quant_max - quant_min), eps), zero_point = clamp(quant_min - round_half_even(low / scale), quant_min, quant_max)`

    with `low = min(input, 0)` and `high = max(input, 0)` over all elements.
    Difference and quotient round to the type of the input; the rest is f32. NaN
    propagates into the scale. `low / scale` converts to 32 bits as PyTorch does
    on x86-64: NaN and what is too large become the least integer, and the
    difference wraps around.

    ```mlir
    %scale, %zp = "quantized_decomposed.choose_qparams"(%x)
        {quant_min = -128 : i64, quant_max = 127 : i64, eps = 1.1920928955078125e-07 : f64, dtype = si8}
        : (tensor<4x64xf32>) -> (tensor<1xf64>, tensor<1xi64>)
    ```
  }];
  let arguments = (ins QD_ChooseInput:$input, I64Attr:$quant_min,
      I64Attr:$quant_max, F64Attr:$eps, QD_StorageTypeAttr:$dtype);
  let results = (outs QD_F64Tensor:$scale, QD_IntegerTensor:$zero_point);
}

def QD_ChooseQParamsSymmetricOp : QD_Op<"choose_qparams_symmetric"> {
  let summary = "Scale for the largest magnitude of a tensor";
  let description = [{
    `scale = max(max(|input|) / ((quant_max - quant_min) / 2), eps), zero_point = dtype is ui8 ? 128 : 0`

    over all elements. The quotient rounds to the type of the input; the maximum
    is f32. NaN propagates into the scale.

    ```mlir
    %scale, %zp = "quantized_decomposed.choose_qparams_symmetric"(%x)
        {quant_min = -127 : i64, quant_max = 127 : i64, eps = 1.1920928955078125e-07 : f64, dtype = si8}
        : (tensor<4x64xf32>) -> (tensor<1xf64>, tensor<1xi64>)
    ```
  }];
  let arguments = (ins QD_ChooseInput:$input, I64Attr:$quant_min,
      I64Attr:$quant_max, F64Attr:$eps, QD_StorageTypeAttr:$dtype);
  let results = (outs QD_F64Tensor:$scale, QD_IntegerTensor:$zero_point);
}

//===----------------------------------------------------------------------===//
// Per token
//===----------------------------------------------------------------------===//

def QD_ChooseQParamsPerTokenOp : QD_Op<"choose_qparams_per_token"> {
  let summary = "Scales for the largest magnitude of each row of the last dimension";
  let description = [{
    `scales[t, 0] = max(max(|input[t, :]|), 1e-5) / 127, zero_points[t, 0] = 0`

    for an input of shape `[t.., n]` and si8, the only `dtype` it is for. Both
    results have the element type of the input, or f32 where that is f16, and
    each step rounds to it. (`torch.export` records them as f64 and i64, which is
    not what PyTorch computes.)

    ```mlir
    %scales, %zps = "quantized_decomposed.choose_qparams_per_token"(%x) {dtype = si8}
        : (tensor<4x64xf32>) -> (tensor<4x1xf32>, tensor<4x1xf32>)
    ```
  }];
  let arguments = (ins QD_FloatTensor:$input, QD_StorageTypeAttr:$dtype);
  let results = (outs QD_FloatTensor:$scales, QD_FloatTensor:$zero_points);
}

def QD_ChooseQParamsPerTokenAsymmetricOp : QD_Op<"choose_qparams_per_token_asymmetric"> {
  let summary = "Scales and zero points for the range of each row of the last dimension";
  let description = [{
    `scales[t, 0] = max((high - low) / 255, 2^-23), zero_points[t, 0] = round_half_even(clamp(-128 - low / scales[t, 0], -128, 127))`

    with `low = min(input[t, :], 0)` and `high = max(input[t, :], 0)` for an input
    of shape `[t.., n]`. Where the other end of the range has the smaller error,
    the zero point is `127 - high / scales[t, 0]` before it is clamped. Each step
    rounds to the type of the input. The range is that of si8, whatever `dtype`
    is, as in PyTorch. NaN makes the zero point the least i64.

    ```mlir
    %scales, %zps = "quantized_decomposed.choose_qparams_per_token_asymmetric"(%x) {dtype = si8}
        : (tensor<4x64xf32>) -> (tensor<4x1xf64>, tensor<4x1xi64>)
    ```
  }];
  let arguments = (ins QD_FloatTensor:$input, QD_StorageTypeAttr:$dtype);
  let results = (outs QD_F64Tensor:$scales, QD_IntegerTensor:$zero_points);
}

def QD_ChooseQParamsPerTokenAsymmetricImplOp
    : QD_Op<"_choose_qparams_per_token_asymmetric_impl"> {
  let summary = "What choose_qparams_per_token_asymmetric is made of in PyTorch";
  let description = [{
    `scales, zero_points = choose_qparams_per_token_asymmetric(input)`

    `quantized-decomposed-simplify` replaces it by that operation. Exported
    programs do not have it.

    ```mlir
    %scales, %zps = "quantized_decomposed._choose_qparams_per_token_asymmetric_impl"(%x) {dtype = si8}
        : (tensor<4x64xf32>) -> (tensor<4x1xf64>, tensor<4x1xi64>)
    ```
  }];
  let arguments = (ins QD_FloatTensor:$input, QD_StorageTypeAttr:$dtype);
  let results = (outs QD_F64Tensor:$scales, QD_IntegerTensor:$zero_points);
}

#endif // TORQ_QUANTIZED_DECOMPOSED_CHOOSE_QPARAMS_OPS_TD
