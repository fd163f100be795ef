// RUN: torq-opt --split-input-file --torq-fuse-quantized-ops --canonicalize %s | FileCheck %s

// Sums of 64 bits of which the lower 32 are taken are sums of 32 bits. The zero point of constant weights is folded into
// them, in 16 bits as 131 - 3 - (-128) does not fit in 8; that of a row is read in the body.

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0, 0)>

// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[W:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0, d1, d2) -> (d0, 0)>
// CHECK-DAG: #[[Y:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @zero_points_of_rows
// CHECK-SAME: (%[[Q:.*]]: tensor<2x3xi8>, %[[Z:.*]]: tensor<2x1xi32>)
// CHECK-DAG: %[[WEIGHTS:.*]] = arith.constant dense<{{\[\[}}-2, 197], [0, 1], [2, 3]]> : tensor<3x2xi16>
// CHECK: linalg.generic {indexing_maps = [#[[X]], #[[W]], #[[ROW]], #[[Y]]], iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[Q]], %[[WEIGHTS]], %[[Z]] : tensor<2x3xi8>, tensor<3x2xi16>, tensor<2x1xi32>)
// CHECK: ^bb0(%[[IN:.*]]: i8, %[[WEIGHT:.*]]: i16, %[[ZP:.*]]: i32, %[[SUM:.*]]: i32):
// CHECK: %[[WIDE:.*]] = arith.extui %[[IN]] : i8 to i32
// CHECK: %[[LESS:.*]] = arith.subi %[[WIDE]], %[[ZP]] : i32
// CHECK: %[[OTHER:.*]] = arith.extsi %[[WEIGHT]] : i16 to i32
// CHECK: %[[PRODUCT:.*]] = arith.muli %[[LESS]], %[[OTHER]] : i32
// CHECK: arith.addi %[[SUM]], %[[PRODUCT]] : i32
// CHECK-NOT: i64
func.func @zero_points_of_rows(%q: tensor<2x3xi8>, %z: tensor<2x1xi32>) -> tensor<2x2xi32> {
  %zero = arith.constant 0 : i64
  %three = arith.constant 3 : i32
  %w = arith.constant dense<[[1, -56], [3, 4], [5, 6]]> : tensor<3x2xi8>
  %e0 = tensor.empty() : tensor<2x3xi32>
  %x32 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%q : tensor<2x3xi8>) outs(%e0 : tensor<2x3xi32>) {
  ^bb0(%in: i8, %out: i32):
    %0 = arith.extui %in : i8 to i32
    linalg.yield %0 : i32
  } -> tensor<2x3xi32>
  %x = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x32, %z : tensor<2x3xi32>, tensor<2x1xi32>) outs(%e0 : tensor<2x3xi32>) {
  ^bb0(%in: i32, %zp: i32, %out: i32):
    %0 = arith.subi %in, %zp : i32
    linalg.yield %0 : i32
  } -> tensor<2x3xi32>
  %e1 = tensor.empty() : tensor<3x2xi32>
  %w32 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<3x2xi8>) outs(%e1 : tensor<3x2xi32>) {
  ^bb0(%in: i8, %out: i32):
    %0 = arith.extui %in : i8 to i32
    linalg.yield %0 : i32
  } -> tensor<3x2xi32>
  %wz = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%w32 : tensor<3x2xi32>) outs(%e1 : tensor<3x2xi32>) {
  ^bb0(%in: i32, %out: i32):
    %0 = arith.subi %in, %three : i32
    linalg.yield %0 : i32
  } -> tensor<3x2xi32>
  %e2 = tensor.empty() : tensor<2x2xi64>
  %init = linalg.fill ins(%zero : i64) outs(%e2 : tensor<2x2xi64>) -> tensor<2x2xi64>
  %m = linalg.matmul ins(%x, %wz : tensor<2x3xi32>, tensor<3x2xi32>) outs(%init : tensor<2x2xi64>) -> tensor<2x2xi64>
  %e3 = tensor.empty() : tensor<2x2xi32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%m : tensor<2x2xi64>) outs(%e3 : tensor<2x2xi32>) {
  ^bb0(%in: i64, %out: i32):
    %0 = arith.trunci %in : i64 to i32
    linalg.yield %0 : i32
  } -> tensor<2x2xi32>
  return %y : tensor<2x2xi32>
}

// -----

// Zeros around the differences are zero points around the integers: 200 as a byte is -56.

#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>

// CHECK-LABEL: func.func @padding
// CHECK-DAG: %[[PAD:.*]] = arith.constant -56 : i8
// CHECK-DAG: %[[ZX:.*]] = arith.constant 200 : i32
// CHECK: %[[PADDED:.*]] = tensor.pad %arg0 low[0, 0, 1] high[0, 0, 1]
// CHECK: tensor.yield %[[PAD]] : i8
// CHECK: linalg.generic {{.*}} ins(%[[PADDED]], %arg1 : tensor<1x2x7xi8>, tensor<4x2x3xi8>)
// CHECK: arith.extui
// CHECK: arith.subi %{{.*}}, %[[ZX]] : i32
// CHECK: arith.extsi
func.func @padding(%q: tensor<1x2x5xi8>, %w: tensor<4x2x3xi8>) -> tensor<1x4x5xi32> {
  %zero = arith.constant 0 : i64
  %none = arith.constant 0 : i32
  %zp = arith.constant 200 : i32
  %e0 = tensor.empty() : tensor<1x2x5xi32>
  %x32 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%q : tensor<1x2x5xi8>) outs(%e0 : tensor<1x2x5xi32>) {
  ^bb0(%in: i8, %out: i32):
    %0 = arith.extui %in : i8 to i32
    linalg.yield %0 : i32
  } -> tensor<1x2x5xi32>
  %x = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x32 : tensor<1x2x5xi32>) outs(%e0 : tensor<1x2x5xi32>) {
  ^bb0(%in: i32, %out: i32):
    %0 = arith.subi %in, %zp : i32
    linalg.yield %0 : i32
  } -> tensor<1x2x5xi32>
  %padded = tensor.pad %x low[0, 0, 1] high[0, 0, 1] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %none : i32
  } : tensor<1x2x5xi32> to tensor<1x2x7xi32>
  %e1 = tensor.empty() : tensor<4x2x3xi32>
  %w32 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%w : tensor<4x2x3xi8>) outs(%e1 : tensor<4x2x3xi32>) {
  ^bb0(%in: i8, %out: i32):
    %0 = arith.extsi %in : i8 to i32
    linalg.yield %0 : i32
  } -> tensor<4x2x3xi32>
  %e2 = tensor.empty() : tensor<1x4x5xi64>
  %init = linalg.fill ins(%zero : i64) outs(%e2 : tensor<1x4x5xi64>) -> tensor<1x4x5xi64>
  %m = linalg.conv_1d_ncw_fcw {dilations = dense<1> : vector<1xi64>, strides = dense<1> : vector<1xi64>} ins(%padded, %w32 : tensor<1x2x7xi32>, tensor<4x2x3xi32>) outs(%init : tensor<1x4x5xi64>) -> tensor<1x4x5xi64>
  %e3 = tensor.empty() : tensor<1x4x5xi32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%m : tensor<1x4x5xi64>) outs(%e3 : tensor<1x4x5xi32>) {
  ^bb0(%in: i64, %out: i32):
    %0 = arith.trunci %in : i64 to i32
    linalg.yield %0 : i32
  } -> tensor<1x4x5xi32>
  return %y : tensor<1x4x5xi32>
}
