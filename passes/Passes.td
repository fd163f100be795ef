//===- Passes.td - pass declarations --------------------------------------===//
//
// Part of the torq-mlir project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The implementation of a pass is the Python module of its name, with
// underscores, next to this file. A pass without an operation runs on any op
// that is isolated from above: on a module as well as on a function.
//
//===----------------------------------------------------------------------===//

#ifndef TORQ_PASSES
#define TORQ_PASSES

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// Level 0 to level 1: quantization as quantized_decomposed on torch tensors
//===----------------------------------------------------------------------===//

def RaiseOnnxQuantization : Pass<"raise-onnx-quantization"> {
  let summary = "Raise quantized ONNX operators to quantized_decomposed";
  let description = [{
    `QuantizeLinear` and `DequantizeLinear` become the operations of
    `quantized_decomposed`. Operators that compute on quantized values
    (`QLinearConv`, `QLinearMatMul`, the `QLinear*` and `QGemm` family of
    ONNX Runtime) become their float operator between dequantizations and a
    quantization, so that QDQ and QOperator models are the same from here on.
    So do `MaxPool`, `Clip` and `ArgMax` of integers, whose result depends on
    the sign. Result types that the importer does not know are inferred.

    ```mlir
    %q = torch.operator "onnx.QuantizeLinear"(%x, %scale, %zp)
        : (!torch.vtensor<[1,8],f32>, !torch.vtensor<[],f32>,
           !torch.vtensor<[],si8>) -> !torch.vtensor<[1,8],si8>
    ```

    becomes

    ```mlir
    %q = "quantized_decomposed.quantize_per_tensor"(%x, %scale, %zp)
        {divide, dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64}
        : (!torch.vtensor<[1,8],f32>, !torch.vtensor<[],f32>,
           !torch.vtensor<[],si8>) -> !torch.vtensor<[1,8],si8>
    ```

    A scale or zero point that is not constant, or of a wrong type, is an
    error that names the node.
  }];
  let dependentDialects = ["quantized_decomposed", "torch"];
}

def RaiseTorchQuantizedDecomposed : Pass<"raise-torch-quantized-decomposed"> {
  let summary = "Raise PyTorch's quantization operators to quantized_decomposed";
  let description = [{
    The operators of PyTorch's `quantized_decomposed` namespace become the
    operations of the same name: those that the torch dialect has, and those
    that it knows as `torch.operator` only. Bounds, axes and dtypes become
    attributes, scales and zero points stay operands. The affine operators of
    torchao, which have one form for all granularities, become the operation for
    the granularity that their block size stands for.

    ```mlir
    %q = torch.quantized_decomposed.quantize_per_tensor %x, %scale, %zp, %int-128, %int127, %int1
        : !torch.vtensor<[1,8],f32>, !torch.float, !torch.int, !torch.int, !torch.int, !torch.int
        -> !torch.vtensor<[1,8],si8>
    ```

    becomes

    ```mlir
    %q = "quantized_decomposed.quantize_per_tensor"(%x, %scale, %zp)
        {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64}
        : (!torch.vtensor<[1,8],f32>, !torch.float, !torch.int)
        -> !torch.vtensor<[1,8],si8>
    ```

    A dtype that is no type of quantized values, an overload that does not
    exist, or a block size of another granularity is an error.
  }];
  let dependentDialects = ["quantized_decomposed", "torch"];
}

def QuantizedDecomposedSimplify : Pass<"quantized-decomposed-simplify"> {
  let summary = "Remove and move quantize and dequantize where no result changes";
  let description = [{
    Rewrites that keep every value bit for bit: a quantization of what was
    dequantized with the same parameters disappears, data movement (reshape,
    transpose, ...) changes places with a dequantization so that it moves
    stored values, constants are quantized, and the parameters chosen for a
    constant are constants. A dequantization of what was
    quantized stays: it is the quantization error that the model wants.
    A constant scale that is infinite or NaN is an error.

    ```mlir
    %x = "quantized_decomposed.dequantize_per_tensor"(%q, %scale, %zp) {...}
    %r = "quantized_decomposed.quantize_per_tensor"(%x, %scale, %zp) {...}
    ```

    becomes `%q`.
  }];
  let dependentDialects = ["arith", "linalg", "quantized_decomposed", "tensor", "torch"];
}

