// RUN: torq-opt --split-input-file --convert-torq-hl-to-linalg %s | FileCheck %s

// Padding by the zero point, contraction in i32, and the rescale: 64-bit product, half added, arithmetic shift.

// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 * 2 + d5, d3 + d6 * 3)>
// CHECK-DAG: #[[W:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)>
// CHECK-DAG: #[[Y:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>
// CHECK-DAG: #[[ALL:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
// CHECK-DAG: #[[CHANNEL:.*]] = affine_map<(d0, d1, d2, d3) -> (d1)>
// CHECK-LABEL: func.func @conv2d
// CHECK-SAME: %[[INPUT:.*]]: tensor<1x4x8x9xi8>, %[[WEIGHTS:.*]]: tensor<2x4x3x2xi8>
// CHECK-DAG: %[[INIT:.*]] = tensor.empty() : tensor<1x2x5x9xi8>
// CHECK-DAG: %[[ZP:.*]] = arith.constant 7 : i8
// CHECK: %[[PADDED:.*]] = tensor.pad %[[INPUT]] low[0, 0, 2, 1] high[0, 0, 1, 2]
// CHECK: tensor.yield %[[ZP]]
// CHECK: %[[ZEROS:.*]] = linalg.fill ins(%{{.*}} : i32) outs(%{{.*}} : tensor<1x2x5x9xi32>)
// CHECK: %[[SUM:.*]] = linalg.generic {indexing_maps = [#[[X]], #[[W]], #[[Y]]], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
// CHECK-SAME: ins(%[[PADDED]], %[[WEIGHTS]] : tensor<1x4x11x12xi8>, tensor<2x4x3x2xi8>) outs(%[[ZEROS]] : tensor<1x2x5x9xi32>)
// CHECK-NEXT: ^bb0(%[[A:.*]]: i8, %[[B:.*]]: i8, %[[TOTAL:.*]]: i32):
// CHECK-DAG: %[[WA:.*]] = arith.extsi %[[A]] : i8 to i32
// CHECK-DAG: %[[WB:.*]] = arith.extsi %[[B]] : i8 to i32
// CHECK-NEXT: %[[PRODUCT:.*]] = arith.muli %[[WA]], %[[WB]]
// CHECK-NEXT: %[[NEXT:.*]] = arith.addi %[[TOTAL]], %[[PRODUCT]]
// CHECK-NEXT: linalg.yield %[[NEXT]]
// CHECK-DAG: %[[BIAS:.*]] = arith.constant dense<[10, 30]> : tensor<2xi32>
// CHECK-DAG: %[[MULTIPLIER:.*]] = arith.constant dense<[20, 40]> : tensor<2xi32>
// CHECK: linalg.generic {indexing_maps = [#[[ALL]], #[[CHANNEL]], #[[CHANNEL]], #[[ALL]]]
// CHECK-SAME: ins(%[[SUM]], %[[BIAS]], %[[MULTIPLIER]] : {{.*}}) outs(%[[INIT]] : tensor<1x2x5x9xi8>)
// CHECK-NEXT: ^bb0(%[[ACC:.*]]: i32, %[[BO:.*]]: i32, %[[MO:.*]]: i32, %{{.*}}: i8):
// CHECK-NEXT: %[[ACC64:.*]] = arith.extsi %[[ACC]] : i32 to i64
// CHECK-NEXT: %[[BO64:.*]] = arith.extsi %[[BO]] : i32 to i64
// CHECK-NEXT: %[[BIASED:.*]] = arith.addi %[[ACC64]], %[[BO64]]
// CHECK-NEXT: %[[MO64:.*]] = arith.extsi %[[MO]] : i32 to i64
// CHECK-NEXT: %[[SCALED:.*]] = arith.muli %[[BIASED]], %[[MO64]]
// CHECK-NEXT: %[[HALF:.*]] = arith.constant 8 : i64
// CHECK-NEXT: %[[ROUNDED:.*]] = arith.addi %[[SCALED]], %[[HALF]]
// CHECK-NEXT: %[[SHIFT:.*]] = arith.constant 4 : i64
// CHECK-NEXT: %[[SHIFTED:.*]] = arith.shrsi %[[ROUNDED]], %[[SHIFT]]
// CHECK-NEXT: %[[YZ:.*]] = arith.constant -5 : i64
// CHECK-NEXT: %[[CENTERED:.*]] = arith.addi %[[SHIFTED]], %[[YZ]]
// CHECK-NEXT: %[[MIN:.*]] = arith.constant -100 : i64
// CHECK-NEXT: %[[LOW:.*]] = arith.maxsi %[[CENTERED]], %[[MIN]]
// CHECK-NEXT: %[[MAX:.*]] = arith.constant 100 : i64
// CHECK-NEXT: %[[HIGH:.*]] = arith.minsi %[[LOW]], %[[MAX]]
// CHECK-NEXT: %[[RESULT:.*]] = arith.trunci %[[HIGH]] : i64 to i8
// CHECK-NEXT: linalg.yield %[[RESULT]]
func.func @conv2d(%x: tensor<1x4x8x9xi8>, %w: tensor<2x4x3x2xi8>) -> tensor<1x2x5x9xi8> {
  %init = tensor.empty() : tensor<1x2x5x9xi8>
  %scale_bias = arith.constant dense<[10, 20, 30, 40]> : tensor<4xi32>
  %y = "torq_hl.conv2d"(%init, %w, %scale_bias, %x) {input_zp = 7 : i32, weight_zp = 0 : i32, output_zp = -5 : i32, output_min = -100 : i32, output_max = 100 : i32, shift_factor = 4 : i32, groups = 1 : i32, pad = array<i64: 1, 2, 2, 1>, stride = array<i64: 2, 1>, dilation = array<i64: 1, 3>, vectorization_mode = 0 : i32} : (tensor<1x2x5x9xi8>, tensor<2x4x3x2xi8>, tensor<4xi32>, tensor<1x4x8x9xi8>) -> tensor<1x2x5x9xi8>
  return %y : tensor<1x2x5x9xi8>
}

