//===- TorqHLOps.td - operations ------------------------------------------===//
//
// Part of the torq-mlir project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TORQ_HL_OPS_TD
#define TORQ_HL_OPS_TD

include "torq_mlir/Dialect/TorqHL/TorqHL.td"

//===----------------------------------------------------------------------===//
// Weighted operations
//===----------------------------------------------------------------------===//

class TorqHL_Conv<string mnemonic, Attr pad, Attr pair, dag extra = (ins)>
    : TorqHL_Op<mnemonic> {
  let arguments = !con(
      (ins TorqHL_Activation:$init, TorqHL_Weights:$weights,
       TorqHL_ScaleBias:$scale_bias, TorqHL_Activation:$input,
       I32Attr:$input_zp, I32Attr:$weight_zp, I32Attr:$output_zp,
       I32Attr:$output_min, I32Attr:$output_max, TorqHL_Shift:$shift_factor,
       ConfinedAttr<I32Attr, [IntPositive]>:$groups, pad:$pad, pair:$stride,
       pair:$dilation, TorqHL_VectorizationMode:$vectorization_mode),
      extra, (ins TorqHL_False:$segment_output));
  let results = (outs TorqHL_Activation:$output);
}

def TorqHL_Conv2DOp
    : TorqHL_Conv<"conv2d", TorqHL_Pad4, TorqHL_Pair,
                  (ins TorqHL_False:$nhwc_input)> {
  let summary = "2-d convolution with rescale and clamp";
  let description = [{
    `y[n, o] = clamp(rescale(sum x * w[o] + bias[o], multiplier[o], shift_factor) + output_zp, output_min, output_max)`

    Input and output are NCHW (input NHWC with `nhwc_input`), weights
    `[O, C / groups, kh, kw]`; `stride` and `dilation` are `[height, width]`. The
    zero points of input and weights are already compensated in `bias[o]` and in
    the weights: `input_zp` is carried for padding, `weight_zp` for information.

    bf16: `y[n, o] = bf16(f32(sum x * w[o]) + bias[o])`. The products, exact in f32,
    are added in f32 from 0 on, in the order of channels, rows and columns of the
    window, then the f32 bias, which `scale_bias` consists of. The padding is 0,
    and nothing is rescaled or clamped: zero points, bounds and shift are 0.

    ```mlir
    %y = "torq_hl.conv2d"(%init, %weights, %scale_bias, %x) {
        input_zp = 3 : i32, weight_zp = 0 : i32, output_zp = -5 : i32,
        output_min = -128 : i32, output_max = 127 : i32, shift_factor = 28 : i32,
        groups = 1 : i32, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>,
        dilation = array<i64: 1, 1>, vectorization_mode = 0 : i32}
        : (tensor<1x16x4x4xi8>, tensor<16x3x3x3xi8>, tensor<32xi32>, tensor<1x3x8x8xi8>)
        -> tensor<1x16x4x4xi8>
    ```
  }];
}

def TorqHL_DepthwiseConv2DOp
    : TorqHL_Conv<"depthwise_conv2d", TorqHL_Pad4, TorqHL_Pair,
                  (ins TorqHL_False:$nhwc_input, TorqHL_False:$is_dw1d_stride1)> {
  let summary = "Depthwise 2-d convolution with rescale and clamp";
  let description = [{
    `y[n, c * m + j] = clamp(rescale(sum x[n, c] * w[c * m + j] + bias[c * m + j], multiplier[c * m + j], shift_factor) + output_zp, output_min, output_max)`

    as `conv2d` with `groups` equal to the input channels C, and weights
    `[C * m, 1, kh, kw]`.
  }];
}

def TorqHL_Conv1DOp
    : TorqHL_Conv<"conv1d", TorqHL_Pad2, TorqHL_Single> {
  let summary = "1-d convolution with rescale and clamp";
  let description = [{
    `y[n, o] = clamp(rescale(sum x * w[o] + bias[o], multiplier[o], shift_factor) + output_zp, output_min, output_max)`

    Input `[N, C, W]`, weights `[O, C / groups, kw]`, `pad` is `[left, right]`.
  }];
}

