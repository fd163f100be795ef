// RUN: torq-opt --split-input-file --torq-fuse-quantized-ops --convert-linalg-to-torq-hl %s | FileCheck %s

// The same two corrections; only the summed dimensions differ. Weights of ones, input zero point 3, scale 0.5 / 0.5.

// CHECK-LABEL: func.func @conv1d
// CHECK: arith.constant dense<[-18, 1073741824, -18, 1073741824]> : tensor<4xi32>
// CHECK: "torq_hl.conv1d"
func.func @conv1d(%x: tensor<1x3x8xi8>) -> tensor<1x2x7xi8> {
  %zero = arith.constant 0.0 : f32
  %s = arith.constant dense<0.25> : tensor<f32>
  %one = arith.constant dense<1.0> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i8>
  %none = arith.constant dense<0> : tensor<i8>
  %w = arith.constant dense<1> : tensor<2x3x2xi8>
  %xf = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x3x8xi8>, tensor<f32>, tensor<i8>) -> tensor<1x3x8xf32>
  %wf = "quantized_decomposed.dequantize_per_tensor"(%w, %one, %none) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2x3x2xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3x2xf32>
  %e = tensor.empty() : tensor<1x2x7xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<1x2x7xf32>) -> tensor<1x2x7xf32>
  %c = linalg.conv_1d_ncw_fcw {dilations = dense<1> : vector<1xi64>, strides = dense<1> : vector<1xi64>} ins(%xf, %wf : tensor<1x3x8xf32>, tensor<2x3x2xf32>) outs(%init : tensor<1x2x7xf32>) -> tensor<1x2x7xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%c, %one, %none) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x2x7xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x7xi8>
  return %q : tensor<1x2x7xi8>
}

// -----

// CHECK-LABEL: func.func @depthwise
// CHECK: arith.constant dense<[-27, 1073741824, -27, 1073741824]> : tensor<4xi32>
// CHECK: "torq_hl.depthwise_conv2d"
func.func @depthwise(%x: tensor<1x2x4x4xi8>) -> tensor<1x2x2x2xi8> {
  %zero = arith.constant 0.0 : f32
  %s = arith.constant dense<0.25> : tensor<f32>
  %one = arith.constant dense<1.0> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i8>
  %none = arith.constant dense<0> : tensor<i8>
  %w = arith.constant dense<1> : tensor<2x3x3xi8>
  %xf = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x4x4xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x4x4xf32>
  %wf = "quantized_decomposed.dequantize_per_tensor"(%w, %one, %none) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2x3x3xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3x3xf32>
  %e = tensor.empty() : tensor<1x2x2x2xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %c = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%xf, %wf : tensor<1x2x4x4xf32>, tensor<2x3x3xf32>) outs(%init : tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%c, %one, %none) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x2x2x2xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x2x2xi8>
  return %q : tensor<1x2x2x2xi8>
}

// -----

// CHECK-LABEL: func.func @matmul
// CHECK: arith.constant dense<[-12, 1073741824, -12, 1073741824]> : tensor<4xi32>
// CHECK: "torq_hl.fully_connected"
func.func @matmul(%x: tensor<3x4xi8>) -> tensor<3x2xi8> {
  %zero = arith.constant 0.0 : f32
  %s = arith.constant dense<0.25> : tensor<f32>
  %one = arith.constant dense<1.0> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i8>
  %none = arith.constant dense<0> : tensor<i8>
  %w = arith.constant dense<1> : tensor<4x2xi8>
  %xf = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<3x4xi8>, tensor<f32>, tensor<i8>) -> tensor<3x4xf32>
  %wf = "quantized_decomposed.dequantize_per_tensor"(%w, %one, %none) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x2xi8>, tensor<f32>, tensor<i8>) -> tensor<4x2xf32>
  %e = tensor.empty() : tensor<3x2xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<3x2xf32>) -> tensor<3x2xf32>
  %c = linalg.matmul ins(%xf, %wf : tensor<3x4xf32>, tensor<4x2xf32>) outs(%init : tensor<3x2xf32>) -> tensor<3x2xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%c, %one, %none) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<3x2xf32>, tensor<f32>, tensor<i8>) -> tensor<3x2xi8>
  return %q : tensor<3x2xi8>
}

// -----

// CHECK-LABEL: func.func @conv3d
// CHECK: arith.constant dense<[-9, 1073741824, -9, 1073741824]> : tensor<4xi32>
// CHECK: "torq_hl.conv2d"
func.func @conv3d(%x: tensor<1x3x4x4x4xi8>) -> tensor<1x2x4x4x4xi8> {
  %zero = arith.constant 0.0 : f32
  %s = arith.constant dense<0.25> : tensor<f32>
  %one = arith.constant dense<1.0> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i8>
  %none = arith.constant dense<0> : tensor<i8>
  %w = arith.constant dense<1> : tensor<2x3x1x1x1xi8>
  %xf = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x3x4x4x4xi8>, tensor<f32>, tensor<i8>) -> tensor<1x3x4x4x4xf32>
  %wf = "quantized_decomposed.dequantize_per_tensor"(%w, %one, %none) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2x3x1x1x1xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3x1x1x1xf32>
  %e = tensor.empty() : tensor<1x2x4x4x4xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<1x2x4x4x4xf32>) -> tensor<1x2x4x4x4xf32>
  %c = linalg.conv_3d_ncdhw_fcdhw {dilations = dense<1> : vector<3xi64>, strides = dense<1> : vector<3xi64>} ins(%xf, %wf : tensor<1x3x4x4x4xf32>, tensor<2x3x1x1x1xf32>) outs(%init : tensor<1x2x4x4x4xf32>) -> tensor<1x2x4x4x4xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%c, %one, %none) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x2x4x4x4xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x4x4x4xi8>
  return %q : tensor<1x2x4x4x4xi8>
}
