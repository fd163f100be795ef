// RUN: torq-opt %s --convert-linalg-to-torq-hl=explain=true | FileCheck %s --check-prefix=HL
// RUN: torq-opt %s --torq-fuse-quantized-ops=explain=true | FileCheck %s --check-prefix=FUSE

// A product that css computes stays in linalg; so does the quantization that would take it in.

// HL-LABEL: @css
// HL-NOT: torq_hl.fully_connected
// HL: linalg.quantized_matmul
// HL: "quantized_decomposed.quantize_per_tensor"{{.*}}torq_hl.refusal = "assigned to css"
// FUSE-LABEL: @css
func.func @css(%x: tensor<1x4xi8>, %w: tensor<4x2xi8>) -> tensor<1x2xi8> {
  %zero = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<1x2xi32>
  %init = linalg.fill ins(%zero : i32) outs(%empty : tensor<1x2xi32>) -> tensor<1x2xi32>
  %acc = linalg.quantized_matmul {"torq-executor" = "css"} ins(%x, %w, %zero, %zero : tensor<1x4xi8>, tensor<4x2xi8>, i32, i32) outs(%init : tensor<1x2xi32>) -> tensor<1x2xi32>
  %real = tensor.empty() : tensor<1x2xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%acc : tensor<1x2xi32>) outs(%real : tensor<1x2xf32>) {
  ^bb0(%a: i32, %out: f32):
    %s = arith.constant 0.125 : f64
    %f = arith.sitofp %a : i32 to f64
    %m = arith.mulf %f, %s : f64
    %t = arith.truncf %m : f64 to f32
    linalg.yield %t : f32
  } -> tensor<1x2xf32>
  %scale = arith.constant dense<0.5> : tensor<f32>
  %zp = arith.constant dense<0> : tensor<i8>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %scale, %zp) {divide, dtype = si8, quant_min = -128 : i64, quant_max = 127 : i64} : (tensor<1x2xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2xi8>
  return %q : tensor<1x2xi8>
}

// A product that the host computes stays in float; one that css computes becomes one of integers.

// FUSE-LABEL: @host
// FUSE: linalg.matmul {{.*}}torq_hl.refusal = "assigned to host"
func.func @host(%x: tensor<1x4xi8>, %w: tensor<4x2xi8>) -> tensor<1x2xi8> {
  %scale = arith.constant dense<0.5> : tensor<f32>
  %zp = arith.constant dense<0> : tensor<i8>
  %zero = arith.constant 0.0 : f32
  %dx = "quantized_decomposed.dequantize_per_tensor"(%x, %scale, %zp) {dtype = si8, quant_min = -128 : i64, quant_max = 127 : i64} : (tensor<1x4xi8>, tensor<f32>, tensor<i8>) -> tensor<1x4xf32>
  %dw = "quantized_decomposed.dequantize_per_tensor"(%w, %scale, %zp) {dtype = si8, quant_min = -128 : i64, quant_max = 127 : i64} : (tensor<4x2xi8>, tensor<f32>, tensor<i8>) -> tensor<4x2xf32>
  %empty = tensor.empty() : tensor<1x2xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x2xf32>) -> tensor<1x2xf32>
  %y = linalg.matmul {"torq-executor" = "host"} ins(%dx, %dw : tensor<1x4xf32>, tensor<4x2xf32>) outs(%init : tensor<1x2xf32>) -> tensor<1x2xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %scale, %zp) {divide, dtype = si8, quant_min = -128 : i64, quant_max = 127 : i64} : (tensor<1x2xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2xi8>
  return %q : tensor<1x2xi8>
}

// FUSE-LABEL: @css_in_float
// FUSE: linalg.quantized_matmul
func.func @css_in_float(%x: tensor<1x4xi8>, %w: tensor<4x2xi8>) -> tensor<1x2xi8> {
  %scale = arith.constant dense<0.5> : tensor<f32>
  %zp = arith.constant dense<0> : tensor<i8>
  %zero = arith.constant 0.0 : f32
  %dx = "quantized_decomposed.dequantize_per_tensor"(%x, %scale, %zp) {dtype = si8, quant_min = -128 : i64, quant_max = 127 : i64} : (tensor<1x4xi8>, tensor<f32>, tensor<i8>) -> tensor<1x4xf32>
  %dw = "quantized_decomposed.dequantize_per_tensor"(%w, %scale, %zp) {dtype = si8, quant_min = -128 : i64, quant_max = 127 : i64} : (tensor<4x2xi8>, tensor<f32>, tensor<i8>) -> tensor<4x2xf32>
  %empty = tensor.empty() : tensor<1x2xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x2xf32>) -> tensor<1x2xf32>
  %y = linalg.matmul {"torq-executor" = "css"} ins(%dx, %dw : tensor<1x4xf32>, tensor<4x2xf32>) outs(%init : tensor<1x2xf32>) -> tensor<1x2xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %scale, %zp) {divide, dtype = si8, quant_min = -128 : i64, quant_max = 127 : i64} : (tensor<1x2xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2xi8>
  return %q : tensor<1x2xi8>
}