//===----------------------------------------------------------------------===//
// Level 1 to level 2: builtin tensors
//===----------------------------------------------------------------------===//

def QuantizedDecomposedBackendTypeConversion
    : Pass<"quantized-decomposed-backend-type-conversion"> {
  let summary = "Convert quantized_decomposed from torch tensors to builtin tensors";
  let description = [{
    The operations change to builtin tensors between conversions, which the
    backend type conversions of torch-mlir remove later. Storage becomes
    signless; the attribute `dtype` keeps the sign.

    ```mlir
    %q = "quantized_decomposed.quantize_per_tensor"(%x, %scale, %zp) {...}
        : (!torch.vtensor<[8],f32>, !torch.vtensor<[],f32>,
           !torch.vtensor<[],ui8>) -> !torch.vtensor<[8],ui8>
    ```

    becomes

    ```mlir
    %0 = torch_c.to_builtin_tensor %x : !torch.vtensor<[8],f32> -> tensor<8xf32>
    %1 = arith.constant dense<0.5> : tensor<f32>  // the constant %scale
    %2 = arith.constant dense<3> : tensor<i8>     // the constant %zp
    %3 = "quantized_decomposed.quantize_per_tensor"(%0, %1, %2) {...}
        : (tensor<8xf32>, tensor<f32>, tensor<i8>) -> tensor<8xi8>
    %q = torch_c.from_builtin_tensor %3 : tensor<8xi8> -> !torch.vtensor<[8],ui8>
    ```

    StableHLO has unsigned types. For a conversion to it, what others see of an
    unsigned tensor is one of these, with a `stablehlo.bitcast_convert` between
    them and the operation.
  }];
  let options = [
    Option<"unsignedTypes", "unsigned-types", "bool", /*default=*/"false",
           "Unsigned torch tensors are unsigned builtin tensors to other operations, "
           "as in StableHLO">
  ];
  let dependentDialects = ["arith", "quantized_decomposed", "stablehlo", "torch", "torch_c"];
}

def TorchIntegersInFloat : Pass<"torch-integers-in-float"> {
  let summary = "Pool and multiply stored integers in float where a backend cannot";
  let description = [{
    The maximum of stored values is that of the numbers they stand for, and
    `quantized-decomposed-simplify` makes use of it; some exported programs
    multiply stored values. TOSA has no unsigned types, and the conversion to
    StableHLO has no pooling of less than 32 bits and no product of different
    types. What they cannot do goes through f32, as if it were quantized with a
    scale of 1; torq-fuse-quantized-ops-tosa and -stablehlo make integer
    products of that again.

    ```mlir
    %y = torch.aten.max_pool2d %x, ... : !torch.vtensor<[1,3,4,4],ui8>, ...
    ```

    becomes

    ```mlir
    %0 = "quantized_decomposed.dequantize_per_tensor"(%x, %one, %zero) {dtype = ui8, ...}
    %1 = torch.aten.max_pool2d %0, ... : !torch.vtensor<[1,3,4,4],f32>, ...
    %y = "quantized_decomposed.quantize_per_tensor"(%1, %one, %zero) {dtype = ui8, ...}
    ```
  }];
  let options = [
    Option<"signedTypes", "signed-types", "bool", /*default=*/"false",
           "Signed values as well as unsigned ones">
  ];
  let dependentDialects = ["quantized_decomposed", "torch"];
}

//===----------------------------------------------------------------------===//
// Level 2: TOSA and StableHLO
//===----------------------------------------------------------------------===//