// -----

// Nothing to pad, nothing added for shift 0 and zero point 0, one pair for all channels; the input is NHWC.

// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d2 + d5, d3 + d6, d4)>
// CHECK-LABEL: func.func @plain
// CHECK-NOT: tensor.pad
// CHECK: linalg.generic {indexing_maps = [#[[X]], {{.*}}
// CHECK-DAG: %[[BIAS:.*]] = arith.constant 10 : i32
// CHECK-DAG: %[[MULTIPLIER:.*]] = arith.constant 20 : i32
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<1x2x6x7xi32>)
// CHECK: arith.extsi %[[BIAS]]
// CHECK: arith.extsi %[[MULTIPLIER]]
// CHECK-NEXT: %[[SCALED:.*]] = arith.muli
// CHECK-NEXT: arith.constant -128 : i64
// CHECK-NEXT: arith.maxsi %[[SCALED]]
func.func @plain(%x: tensor<1x8x8x4xi8>, %w: tensor<2x4x3x2xi8>) -> tensor<1x2x6x7xi8> {
  %init = tensor.empty() : tensor<1x2x6x7xi8>
  %scale_bias = arith.constant dense<[10, 20]> : tensor<2xi32>
  %y = "torq_hl.conv2d"(%init, %w, %scale_bias, %x) {nhwc_input = true, input_zp = 7 : i32, weight_zp = 0 : i32, output_zp = 0 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 0 : i32, groups = 1 : i32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>, vectorization_mode = 0 : i32} : (tensor<1x2x6x7xi8>, tensor<2x4x3x2xi8>, tensor<2xi32>, tensor<1x8x8x4xi8>) -> tensor<1x2x6x7xi8>
  return %y : tensor<1x2x6x7xi8>
}

// -----

// Groups are a loop: channels are split in two dimensions, and those of the result merged.

// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1, d5, d3 + d6, d4 + d7)>
// CHECK-DAG: #[[W:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d1, d2, d5, d6, d7)>
// CHECK-DAG: #[[Y:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1, d2, d3, d4)>
// CHECK-LABEL: func.func @grouped
// CHECK: %[[XS:.*]] = tensor.expand_shape %{{.*}} {{\[}}[0], [1, 2], [3], [4]] output_shape [1, 2, 2, 8, 8]
// CHECK: %[[WS:.*]] = tensor.expand_shape %{{.*}} {{\[}}[0, 1], [2], [3], [4]] output_shape [2, 3, 2, 3, 2]
// CHECK: %[[SUM:.*]] = linalg.generic {indexing_maps = [#[[X]], #[[W]], #[[Y]]]
// CHECK-SAME: ins(%[[XS]], %[[WS]]
// CHECK: tensor.collapse_shape %[[SUM]] {{\[}}[0], [1, 2], [3], [4]] : tensor<1x2x3x6x7xi32> into tensor<1x6x6x7xi32>
func.func @grouped(%x: tensor<1x4x8x8xi8>, %w: tensor<6x2x3x2xi8>, %scale_bias: tensor<12xi32>) -> tensor<1x6x6x7xi8> {
  %init = tensor.empty() : tensor<1x6x6x7xi8>
  %y = "torq_hl.conv2d"(%init, %w, %scale_bias, %x) {input_zp = 7 : i32, weight_zp = 0 : i32, output_zp = 0 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 0 : i32, groups = 2 : i32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>, vectorization_mode = 0 : i32} : (tensor<1x6x6x7xi8>, tensor<6x2x3x2xi8>, tensor<12xi32>, tensor<1x4x8x8xi8>) -> tensor<1x6x6x7xi8>
  return %y : tensor<1x6x6x7xi8>
}

// -----

// One channel to a group: no loop over channels. Run-time pairs are separated by strided slices.

// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2 + d4, d3 + d5)>
// CHECK-DAG: #[[W:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d1, 0, d4, d5)>
// CHECK-LABEL: func.func @depthwise
// CHECK: linalg.generic {indexing_maps = [#[[X]], #[[W]], {{.*}} ins(%arg0, %arg1 : tensor<1x4x8x8xi8>, tensor<4x1x3x2xi16>)
// CHECK-DAG: %[[BIAS:.*]] = tensor.extract_slice %arg2[0] [4] [2] : tensor<8xi32> to tensor<4xi32>
// CHECK-DAG: %[[MULTIPLIER:.*]] = tensor.extract_slice %arg2[1] [4] [2] : tensor<8xi32> to tensor<4xi32>
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[BIAS]], %[[MULTIPLIER]]
func.func @depthwise(%x: tensor<1x4x8x8xi8>, %w: tensor<4x1x3x2xi16>, %scale_bias: tensor<8xi32>) -> tensor<1x4x6x7xi8> {
  %init = tensor.empty() : tensor<1x4x6x7xi8>
  %y = "torq_hl.depthwise_conv2d"(%init, %w, %scale_bias, %x) {input_zp = 7 : i32, weight_zp = 0 : i32, output_zp = 0 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 0 : i32, groups = 4 : i32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>, vectorization_mode = 0 : i32} : (tensor<1x4x6x7xi8>, tensor<4x1x3x2xi16>, tensor<8xi32>, tensor<1x4x8x8xi8>) -> tensor<1x4x6x7xi8>
  return %y : tensor<1x4x6x7xi8>
}

// -----

// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d2 * 2 + d4)>
// CHECK-LABEL: func.func @conv1d
// CHECK: tensor.pad %{{.*}} low[0, 0, 1] high[0, 0, 2]
// CHECK: linalg.generic {indexing_maps = [#[[X]], {{.*}} outs(%{{.*}} : tensor<1x2x5xi32>)
func.func @conv1d(%x: tensor<1x4x8xi8>, %w: tensor<2x4x3xi8>, %scale_bias: tensor<4xi32>) -> tensor<1x2x5xi8> {
  %init = tensor.empty() : tensor<1x2x5xi8>
  %y = "torq_hl.conv1d"(%init, %w, %scale_bias, %x) {input_zp = 7 : i32, weight_zp = 0 : i32, output_zp = 0 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 0 : i32, groups = 1 : i32, pad = array<i64: 1, 2>, stride = array<i64: 2>, dilation = array<i64: 1>, vectorization_mode = 0 : i32} : (tensor<1x2x5xi8>, tensor<2x4x3xi8>, tensor<4xi32>, tensor<1x4x8xi8>) -> tensor<1x2x5xi8>
  return %y : tensor<1x2x5xi8>
}

// -----

// A shift of 64 leaves nothing of the product.

// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[W:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[Y:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @fully_connected
// CHECK: tensor.dim
// CHECK: linalg.generic {indexing_maps = [#[[X]], #[[W]], #[[Y]]], iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK: linalg.generic
// CHECK-NOT: arith.shrsi
// CHECK: %[[ZERO:.*]] = arith.constant 0 : i64
// CHECK: arith.addi %[[ZERO]], %{{.*}} : i64
func.func @fully_connected(%x: tensor<?x4xi8>, %w: tensor<4x3xi8>, %scale_bias: tensor<6xi32>, %init: tensor<?x3xi8>) -> tensor<?x3xi8> {
  %y = "torq_hl.fully_connected"(%init, %w, %scale_bias, %x) {input_zp = 7 : i32, weight_zp = 0 : i32, output_zp = 3 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 64 : i32, vectorization_mode = 0 : i32} : (tensor<?x3xi8>, tensor<4x3xi8>, tensor<6xi32>, tensor<?x4xi8>) -> tensor<?x3xi8>
  return %y : tensor<?x3xi8>
}

// -----

// Products of i16 need 64 bits.

// CHECK-DAG: #[[X1:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
// CHECK-DAG: #[[X2:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>
// CHECK-LABEL: func.func @matmul
// CHECK: linalg.generic {indexing_maps = [#[[X1]], #[[X2]], {{.*}} outs(%{{.*}} : tensor<5x2x3xi64>)
// CHECK: arith.extui %{{.*}} : i16 to i64
// CHECK: arith.extsi %{{.*}} : i16 to i64
// CHECK-DAG: tensor.extract %arg2[%{{.*}}]
// CHECK-DAG: tensor.extract %arg2[%{{.*}}]
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<5x2x3xi64>)
func.func @matmul(%x1: tensor<5x2x4xi16>, %x2: tensor<5x4x3xi16>, %scale_bias: tensor<2xi32>) -> tensor<5x2x3xi16> {
  %init = tensor.empty() : tensor<5x2x3xi16>
  %y = "torq_hl.matmul"(%init, %scale_bias, %x1, %x2) {input1_unsigned = true, output_zp = 0 : i32, output_min = -32768 : i32, output_max = 32767 : i32, shift = 4 : i32} : (tensor<5x2x3xi16>, tensor<2xi32>, tensor<5x2x4xi16>, tensor<5x4x3xi16>) -> tensor<5x2x3xi16>
  return %y : tensor<5x2x3xi16>
}
