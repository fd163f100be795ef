// RUN: torq-opt --split-input-file --torq-convolutions-to-matmuls %s | FileCheck %s
// RUN: torq-opt --split-input-file --torq-convolutions-to-matmuls --torq-cancel-transposes %s | FileCheck %s --check-prefix=CANCELED

// A row of the window is consecutive in an image with channels last; so are the weights of an output.

// CHECK: #[[WINDOW:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1 * 2 + d3, d2 * 4 + d4)>
// CHECK-LABEL: func.func @conv
// CHECK-DAG: %[[W:.*]] = arith.constant dense<{{\[\[}}1], [5], [2], [6], [3], [7], [4], [8]]> : tensor<8x1xi8>
// CHECK: %[[T:.*]] = "torq_hl.transpose"(%{{.*}}, %arg0) {perm = array<i64: 0, 2, 3, 1>}
// CHECK: %[[P:.*]] = tensor.pad %[[T]] low[0, 1, 0, 0] high[0, 0, 1, 0]
// CHECK: tensor.yield %c-5_i8
// CHECK: %[[FLAT:.*]] = tensor.collapse_shape %[[P]] {{\[\[}}0], [1], [2, 3]] : tensor<1x4x4x2xi8> into tensor<1x4x8xi8>
// CHECK: %[[M:.*]] = linalg.generic {indexing_maps = [#[[WINDOW]], #{{.*}}]
// CHECK-SAME: ins(%[[FLAT]] : tensor<1x4x8xi8>) outs(%{{.*}} : tensor<1x2x2x2x4xi8>)
// CHECK: %[[ROWS:.*]] = tensor.collapse_shape %[[M]] {{.*}} into tensor<4x8xi8>
// CHECK: %[[Y:.*]] = "torq_hl.fully_connected"(%{{.*}}, %[[W]], %{{.*}}, %[[ROWS]])
// CHECK-SAME: output_max = 100 : i32, output_min = -100 : i32, output_zp = 3 : i32, shift_factor = 28 : i32
// CHECK: tensor.expand_shape %[[Y]]
// CHECK: "torq_hl.transpose"{{.*}} {perm = array<i64: 0, 3, 1, 2>}
func.func @conv(%x: tensor<1x2x3x3xi8>) -> tensor<1x1x2x2xi8> {
  %e = tensor.empty() : tensor<1x1x2x2xi8>
  %w = arith.constant dense<[[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]]> : tensor<1x2x2x2xi8>
  %sb = arith.constant dense<[0, 1]> : tensor<2xi32>
  %y = "torq_hl.conv2d"(%e, %w, %sb, %x) {input_zp = -5 : i32, weight_zp = 0 : i32, output_zp = 3 : i32, output_min = -100 : i32, output_max = 100 : i32, shift_factor = 28 : i32, groups = 1 : i32, pad = array<i64: 0, 1, 1, 0>, stride = array<i64: 2, 2>, dilation = array<i64: 1, 1>, vectorization_mode = 0 : i32} : (tensor<1x1x2x2xi8>, tensor<1x2x2x2xi8>, tensor<2xi32>, tensor<1x2x3x3xi8>) -> tensor<1x1x2x2xi8>
  return %y : tensor<1x1x2x2xi8>
}

// -----

// The transposes between two convolutions cancel; a convolution with one pixel takes the image as it is.