def ConvertQuantizedDecomposedToTosa
    : Pass<"convert-quantized-decomposed-to-tosa"> {
  let summary = "Convert quantized_decomposed on builtin tensors to TOSA";
  let description = [{
    Every operation and granularity, computed in floats, bit for bit what
    PyTorch computes, or ONNX with `divide`. `tosa.cast` is what rounds; a
    division, which TOSA does not have, is a product with the reciprocal whose
    last bit is put right.

    ```mlir
    %q = "quantized_decomposed.quantize_per_tensor"(%x, %scale, %zp)
        {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64}
        : (tensor<8xf32>, tensor<f32>, tensor<i8>) -> tensor<8xi8>
    ```

    becomes

    ```mlir
    %0 = tosa.mul %x, %reciprocal, %shift : ...
    %1 = tosa.clamp %0 {min_val = -131.0 : f32, max_val = 124.0 : f32} : ...
    %2 = ...                                    // NaN becomes 0
    %3 = tosa.cast %2 : (tensor<8xf32>) -> tensor<8xi32>
    %4 = tosa.add %3, %zp_i32 : ...
    %q = tosa.cast %4 : (tensor<8xi32>) -> tensor<8xi8>
    ```

    Where PyTorch computes in f64 or i64 (scales per token that were chosen at
    run time are f64), so does the result. MLIR's dialect has these types, the
    specification of TOSA does not. Scales per tensor chosen at run time are f32
    in effect, and stay in f32. A group along a dynamic dimension and a second
    dynamic dimension next to groups are errors.
  }];
  let dependentDialects = ["tensor", "tosa"];
}

def ConvertQuantizedDecomposedToStablehlo
    : Pass<"convert-quantized-decomposed-to-stablehlo"> {
  let summary = "Convert quantized_decomposed on builtin tensors to StableHLO";
  let description = [{
    Every operation and granularity, computed in floats, bit for bit what
    PyTorch computes, or ONNX with `divide`.

    ```mlir
    %q = "quantized_decomposed.quantize_per_tensor"(%x, %scale, %zp)
        {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64}
        : (tensor<8xf32>, tensor<f32>, tensor<i8>) -> tensor<8xi8>
    ```

    becomes

    ```mlir
    %0 = stablehlo.multiply %x, %reciprocal : tensor<8xf32>
    %1 = stablehlo.clamp %low, %0, %high : (tensor<f32>, tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    %2 = ...                                    // NaN becomes 0
    %3 = stablehlo.round_nearest_even %2 : tensor<8xf32>
    %4 = stablehlo.convert %3 : (tensor<8xf32>) -> tensor<8xi32>
    %5 = stablehlo.add %4, %zp_i32 : tensor<8xi32>
    %q = stablehlo.convert %5 : (tensor<8xi32>) -> tensor<8xi8>
    ```

    Shapes of dynamic tensors are `tensor.dim`, as convert-torch-to-stablehlo
    makes them. A group along a dynamic dimension is an error.
  }];
  let dependentDialects = ["stablehlo", "tensor"];
}

def TorqFuseQuantizedOpsTosa : Pass<"torq-fuse-quantized-ops-tosa"> {
  let summary = "Fuse dequantizations into the TOSA contraction of their values";
  let description = [{
    A float convolution or `tosa.matmul` of operands dequantized from 8 bits
    becomes the one of the integers, with their zero points, and one
    dequantization of the accumulator. Where a quantization follows, after a
    bias, clamps or data movement, the bias goes into the accumulator and
    `tosa.rescale` takes the place of both: its `SINGLE_ROUND` is half up, the
    rescale of the NPU.

    ```mlir
    %x = "quantized_decomposed.dequantize_per_tensor"(%qx, %sx, %zx) {...}
    %w = "quantized_decomposed.dequantize_per_channel"(%qw, %sw, %zw) {...}
    %y = tosa.conv2d %x, %w, %bias, %zero, %zero {acc_type = f32, ...}
    %r = tosa.clamp %y {min_val = 0.0 : f32, max_val = 0x7F7FFFFF : f32}
    %q = "quantized_decomposed.quantize_per_tensor"(%r, %sy, %zy) {...}
    ```

    becomes

    ```mlir
    %a = tosa.conv2d %qx, %qw, %qbias, %zpx, %zpw {acc_type = i32, ...}
    %0 = tosa.rescale %a, %multipliers, %shifts, %zero, %zpy
        {per_channel = true, rounding_mode = SINGLE_ROUND, scale32 = true, ...}
    %q = tosa.clamp %0 {min_val = 3 : i8, max_val = 127 : i8}
    ```

    Parameters per tensor or token that are known at run time only are factors
    and terms of integer arithmetic around the contraction. An accumulator that
    could overflow 32 bits is left alone; a bias that does not fit is an error.
  }];
  let options = [
    Option<"explain", "explain", "bool", /*default=*/"false",
           "Record on each operation that was not fused, as torq_hl.refusal, what "
           "stood in the way">
  ];
  let dependentDialects = ["arith", "quantized_decomposed", "tensor", "tosa"];
}

