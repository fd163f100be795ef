// RUN: torq-opt --split-input-file --convert-torq-hl-to-linalg --mlir-print-debuginfo %s | FileCheck %s

// CHECK-LABEL: func.func @transpose
// CHECK: linalg.transpose ins(%arg0 : tensor<2x?x4xi16>) outs(%arg1 : tensor<4x2x?xi16>) permutation = [2, 0, 1] loc(#[[LOC:.*]])
// CHECK: #[[LOC]] = loc("permuted")
func.func @transpose(%x: tensor<2x?x4xi16>, %init: tensor<4x2x?xi16>) -> tensor<4x2x?xi16> {
  %y = "torq_hl.transpose"(%init, %x) {perm = array<i64: 2, 0, 1>} : (tensor<4x2x?xi16>, tensor<2x?x4xi16>) -> tensor<4x2x?xi16> loc("permuted")
  return %y : tensor<4x2x?xi16>
}

// -----

// CHECK-LABEL: func.func @broadcast
// CHECK: linalg.broadcast ins(%arg0 : tensor<3xf32>) outs(%{{.*}} : tensor<2x3x4xf32>) dimensions = [0, 2]
func.func @broadcast(%x: tensor<3xf32>) -> tensor<2x3x4xf32> {
  %init = tensor.empty() : tensor<2x3x4xf32>
  %y = "torq_hl.broadcast"(%init, %x) {dimensions = array<i64: 0, 2>} : (tensor<2x3x4xf32>, tensor<3xf32>) -> tensor<2x3x4xf32>
  return %y : tensor<2x3x4xf32>
}

// -----

// CHECK-LABEL: func.func @fill
// CHECK-DAG: %[[I8:.*]] = arith.constant -3 : i8
// CHECK-DAG: %[[BF16:.*]] = arith.constant -3.000000e+00 : bf16
// CHECK-DAG: linalg.fill ins(%[[I8]] : i8) outs(%{{.*}} : tensor<4xi8>)
// CHECK-DAG: linalg.fill ins(%[[BF16]] : bf16) outs(%{{.*}} : tensor<4xbf16>)
func.func @fill() -> (tensor<4xi8>, tensor<4xbf16>) {
  %i8 = tensor.empty() : tensor<4xi8>
  %bf16 = tensor.empty() : tensor<4xbf16>
  %0 = "torq_hl.fill"(%i8) {value = -3 : i32} : (tensor<4xi8>) -> tensor<4xi8>
  %1 = "torq_hl.fill"(%bf16) {value = -3 : i32} : (tensor<4xbf16>) -> tensor<4xbf16>
  return %0, %1 : tensor<4xi8>, tensor<4xbf16>
}

// -----

// CHECK-LABEL: func.func @identity
// CHECK: linalg.generic {{.*}} ins(%arg0 : tensor<4xi1>)
// CHECK: ^bb0(%[[IN:.*]]: i1 {{.*}}, %{{.*}}: i1
// CHECK-NEXT: linalg.yield %[[IN]]
func.func @identity(%x: tensor<4xi1>) -> tensor<4xi1> {
  %init = tensor.empty() : tensor<4xi1>
  %y = "torq_hl.identity"(%init, %x) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  return %y : tensor<4xi1>
}

// -----

// What is not torq_hl stays.

// CHECK-LABEL: func.func @others
// CHECK: "quantized_decomposed.quantize_per_tensor"
// CHECK: linalg.transpose
func.func @others(%x: tensor<2x3xf32>) -> tensor<3x2xi8> {
  %scale = arith.constant dense<0.5> : tensor<f32>
  %zp = arith.constant dense<0> : tensor<i8>
  %q = "quantized_decomposed.quantize_per_tensor"(%x, %scale, %zp) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<2x3xi8>
  %init = tensor.empty() : tensor<3x2xi8>
  %y = linalg.transpose ins(%q : tensor<2x3xi8>) outs(%init : tensor<3x2xi8>) permutation = [1, 0]
  return %y : tensor<3x2xi8>
}

// -----

// Negative numbers count from the end; what is beyond is brought to the nearest row.

// CHECK-LABEL: func.func @gather
// CHECK: linalg.generic
// CHECK-SAME: ins(%arg1 : tensor<2x5xi32>) outs(%{{.*}} : tensor<2x5x16xi8>)
// CHECK: %[[NEGATIVE:.*]] = arith.cmpi slt, %[[IN:.*]], %{{.*}} : i32
// CHECK: %[[SUM:.*]] = arith.addi %[[IN]], %{{.*}} : i32
// CHECK: %[[ROW:.*]] = arith.select %[[NEGATIVE]], %[[SUM]], %[[IN]] : i32
// CHECK: %[[LOW:.*]] = arith.maxsi %[[ROW]], %{{.*}} : i32
// CHECK: %[[CLAMPED:.*]] = arith.minsi %[[LOW]], %{{.*}} : i32
// CHECK: %[[INDEX:.*]] = arith.index_cast %[[CLAMPED]] : i32 to index
// CHECK: tensor.extract %arg0[%[[INDEX]], %{{.*}}] : tensor<10x16xi8>
func.func @gather(%x: tensor<10x16xi8>, %n: tensor<2x5xi32>) -> tensor<2x5x16xi8> {
  %init = tensor.empty() : tensor<2x5x16xi8>
  %y = "torq_hl.gather"(%init, %x, %n) : (tensor<2x5x16xi8>, tensor<10x16xi8>, tensor<2x5xi32>) -> tensor<2x5x16xi8>
  return %y : tensor<2x5x16xi8>
}

// -----

// CHECK-LABEL: func.func @resize_nearest_neighbor
// CHECK: %[[ROW:.*]] = arith.divui %{{.*}}, %c3
// CHECK: %[[COLUMN:.*]] = arith.divui %{{.*}}, %c3
// CHECK: tensor.extract %arg0[%{{.*}}, %{{.*}}, %[[ROW]], %[[COLUMN]]]
func.func @resize_nearest_neighbor(%x: tensor<1x2x4x5xi8>) -> tensor<1x2x12x15xi8> {
  %init = tensor.empty() : tensor<1x2x12x15xi8>
  %y = "torq_hl.ResizeNearestNeighbor"(%init, %x) {scale_factor = 3 : i32} : (tensor<1x2x12x15xi8>, tensor<1x2x4x5xi8>) -> tensor<1x2x12x15xi8>
  return %y : tensor<1x2x12x15xi8>
}

// -----

// CHECK-LABEL: func.func @depth_to_space
// CHECK: tensor.expand_shape {{.*}} output_shape [1, 3, 2, 2, 4, 5]
// CHECK: linalg.transpose {{.*}} permutation = [0, 1, 4, 2, 5, 3]
// CHECK: tensor.collapse_shape {{.*}} into tensor<1x3x8x10xi8>
func.func @depth_to_space(%x: tensor<1x12x4x5xi8>) -> tensor<1x3x8x10xi8> {
  %one = arith.constant dense<1> : tensor<1xi8>
  %init = tensor.empty() : tensor<1x3x8x10xi8>
  %y = "torq_hl.DepthToSpace"(%init, %one, %x) {blockSize = 2 : i32, mode_type = 1 : i32} : (tensor<1x3x8x10xi8>, tensor<1xi8>, tensor<1x12x4x5xi8>) -> tensor<1x3x8x10xi8>
  return %y : tensor<1x3x8x10xi8>
}
