// RUN: torq-opt --torq-fuse-quantized-ops --verify-diagnostics %s

#id2 = affine_map<(d0, d1) -> (d0, d1)>
#id4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#col = affine_map<(d0, d1) -> (d1)>
func.func @matmul_bias_overflow(%x: tensor<2x3xi8>) -> tensor<2x2xi8> {
  %zero = arith.constant 0.0 : f32
  %sx = arith.constant dense<0.5> : tensor<f32>
  %zx = arith.constant dense<3> : tensor<i8>
  %w = arith.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi8>
  %sw = arith.constant dense<[0.5, 0.25]> : tensor<2xf32>
  %zw = arith.constant dense<0> : tensor<2xi8>
  %b = arith.constant dense<[1.0, 4.0e9]> : tensor<2xf32>
  %xf = "quantized_decomposed.dequantize_per_tensor"(%x, %sx, %zx) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3xf32>
  %wf = "quantized_decomposed.dequantize_per_channel"(%w, %sw, %zw) {axis = 1 : i64, quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<3x2xi8>, tensor<2xf32>, tensor<2xi8>) -> tensor<3x2xf32>
  %e = tensor.empty() : tensor<2x2xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
  // expected-error@+1 {{the bias does not fit the accumulator: channel 1: bias 4000000000.0 is 3.2e+10 units of the accumulator, outside int32}}
  %m = linalg.matmul ins(%xf, %wf : tensor<2x3xf32>, tensor<3x2xf32>) outs(%init : tensor<2x2xf32>) -> tensor<2x2xf32>
  %y = linalg.generic {indexing_maps = [#id2, #col, #id2], iterator_types = ["parallel", "parallel"]} ins(%m, %b : tensor<2x2xf32>, tensor<2xf32>) outs(%e : tensor<2x2xf32>) {
  ^bb0(%in: f32, %bias: f32, %out: f32):
    %s = arith.addf %in, %bias : f32
    linalg.yield %s : f32
  } -> tensor<2x2xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %sx, %zx) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<2x2xf32>, tensor<f32>, tensor<i8>) -> tensor<2x2xi8>
  return %q : tensor<2x2xi8>
}