def TorqFuseQuantizedOpsStablehlo : Pass<"torq-fuse-quantized-ops-stablehlo"> {
  let summary = "Fuse dequantizations into the StableHLO contraction of their values";
  let description = [{
    As torq-fuse-quantized-ops-tosa, for `stablehlo.convolution` and
    `stablehlo.dot_general` of i8 with an i32 result. Zero points are terms of
    integer arithmetic (constant ones go into the bias, padding is with the zero
    point), and the rescale is a product of i64 and a shift.

    ```mlir
    %x = "quantized_decomposed.dequantize_per_tensor"(%qx, %sx, %zx) {...}
    %w = "quantized_decomposed.dequantize_per_channel"(%qw, %sw, %zw) {...}
    %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
        : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
    %q = "quantized_decomposed.quantize_per_tensor"(%y, %sy, %zy) {...}
    ```

    becomes

    ```mlir
    %a = stablehlo.dot_general %qx, %qw, contracting_dims = [1] x [0]
        : (tensor<4x8xi8>, tensor<8x2xi8>) -> tensor<4x2xi32>
    %0 = stablehlo.subtract %a, %zpx_times_sums : tensor<4x2xi32>
    %1 = stablehlo.convert %0 : (tensor<4x2xi32>) -> tensor<4x2xi64>
    %2 = stablehlo.multiply %1, %multipliers : tensor<4x2xi64>
    %3 = stablehlo.add %2, %half : tensor<4x2xi64>
    %4 = stablehlo.shift_right_arithmetic %3, %shift : tensor<4x2xi64>
    ...                                         // zero point, clamp
    ```
  }];
  let options = [
    Option<"explain", "explain", "bool", /*default=*/"false",
           "Record on each operation that was not fused, as torq_hl.refusal, what "
           "stood in the way">
  ];
  let dependentDialects = ["arith", "quantized_decomposed", "stablehlo", "tensor"];
}


//===----------------------------------------------------------------------===//
// Level 2 to level 3: torq_hl
//===----------------------------------------------------------------------===//

def TorqSignedStorage : Pass<"torq-signed-storage"> {
  let summary = "Store unsigned quantized values as signed ones";
  let description = [{
    The NPU computes on signed integers. An unsigned value `u` of n bits is
    stored as `u - 2^(n-1)`, its highest bit flipped; the zero point and the
    range move along, so that the float values stay what they are. Flips move
    through data movement and cancel where they meet; the others are left at
    the borders of the function.

    ```mlir
    %q = "quantized_decomposed.quantize_per_tensor"(%x, %scale, %c128)
        {dtype = ui8, quant_max = 255 : i64, quant_min = 0 : i64}
        : (tensor<8xf32>, tensor<f32>, tensor<i8>) -> tensor<8xi8>
    ```

    becomes, followed by a flip of the highest bit if anything but a
    dequantization uses the result,

    ```mlir
    %q = "quantized_decomposed.quantize_per_tensor"(%x, %scale, %c0)
        {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64}
        : (tensor<8xf32>, tensor<f32>, tensor<i8>) -> tensor<8xi8>
    ```
  }];
  let dependentDialects = ["arith", "linalg", "quantized_decomposed", "tensor"];
}