def TorqHL_FullyConnectedOp : TorqHL_Op<"fully_connected"> {
  let summary = "Product with a constant matrix, rescale and clamp";
  let description = [{
    `y[.., n] = clamp(rescale(sum_k x[.., k] * w[k, n] + bias[n], multiplier[n], shift_factor) + output_zp, output_min, output_max)`

    Weights are `[K, N]`, the input `[.., K]`. bf16: as `conv2d`, added in the order
    of k. With `is_batch_scaled` the pairs
    belong to rows instead; such operations are read and written, never made or
    executed here.
  }];
  let arguments = (ins TorqHL_Activation:$init, TorqHL_Weights:$weights,
      TorqHL_ScaleBias:$scale_bias, TorqHL_Activation:$input,
      I32Attr:$input_zp, I32Attr:$weight_zp, I32Attr:$output_zp,
      I32Attr:$output_min, I32Attr:$output_max, TorqHL_Shift:$shift_factor,
      TorqHL_VectorizationMode:$vectorization_mode,
      TorqHL_False:$is_batch_scaled);
  let results = (outs TorqHL_Activation:$output);
}

def TorqHL_MatMulOp : TorqHL_Op<"matmul"> {
  let summary = "Product of two run-time matrices, rescale and clamp";
  let description = [{
    `y[.., m, n] = clamp(rescale(sum_k x1[.., m, k] * x2[.., k, n] + bias, multiplier, shift) + output_zp, output_min, output_max)`

    Leading dimensions are equal; there is one (bias, multiplier) pair. bf16: as
    `conv2d`, with one bias, added in the order of k. With
    `input1_unsigned` the i8 values of `input1` are read as u8.
  }];
  let arguments = (ins TorqHL_Activation:$init, TorqHL_ScaleBias:$scale_bias,
      TorqHL_Activation:$input1, TorqHL_Activation:$input2,
      I32Attr:$output_zp, I32Attr:$output_min, I32Attr:$output_max,
      TorqHL_Shift:$shift, TorqHL_False:$input1_unsigned);
  let results = (outs TorqHL_Activation:$output);
}

//===----------------------------------------------------------------------===//
// Elementwise operations
//===----------------------------------------------------------------------===//

def TorqHL_AddOp : TorqHL_Op<"add"> {
  let summary = "Weighted sum of two tensors, rescale and clamp";
  let description = [{
    `y = clamp(rescale(x1 * w[0] + x2 * w[1] + bias, multiplier, shift_factor) + output_zp, output_min, output_max)`

    Integer weights are `round(s1 / sy * 2^shift_factor)` and
    `round(s2 / sy * 2^shift_factor)` in i16 for the largest multiple-of-4 shift
    for which both fit; `bias = -(z1 * w[0] + z2 * w[1])` and the multiplier is 1.
    A subtraction is an addition with a negative second weight; `name` is "add"
    or "sub". The inputs broadcast as numpy's do; with `rhs_is_scalar` the second
    input has one element. `input_zp` is 0 for integers: the zero points are in
    the bias.
    bf16: `y = bf16(f32(f32(x1 * w[0]) + f32(x2 * w[1])) + bias)`, the additions in
    f32, with weights of bf16 and one f32 bias.
  }];
  let arguments = (ins TorqHL_Activation:$init, TorqHL_Weights:$weights,
      TorqHL_ScaleBias:$scale_bias, TorqHL_Activation:$input1,
      TorqHL_Activation:$input2, TorqHL_OneOf<["add", "sub"]>:$name, I32Attr:$input_zp,
      I32Attr:$output_zp, I32Attr:$output_min, I32Attr:$output_max,
      TorqHL_Shift:$shift_factor, TorqHL_False:$segment_output,
      TorqHL_False:$rhs_is_scalar);
  let results = (outs TorqHL_Activation:$output);
}

def TorqHL_MulOp : TorqHL_Op<"mul"> {
  let summary = "Product of two tensors, rescale and clamp";
  let description = [{
    Integers: `y = clamp(rescale(x1 * x2 + bias, multiplier, shift) + output_zp, output_min, output_max)`;
    zero points are removed before, by an `fma` that widens to i16.
    bf16: `y = bf16(f32(f32(x1 * x2) + bias))`, where the product of two bf16 is
    exact in f32 unless it underflows. The inputs broadcast as numpy's do.
  }];
  let arguments = (ins TorqHL_Activation:$init, TorqHL_ScaleBias:$scale_bias,
      TorqHL_Activation:$input1, TorqHL_Activation:$input2,
      I32Attr:$output_zp, I32Attr:$output_min, I32Attr:$output_max,
      TorqHL_Shift8:$shift);
  let results = (outs TorqHL_Activation:$output);
}

