// RUN: torq-opt --split-input-file --torq-fuse-quantized-ops --canonicalize %s | FileCheck %s

// Rows 0 and 1 of the first group are 1 2 and -1 3 (as bytes, -15 and 50), of the second 4 5 and 0 -2 (4 and -27).

// CHECK-DAG: #[[EVEN:.*]] = affine_map<(d0, d1, d2) -> (d0, d1 * 2)>
// CHECK-DAG: #[[ODD:.*]] = affine_map<(d0, d1, d2) -> (d0, d1 * 2 + 1)>
// CHECK-DAG: #[[BYTES:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[SUMS:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-LABEL: func.func @float_activations
// CHECK-SAME: (%[[X:.*]]: tensor<?x4xf32>, %[[INIT:.*]]: tensor<?x2xf32>)
// CHECK-DAG: %[[W:.*]] = arith.constant dense<{{\[\[\[}}-15, 50]], {{\[\[}}4, -27]]]> : tensor<2x1x2xi8>
// CHECK-DAG: %[[S:.*]] = arith.constant dense<{{\[\[}}5.000000e-01, 2.500000e-01], [2.000000e+00, 4.000000e+00]]> : tensor<2x2xf32>
// CHECK-DAG: %[[FOUR:.*]] = arith.constant 4 : i8
// CHECK: scf.for %[[G:.*]] = %{{.*}} iter_args(%[[SO_FAR:.*]] = %[[INIT]]) -> (tensor<?x2xf32>)
// CHECK: %[[PART:.*]] = tensor.extract_slice %[[X]][0, %{{.*}}] [%{{.*}}, 2] [1, 1]
// CHECK: %[[W_PART:.*]] = tensor.extract_slice %[[W]][%[[G]], 0, 0] [1, 1, 2] [1, 1, 1] : tensor<2x1x2xi8> to tensor<1x2xi8>
// CHECK: %[[S_PART:.*]] = tensor.extract_slice %[[S]][%[[G]], 0] [1, 2] [1, 1] : tensor<2x2xf32> to tensor<2xf32>
// CHECK: %[[ACC:.*]] = linalg.generic {indexing_maps = [#[[EVEN]], #[[ODD]], #[[BYTES]], #[[SUMS]]]
// CHECK-SAME: iterator_types = ["parallel", "reduction", "parallel"]
// CHECK-SAME: ins(%[[PART]], %[[PART]], %[[W_PART]] : tensor<?x2xf32>, tensor<?x2xf32>, tensor<1x2xi8>)
// CHECK: ^bb0(%[[X0:.*]]: f32, %[[X1:.*]]: f32, %[[BYTE:.*]]: i8, %[[SUM:.*]]: f32):
// CHECK: %[[LEFT:.*]] = arith.shli %[[BYTE]], %[[FOUR]] : i8
// CHECK: %[[LOW:.*]] = arith.shrsi %[[LEFT]], %[[FOUR]] : i8
// CHECK: %[[HIGH:.*]] = arith.shrsi %[[BYTE]], %[[FOUR]] : i8
// CHECK: %[[Q0:.*]] = arith.sitofp %[[LOW]] : i8 to f32
// CHECK: %[[FIRST:.*]] = math.fma %[[X0]], %[[Q0]], %[[SUM]] : f32
// CHECK: %[[Q1:.*]] = arith.sitofp %[[HIGH]] : i8 to f32
// CHECK: math.fma %[[X1]], %[[Q1]], %[[FIRST]] : f32
// CHECK: linalg.generic {{.*}} ins(%[[ACC]], %[[S_PART]] : tensor<?x2xf32>, tensor<2xf32>) outs(%[[SO_FAR]] : tensor<?x2xf32>)
// CHECK: math.fma
func.func @float_activations(%x: tensor<?x4xf32>, %init: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %w = arith.constant dense<[[1, -1, 4, 0], [2, 3, 5, -2]]> : tensor<2x4xi4>
  %s = arith.constant dense<[[0.5, 2.0], [0.25, 4.0]]> : tensor<2x2xf32>
  %f = "quantized_decomposed.dequantize_per_channel_group"(%w, %s) {group_size = 2 : i64, quant_min = -8 : i64, quant_max = 7 : i64, dtype = si4} : (tensor<2x4xi4>, tensor<2x2xf32>) -> tensor<2x4xf32>
  %e = tensor.empty() : tensor<4x2xf32>
  %t = linalg.transpose ins(%f : tensor<2x4xf32>) outs(%e : tensor<4x2xf32>) permutation = [1, 0]
  %y = linalg.matmul ins(%x, %t : tensor<?x4xf32>, tensor<4x2xf32>) outs(%init : tensor<?x2xf32>) -> tensor<?x2xf32>
  return %y : tensor<?x2xf32>
}

// -----

// Integers are summed up in each group; the sums of the weights are constant. Bytes that hold no more than 4 bits are
// packed as well.