// CANCELED-LABEL: func.func @two
// CANCELED-COUNT-1: "torq_hl.transpose"
// CANCELED-COUNT-2: "torq_hl.fully_connected"
// CANCELED: "torq_hl.transpose"
// CANCELED-NOT: "torq_hl.transpose"
func.func @two(%x: tensor<1x2x3x3xi8>) -> tensor<1x2x3x3xi8> {
  %e = tensor.empty() : tensor<1x2x3x3xi8>
  %w = arith.constant dense<[[[[1]], [[3]]], [[[5]], [[7]]]]> : tensor<2x2x1x1xi8>
  %sb = arith.constant dense<[0, 1, 2, 3]> : tensor<4xi32>
  %0 = "torq_hl.conv2d"(%e, %w, %sb, %x) {input_zp = 0 : i32, weight_zp = 0 : i32, output_zp = 0 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 4 : i32, groups = 1 : i32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>, vectorization_mode = 0 : i32} : (tensor<1x2x3x3xi8>, tensor<2x2x1x1xi8>, tensor<4xi32>, tensor<1x2x3x3xi8>) -> tensor<1x2x3x3xi8>
  %1 = "torq_hl.conv2d"(%e, %w, %sb, %0) {input_zp = 0 : i32, weight_zp = 0 : i32, output_zp = 0 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 4 : i32, groups = 1 : i32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>, vectorization_mode = 0 : i32} : (tensor<1x2x3x3xi8>, tensor<2x2x1x1xi8>, tensor<4xi32>, tensor<1x2x3x3xi8>) -> tensor<1x2x3x3xi8>
  return %1 : tensor<1x2x3x3xi8>
}

// -----

// A dilated window is not consecutive.

// CHECK: #[[DILATED:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 + d3, d2 + d4 * 2, d5)>
// CANCELED-LABEL: func.func @dilated
// CHECK-LABEL: func.func @dilated
// CHECK: linalg.generic {indexing_maps = [#[[DILATED]],
func.func @dilated(%x: tensor<1x2x3x3xi8>) -> tensor<1x1x3x1xi8> {
  %e = tensor.empty() : tensor<1x1x3x1xi8>
  %w = arith.constant dense<1> : tensor<1x2x1x2xi8>
  %sb = arith.constant dense<[0, 1]> : tensor<2xi32>
  %y = "torq_hl.conv2d"(%e, %w, %sb, %x) {input_zp = 0 : i32, weight_zp = 0 : i32, output_zp = 0 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 4 : i32, groups = 1 : i32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 2>, vectorization_mode = 0 : i32} : (tensor<1x1x3x1xi8>, tensor<1x2x1x2xi8>, tensor<2xi32>, tensor<1x2x3x3xi8>) -> tensor<1x1x3x1xi8>
  return %y : tensor<1x1x3x1xi8>
}

// -----

// The accumulator of a depthwise convolution is rescaled by an fma, channel by channel.

// CHECK-LABEL: func.func @depthwise
// CHECK-DAG: %[[W:.*]] = arith.constant dense<{{.*}}> : tensor<2x1x2xi8>
// CHECK: %[[SUMS:.*]] = linalg.depthwise_conv_2d_nhwc_hwc {{.*}}strides = dense<[2, 1]>
// CHECK-SAME: %[[W]]
// CHECK: %[[ROWS:.*]] = tensor.collapse_shape %[[SUMS]]
// CHECK: "torq_hl.fma"(%{{.*}}, %{{.*}}, %{{.*}}, %[[ROWS]])
// CHECK-SAME: output_zp = 3 : i32, shift_factor = 28 : i32
// CHECK: "torq_hl.transpose"{{.*}} {perm = array<i64: 0, 3, 1, 2>}
func.func @depthwise(%x: tensor<1x2x3x3xi8>) -> tensor<1x2x1x3xi8> {
  %e = tensor.empty() : tensor<1x2x1x3xi8>
  %w = arith.constant dense<[[[[1], [3]]], [[[5], [7]]]]> : tensor<2x1x2x1xi8>
  %sb = arith.constant dense<[0, 1, 2, 3]> : tensor<4xi32>
  %y = "torq_hl.depthwise_conv2d"(%e, %w, %sb, %x) {input_zp = 0 : i32, weight_zp = 0 : i32, output_zp = 3 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 28 : i32, groups = 2 : i32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 1>, dilation = array<i64: 1, 1>, vectorization_mode = 0 : i32} : (tensor<1x2x1x3xi8>, tensor<2x1x2x1xi8>, tensor<4xi32>, tensor<1x2x3x3xi8>) -> tensor<1x2x1x3xi8>
  return %y : tensor<1x2x1x3xi8>
}

// -----