def TorqFuseQuantizedOps : Pass<"torq-fuse-quantized-ops"> {
  let summary = "Fuse dequantizations into the contraction of their values";
  let description = [{
    A float contraction (convolution, matrix product) of dequantized operands
    on its way to a quantization becomes the contraction of the integers with
    their zero points, the bias in units of `input scale * weight scale`, and
    one dequantization of the accumulator. Padding by 0.0 becomes padding by
    the zero point.

    ```mlir
    %x = "quantized_decomposed.dequantize_per_tensor"(%qx, %sx, %zx) {...}
    %w = "quantized_decomposed.dequantize_per_tensor"(%qw, %sw, %zw) {...}
    %y = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x2xf32>)
                       outs(%zero : tensor<4x2xf32>) -> tensor<4x2xf32>
    ```

    becomes

    ```mlir
    %a = linalg.quantized_matmul
        ins(%qx, %qw, %zpx, %zpw : tensor<4x8xi8>, tensor<8x2xi8>, i32, i32)
        outs(%izero : tensor<4x2xi32>) -> tensor<4x2xi32>
    %y = linalg.generic ...  // sitofp, mulf by sx * sw in f64, truncf
    ```

    Activations whose parameters are known at run time only, per tensor or per
    token, and results that stay in float have the integer contraction too:
    its sums, less the zero point times the constant sums of the weights, are
    scaled in f64 and rounded to f32 once. The host computes these.

    Weights in groups along the summed dimension of a matrix product stay as
    they are stored, two of 4 bits in a byte, and are taken apart in the body
    of a linalg.generic. A loop scales the sum over each group and adds it to
    the result; with activations of 8 bits that sum is one of integers.
    Weights per channel with activations in float are one group.

    An accumulator that could overflow 32 bits is left alone; a bias that does
    not fit is an error.
  }];
  let options = [
    Option<"explain", "explain", "bool", /*default=*/"false",
           "Record on each operation that was not fused or that the NPU does not "
           "take, as torq_hl.refusal, what stood in the way">
  ];
  let dependentDialects = ["arith", "linalg", "math", "scf", "tensor"];
}

def ConvertLinalgToTorqHL : Pass<"convert-linalg-to-torq-hl"> {
  let summary = "Convert quantized linalg to torq_hl";
  let description = [{
    What computes on integers between dequantizations and a quantization
    becomes one operation of `torq_hl`: scales become multipliers and a shift,
    zero points go into the bias, a clamp into the bounds of the output. It
    does not matter which pass made the linalg. What the NPU does not have
    stays for the host.

    ```mlir
    %a = linalg.conv_2d_nchw_fchw_q ins(%x, %w, %zx, %zw : ...) outs(...)
    %f = linalg.generic ...  // dequantize
    %q = "quantized_decomposed.quantize_per_tensor"(%f, %scale, %zp) {...}
    ```

    becomes

    ```mlir
    %init = tensor.empty() : tensor<1x16x8x8xi8>
    %q = "torq_hl.conv2d"(%init, %w, %scale_bias, %x)
        {input_zp = 3 : i32, output_zp = -1 : i32, shift_factor = 36 : i32, ...}
        : (tensor<1x16x8x8xi8>, tensor<16x3x3x3xi8>, tensor<32xi32>,
           tensor<1x3x10x10xi8>) -> tensor<1x16x8x8xi8>
    ```
  }];
  let options = [
    Option<"explain", "explain", "bool", /*default=*/"false",
           "Record on each operation that was not converted, as torq_hl.refusal, "
           "what stood in the way">,
    Option<"floatType", "float", "std::string", /*default=*/"host",
           "Where float operations go, with quantization and dequantization that no "
           "other operation takes in: 'host', exact in f32, or 'bf16', on the NPU with "
           "8 bits of precision">,
    ListOption<"approximate", "approximate", "std::string",
               "What is computed in integers although they follow the float "
               "computation only nearly: softmax, normalization">
  ];
  let dependentDialects = ["arith", "linalg", "tensor", "torq_hl"];
}

def TorqCancelTransposes : Pass<"torq-cancel-transposes"> {
  let summary = "Cancel transposes of torq_hl with one another";
  let description = [{
    A transpose moves behind elementwise operations, concatenations and slices
    where it meets another one on the way, or where all operands have it; two
    in a row are one, or none. What changes nothing, or moves only dimensions
    of size 1, is a reshape. So a model with images in NHWC, which has
    transposes around each convolution, keeps those at its borders.

    ```mlir
    %1 = "torq_hl.transpose"(%0, %x) {perm = array<i64: 0, 2, 3, 1>} : ...
    %2 = "torq_hl.table"(%init, %scale_bias, %1) {...}
    %3 = "torq_hl.transpose"(%0, %2) {perm = array<i64: 0, 3, 1, 2>} : ...
    ```

    becomes

    ```mlir
    %3 = "torq_hl.table"(%init, %scale_bias, %x)
        {torq_hl.layout = array<i64: 0, 2, 3, 1>, ...}
    ```

    `torq_hl.layout` is on operations whose result has other dimensions than the
    value of the source model that it is: dimension d of that value is dimension
    `layout[d]` of the result.
  }];
  let dependentDialects = ["arith", "tensor", "torq_hl"];
}

