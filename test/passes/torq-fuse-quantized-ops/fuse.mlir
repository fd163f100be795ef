// RUN: torq-opt --split-input-file --torq-fuse-quantized-ops %s | FileCheck %s

#id2 = affine_map<(d0, d1) -> (d0, d1)>
#id4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#col = affine_map<(d0, d1) -> (d1)>

// Padding becomes padding with the zero point, the i32 bias at the scale of the accumulator is added as it is, and the
// accumulator is dequantized with the product of the scales, exact in f64.

// CHECK-LABEL: func.func @conv_per_channel
// CHECK-DAG: %[[SCALE:.*]] = arith.constant dense<[1.250000e-01, 2.500000e-01, 6.250000e-02, 5.000000e-01]> : tensor<4xf64>
// CHECK-DAG: %[[BIAS:.*]] = arith.constant dense<[10, 20, 30, 40]> : tensor<4xi32>
// CHECK-DAG: %[[WEIGHTS:.*]] = arith.constant dense<2> : tensor<4x3x3x3xi8>
// CHECK-DAG: %[[ZX:.*]] = arith.constant 3 : i32
// CHECK-DAG: %[[PAD:.*]] = arith.constant 3 : i8
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK: %[[X:.*]] = tensor.pad %arg0 low[0, 0, 1, 1] high[0, 0, 1, 1]
// CHECK: tensor.yield %[[PAD]] : i8
// CHECK: %[[INIT:.*]] = linalg.fill ins(%[[ZERO]] : i32)
// CHECK: %[[ACC:.*]] = linalg.conv_2d_nchw_fchw_q
// CHECK-SAME: ins(%[[X]], %[[WEIGHTS]], %[[ZX]], %[[ZERO]] : tensor<1x3x10x10xi8>, tensor<4x3x3x3xi8>, i32, i32) outs(%[[INIT]] : tensor<1x4x8x8xi32>)
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[ACC]], %[[BIAS]] : tensor<1x4x8x8xi32>, tensor<4xi32>)
// CHECK: arith.addi
// CHECK: %[[Y:.*]] = linalg.generic {{.*}} ins(%[[SUM]], %[[SCALE]] : tensor<1x4x8x8xi32>, tensor<4xf64>)
// CHECK: arith.sitofp {{.*}} : i32 to f64
// CHECK: arith.mulf {{.*}} : f64
// CHECK: arith.truncf {{.*}} : f64 to f32
// CHECK: "quantized_decomposed.quantize_per_tensor"(%[[Y]],
func.func @conv_per_channel(%x: tensor<1x3x8x8xi8>) -> tensor<1x4x8x8xi8> {
  %zero = arith.constant 0.0 : f32
  %sx = arith.constant dense<0.5> : tensor<f32>
  %zx = arith.constant dense<3> : tensor<i8>
  %w = arith.constant dense<2> : tensor<4x3x3x3xi8>
  %sw = arith.constant dense<[0.25, 0.5, 0.125, 1.0]> : tensor<4xf32>
  %zw = arith.constant dense<0> : tensor<4xi8>
  %b = arith.constant dense<[10, 20, 30, 40]> : tensor<4xi32>
  %sb = arith.constant dense<[0.125, 0.25, 0.0625, 0.5]> : tensor<4xf32>
  %zb = arith.constant dense<0> : tensor<4xi32>
  %sy = arith.constant dense<2.0> : tensor<f32>
  %zy = arith.constant dense<-128> : tensor<i8>
  %xf = "quantized_decomposed.dequantize_per_tensor"(%x, %sx, %zx) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x3x8x8xi8>, tensor<f32>, tensor<i8>) -> tensor<1x3x8x8xf32>
  %wf = "quantized_decomposed.dequantize_per_channel"(%w, %sw, %zw) {axis = 0 : i64, quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x3x3x3xi8>, tensor<4xf32>, tensor<4xi8>) -> tensor<4x3x3x3xf32>
  %bf = "quantized_decomposed.dequantize_per_channel"(%b, %sb, %zb) {axis = 0 : i64, quant_min = -2147483648 : i64, quant_max = 2147483647 : i64, dtype = si32} : (tensor<4xi32>, tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>
  %padded = tensor.pad %xf low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<1x3x8x8xf32> to tensor<1x3x10x10xf32>
  %e = tensor.empty() : tensor<1x4x8x8xf32>
  %init = linalg.broadcast ins(%bf : tensor<4xf32>) outs(%e : tensor<1x4x8x8xf32>) dimensions = [0, 2, 3]
  %c = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%padded, %wf : tensor<1x3x10x10xf32>, tensor<4x3x3x3xf32>) outs(%init : tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%c, %sy, %zy) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x4x8x8xf32>, tensor<f32>, tensor<i8>) -> tensor<1x4x8x8xi8>
  return %q : tensor<1x4x8x8xi8>
}

