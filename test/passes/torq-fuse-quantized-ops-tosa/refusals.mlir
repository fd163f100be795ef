// RUN: torq-opt --split-input-file --torq-fuse-quantized-ops-tosa=explain %s | FileCheck %s

// CHECK-LABEL: func.func @one_operand
// CHECK: tosa.matmul {{.*}}torq_hl.refusal = "not both operands of tosa.matmul are dequantized from 8 bits or less"
func.func @one_operand(%x: tensor<1x4x8xf32>) -> tensor<1x4x3xf32> {
  %sw = arith.constant 0.02 : f64
  %c0 = arith.constant 0 : i64
  %qw = arith.constant dense<2> : tensor<1x8x3xi8>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = "quantized_decomposed.dequantize_per_tensor"(%qw, %sw, %c0) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<1x8x3xi8>, f64, i64) -> tensor<1x8x3xf32>
  %y = tosa.matmul %x, %w, %zero, %zero : (tensor<1x4x8xf32>, tensor<1x8x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x3xf32>
  return %y : tensor<1x4x3xf32>
}

// -----

// CHECK-LABEL: func.func @summed_channels
// CHECK: tosa.matmul {{.*}}torq_hl.refusal = "the weights of tosa.matmul are quantized along a summed dimension"
func.func @summed_channels(%q: tensor<1x4x8xi8>) -> tensor<1x4x3xf32> {
  %sx = arith.constant 0.1 : f64
  %c0 = arith.constant 0 : i64
  %sw = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>
  %zw = arith.constant dense<0> : tensor<8xi64>
  %qw = arith.constant dense<2> : tensor<1x8x3xi8>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %x = "quantized_decomposed.dequantize_per_tensor"(%q, %sx, %c0) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<1x4x8xi8>, f64, i64) -> tensor<1x4x8xf32>
  %w = "quantized_decomposed.dequantize_per_channel"(%qw, %sw, %zw) {axis = 1 : i64, dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<1x8x3xi8>, tensor<8xf32>, tensor<8xi64>) -> tensor<1x8x3xf32>
  %y = tosa.matmul %x, %w, %zero, %zero : (tensor<1x4x8xf32>, tensor<1x8x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x3xf32>
  return %y : tensor<1x4x3xf32>
}

// -----

// CHECK-LABEL: func.func @padding
// CHECK: tosa.conv2d {{.*}}torq_hl.refusal = "tosa.conv2d pads with a zero point that is known at run time only"
func.func @padding(%q: tensor<1x4x4x3xi8>, %sx: tensor<1xf32>, %zx: tensor<1xi32>) -> tensor<1x6x6x2xf32> {
  %sw = arith.constant 0.02 : f64
  %c0 = arith.constant 0 : i64
  %qw = arith.constant dense<1> : tensor<2x1x1x3xi8>
  %bias = "tosa.const"() <{values = dense<0.0> : tensor<2xf32>}> : () -> tensor<2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %x = "quantized_decomposed.dequantize_per_tensor"(%q, %sx, %zx) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<1x4x4x3xi8>, tensor<1xf32>, tensor<1xi32>) -> tensor<1x4x4x3xf32>
  %w = "quantized_decomposed.dequantize_per_tensor"(%qw, %sw, %c0) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<2x1x1x3xi8>, f64, i64) -> tensor<2x1x1x3xf32>
  %y = tosa.conv2d %x, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x4x4x3xf32>, tensor<2x1x1x3xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x6x6x2xf32>
  return %y : tensor<1x6x6x2xf32>
}

// -----

// A contraction of floats is not what the pass is about.

// CHECK-LABEL: func.func @floats
// CHECK-NOT: torq_hl.refusal
func.func @floats(%x: tensor<1x4x8xf32>, %w: tensor<1x8x3xf32>) -> tensor<1x4x3xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %y = tosa.matmul %x, %w, %zero, %zero : (tensor<1x4x8xf32>, tensor<1x8x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x3xf32>
  return %y : tensor<1x4x3xf32>
}