def TorqAssignExecutors : Pass<"torq-assign-executors"> {
  let summary = "Assign operations to executors by the line they come from";
  let description = [{
    Sets the attribute `torq-executor` of the operations whose location names a
    line and column of `map`: those of the file that the IR was read from, or
    that its locations refer to. An operation that comes from several lines is
    assigned to the last one of nss, css and host that is found. Only operations
    of `torq_hl` are assigned to nss, which has no others.

    `*` stands for all operations that are not assigned otherwise. With
    `map=4:10=host`, where line 4 has a convolution:

    ```mlir
    %y = linalg.conv_2d_nchw_fchw {"torq-executor" = "host", ...} ...
    ```

    torq-fuse-quantized-ops leaves in float what is assigned to the host, and
    convert-linalg-to-torq-hl leaves in linalg what is assigned to css or the
    host. Passes that build new operations keep locations and not attributes:
    the pass runs before each pass that is to respect the assignment.
  }];
  let options = [
    ListOption<"map", "map", "std::string",
               "The assignments, line:col=executor or *=executor, or the name of a compiler "
               "file of torq-gen-config (.json)">
  ];
}

def TorqOutlineExecutorRegions
    : Pass<"torq-outline-executor-regions", "ModuleOp"> {
  let summary = "Outline what one executor computes in one go into functions";
  let description = [{
    Operations of one executor become functions with the attribute
    `torq-executor`, which also the calls have, so that a compiler for that
    executor sees one call for each region. The regions are maximal: joining two
    of one executor would make each of them wait for the other. What is in a
    region need not be connected, may have several results, and is put in an
    order in which the values are there when they are used.

    The executor of an operation is its attribute `torq-executor`; without one it
    is nss for `torq_hl` and the host for all others, except that other shapes and
    copies of integers belong to a region that they are inside of. Constants and `tensor.empty`
    are copied to where they are used. Functions that consist of several blocks,
    or have operations without results, stay as they are.

    ```mlir
    func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
      %q = linalg.generic ...
      %1 = "torq_hl.table"(%init, %scale_bias, %q) {...}
      %2 = "torq_hl.fma"(%init, %weights, %scale_bias, %1) {...}
      %y = linalg.generic ...
    ```

    becomes

    ```mlir
    func.func private @main_nss_0(%q: tensor<8xi8>) -> tensor<8xi8>
        attributes {"torq-executor" = "nss"} {
      %1 = "torq_hl.table"(%init, %scale_bias, %q) {...}
      %2 = "torq_hl.fma"(%init, %weights, %scale_bias, %1) {...}
      return %2
    }
    func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
      %q = linalg.generic ...
      %1 = call @main_nss_0(%q) {"torq-executor" = "nss"}
      %y = linalg.generic ...
    ```
  }];
  let options = [
    ListOption<"executors", "executors", "std::string",
               "Whose regions become functions; those of nss and css where there are none">
  ];
  let dependentDialects = ["func"];
}

def TorqConvolutionsToMatmuls : Pass<"torq-convolutions-to-matmuls"> {
  let summary = "Convolutions as matrix products, and pooling, with channels last";
  let description = [{
    A `conv2d` of integers without groups, of static shape and with constant
    weights becomes a `fully_connected` on a matrix with a row for each pixel of
    the result: the part of the padded image that it is computed from. Such a
    product is what compilers for processors tile and vectorize best. The image
    has its channels last, so that a row of the window is consecutive in memory;
    the transposes that this takes meet those of the next convolution, and
    `torq-cancel-transposes` removes them. A `depthwise_conv2d` with one output
    for each channel becomes `linalg.depthwise_conv_2d_nhwc_hwc` and an `fma`, and
    `maxpool2d` becomes `linalg.pooling_nhwc_max`. Results are the same.

    ```mlir
    %y = "torq_hl.conv2d"(%init, %weights, %scale_bias, %x) {...}
        : (tensor<1x16x8x8xi8>, tensor<16x8x3x3xi8>, tensor<32xi32>, tensor<1x8x8x8xi8>) -> ...
    ```

    becomes

    ```mlir
    %1 = "torq_hl.transpose"(%0, %x) {perm = array<i64: 0, 2, 3, 1>} : ...
    %2 = tensor.pad %1 low[0, 1, 1, 0] high[0, 1, 1, 0] ...
    %3 = linalg.generic ...                       // 1x10x80 to 1x8x8x3x24
    %4 = tensor.collapse_shape %3 ...             // 64x72
    %5 = "torq_hl.fully_connected"(%init, %weights, %scale_bias, %4) {...}
    %6 = tensor.expand_shape %5 ...
    %y = "torq_hl.transpose"(%0, %6) {perm = array<i64: 0, 3, 1, 2>} : ...
    ```
  }];
  let dependentDialects = ["arith", "linalg", "tensor", "torq_hl"];
}