// -----

// A float bias is brought to the scale of the accumulator with round half to even: 1.0 / 0.25 and -0.3125 / 0.125.

// CHECK-LABEL: func.func @matmul_float_bias
// CHECK-DAG: arith.constant dense<[2.500000e-01, 1.250000e-01]> : tensor<2xf64>
// CHECK-DAG: %[[BIAS:.*]] = arith.constant dense<[4, -2]> : tensor<2xi32>
// CHECK: %[[ACC:.*]] = linalg.quantized_matmul ins(%arg0,
// CHECK: linalg.generic {{.*}} ins(%[[ACC]], %[[BIAS]] : tensor<2x2xi32>, tensor<2xi32>)
// CHECK-NOT: arith.addf
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#id4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#col = affine_map<(d0, d1) -> (d1)>
func.func @matmul_float_bias(%x: tensor<2x3xi8>) -> tensor<2x2xi8> {
  %zero = arith.constant 0.0 : f32
  %sx = arith.constant dense<0.5> : tensor<f32>
  %zx = arith.constant dense<3> : tensor<i8>
  %w = arith.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi8>
  %sw = arith.constant dense<[0.5, 0.25]> : tensor<2xf32>
  %zw = arith.constant dense<0> : tensor<2xi8>
  %b = arith.constant dense<[1.0, -0.3125]> : tensor<2xf32>
  %xf = "quantized_decomposed.dequantize_per_tensor"(%x, %sx, %zx) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3xf32>
  %wf = "quantized_decomposed.dequantize_per_channel"(%w, %sw, %zw) {axis = 1 : i64, quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<3x2xi8>, tensor<2xf32>, tensor<2xi8>) -> tensor<3x2xf32>
  %e = tensor.empty() : tensor<2x2xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
  %m = linalg.matmul ins(%xf, %wf : tensor<2x3xf32>, tensor<3x2xf32>) outs(%init : tensor<2x2xf32>) -> tensor<2x2xf32>
  %y = linalg.generic {indexing_maps = [#id2, #col, #id2], iterator_types = ["parallel", "parallel"]} ins(%m, %b : tensor<2x2xf32>, tensor<2xf32>) outs(%e : tensor<2x2xf32>) {
  ^bb0(%in: f32, %bias: f32, %out: f32):
    %s = arith.addf %in, %bias : f32
    linalg.yield %s : f32
  } -> tensor<2x2xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %sx, %zx) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<2x2xf32>, tensor<f32>, tensor<i8>) -> tensor<2x2xi8>
  return %q : tensor<2x2xi8>
}

// -----

// One weight zero point stays an operand of the contraction.

