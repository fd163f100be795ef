// RUN: torq-opt --split-input-file --torq-fuse-quantized-ops=explain=true %s | FileCheck %s

// What stays in float, and what computes on integers but not on the NPU, with the reason that it carries.

// CHECK-LABEL: func.func @matmul_runtime_scale
// CHECK: linalg.quantized_matmul {torq_hl.refusal = "the input of linalg.matmul is not dequantized with constant parameters"
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#id4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#col = affine_map<(d0, d1) -> (d1)>
func.func @matmul_runtime_scale(%x: tensor<2x3xi8>, %rt: tensor<f32>) -> tensor<2x2xi8> {
  %zero = arith.constant 0.0 : f32
  %sx = arith.constant dense<0.5> : tensor<f32>
  %zx = arith.constant dense<3> : tensor<i8>
  %w = arith.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi8>
  %sw = arith.constant dense<[0.5, 0.25]> : tensor<2xf32>
  %zw = arith.constant dense<0> : tensor<2xi8>
  %b = arith.constant dense<[1.0, -0.3125]> : tensor<2xf32>
  %xf = "quantized_decomposed.dequantize_per_tensor"(%x, %rt, %zx) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3xf32>
  %wf = "quantized_decomposed.dequantize_per_channel"(%w, %sw, %zw) {axis = 1 : i64, quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<3x2xi8>, tensor<2xf32>, tensor<2xi8>) -> tensor<3x2xf32>
  %e = tensor.empty() : tensor<2x2xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
  %m = linalg.matmul ins(%xf, %wf : tensor<2x3xf32>, tensor<3x2xf32>) outs(%init : tensor<2x2xf32>) -> tensor<2x2xf32>
  %y = linalg.generic {indexing_maps = [#id2, #col, #id2], iterator_types = ["parallel", "parallel"]} ins(%m, %b : tensor<2x2xf32>, tensor<2xf32>) outs(%e : tensor<2x2xf32>) {
  ^bb0(%in: f32, %bias: f32, %out: f32):
    %s = arith.addf %in, %bias : f32
    linalg.yield %s : f32
  } -> tensor<2x2xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %sx, %zx) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<2x2xf32>, tensor<f32>, tensor<i8>) -> tensor<2x2xi8>
  return %q : tensor<2x2xi8>
}

// -----