def TorqKeepFloatBits : Pass<"torq-keep-float-bits"> {
  let summary = "Float arithmetic that all compilers compute to the same bits";
  let description = [{
    A compiler that may join a product and a sum to a fused multiply-add rounds
    once where the program rounds twice, and one with an exponential function of
    its own has other last bits. In the result of this pass neither is possible:

    * exp, erf and tanh of f32 and narrower types are the polynomials that all
      executors compute them with;
    * a product of f32 or f64 that could be added to something is `fma(a, b, 0)`,
      which is the same number, or `a * b` where that is zero, for its sign.

    Named operations of linalg stay as they are; `linalg-generalize-named-ops`
    goes before.

    ```mlir
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %p, %c : f32
    ```

    becomes

    ```mlir
    %0 = math.fma %a, %b, %zero : f32
    %1 = arith.cmpf oeq, %0, %zero : f32
    %2 = arith.mulf %a, %b : f32
    %p = arith.select %1, %2, %0 : f32
    %s = arith.addf %p, %c : f32
    ```
  }];
  let dependentDialects = ["arith", "math"];
}

def ConvertQuantizedDecomposedToLinalg
    : Pass<"convert-quantized-decomposed-to-linalg"> {
  let summary = "Convert quantized_decomposed on builtin tensors to linalg";
  let description = [{
    The remaining operations become `linalg.generic`, bit for bit what PyTorch
    computes, or ONNX with `divide`: quantization and dequantization element by
    element, the choice of parameters as reductions. The scales and zero points
    of tokens and channel groups are indexed by what the index of an element is
    divided by; no tensor of the size of the values is made of them.

    ```mlir
    %q = "quantized_decomposed.quantize_per_tensor"(%x, %scale, %zp)
        {divide, dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64}
        : (tensor<8xf32>, tensor<f32>, tensor<i8>) -> tensor<8xi8>
    ```

    becomes

    ```mlir
    %q = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
        ins(%x : tensor<8xf32>) outs(%0 : tensor<8xi8>) {
    ^bb0(%in: f32, %out: i8):
      %1 = arith.divf %in, %s : f32
      %2 = math.roundeven %1 : f32
      %3 = arith.addf %2, %z : f32
      ...  // clamp, fptosi
      linalg.yield %6 : i8
    } -> tensor<8xi8>
    ```
  }];
  let dependentDialects = ["arith", "linalg", "math", "tensor"];
}

//===----------------------------------------------------------------------===//
// Level 3 back to linalg: the host
//===----------------------------------------------------------------------===//

def ConvertTorqHLToLinalg : Pass<"convert-torq-hl-to-linalg"> {
  let summary = "Convert torq_hl to linalg with the same results";
  let description = [{
    The reference lowering: each operation of `torq_hl` becomes linalg that
    computes the same integers, bit for bit, the rounding of the rescale
    included. It runs wherever linalg does.

    ```mlir
    %q = "torq_hl.fully_connected"(%init, %w, %scale_bias, %x) {...}
        : (tensor<1x10xi8>, tensor<64x10xi8>, tensor<20xi32>, tensor<1x64xi8>)
        -> tensor<1x10xi8>
    ```

    becomes

    ```mlir
    %a = linalg.generic ...  // extsi, muli, addi
        ins(%x, %w : tensor<1x64xi8>, tensor<64x10xi8>)
        outs(%zero : tensor<1x10xi32>) -> tensor<1x10xi32>
    %q = linalg.generic ...  // add the bias, rescale, add output_zp, clamp
    ```
  }];
  let dependentDialects = ["arith", "linalg", "math", "tensor"];
}

#endif // TORQ_PASSES