// CHECK-LABEL: func.func @matmul_weight_zero_point
// CHECK-DAG: %[[ZX:.*]] = arith.constant 3 : i32
// CHECK-DAG: %[[ZW:.*]] = arith.constant 7 : i32
// CHECK: linalg.quantized_matmul ins(%arg0, %{{.*}}, %[[ZX]], %[[ZW]] : tensor<2x3xi8>, tensor<3x2xi8>, i32, i32)
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#id4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#col = affine_map<(d0, d1) -> (d1)>
func.func @matmul_weight_zero_point(%x: tensor<2x3xi8>) -> tensor<2x2xi8> {
  %zero = arith.constant 0.0 : f32
  %sx = arith.constant dense<0.5> : tensor<f32>
  %zx = arith.constant dense<3> : tensor<i8>
  %w = arith.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi8>
  %sw = arith.constant dense<0.5> : tensor<f32>
  %zw = arith.constant dense<7> : tensor<i8>
  %b = arith.constant dense<[1.0, -0.3125]> : tensor<2xf32>
  %xf = "quantized_decomposed.dequantize_per_tensor"(%x, %sx, %zx) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3xf32>
  %wf = "quantized_decomposed.dequantize_per_tensor"(%w, %sw, %zw) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<3x2xi8>, tensor<f32>, tensor<i8>) -> tensor<3x2xf32>
  %e = tensor.empty() : tensor<2x2xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
  %m = linalg.matmul ins(%xf, %wf : tensor<2x3xf32>, tensor<3x2xf32>) outs(%init : tensor<2x2xf32>) -> tensor<2x2xf32>
  %y = linalg.generic {indexing_maps = [#id2, #col, #id2], iterator_types = ["parallel", "parallel"]} ins(%m, %b : tensor<2x2xf32>, tensor<2xf32>) outs(%e : tensor<2x2xf32>) {
  ^bb0(%in: f32, %bias: f32, %out: f32):
    %s = arith.addf %in, %bias : f32
    linalg.yield %s : f32
  } -> tensor<2x2xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %sx, %zx) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<2x2xf32>, tensor<f32>, tensor<i8>) -> tensor<2x2xi8>
  return %q : tensor<2x2xi8>
}

// -----

// Zero points that differ between channels are folded into the weights, which become i16.

// CHECK-LABEL: func.func @matmul_channel_zero_points
// CHECK-DAG: %[[W:.*]] = arith.constant dense<{{\[\[}}0, 4], [2, 6], [4, 8]]> : tensor<3x2xi16>
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK: linalg.quantized_matmul ins(%arg0, %[[W]], %{{.*}}, %[[ZERO]] : tensor<2x3xi8>, tensor<3x2xi16>, i32, i32)
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#id4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#col = affine_map<(d0, d1) -> (d1)>
func.func @matmul_channel_zero_points(%x: tensor<2x3xi8>) -> tensor<2x2xi8> {
  %zero = arith.constant 0.0 : f32
  %sx = arith.constant dense<0.5> : tensor<f32>
  %zx = arith.constant dense<3> : tensor<i8>
  %w = arith.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi8>
  %sw = arith.constant dense<[0.5, 0.25]> : tensor<2xf32>
  %zw = arith.constant dense<[1, -2]> : tensor<2xi8>
  %b = arith.constant dense<[1.0, -0.3125]> : tensor<2xf32>
  %xf = "quantized_decomposed.dequantize_per_tensor"(%x, %sx, %zx) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3xf32>
  %wf = "quantized_decomposed.dequantize_per_channel"(%w, %sw, %zw) {axis = 1 : i64, quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<3x2xi8>, tensor<2xf32>, tensor<2xi8>) -> tensor<3x2xf32>
  %e = tensor.empty() : tensor<2x2xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
  %m = linalg.matmul ins(%xf, %wf : tensor<2x3xf32>, tensor<3x2xf32>) outs(%init : tensor<2x2xf32>) -> tensor<2x2xf32>
  %y = linalg.generic {indexing_maps = [#id2, #col, #id2], iterator_types = ["parallel", "parallel"]} ins(%m, %b : tensor<2x2xf32>, tensor<2xf32>) outs(%e : tensor<2x2xf32>) {
  ^bb0(%in: f32, %bias: f32, %out: f32):
    %s = arith.addf %in, %bias : f32
    linalg.yield %s : f32
  } -> tensor<2x2xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %sx, %zx) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<2x2xf32>, tensor<f32>, tensor<i8>) -> tensor<2x2xi8>
  return %q : tensor<2x2xi8>
}

// -----

// A contraction linalg has no quantized form of keeps its maps, with the zero points in the body.