// CHECK-LABEL: func.func @pooling
// CHECK: %[[Y:.*]] = linalg.pooling_nhwc_max
// CHECK: arith.maxsi
// CHECK: "torq_hl.transpose"
func.func @pooling(%x: tensor<1x2x4x4xi8>) -> tensor<1x2x2x2xi8> {
  %e = tensor.empty() : tensor<1x2x2x2xi8>
  %one = arith.constant dense<1> : tensor<1xi8>
  %sb = arith.constant dense<[0, 1]> : tensor<2xi32>
  %y = "torq_hl.maxpool2d"(%e, %one, %sb, %x) {input_zp = -128 : i32, output_min = -100 : i32, output_max = 127 : i32, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x2x2x2xi8>, tensor<1xi8>, tensor<2xi32>, tensor<1x2x4x4xi8>) -> tensor<1x2x2x2xi8>
  return %y : tensor<1x2x2x2xi8>
}

// -----

// Groups with several channels, weights that are not constant, shapes that are not static, and floats.

// CHECK-LABEL: func.func @others
// CHECK-COUNT-4: "torq_hl.conv2d"
// CHECK-NOT: fully_connected
func.func @others(%x: tensor<1x4x1x1xi8>, %w1: tensor<4x4x1x1xi8>, %f: tensor<1x4x1x1xbf16>, %o: tensor<?x4x1x1xi8>) -> (tensor<1x4x1x1xi8>, tensor<1x4x1x1xi8>, tensor<1x4x1x1xbf16>, tensor<?x4x1x1xi8>) {
  %e = tensor.empty() : tensor<1x4x1x1xi8>
  %ef = tensor.empty() : tensor<1x4x1x1xbf16>
  %w = arith.constant dense<1> : tensor<4x2x1x1xi8>
  %w4 = arith.constant dense<1> : tensor<4x4x1x1xi8>
  %wf = arith.constant dense<1.0> : tensor<4x4x1x1xbf16>
  %sb = arith.constant dense<1> : tensor<8xi32>
  %b = arith.constant dense<1.0> : tensor<4xf32>
  %0 = "torq_hl.conv2d"(%e, %w, %sb, %x) {input_zp = 0 : i32, weight_zp = 0 : i32, output_zp = 0 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 4 : i32, groups = 2 : i32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>, vectorization_mode = 0 : i32} : (tensor<1x4x1x1xi8>, tensor<4x2x1x1xi8>, tensor<8xi32>, tensor<1x4x1x1xi8>) -> tensor<1x4x1x1xi8>
  %1 = "torq_hl.conv2d"(%e, %w1, %sb, %x) {input_zp = 0 : i32, weight_zp = 0 : i32, output_zp = 0 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 4 : i32, groups = 1 : i32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>, vectorization_mode = 0 : i32} : (tensor<1x4x1x1xi8>, tensor<4x4x1x1xi8>, tensor<8xi32>, tensor<1x4x1x1xi8>) -> tensor<1x4x1x1xi8>
  %2 = "torq_hl.conv2d"(%ef, %wf, %b, %f) {input_zp = 0 : i32, weight_zp = 0 : i32, output_zp = 0 : i32, output_min = 0 : i32, output_max = 0 : i32, shift_factor = 0 : i32, groups = 1 : i32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>, vectorization_mode = 0 : i32} : (tensor<1x4x1x1xbf16>, tensor<4x4x1x1xbf16>, tensor<4xf32>, tensor<1x4x1x1xbf16>) -> tensor<1x4x1x1xbf16>
  %3 = "torq_hl.conv2d"(%o, %w4, %sb, %o) {input_zp = 0 : i32, weight_zp = 0 : i32, output_zp = 0 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 4 : i32, groups = 1 : i32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>, vectorization_mode = 0 : i32} : (tensor<?x4x1x1xi8>, tensor<4x4x1x1xi8>, tensor<8xi32>, tensor<?x4x1x1xi8>) -> tensor<?x4x1x1xi8>
  return %0, %1, %2, %3 : tensor<1x4x1x1xi8>, tensor<1x4x1x1xi8>, tensor<1x4x1x1xbf16>, tensor<?x4x1x1xi8>
}
