// RUN: torq-opt --split-input-file --torq-fuse-quantized-ops-stablehlo --canonicalize %s | FileCheck %s

// Padding, between dilated elements too, is with the zero point.

// CHECK-LABEL: func.func @padding
// CHECK-SAME: %[[X:.*]]: tensor<1x3x4x4xi8>
// CHECK-DAG: %[[Z:.*]] = stablehlo.constant dense<-5> : tensor<i8>
// CHECK-DAG: %[[TERM:.*]] = stablehlo.constant dense<15> : tensor<1x2x1x1xi32>
// CHECK: %[[P:.*]] = stablehlo.pad %[[X]], %[[Z]], low = [0, 0, 1, 0], high = [0, 0, 2, 0], interior = [0, 0, 0, 1]
// CHECK: %[[A:.*]] = stablehlo.convolution(%[[P]], %{{.*}}) {{.*}} window = {stride = [1, 1]} {{.*}} -> tensor<1x2x7x7xi32>
// CHECK: %[[T:.*]] = stablehlo.broadcast_in_dim %[[TERM]]
// CHECK: %[[S:.*]] = stablehlo.add %[[A]], %[[T]]
// CHECK: "quantized_decomposed.dequantize_per_tensor"(%[[S]],
func.func @padding(%q: tensor<1x3x4x4xi8>) -> tensor<1x2x7x7xf32> {
  %sx = arith.constant 0.1 : f64
  %zx = arith.constant -5 : i64
  %sw = arith.constant 0.02 : f64
  %c0 = arith.constant 0 : i64
  %qw = arith.constant dense<1> : tensor<2x3x1x1xi8>
  %x = "quantized_decomposed.dequantize_per_tensor"(%q, %sx, %zx) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<1x3x4x4xi8>, f64, i64) -> tensor<1x3x4x4xf32>
  %w = "quantized_decomposed.dequantize_per_tensor"(%qw, %sw, %c0) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<2x3x1x1xi8>, f64, i64) -> tensor<2x3x1x1xf32>
  %y = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[1, 2], [0, 0]], lhs_dilate = [1, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x3x4x4xf32>, tensor<2x3x1x1xf32>) -> tensor<1x2x7x7xf32>
  return %y : tensor<1x2x7x7xf32>
}

// -----

// Weights are not repeated for each batch. Their zero point does not fit in 8 bits with them: both operands have 16.

// CHECK-LABEL: func.func @batches
// CHECK-SAME: %[[X:.*]]: tensor<2x4x8xi8>
// CHECK-DAG: %[[W:.*]] = stablehlo.constant dense<200> : tensor<8x3xi16>
// CHECK: %[[WIDE:.*]] = stablehlo.convert %[[X]] : (tensor<2x4x8xi8>) -> tensor<2x4x8xi16>
// CHECK: stablehlo.dot_general %[[WIDE]], %[[W]], contracting_dims = [2] x [0] : (tensor<2x4x8xi16>, tensor<8x3xi16>) -> tensor<2x4x3xi32>
func.func @batches(%q: tensor<2x4x8xi8>) -> tensor<2x4x3xf32> {
  %sx = arith.constant 0.1 : f64
  %c0 = arith.constant 0 : i64
  %sw = arith.constant 0.02 : f64
  %zw = arith.constant -100 : i64
  %qw = arith.constant dense<100> : tensor<8x3xi8>
  %x = "quantized_decomposed.dequantize_per_tensor"(%q, %sx, %c0) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<2x4x8xi8>, f64, i64) -> tensor<2x4x8xf32>
  %w = "quantized_decomposed.dequantize_per_tensor"(%qw, %sw, %zw) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<8x3xi8>, f64, i64) -> tensor<8x3xf32>
  %b = stablehlo.broadcast_in_dim %w, dims = [1, 2] : (tensor<8x3xf32>) -> tensor<2x8x3xf32>
  %y = stablehlo.dot_general %x, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x4x8xf32>, tensor<2x8x3xf32>) -> tensor<2x4x3xf32>
  return %y : tensor<2x4x3xf32>
}

// -----

// With zero points of both operands there are three terms: 7 * sum w, -3 * sum x, and 8 * 7 * -3.

// CHECK-LABEL: func.func @two_activations
// CHECK-SAME: %[[X:.*]]: tensor<4x8xi8>, %[[Y:.*]]: tensor<8x3xi8>
// CHECK: %[[A:.*]] = stablehlo.dot_general %[[X]], %[[Y]]
// CHECK: %[[WY:.*]] = stablehlo.convert %[[Y]] : (tensor<8x3xi8>) -> tensor<8x3xi32>
// CHECK: stablehlo.reduce(%[[WY]] init: %{{.*}}) applies stablehlo.add across dimensions = [0]
// CHECK: stablehlo.subtract %[[A]]
// CHECK: %[[WX:.*]] = stablehlo.convert %[[X]] : (tensor<4x8xi8>) -> tensor<4x8xi32>
// CHECK: stablehlo.reduce(%[[WX]] init: %{{.*}}) applies stablehlo.add across dimensions = [1]
// CHECK: stablehlo.subtract
// CHECK: stablehlo.add
func.func @two_activations(%q: tensor<4x8xi8>, %r: tensor<8x3xi8>) -> tensor<4x3xf32> {
  %s = arith.constant 0.1 : f64
  %zx = arith.constant 7 : i64
  %zy = arith.constant -3 : i64
  %x = "quantized_decomposed.dequantize_per_tensor"(%q, %s, %zx) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<4x8xi8>, f64, i64) -> tensor<4x8xf32>
  %y = "quantized_decomposed.dequantize_per_tensor"(%r, %s, %zy) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<8x3xi8>, f64, i64) -> tensor<8x3xf32>
  %p = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
  return %p : tensor<4x3xf32>
}

// -----

// CHECK-LABEL: func.func @per_token
// CHECK-SAME: %[[X:.*]]: tensor<2x4x8xi8>, %[[S:.*]]: tensor<2x4x1xf32>, %[[Z:.*]]: tensor<2x4x1xi32>
// CHECK: stablehlo.dot_general %[[X]], {{.*}} -> tensor<2x4x3xi32>
// CHECK: stablehlo.broadcast_in_dim %[[Z]], dims = [0, 1, 2] : (tensor<2x4x1xi32>) -> tensor<2x4x3xi32>
// CHECK: stablehlo.broadcast_in_dim %[[S]], dims = [0, 1, 2] : (tensor<2x4x1xf32>) -> tensor<2x4x3xf32>
func.func @per_token(%q: tensor<2x4x8xi8>, %s: tensor<2x4x1xf32>, %z: tensor<2x4x1xi32>) -> tensor<2x4x3xf32> {
  %c0 = arith.constant 0 : i64
  %sw = arith.constant 0.02 : f64
  %qw = arith.constant dense<100> : tensor<8x3xi8>
  %x = "quantized_decomposed.dequantize_per_token"(%q, %s, %z) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<2x4x8xi8>, tensor<2x4x1xf32>, tensor<2x4x1xi32>) -> tensor<2x4x8xf32>
  %w = "quantized_decomposed.dequantize_per_tensor"(%qw, %sw, %c0) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<8x3xi8>, f64, i64) -> tensor<8x3xf32>
  %y = stablehlo.dot_general %x, %w, contracting_dims = [2] x [0] : (tensor<2x4x8xf32>, tensor<8x3xf32>) -> tensor<2x4x3xf32>
  return %y : tensor<2x4x3xf32>
}