// CHECK-LABEL: func.func @depthwise
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]
// CHECK-SAME: ins(%arg0, %{{.*}} : tensor<1x2x4x4xi8>, tensor<2x3x3xi8>) outs(%{{.*}} : tensor<1x2x2x2xi32>)
// CHECK: %[[X:.*]] = arith.extsi
// CHECK: %[[C:.*]] = arith.subi %[[X]], %{{.*}}
// CHECK: %[[W:.*]] = arith.extsi
// CHECK: %[[P:.*]] = arith.muli %[[C]], %[[W]]
// CHECK: arith.addi %{{.*}}, %[[P]]
func.func @depthwise(%x: tensor<1x2x4x4xi8>) -> tensor<1x2x2x2xi8> {
  %zero = arith.constant 0.0 : f32
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i8>
  %none = arith.constant dense<0> : tensor<i8>
  %w = arith.constant dense<1> : tensor<2x3x3xi8>
  %xf = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x4x4xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x4x4xf32>
  %wf = "quantized_decomposed.dequantize_per_tensor"(%w, %s, %none) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2x3x3xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3x3xf32>
  %e = tensor.empty() : tensor<1x2x2x2xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %c = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%xf, %wf : tensor<1x2x4x4xf32>, tensor<2x3x3xf32>) outs(%init : tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%c, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x2x2x2xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x2x2xi8>
  return %q : tensor<1x2x2x2xi8>
}

// -----

// Groups: the split of the channels is redone on the integers, and the per-channel scales follow the collapse.

// CHECK-LABEL: func.func @grouped
// CHECK-DAG: arith.constant dense<[5.000000e-01, 1.000000e+00, 1.500000e+00, 2.000000e+00]> : tensor<4xf64>
// CHECK: %[[X:.*]] = tensor.expand_shape %arg0 {{.*}} : tensor<1x4x5x5xi8> into tensor<1x2x2x5x5xi8>
// CHECK: %[[ACC:.*]] = linalg.conv_2d_ngchw_gfchw_q {{.*}} ins(%[[X]], %{{.*}}, %{{.*}}, %{{.*}} : tensor<1x2x2x5x5xi8>, tensor<2x2x2x1x1xi8>, i32, i32)
// CHECK: %[[C:.*]] = tensor.collapse_shape %[[ACC]] {{.*}} : tensor<1x2x2x5x5xi32> into tensor<1x4x5x5xi32>
// CHECK: linalg.generic {{.*}} ins(%[[C]], %{{.*}} : tensor<1x4x5x5xi32>, tensor<4xi32>)
func.func @grouped(%x: tensor<1x4x5x5xi8>) -> tensor<1x4x5x5xi8> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i8>
  %w = arith.constant dense<1> : tensor<4x2x1x1xi8>
  %sw = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %zw = arith.constant dense<0> : tensor<4xi8>
  %b = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %xf = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x4x5x5xi8>, tensor<f32>, tensor<i8>) -> tensor<1x4x5x5xf32>
  %wf = "quantized_decomposed.dequantize_per_channel"(%w, %sw, %zw) {axis = 0 : i64, quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x2x1x1xi8>, tensor<4xf32>, tensor<4xi8>) -> tensor<4x2x1x1xf32>
  %xg = tensor.expand_shape %xf [[0], [1, 2], [3], [4]] output_shape [1, 2, 2, 5, 5] : tensor<1x4x5x5xf32> into tensor<1x2x2x5x5xf32>
  %wg = tensor.expand_shape %wf [[0, 1], [2], [3], [4]] output_shape [2, 2, 2, 1, 1] : tensor<4x2x1x1xf32> into tensor<2x2x2x1x1xf32>
  %e = tensor.empty() : tensor<1x4x5x5xf32>
  %bb = linalg.broadcast ins(%b : tensor<4xf32>) outs(%e : tensor<1x4x5x5xf32>) dimensions = [0, 2, 3]
  %bg = tensor.expand_shape %bb [[0], [1, 2], [3], [4]] output_shape [1, 2, 2, 5, 5] : tensor<1x4x5x5xf32> into tensor<1x2x2x5x5xf32>
  %c = linalg.conv_2d_ngchw_gfchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%xg, %wg : tensor<1x2x2x5x5xf32>, tensor<2x2x2x1x1xf32>) outs(%bg : tensor<1x2x2x5x5xf32>) -> tensor<1x2x2x5x5xf32>
  %y = tensor.collapse_shape %c [[0], [1, 2], [3], [4]] : tensor<1x2x2x5x5xf32> into tensor<1x4x5x5xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x4x5x5xf32>, tensor<f32>, tensor<i8>) -> tensor<1x4x5x5xi8>
  return %q : tensor<1x4x5x5xi8>
}

