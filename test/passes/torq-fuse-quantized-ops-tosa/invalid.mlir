// RUN: torq-opt --torq-fuse-quantized-ops-tosa --verify-diagnostics %s

func.func @bias(%q: tensor<1x4x8xi8>) -> tensor<1x4x3xi8> {
  %sx = arith.constant 1.0e-05 : f64
  %c0 = arith.constant 0 : i64
  %sy = arith.constant 1.0 : f64
  %qw = arith.constant dense<2> : tensor<1x8x3xi8>
  %bias = "tosa.const"() <{values = dense<[[[1.0, 2.0, 3.0]]]> : tensor<1x1x3xf32>}> : () -> tensor<1x1x3xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %x = "quantized_decomposed.dequantize_per_tensor"(%q, %sx, %c0) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<1x4x8xi8>, f64, i64) -> tensor<1x4x8xf32>
  %w = "quantized_decomposed.dequantize_per_tensor"(%qw, %sx, %c0) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<1x8x3xi8>, f64, i64) -> tensor<1x8x3xf32>
  %y = tosa.matmul %x, %w, %zero, %zero : (tensor<1x4x8xf32>, tensor<1x8x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x3xf32>
  %b = tosa.add %y, %bias : (tensor<1x4x3xf32>, tensor<1x1x3xf32>) -> tensor<1x4x3xf32>
  // expected-error @+1 {{the bias does not fit the accumulator}}
  %o = "quantized_decomposed.quantize_per_tensor"(%b, %sy, %c0) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<1x4x3xf32>, f64, i64) -> tensor<1x4x3xi8>
  return %o : tensor<1x4x3xi8>
}