def TorqHL_FmaOp : TorqHL_Op<"fma"> {
  let summary = "Product with a weight, rescale and clamp; the output may be wider";
  let description = [{
    `y = clamp(rescale(x * w + bias, multiplier, shift_factor) + output_zp, output_min, output_max)`

    `weights` has one element, or one for each channel (dimension 1 of the input,
    or the last dimension of an input of rank below 3); so has `scale_bias` its
    pairs. With `input_unsigned` the i8 values of the input are read as u8.
  }];
  let arguments = (ins TorqHL_Activation:$init, TorqHL_Weights:$weights,
      TorqHL_ScaleBias:$scale_bias, TorqHL_Activation:$input,
      I32Attr:$output_zp, I32Attr:$output_min, I32Attr:$output_max,
      TorqHL_Shift:$shift_factor, TorqHL_False:$input_unsigned);
  let results = (outs TorqHL_Activation:$output);
}

def TorqHL_ActOp : TorqHL_Op<"act"> {
  let summary = "Unary function or conversion";
  let description = [{
    `y = f(x)` with `f` given by `name`:

    * "f2f": conversion between f32 and bf16, round half to even;
    * "f2i": `y = round_half_even(x)` saturated to the output type;
    * "i2f": `y = x - input_zp` as a float;
    * "clamp": `y = clamp(x, min_int, max_int)` on integers,
      `clamp(x, min_fp, max_fp)` on floats;
    * "abs": `|x - input_zp| + output_zp` and "negate":
      `-(x - input_zp) + output_zp`, saturated to the output type;
    * "tanh" on floats.
  }];
  let arguments = (ins TorqHL_AnyTensor:$init, TorqHL_AnyTensor:$input,
      Optional<TorqHL_Weights>:$weights,
      TorqHL_OneOf<["f2f", "f2i", "i2f", "clamp", "abs", "negate", "tanh"]>:$name, I32Attr:$input_zp,
      I32Attr:$output_zp, I64Attr:$min_int, I64Attr:$max_int, F32Attr:$min_fp,
      F32Attr:$max_fp);
  let results = (outs TorqHL_AnyTensor:$output);
}

def TorqHL_TableOp : TorqHL_Op<"table"> {
  let summary = "Lookup in a table of 256 entries";
  let description = [{
    * i8 to i8: `y = base[x + 128] / 2^8`;
    * i8 to i16: `y = base[x + 128]`;
    * i16 to i16: `y = clamp(base[i] + floor((slope[i] * f + 2^7) / 2^8), -2^15, 2^15 - 1)`
      with `i = floor(x / 2^8) + 128` and `f = x mod 2^8`, a line between entries.

    An entry of the table is `(slope << 16) | (base & 0xffff)`, of two i16; for an
    i8 input the slope is 0, and for i8 both ways the base is the value times 2^8.
    `scale_bias` indexes the table: `[-128, 128]` maps an i8 input to entries
    0..255, `[-32768, 1]` an i16 input.
    The table is `static_table`, or the operand `dynamic_table`.
  }];
  let arguments = (ins TorqHL_TableTensor:$init, TorqHL_ScaleBias:$scale_bias,
      TorqHL_TableTensor:$input, Optional<1DTensorOf<[I32]>>:$dynamic_table,
      OptionalAttr<ConfinedAttr<DenseI32ArrayAttr, [DenseArrayCount<256>]>>:$static_table,
      DefaultValuedOptionalAttr<I32Attr, "0">:$output_zp,
      DefaultValuedOptionalAttr<I32Attr, "0">:$shift,
      TorqHL_False:$saturate_i16);
  let results = (outs TorqHL_TableTensor:$output);
}

def TorqHL_ElementwiseBinaryOp : TorqHL_Op<"elementwisebinary"> {
  let summary = "Bitwise, logical, ordering or plain arithmetic operation";
  let description = [{
    `y = op(x1, x2)` with `op` from `op_type`; comparisons and logical operations
    give i1. `is_unsigned` orders integers as unsigned. "add" and "sub" of
    integers wrap, and of i1 are not defined. The inputs broadcast as numpy's do.
  }];
  let arguments = (ins TorqHL_AnyTensor:$init, TorqHL_AnyTensor:$input1,
      TorqHL_AnyTensor:$input2, TorqHL_ElementwiseOp:$op_type,
      TorqHL_False:$is_unsigned);
  let results = (outs TorqHL_AnyTensor:$output);
}

def TorqHL_SelectOp : TorqHL_Op<"select"> {
  let summary = "One of two elements, by a condition";
  let description = [{
    `y = input1 ? input2 : input3`

    The condition `input1` is i1; the inputs broadcast as numpy's do.
  }];
  let arguments = (ins TorqHL_AnyTensor:$init, RankedTensorOf<[I1]>:$input1,
      TorqHL_AnyTensor:$input2, TorqHL_AnyTensor:$input3);
  let results = (outs TorqHL_AnyTensor:$output);
}

