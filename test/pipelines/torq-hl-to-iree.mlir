// RUN: torq-opt --torq-hl-to-iree %s | FileCheck %s

// A product with channels last, rescaled in the same loop nest, and floats that cannot be contracted.

// CHECK-LABEL: func.func @main
// CHECK-NOT: torq_hl
// CHECK: %[[PRODUCT:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]
// CHECK-SAME: tensor<9x2xi8>, tensor<2x4xi8>
// CHECK: linalg.generic {{.*}} ins(%[[PRODUCT]],
// CHECK: math.fma
// CHECK: return
#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
func.func @main(%x: tensor<1x2x3x3xi8>) -> tensor<1x4x3x3xf32> {
  %e = tensor.empty() : tensor<1x4x3x3xi8>
  %w = arith.constant dense<[[[[1]], [[3]]], [[[5]], [[7]]], [[[2]], [[4]]], [[[6]], [[8]]]]> : tensor<4x2x1x1xi8>
  %sb = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7]> : tensor<8xi32>
  %0 = "torq_hl.conv2d"(%e, %w, %sb, %x) {input_zp = 0 : i32, weight_zp = 0 : i32, output_zp = 0 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 4 : i32, groups = 1 : i32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>, vectorization_mode = 0 : i32} : (tensor<1x4x3x3xi8>, tensor<4x2x1x1xi8>, tensor<8xi32>, tensor<1x2x3x3xi8>) -> tensor<1x4x3x3xi8>
  %ef = tensor.empty() : tensor<1x4x3x3xf32>
  %scale = arith.constant 0.1 : f32
  %y = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%0 : tensor<1x4x3x3xi8>) outs(%ef : tensor<1x4x3x3xf32>) {
  ^bb0(%in: i8, %out: f32):
    %f = arith.sitofp %in : i8 to f32
    %p = arith.mulf %f, %scale : f32
    linalg.yield %p : f32
  } -> tensor<1x4x3x3xf32>
  return %y : tensor<1x4x3x3xf32>
}