// CHECK-LABEL: func.func @matmul_not_quantized
// CHECK: linalg.quantized_matmul {torq_hl.refusal = "the result of linalg.matmul is used in float and not quantized"
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#id4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#col = affine_map<(d0, d1) -> (d1)>
func.func @matmul_not_quantized(%x: tensor<2x3xi8>) -> tensor<2x2xf32> {
  %zero = arith.constant 0.0 : f32
  %sx = arith.constant dense<0.5> : tensor<f32>
  %zx = arith.constant dense<3> : tensor<i8>
  %w = arith.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi8>
  %sw = arith.constant dense<[0.5, 0.25]> : tensor<2xf32>
  %zw = arith.constant dense<0> : tensor<2xi8>
  %b = arith.constant dense<[1.0, -0.3125]> : tensor<2xf32>
  %xf = "quantized_decomposed.dequantize_per_tensor"(%x, %sx, %zx) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3xf32>
  %wf = "quantized_decomposed.dequantize_per_channel"(%w, %sw, %zw) {axis = 1 : i64, quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<3x2xi8>, tensor<2xf32>, tensor<2xi8>) -> tensor<3x2xf32>
  %e = tensor.empty() : tensor<2x2xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
  %m = linalg.matmul ins(%xf, %wf : tensor<2x3xf32>, tensor<3x2xf32>) outs(%init : tensor<2x2xf32>) -> tensor<2x2xf32>
  %y = linalg.generic {indexing_maps = [#id2, #col, #id2], iterator_types = ["parallel", "parallel"]} ins(%m, %b : tensor<2x2xf32>, tensor<2xf32>) outs(%e : tensor<2x2xf32>) {
  ^bb0(%in: f32, %bias: f32, %out: f32):
    %s = arith.addf %in, %bias : f32
    linalg.yield %s : f32
  } -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// -----

// CHECK-LABEL: func.func @matmul_runtime_bias
// CHECK: linalg.quantized_matmul {torq_hl.refusal = "the bias of linalg.matmul is not constant"
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#id4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#col = affine_map<(d0, d1) -> (d1)>
func.func @matmul_runtime_bias(%x: tensor<2x3xi8>, %b: tensor<2xf32>) -> tensor<2x2xi8> {
  %zero = arith.constant 0.0 : f32
  %sx = arith.constant dense<0.5> : tensor<f32>
  %zx = arith.constant dense<3> : tensor<i8>
  %w = arith.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi8>
  %sw = arith.constant dense<[0.5, 0.25]> : tensor<2xf32>
  %zw = arith.constant dense<0> : tensor<2xi8>
  
  %xf = "quantized_decomposed.dequantize_per_tensor"(%x, %sx, %zx) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3xf32>
  %wf = "quantized_decomposed.dequantize_per_channel"(%w, %sw, %zw) {axis = 1 : i64, quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<3x2xi8>, tensor<2xf32>, tensor<2xi8>) -> tensor<3x2xf32>
  %e = tensor.empty() : tensor<2x2xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
  %m = linalg.matmul ins(%xf, %wf : tensor<2x3xf32>, tensor<3x2xf32>) outs(%init : tensor<2x2xf32>) -> tensor<2x2xf32>
  %y = linalg.generic {indexing_maps = [#id2, #col, #id2], iterator_types = ["parallel", "parallel"]} ins(%m, %b : tensor<2x2xf32>, tensor<2xf32>) outs(%e : tensor<2x2xf32>) {
  ^bb0(%in: f32, %bias: f32, %out: f32):
    %s = arith.addf %in, %bias : f32
    linalg.yield %s : f32
  } -> tensor<2x2xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %sx, %zx) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<2x2xf32>, tensor<f32>, tensor<i8>) -> tensor<2x2xi8>
  return %q : tensor<2x2xi8>
}

// -----

// Scales along the summed dimension cannot leave the sum.

// CHECK-LABEL: func.func @matmul_scales_along_sum
// CHECK: linalg.generic {{.*}} attrs = {torq_hl.refusal = "the weight scales of linalg.matmul vary along a summed dimension"
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#id4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#col = affine_map<(d0, d1) -> (d1)>
func.func @matmul_scales_along_sum(%x: tensor<2x3xi8>) -> tensor<2x2xi8> {
  %zero = arith.constant 0.0 : f32
  %sx = arith.constant dense<0.5> : tensor<f32>
  %zx = arith.constant dense<3> : tensor<i8>
  %w = arith.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi8>
  %sw = arith.constant dense<[0.5, 0.25, 1.0]> : tensor<3xf32>
  %zw = arith.constant dense<0> : tensor<3xi8>
  %b = arith.constant dense<[1.0, -0.3125]> : tensor<2xf32>
  %xf = "quantized_decomposed.dequantize_per_tensor"(%x, %sx, %zx) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3xf32>
  %wf = "quantized_decomposed.dequantize_per_channel"(%w, %sw, %zw) {axis = 0 : i64, quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<3x2xi8>, tensor<3xf32>, tensor<3xi8>) -> tensor<3x2xf32>
  %e = tensor.empty() : tensor<2x2xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
  %m = linalg.matmul ins(%xf, %wf : tensor<2x3xf32>, tensor<3x2xf32>) outs(%init : tensor<2x2xf32>) -> tensor<2x2xf32>
  %y = linalg.generic {indexing_maps = [#id2, #col, #id2], iterator_types = ["parallel", "parallel"]} ins(%m, %b : tensor<2x2xf32>, tensor<2xf32>) outs(%e : tensor<2x2xf32>) {
  ^bb0(%in: f32, %bias: f32, %out: f32):
    %s = arith.addf %in, %bias : f32
    linalg.yield %s : f32
  } -> tensor<2x2xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %sx, %zx) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<2x2xf32>, tensor<f32>, tensor<i8>) -> tensor<2x2xi8>
  return %q : tensor<2x2xi8>
}

// -----

// 70000 products of 127 * 255 do not fit in 31 bits.