//===----------------------------------------------------------------------===//
// Pooling and reductions
//===----------------------------------------------------------------------===//

def TorqHL_MaxPool2DOp : TorqHL_Op<"maxpool2d"> {
  let summary = "Maximum over windows";
  let description = [{
    `y[n, c, i, j] = clamp(max over the window of x[n, c, ..], output_min, output_max)`

    NCHW. Padded positions hold `input_zp`, which is the least value of the
    storage range, so that they never win. `weights` ([1], one) and `scale_bias`
    ([0, 1]) are what the kernel expects for an identity.
    bf16: padded positions hold minus infinity, `scale_bias` is [0], nothing is
    clamped, and 0 is greater than -0.
  }];
  let arguments = (ins TorqHL_Activation:$init, TorqHL_Weights:$weights,
      TorqHL_ScaleBias:$scale_bias, TorqHL_Activation:$input,
      I32Attr:$input_zp, I32Attr:$output_min, I32Attr:$output_max,
      TorqHL_Pair:$stride, TorqHL_Pad4:$pad, TorqHL_Pair:$kernel,
      TorqHL_False:$segment_output);
  let results = (outs TorqHL_Activation:$output);
}

class TorqHL_Mean<string mnemonic> : TorqHL_Op<mnemonic> {
  let arguments = (ins TorqHL_Activation:$init, TorqHL_Weights:$weights,
      TorqHL_ScaleBias:$scale_bias, TorqHL_Activation:$input,
      I32Attr:$input_zp, I32Attr:$output_zp, I32Attr:$output_min,
      I32Attr:$output_max, TorqHL_Shift:$shift_factor);
  let results = (outs TorqHL_Activation:$output);
}

def TorqHL_AvgPool2DOp : TorqHL_Mean<"avg_pool2d"> {
  let summary = "Mean over height and width";
  let description = [{
    `y[n, 0, 0, c] = clamp(rescale(sum_hw x[n, h, w, c] + bias, multiplier, shift_factor) + output_zp, output_min, output_max)`

    NHWC to `[N, 1, 1, C]`. For K pixels `bias = -K * zx` and the multiplier
    stands for `sx / (sy * K)`; `weights` is [1], one. Windowed average pooling is
    a `depthwise_conv2d` with weights of ones.
    bf16: as `reduce_mean`, in the order of rows and columns.
  }];
}

def TorqHL_ReduceMeanOp : TorqHL_Mean<"reduce_mean"> {
  let summary = "Mean over the last dimension";
  let description = [{
    `y[.., 0] = clamp(rescale(sum_k x[.., k] + bias, multiplier, shift_factor) + output_zp, output_min, output_max)`

    The last dimension stays, of size 1. For K elements `bias = -K * zx` and the
    multiplier stands for `sx / (sy * K)`; `weights` is [1], one.
    bf16: `y[.., 0] = bf16(f32(f32(sum_k x[.., k]) * w) + bias)`, the sum in f32 in the
    order of k, with `weights` and bias of f32; the weight stands for 1 / K.
  }];
}

def TorqHL_ReduceOp : TorqHL_Op<"reduce"> {
  let summary = "Sum, maximum or minimum over one dimension, rescale and clamp";
  let description = [{
    `y[.., ..] = clamp(rescale(f_k x[.., k, ..] + bias, multiplier, shift_factor) + output_zp, output_min, output_max)`

    `f_k` is the sum, the maximum or the minimum over dimension `axis`, by `name`;
    the result does not have that dimension. For a sum of K elements
    `bias = -K * zx`, for an extremum `bias = -zx`, and the multiplier stands for
    `sx / sy`; `weights` is [1], one.
  }];
  let arguments = (ins TorqHL_Activation:$init, TorqHL_Weights:$weights,
      TorqHL_ScaleBias:$scale_bias, TorqHL_Activation:$input,
      TorqHL_OneOf<["reduce_sum", "reduce_max", "reduce_min"]>:$name,
      ConfinedAttr<I32Attr, [IntNonNegative]>:$axis, I32Attr:$output_zp,
      I32Attr:$output_min, I32Attr:$output_max, TorqHL_Shift:$shift_factor);
  let results = (outs TorqHL_Activation:$output);
}

def TorqHL_ArgMaxOp : TorqHL_Op<"argmax"> {
  let summary = "Position of the maximum along one dimension";
  let description = [{
    `y[.., ..] = min {k : x[.., k, ..] = max_j x[.., j, ..]}`

    The first position of the greatest element along dimension `axis`, which the
    result does not have. `scale_bias` is [0, 1], an identity.
  }];
  let arguments = (ins RankedTensorOf<[I32]>:$init, TorqHL_ScaleBias:$scale_bias,
      RankedTensorOf<[I8, I16, I32]>:$input,
      ConfinedAttr<I32Attr, [IntNonNegative]>:$axis);
  let results = (outs RankedTensorOf<[I32]>:$output);
}