// CHECK-LABEL: func.func @tokens
// CHECK-SAME: (%[[Q:.*]]: tensor<3x4xi8>,
// CHECK-DAG: %[[W:.*]] = arith.constant dense<{{\[\[\[}}-15, 50]], {{\[\[}}4, -27]]]> : tensor<2x1x2xi8>
// CHECK-DAG: %[[SUMS:.*]] = arith.constant dense<{{\[\[}}0, 5], [4, 3]]> : tensor<2x2xi32>
// CHECK: %[[TOTAL:.*]] = scf.for %[[G:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[SO_FAR:.*]] = %{{.*}}) -> (tensor<3x2xf32>)
// CHECK: %[[X:.*]] = tensor.extract_slice %[[Q]][0, %{{.*}}] [3, 2] [1, 1]
// CHECK: %[[PART:.*]] = tensor.extract_slice %[[W]][%[[G]], 0, 0] [1, 1, 2] [1, 1, 1] : tensor<2x1x2xi8> to tensor<1x2xi8>
// CHECK: %[[ACC:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[X]], %[[PART]] : tensor<3x2xi8>, tensor<3x2xi8>, tensor<1x2xi8>)
// CHECK: arith.muli {{.*}} : i32
// CHECK: %[[SCALED:.*]] = linalg.generic {{.*}} ins(%[[ACC]], {{.*}} outs(%[[SO_FAR]] : tensor<3x2xf32>)
// CHECK: arith.subi {{.*}} : i32
// CHECK: arith.sitofp {{.*}} : i32 to f32
// CHECK: scf.yield %[[SCALED]]
// CHECK: linalg.generic {{.*}} ins(%[[TOTAL]],
func.func @tokens(%q: tensor<3x4xi8>, %sx: tensor<3x1xf32>, %zx: tensor<3x1xi32>) -> tensor<3x2xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<[[1, 2], [-1, 3], [4, 5], [0, -2]]> : tensor<4x2xi8>
  %s = arith.constant dense<[[0.5, 0.25], [2.0, 4.0]]> : tensor<2x2xf32>
  %x = "quantized_decomposed.dequantize_per_token"(%q, %sx, %zx) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<3x4xi8>, tensor<3x1xf32>, tensor<3x1xi32>) -> tensor<3x4xf32>
  %f = "quantized_decomposed.dequantize_per_channel_group"(%w, %s) {axis = 0 : i64, group_size = 2 : i64, quant_min = -8 : i64, quant_max = 7 : i64, dtype = si8} : (tensor<4x2xi8>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %e = tensor.empty() : tensor<3x2xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<3x2xf32>) -> tensor<3x2xf32>
  %y = linalg.matmul ins(%x, %f : tensor<3x4xf32>, tensor<4x2xf32>) outs(%init : tensor<3x2xf32>) -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}

// -----

// Groups along the columns share nothing that a sum could be scaled with.

// CHECK-LABEL: func.func @groups_of_columns
// CHECK: linalg.matmul
func.func @groups_of_columns(%x: tensor<3x2xf32>, %init: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %w = arith.constant dense<[[1, -1, 4, 0], [2, 3, 5, -2]]> : tensor<2x4xi4>
  %s = arith.constant dense<[[0.5, 2.0], [0.25, 4.0]]> : tensor<2x2xf32>
  %f = "quantized_decomposed.dequantize_per_channel_group"(%w, %s) {group_size = 2 : i64, quant_min = -8 : i64, quant_max = 7 : i64, dtype = si4} : (tensor<2x4xi4>, tensor<2x2xf32>) -> tensor<2x4xf32>
  %y = linalg.matmul ins(%x, %f : tensor<3x2xf32>, tensor<2x4xf32>) outs(%init : tensor<3x4xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

// Scales that are known at run time are read in the layout that they have.

// CHECK-DAG: #[[BYTES:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, d2, d3)>
// CHECK-DAG: #[[SCALES:.*]] = affine_map<(d0, d1, d2, d3) -> (d3, d1)>
// CHECK-LABEL: func.func @run_time_scales
// CHECK-SAME: %[[S:[a-z0-9]+]]: tensor<3x2xf32>
// CHECK-NOT: tensor<{{3x4|4x3}}xf32>
// CHECK: linalg.generic {indexing_maps = [{{.*}}, #[[BYTES]], #[[SCALES]], {{.*}}]
// CHECK-SAME: ins(%{{.*}}, %{{.*}}, %{{.*}}, %[[S]] : tensor<5x4xf32>, tensor<5x4xf32>, tensor<2x1x3xi8>, tensor<3x2xf32>)
func.func @run_time_scales(%x: tensor<5x4xf32>, %s: tensor<3x2xf32>, %init: tensor<5x3xf32>) -> tensor<5x3xf32> {
  %w = arith.constant dense<[[1, -1, 4, 0], [2, 3, 5, -2], [7, 6, 5, 4]]> : tensor<3x4xi8>
  %f = "quantized_decomposed.dequantize_per_channel_group"(%w, %s) {group_size = 2 : i64, quant_min = -8 : i64, quant_max = 7 : i64, dtype = si8} : (tensor<3x4xi8>, tensor<3x2xf32>) -> tensor<3x4xf32>
  %e = tensor.empty() : tensor<4x3xf32>
  %t = linalg.transpose ins(%f : tensor<3x4xf32>) outs(%e : tensor<4x3xf32>) permutation = [1, 0]
  %y = linalg.matmul ins(%x, %t : tensor<5x4xf32>, tensor<4x3xf32>) outs(%init : tensor<5x3xf32>) -> tensor<5x3xf32>
  return %y : tensor<5x3xf32>
}
