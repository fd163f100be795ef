// RUN: torq-opt --convert-linalg-to-torq-hl --canonicalize %s | FileCheck %s

// What dynamic-weights.mlir leaves, with weights that are constant by now: 100 - 3 * (1 + 2) and 200 - 3 * (3 + 4).

// CHECK-LABEL: func.func @constant_by_now
// CHECK-DAG: %[[SB:.*]] = arith.constant dense<[91, 1073741824, 179, 1073741824]> : tensor<4xi32>
// CHECK-DAG: %[[W:.*]] = arith.constant dense<{{.*}}1{{.*}}2{{.*}}3{{.*}}4{{.*}}> : tensor<2x2x1x1xi8>
// CHECK-NOT: linalg
// CHECK: "torq_hl.conv2d"(%{{.*}}, %[[W]], %[[SB]], %arg0)
func.func @constant_by_now(%arg0: tensor<1x2x4x4xi8>) -> tensor<1x2x4x4xi8> {
  %w = arith.constant dense<[[[[1]], [[2]]], [[[3]], [[4]]]]> : tensor<2x2x1x1xi8>
  %cst = arith.constant dense<1073741824> : tensor<2x1xi32>
  %cst_0 = arith.constant dense<[100, 200]> : tensor<2xi32>
  %c-3_i32 = arith.constant -3 : i32
  %c0_i32 = arith.constant 0 : i32
  %0 = tensor.empty() : tensor<2xi32>
  %1 = linalg.fill ins(%c0_i32 : i32) outs(%0 : tensor<2xi32>) -> tensor<2xi32>
  %2 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0)>], iterator_types = ["parallel", "reduction", "reduction", "reduction"]} ins(%w : tensor<2x2x1x1xi8>) outs(%1 : tensor<2xi32>) {
  ^bb0(%in: i8, %out: i32):
    %9 = arith.extsi %in : i8 to i32
    %10 = arith.addi %out, %9 : i32
    linalg.yield %10 : i32
  } -> tensor<2xi32>
  %3 = tensor.empty() : tensor<2xi32>
  %4 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%2 : tensor<2xi32>) outs(%3 : tensor<2xi32>) {
  ^bb0(%in: i32, %out: i32):
    %9 = arith.muli %in, %c-3_i32 : i32
    linalg.yield %9 : i32
  } -> tensor<2xi32>
  %5 = tensor.empty() : tensor<2xi32>
  %6 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%4, %cst_0 : tensor<2xi32>, tensor<2xi32>) outs(%5 : tensor<2xi32>) {
  ^bb0(%in: i32, %in_1: i32, %out: i32):
    %9 = arith.addi %in, %in_1 : i32
    linalg.yield %9 : i32
  } -> tensor<2xi32>
  %expanded = tensor.expand_shape %6 [[0, 1]] output_shape [2, 1] : tensor<2xi32> into tensor<2x1xi32>
  %concat = tensor.concat dim(1) %expanded, %cst : (tensor<2x1xi32>, tensor<2x1xi32>) -> tensor<2x2xi32>
  %collapsed = tensor.collapse_shape %concat [[0, 1]] : tensor<2x2xi32> into tensor<4xi32>
  %7 = tensor.empty() : tensor<1x2x4x4xi8>
  %8 = "torq_hl.conv2d"(%7, %w, %collapsed, %arg0) {dilation = array<i64: 1, 1>, groups = 1 : i32, input_zp = 3 : i32, output_max = 127 : i32, output_min = -128 : i32, output_zp = -5 : i32, pad = array<i64: 0, 0, 0, 0>, shift_factor = 32 : i32, stride = array<i64: 1, 1>, vectorization_mode = 0 : i32, weight_zp = 0 : i32} : (tensor<1x2x4x4xi8>, tensor<2x2x1x1xi8>, tensor<4xi32>, tensor<1x2x4x4xi8>) -> tensor<1x2x4x4xi8>
  return %8 : tensor<1x2x4x4xi8>
}