//===----------------------------------------------------------------------===//
// Data movement
//===----------------------------------------------------------------------===//

def TorqHL_TransposeOp : TorqHL_Op<"transpose"> {
  let summary = "Permutation of dimensions";
  let description = [{
    `y[i_perm[0], i_perm[1], ..] = x[i_0, i_1, ..]`: dimension d of the result is
    dimension `perm[d]` of the input.
  }];
  let arguments = (ins TorqHL_AnyTensor:$init, TorqHL_AnyTensor:$input,
      DenseI64ArrayAttr:$perm);
  let results = (outs TorqHL_AnyTensor:$output);
}

def TorqHL_BroadcastOp : TorqHL_Op<"broadcast"> {
  let summary = "Repetition along new dimensions";
  let description = [{
    `y[..] = x[.. without dimensions]`: `dimensions` are those of the result that
    the input does not have.
  }];
  let arguments = (ins TorqHL_AnyTensor:$init, TorqHL_AnyTensor:$input,
      DenseI64ArrayAttr:$dimensions);
  let results = (outs TorqHL_AnyTensor:$output);
}

def TorqHL_FillOp : TorqHL_Op<"fill"> {
  let summary = "Tensor of one value";
  let description = "`y[..] = value`";
  let arguments = (ins TorqHL_AnyTensor:$init, I32Attr:$value);
  let results = (outs TorqHL_AnyTensor:$output);
}

def TorqHL_IdentityOp : TorqHL_Op<"identity"> {
  let summary = "Copy";
  let description = "`y = x`";
  let arguments = (ins TorqHL_AnyTensor:$init, TorqHL_AnyTensor:$input);
  let results = (outs TorqHL_AnyTensor:$output);
}

def TorqHL_ConvertOp : TorqHL_Op<"convert"> {
  let summary = "Conversion of the element type";
  let description = [{
    `y = x` in the element type of the result; integers saturate, floats round
    half to even.
  }];
  let arguments = (ins TorqHL_AnyTensor:$init, TorqHL_AnyTensor:$input);
  let results = (outs TorqHL_AnyTensor:$output);
}

def TorqHL_GatherOp : TorqHL_Op<"gather"> {
  let summary = "Rows of a tensor by their number";
  let description = [{
    `y[i.., j..] = values[k, j..]` with `k = clamp(n < 0 ? n + K : n, 0, K - 1)`
    for `n = indices[i..]` and K rows of `values`.

    The indices pick along the first dimension. Negative ones count from the
    end; what lies outside of the tensor, which is an error in the source
    models, reads the nearest row.
  }];
  let arguments = (ins TorqHL_AnyTensor:$init, TorqHL_AnyTensor:$values,
      TorqHL_Indices:$indices);
  let results = (outs TorqHL_AnyTensor:$output);
}

def TorqHL_ResizeNearestNeighborOp : TorqHL_Op<"ResizeNearestNeighbor"> {
  let summary = "Repetition of every pixel";
  let description = [{
    `y[n, c, i, j] = x[n, c, floor(i / scale_factor), floor(j / scale_factor)]`

    NCHW.
  }];
  let arguments = (ins TorqHL_AnyTensor:$init, TorqHL_AnyTensor:$input,
      ConfinedAttr<I32Attr, [IntPositive]>:$scale_factor);
  let results = (outs TorqHL_AnyTensor:$output);
}

def TorqHL_DepthToSpaceOp : TorqHL_Op<"DepthToSpace"> {
  let summary = "Channels to blocks of pixels";
  let description = [{
    With `b = blockSize` and C channels of the result,

    ```
    mode_type 0 (DCR):  y[n, c, h * b + i, w * b + j] = x[n, (i * b + j) * C + c, h, w]
    mode_type 1 (CRD):  y[n, c, h * b + i, w * b + j] = x[n, (c * b + i) * b + j, h, w]
    ```

    NCHW. `weights` ([1], one) is what the kernel expects for an identity.
  }];
  let arguments = (ins TorqHL_AnyTensor:$init, TorqHL_Weights:$weights,
      TorqHL_AnyTensor:$input, ConfinedAttr<I32Attr, [IntPositive]>:$blockSize,
      TorqHL_DepthToSpaceMode:$mode_type);
  let results = (outs TorqHL_AnyTensor:$output);
}

#endif // TORQ_HL_OPS_TD