// -----

// A bias of equal elements is folded into a constant initial value.

// CHECK-LABEL: func.func @splat_bias
// CHECK-DAG: %[[BIAS:.*]] = arith.constant dense<[2, 4]> : tensor<2xi32>
// CHECK: %[[ACC:.*]] = linalg.conv_2d_nchw_fchw_q
// CHECK: linalg.generic {{.*}} ins(%[[ACC]], %[[BIAS]] : tensor<1x2x4x4xi32>, tensor<2xi32>)
func.func @splat_bias(%x: tensor<1x3x4x4xi8>) -> tensor<1x2x4x4xi8> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i8>
  %w = arith.constant dense<1> : tensor<2x3x1x1xi8>
  %sw = arith.constant dense<[1.0, 0.5]> : tensor<2xf32>
  %zw = arith.constant dense<0> : tensor<2xi8>
  %init = arith.constant dense<1.0> : tensor<1x2x4x4xf32>
  %xf = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x3x4x4xi8>, tensor<f32>, tensor<i8>) -> tensor<1x3x4x4xf32>
  %wf = "quantized_decomposed.dequantize_per_channel"(%w, %sw, %zw) {axis = 0 : i64, quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2x3x1x1xi8>, tensor<2xf32>, tensor<2xi8>) -> tensor<2x3x1x1xf32>
  %c = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%xf, %wf : tensor<1x3x4x4xf32>, tensor<2x3x1x1xf32>) outs(%init : tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%c, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x2x4x4xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x4x4xi8>
  return %q : tensor<1x2x4x4xi8>
}

// -----

// Weights that are repeated for each of several batches, which are one dimension then.

// CHECK-LABEL: func.func @repeated_weights
// CHECK: %[[W:.*]] = arith.constant dense<{{.*}}> : tensor<3x2xi8>
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[W]] : tensor<8x5x3xi8>, tensor<3x2xi8>)
func.func @repeated_weights(%x: tensor<2x4x5x3xi8>) -> tensor<8x5x2xi8> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi8>
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-5> : tensor<i8>
  %zw = arith.constant dense<0> : tensor<i8>
  %f = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2x4x5x3xi8>, tensor<f32>, tensor<i8>) -> tensor<2x4x5x3xf32>
  %g = "quantized_decomposed.dequantize_per_tensor"(%w, %s, %zw) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<3x2xi8>, tensor<f32>, tensor<i8>) -> tensor<3x2xf32>
  %rows = tensor.collapse_shape %f [[0, 1], [2], [3]] : tensor<2x4x5x3xf32> into tensor<8x5x3xf32>
  %re = tensor.empty() : tensor<2x4x3x2xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%g : tensor<3x2xf32>) outs(%re : tensor<2x4x3x2xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<2x4x3x2xf32>
  %cols = tensor.collapse_shape %r [[0, 1], [2], [3]] : tensor<2x4x3x2xf32> into tensor<8x3x2xf32>
  %e = tensor.empty() : tensor<8x5x2xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<8x5x2xf32>) -> tensor<8x5x2xf32>
  %y = linalg.batch_matmul ins(%rows, %cols : tensor<8x5x3xf32>, tensor<8x3x2xf32>) outs(%init : tensor<8x5x2xf32>) -> tensor<8x5x2xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<8x5x2xf32>, tensor<f32>, tensor<i8>) -> tensor<8x5x2xi8>
  return %q : tensor<8x5x2xi8>
}

// -----

// Run-time matrices that are repeated for the outer batches: the integers are repeated.

