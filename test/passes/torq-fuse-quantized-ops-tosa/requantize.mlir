// RUN: torq-opt --split-input-file --torq-fuse-quantized-ops-tosa --canonicalize --mlir-print-debuginfo %s | FileCheck %s

// The zero points go into the convolution, the bias in units of the accumulator (0.5 / (0.1 * 0.02), ...), the clamp
// into bounds, and the transpose moves stored values. The location is that of the convolution and the quantization.

// CHECK-LABEL: func.func @convolution
// CHECK-SAME: %[[X:.*]]: tensor<1x4x4x3xi8>
// CHECK-DAG: %[[W:.*]] = "tosa.const"() <{values = dense<1> : tensor<2x1x1x3xi8>}>
// CHECK-DAG: %[[BIAS:.*]] = "tosa.const"() <{values = dense<[250, -500]> : tensor<2xi32>}>
// CHECK-DAG: %[[ZX:.*]] = "tosa.const"() <{values = dense<-5> : tensor<1xi8>}>
// CHECK-DAG: %[[ZW:.*]] = "tosa.const"() <{values = dense<0> : tensor<1xi8>}>
// CHECK-DAG: %[[M:.*]] = "tosa.const"() <{values = dense<{{[1-9].*}}> : tensor<1xi32>}>
// CHECK-DAG: %[[S:.*]] = "tosa.const"() <{values = dense<38> : tensor<1xi8>}>
// CHECK-DAG: %[[ZY:.*]] = "tosa.const"() <{values = dense<3> : tensor<1xi8>}>
// CHECK: %[[A:.*]] = tosa.conv2d %[[X]], %[[W]], %[[BIAS]], %[[ZX]], %[[ZW]] {acc_type = i32, {{.*}} -> tensor<1x4x4x2xi32> loc(#[[LOC:.*]])
// CHECK: %[[R:.*]] = tosa.rescale %[[A]], %[[M]], %[[S]], %{{.*}}, %[[ZY]] {{.*}}per_channel = false, rounding_mode = SINGLE_ROUND, scale32 = true} {{.*}} -> tensor<1x4x4x2xi8> loc(#[[LOC]])
// CHECK: %[[C:.*]] = tosa.clamp %[[R]] {max_val = 127 : i8, min_val = 3 : i8}
// CHECK: tosa.transpose %[[C]] {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x4x4x2xi8>) -> tensor<1x2x4x4xi8>
// CHECK-DAG: #[[CONV:.*]] = loc("conv")
// CHECK-DAG: #[[OUTPUT:.*]] = loc("output")
// CHECK: #[[LOC]] = loc(fused[#[[CONV]], #[[OUTPUT]]])
func.func @convolution(%q: tensor<1x4x4x3xi8>) -> tensor<1x2x4x4xi8> {
  %sx = arith.constant 0.1 : f64
  %zx = arith.constant -5 : i64
  %sw = arith.constant 0.02 : f64
  %c0 = arith.constant 0 : i64
  %sy = arith.constant 0.3 : f64
  %zy = arith.constant 3 : i64
  %qw = arith.constant dense<1> : tensor<2x1x1x3xi8>
  %bias = "tosa.const"() <{values = dense<[0.5, -1.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %x = "quantized_decomposed.dequantize_per_tensor"(%q, %sx, %zx) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<1x4x4x3xi8>, f64, i64) -> tensor<1x4x4x3xf32>
  %w = "quantized_decomposed.dequantize_per_tensor"(%qw, %sw, %c0) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<2x1x1x3xi8>, f64, i64) -> tensor<2x1x1x3xf32>
  %y = tosa.conv2d %x, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x3xf32>, tensor<2x1x1x3xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32> loc("conv")
  %t = tosa.transpose %y {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x4x4x2xf32>) -> tensor<1x2x4x4xf32>
  %r = tosa.clamp %t {max_val = 3.40282347E+38 : f32, min_val = 0.0 : f32} : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %o = "quantized_decomposed.quantize_per_tensor"(%r, %sy, %zy) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<1x2x4x4xf32>, f64, i64) -> tensor<1x2x4x4xi8> loc("output")
  return %o : tensor<1x2x4x4xi8>
}

// -----

// Scales per channel, here 0.001, 0.0005 and 0.25, are the multipliers of one shift, 32, shifted up as far as they go.

// CHECK-LABEL: func.func @per_channel
// CHECK-DAG: "tosa.const"() <{values = dense<[1099511552, 1099511808, 1073741824]> : tensor<3xi32>}>
// CHECK-DAG: "tosa.const"() <{values = dense<[40, 41, 32]> : tensor<3xi8>}>
// CHECK: tosa.matmul {{.*}} -> tensor<1x4x3xi32>
// CHECK: tosa.rescale {{.*}}per_channel = true
// CHECK-NOT: quantized_decomposed
// CHECK: return
func.func @per_channel(%q: tensor<1x4x8xi8>) -> tensor<1x4x3xi8> {
  %one = arith.constant 1.0 : f64
  %zp = arith.constant 0 : i64
  %scales = arith.constant dense<[0.001, 0.0005, 0.25]> : tensor<3xf64>
  %zps = arith.constant dense<0> : tensor<3xi64>
  %qw = arith.constant dense<2> : tensor<1x8x3xi8>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %x = "quantized_decomposed.dequantize_per_tensor"(%q, %one, %zp) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<1x4x8xi8>, f64, i64) -> tensor<1x4x8xf32>
  %w = "quantized_decomposed.dequantize_per_channel"(%qw, %scales, %zps) {axis = 2 : i64, dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<1x8x3xi8>, tensor<3xf64>, tensor<3xi64>) -> tensor<1x8x3xf32>
  %y = tosa.matmul %x, %w, %zero, %zero : (tensor<1x4x8xf32>, tensor<1x8x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x3xf32>
  %o = "quantized_decomposed.quantize_per_tensor"(%y, %one, %zp) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<1x4x3xf32>, f64, i64) -> tensor<1x4x3xi8>
  return %o : tensor<1x4x3xi8>
}
