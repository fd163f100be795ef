// RUN: torq-opt --split-input-file --convert-torq-hl-to-linalg %s | FileCheck %s

// Products are added in f32, then the bias, which is rounded to bf16 once.

// CHECK-LABEL: func.func @fully_connected
// CHECK: %[[Z:.*]] = linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<2x4xf32>)
// CHECK: %[[A:.*]] = linalg.generic {{.*}} ins(%arg0, %arg1 : tensor<2x8xbf16>, tensor<8x4xbf16>) outs(%[[Z]] : tensor<2x4xf32>)
// CHECK: ^bb0(%[[X:.*]]: bf16, %[[W:.*]]: bf16, %[[T:.*]]: f32):
// CHECK: %[[X32:.*]] = arith.extf %[[X]] : bf16 to f32
// CHECK: %[[W32:.*]] = arith.extf %[[W]] : bf16 to f32
// CHECK: %[[P:.*]] = arith.mulf %[[X32]], %[[W32]] : f32
// CHECK: arith.addf %[[T]], %[[P]] : f32
// CHECK: linalg.generic {{.*}} ins(%[[A]], %arg2 : tensor<2x4xf32>, tensor<4xf32>)
// CHECK: ^bb0(%[[S:.*]]: f32, %[[B:.*]]: f32, %{{.*}}: bf16):
// CHECK: %[[Y:.*]] = arith.addf %[[S]], %[[B]] : f32
// CHECK: arith.truncf %[[Y]] : f32 to bf16
func.func @fully_connected(%x: tensor<2x8xbf16>, %w: tensor<8x4xbf16>, %b: tensor<4xf32>) -> tensor<2x4xbf16> {
  %init = tensor.empty() : tensor<2x4xbf16>
  %y = "torq_hl.fully_connected"(%init, %w, %b, %x) {input_zp = 0 : i32, weight_zp = 0 : i32, output_zp = 0 : i32, output_min = 0 : i32, output_max = 0 : i32, shift_factor = 0 : i32, vectorization_mode = 0 : i32} : (tensor<2x4xbf16>, tensor<8x4xbf16>, tensor<4xf32>, tensor<2x8xbf16>) -> tensor<2x4xbf16>
  return %y : tensor<2x4xbf16>
}

// -----

// The padding of a maximum is minus infinity.

// CHECK-LABEL: func.func @maximum
// CHECK-DAG: %[[LOW:.*]] = arith.constant 0xFF80 : bf16
// CHECK: tensor.pad %arg0 low[0, 0, 1, 0] high[0, 0, 1, 0]
// CHECK: tensor.yield %[[LOW]] : bf16
// CHECK: linalg.pooling_nchw_max
func.func @maximum(%x: tensor<1x3x8x8xbf16>, %w: tensor<1xbf16>, %s: tensor<1xf32>) -> tensor<1x3x8x7xbf16> {
  %init = tensor.empty() : tensor<1x3x8x7xbf16>
  %y = "torq_hl.maxpool2d"(%init, %w, %s, %x) {input_zp = 0 : i32, output_min = 0 : i32, output_max = 0 : i32, stride = array<i64: 1, 1>, pad = array<i64: 0, 0, 1, 1>, kernel = array<i64: 3, 2>} : (tensor<1x3x8x7xbf16>, tensor<1xbf16>, tensor<1xf32>, tensor<1x3x8x8xbf16>) -> tensor<1x3x8x7xbf16>
  return %y : tensor<1x3x8x7xbf16>
}

// -----

// A table of i16: the entry of the high byte, and the slope times the low one.

// CHECK-LABEL: func.func @line
// CHECK: %[[H:.*]] = arith.shrsi %[[X:.*]], %c8_i32
// CHECK: %[[R:.*]] = arith.andi %[[X]], %c255_i32
// CHECK: arith.muli %{{.*}}, %[[R]]
func.func @line(%x: tensor<4xi16>, %t: tensor<256xi32>) -> tensor<4xi16> {
  %s = arith.constant dense<[-32768, 1]> : tensor<2xi32>
  %init = tensor.empty() : tensor<4xi16>
  %y = "torq_hl.table"(%init, %s, %x, %t) : (tensor<4xi16>, tensor<2xi32>, tensor<4xi16>, tensor<256xi32>) -> tensor<4xi16>
  return %y : tensor<4xi16>
}