// CHECK-LABEL: func.func @repeated_run_time_operand
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%arg1 : tensor<4x3x2xi8>) outs(%{{.*}} : tensor<2x4x3x2xi8>)
// CHECK: %[[C:.*]] = tensor.collapse_shape %[[R]] {{.*}} : tensor<2x4x3x2xi8> into tensor<8x3x2xi8>
// CHECK: linalg.quantized_batch_matmul ins(%{{.*}}, %[[C]], %{{.*}}, %{{.*}} : tensor<8x5x3xi8>, tensor<8x3x2xi8>, i32, i32)
func.func @repeated_run_time_operand(%x: tensor<8x5x3xi8>, %w: tensor<4x3x2xi8>) -> tensor<8x5x2xi8> {
  %zero = arith.constant 0.0 : f32
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-5> : tensor<i8>
  %f = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<8x5x3xi8>, tensor<f32>, tensor<i8>) -> tensor<8x5x3xf32>
  %g = "quantized_decomposed.dequantize_per_tensor"(%w, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x3x2xi8>, tensor<f32>, tensor<i8>) -> tensor<4x3x2xf32>
  %re = tensor.empty() : tensor<2x4x3x2xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%g : tensor<4x3x2xf32>) outs(%re : tensor<2x4x3x2xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<2x4x3x2xf32>
  %cols = tensor.collapse_shape %r [[0, 1], [2], [3]] : tensor<2x4x3x2xf32> into tensor<8x3x2xf32>
  %e = tensor.empty() : tensor<8x5x2xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<8x5x2xf32>) -> tensor<8x5x2xf32>
  %y = linalg.batch_matmul ins(%f, %cols : tensor<8x5x3xf32>, tensor<8x3x2xf32>) outs(%init : tensor<8x5x2xf32>) -> tensor<8x5x2xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<8x5x2xf32>, tensor<f32>, tensor<i8>) -> tensor<8x5x2xi8>
  return %q : tensor<8x5x2xi8>
}

// -----

// A convolution in groups that linalg has no name for.

// CHECK-LABEL: func.func @groups_of_volumes
// CHECK: %[[ACC:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<1x2x2x3x3x3xi8>, tensor<2x3x2x1x2x1xi8>) outs(%{{.*}} : tensor<1x2x3x3x2x3xi32>)
// CHECK: arith.muli
// CHECK: tensor.collapse_shape %[[ACC]] {{.*}} : tensor<1x2x3x3x2x3xi32> into tensor<1x6x3x2x3xi32>
func.func @groups_of_volumes(%x: tensor<1x4x3x3x3xi8>) -> tensor<1x6x3x2x3xi8> {
  %zero = arith.constant 0.0 : f32
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-5> : tensor<i8>
  %w = arith.constant dense<2> : tensor<2x3x2x1x2x1xi8>
  %zw = arith.constant dense<0> : tensor<i8>
  %f = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x4x3x3x3xi8>, tensor<f32>, tensor<i8>) -> tensor<1x4x3x3x3xf32>
  %g = "quantized_decomposed.dequantize_per_tensor"(%w, %s, %zw) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2x3x2x1x2x1xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3x2x1x2x1xf32>
  %xg = tensor.expand_shape %f [[0], [1, 2], [3], [4], [5]] output_shape [1, 2, 2, 3, 3, 3] : tensor<1x4x3x3x3xf32> into tensor<1x2x2x3x3x3xf32>
  %e = tensor.empty() : tensor<1x2x3x3x2x3xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<1x2x3x3x2x3xf32>) -> tensor<1x2x3x3x2x3xf32>
  %c = linalg.generic {indexing_maps = [affine_map<(n, g, o, d, h, w, c, i, j, k) -> (n, g, c, d + i, h + j, w + k)>, affine_map<(n, g, o, d, h, w, c, i, j, k) -> (g, o, c, i, j, k)>, affine_map<(n, g, o, d, h, w, c, i, j, k) -> (n, g, o, d, h, w)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "reduction"]} ins(%xg, %g : tensor<1x2x2x3x3x3xf32>, tensor<2x3x2x1x2x1xf32>) outs(%init : tensor<1x2x3x3x2x3xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %p = arith.mulf %a, %b : f32
    %r = arith.addf %p, %out : f32
    linalg.yield %r : f32
  } -> tensor<1x2x3x3x2x3xf32>
  %y = tensor.collapse_shape %c [[0], [1, 2], [3], [4], [5]] : tensor<1x2x3x3x2x3xf32> into tensor<1x6x3x2x3xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x6x3x2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<1x6x3x2x3xi8>
  return %q : tensor<1x6x3x2x3xi8>
}
