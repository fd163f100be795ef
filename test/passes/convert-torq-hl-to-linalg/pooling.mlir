// RUN: torq-opt --split-input-file --convert-torq-hl-to-linalg %s | FileCheck %s

// Bounds that are those of the type clamp nothing.

// CHECK-LABEL: func.func @maxpool2d
// CHECK-DAG: %[[LEAST:.*]] = arith.constant -128 : i8
// CHECK: %[[PADDED:.*]] = tensor.pad %arg0 low[0, 0, 1, 0] high[0, 0, 0, 1]
// CHECK: %[[WINDOW:.*]] = tensor.empty() : tensor<3x2xi8>
// CHECK: %[[INIT:.*]] = linalg.fill ins(%{{.*}} : i8) outs(%{{.*}} : tensor<1x2x3x8xi8>)
// CHECK: %[[MAX:.*]] = linalg.pooling_nchw_max {dilations = dense<1> : tensor<2xi64>, strides = dense<[2, 1]> : tensor<2xi64>} ins(%[[PADDED]], %[[WINDOW]] : tensor<1x2x8x9xi8>, tensor<3x2xi8>) outs(%[[INIT]]
// CHECK: return %[[MAX]]
func.func @maxpool2d(%x: tensor<1x2x7x8xi8>) -> tensor<1x2x3x8xi8> {
  %init = tensor.empty() : tensor<1x2x3x8xi8>
  %w = arith.constant dense<1> : tensor<1xi8>
  %scale_bias = arith.constant dense<[0, 1]> : tensor<2xi32>
  %y = "torq_hl.maxpool2d"(%init, %w, %scale_bias, %x) {input_zp = -128 : i32, output_min = -128 : i32, output_max = 127 : i32, stride = array<i64: 2, 1>, pad = array<i64: 0, 1, 1, 0>, kernel = array<i64: 3, 2>} : (tensor<1x2x3x8xi8>, tensor<1xi8>, tensor<2xi32>, tensor<1x2x7x8xi8>) -> tensor<1x2x3x8xi8>
  return %y : tensor<1x2x3x8xi8>
}

// -----

// CHECK-LABEL: func.func @clamped
// CHECK-NOT: tensor.pad
// CHECK: %[[MAX:.*]] = linalg.pooling_nchw_max
// CHECK: linalg.generic {{.*}} ins(%[[MAX]] : tensor<1x2x6x7xi8>)
// CHECK: arith.maxsi
// CHECK: arith.minsi
func.func @clamped(%x: tensor<1x2x7x8xi8>) -> tensor<1x2x6x7xi8> {
  %init = tensor.empty() : tensor<1x2x6x7xi8>
  %w = arith.constant dense<1> : tensor<1xi8>
  %scale_bias = arith.constant dense<[0, 1]> : tensor<2xi32>
  %y = "torq_hl.maxpool2d"(%init, %w, %scale_bias, %x) {input_zp = -128 : i32, output_min = 3 : i32, output_max = 127 : i32, stride = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, kernel = array<i64: 2, 2>} : (tensor<1x2x6x7xi8>, tensor<1xi8>, tensor<2xi32>, tensor<1x2x7x8xi8>) -> tensor<1x2x6x7xi8>
  return %y : tensor<1x2x6x7xi8>
}

// -----

// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3, d1)>
// CHECK-DAG: #[[Y:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
// CHECK-DAG: #[[SUM:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d3)>
// CHECK-LABEL: func.func @avg_pool2d
// CHECK: linalg.generic {indexing_maps = [#[[X]], #[[Y]]], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%arg0 : tensor<1x7x8x4xi8>) outs(%{{.*}} : tensor<1x4xi32>)
// CHECK: linalg.generic {indexing_maps = [#[[SUM]], {{.*}} ins(%{{.*}} : tensor<1x4xi32>) outs(%{{.*}} : tensor<1x1x1x4xi8>)
// CHECK: arith.shrsi
func.func @avg_pool2d(%x: tensor<1x7x8x4xi8>) -> tensor<1x1x1x4xi8> {
  %init = tensor.empty() : tensor<1x1x1x4xi8>
  %w = arith.constant dense<1> : tensor<1xi8>
  %scale_bias = arith.constant dense<[-56, 1000]> : tensor<2xi32>
  %y = "torq_hl.avg_pool2d"(%init, %w, %scale_bias, %x) {input_zp = 1 : i32, output_zp = 0 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 16 : i32} : (tensor<1x1x1x4xi8>, tensor<1xi8>, tensor<2xi32>, tensor<1x7x8x4xi8>) -> tensor<1x1x1x4xi8>
  return %y : tensor<1x1x1x4xi8>
}