// CHECK-LABEL: func.func @overflow
// CHECK: linalg.generic {{.*}} attrs = {torq_hl.refusal = "the i32 accumulator of linalg.matmul could reach {{[0-9]+}}"
func.func @overflow(%x: tensor<1x70000xi8>) -> tensor<1x1xi8> {
  %zero = arith.constant 0.0 : f32
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-128> : tensor<i8>
  %none = arith.constant dense<0> : tensor<i8>
  %w = arith.constant dense<127> : tensor<70000x1xi8>
  %xf = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x70000xi8>, tensor<f32>, tensor<i8>) -> tensor<1x70000xf32>
  %wf = "quantized_decomposed.dequantize_per_tensor"(%w, %s, %none) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<70000x1xi8>, tensor<f32>, tensor<i8>) -> tensor<70000x1xf32>
  %e = tensor.empty() : tensor<1x1xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<1x1xf32>) -> tensor<1x1xf32>
  %c = linalg.matmul ins(%xf, %wf : tensor<1x70000xf32>, tensor<70000x1xf32>) outs(%init : tensor<1x1xf32>) -> tensor<1x1xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%c, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x1xf32>, tensor<f32>, tensor<i8>) -> tensor<1x1xi8>
  return %q : tensor<1x1xi8>
}

// -----

// CHECK-LABEL: func.func @weights_in_groups
// CHECK: scf.for
// CHECK: } {torq_hl.refusal = "the weights are quantized in groups"
func.func @weights_in_groups(%x: tensor<3x4xf32>, %init: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %w = arith.constant dense<[[1, 2], [-1, 3], [4, 5], [0, -2]]> : tensor<4x2xi8>
  %s = arith.constant dense<[[0.5, 0.25], [2.0, 4.0]]> : tensor<2x2xf32>
  %f = "quantized_decomposed.dequantize_per_channel_group"(%w, %s) {axis = 0 : i64, group_size = 2 : i64, quant_min = -8 : i64, quant_max = 7 : i64, dtype = si8} : (tensor<4x2xi8>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %y = linalg.matmul ins(%x, %f : tensor<3x4xf32>, tensor<4x2xf32>) outs(%init : tensor<3x2xf32>) -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}

// -----

// Scales that are known at run time are a factor of each weight, as the others.

// CHECK-LABEL: func.func @run_time_scales_of_groups
// CHECK: linalg.generic {{.*}} attrs = {torq_hl.refusal = "the weights are quantized in groups"
func.func @run_time_scales_of_groups(%x: tensor<3x4xf32>, %s: tensor<2x2xf32>, %init: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %w = arith.constant dense<[[1, 2], [-1, 3], [4, 5], [0, -2]]> : tensor<4x2xi8>
  %f = "quantized_decomposed.dequantize_per_channel_group"(%w, %s) {axis = 0 : i64, group_size = 2 : i64, quant_min = -8 : i64, quant_max = 7 : i64, dtype = si8} : (tensor<4x2xi8>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %y = linalg.matmul ins(%x, %f : tensor<3x4xf32>, tensor<4x2xf32>) outs(%init : tensor<3x2xf32>) -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}

// -----

// A float zero point would be a term of floats.

// CHECK-LABEL: func.func @float_zero_points_of_tokens
// CHECK: linalg.generic {{.*}} attrs = {torq_hl.refusal = "a zero point that is known at run time only is a float"
func.func @float_zero_points_of_tokens(%q: tensor<3x4xi8>, %s: tensor<3x1xf32>, %z: tensor<3x1xf32>, %init: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %w = arith.constant dense<[[1, 2], [-1, 3], [4, 5], [0, -2]]> : tensor<4x2xi8>
  %sw = arith.constant dense<0.5> : tensor<f32>
  %zw = arith.constant dense<0> : tensor<i8>
  %x = "quantized_decomposed.dequantize_per_token"(%q, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<3x4xi8>, tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  %f = "quantized_decomposed.dequantize_per_tensor"(%w, %sw, %zw) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x2xi8>, tensor<f32>, tensor<i8>) -> tensor<4x2xf32>
  %y = linalg.matmul ins(%x, %f : tensor<3x4xf32>, tensor<4x2xf32>) outs(%init : tensor<3x2xf32>) -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}