// -----

// CHECK-LABEL: func.func @reduce_mean
// CHECK: linalg.generic {{.*}}, iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0 : tensor<2x3x4xi8>) outs(%{{.*}} : tensor<2x3xi32>)
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<2x3x1xi8>)
func.func @reduce_mean(%x: tensor<2x3x4xi8>) -> tensor<2x3x1xi8> {
  %init = tensor.empty() : tensor<2x3x1xi8>
  %w = arith.constant dense<1> : tensor<1xi8>
  %scale_bias = arith.constant dense<[-4, 1000]> : tensor<2xi32>
  %y = "torq_hl.reduce_mean"(%init, %w, %scale_bias, %x) {input_zp = 1 : i32, output_zp = 0 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 16 : i32} : (tensor<2x3x1xi8>, tensor<1xi8>, tensor<2xi32>, tensor<2x3x4xi8>) -> tensor<2x3x1xi8>
  return %y : tensor<2x3x1xi8>
}

// -----

// The reduced dimension is the last loop.

// CHECK-LABEL: func.func @reduce
// CHECK: linalg.fill ins(%c-2147483648_i32 : i32)
// CHECK: %[[M:.*]] = linalg.generic {{.*}}, iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0 : tensor<2x3x4xi8>) outs(%{{.*}} : tensor<2x4xi32>)
// CHECK: arith.maxsi
// CHECK: linalg.generic {{.*}} ins(%[[M]] : tensor<2x4xi32>) outs(%{{.*}} : tensor<2x4xi8>)
func.func @reduce(%x: tensor<2x3x4xi8>) -> tensor<2x4xi8> {
  %init = tensor.empty() : tensor<2x4xi8>
  %w = arith.constant dense<1> : tensor<1xi8>
  %scale_bias = arith.constant dense<[-4, 1000]> : tensor<2xi32>
  %y = "torq_hl.reduce"(%init, %w, %scale_bias, %x) {name = "reduce_max", axis = 1 : i32, output_zp = 0 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 16 : i32} : (tensor<2x4xi8>, tensor<1xi8>, tensor<2xi32>, tensor<2x3x4xi8>) -> tensor<2x4xi8>
  return %y : tensor<2x4xi8>
}

// -----

// The first of equals stays: only what is greater takes its place.

// CHECK-LABEL: func.func @argmax
// CHECK: linalg.generic {{.*}} ins(%arg0 : tensor<2x3xi8>) outs(%{{.*}}, %{{.*}} : tensor<2xi8>, tensor<2xi32>)
// CHECK: %[[MORE:.*]] = arith.cmpi sgt
// CHECK: arith.select %[[MORE]]
func.func @argmax(%x: tensor<2x3xi8>) -> tensor<2xi32> {
  %init = tensor.empty() : tensor<2xi32>
  %scale_bias = arith.constant dense<[0, 1]> : tensor<2xi32>
  %y = "torq_hl.argmax"(%init, %scale_bias, %x) {axis = 1 : i32} : (tensor<2xi32>, tensor<2xi32>, tensor<2x3xi8>) -> tensor<2xi32>
  return %y : tensor<2xi32>
}

// -----

// CHECK-LABEL: func.func @select
// CHECK: arith.select
func.func @select(%c: tensor<2x1xi1>, %x: tensor<3xi8>, %y: tensor<2x3xi8>) -> tensor<2x3xi8> {
  %init = tensor.empty() : tensor<2x3xi8>
  %z = "torq_hl.select"(%init, %c, %x, %y) : (tensor<2x3xi8>, tensor<2x1xi1>, tensor<3xi8>, tensor<2x3xi8>) -> tensor<2x3xi8>
  return %z : tensor<2x3xi8>
}
