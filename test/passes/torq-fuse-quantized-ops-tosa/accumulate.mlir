// RUN: torq-opt --split-input-file --torq-fuse-quantized-ops-tosa --canonicalize %s | FileCheck %s

// Without a quantization the accumulator is dequantized, with a scale in f32.

// CHECK-LABEL: func.func @float_result
// CHECK-DAG: %[[SCALE:.*]] = arith.constant dense<2.000000e-03> : tensor<f32>
// CHECK: %[[A:.*]] = tosa.matmul %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : (tensor<1x4x8xi8>, tensor<1x8x3xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x4x3xi32>
// CHECK: "quantized_decomposed.dequantize_per_tensor"(%[[A]], %[[SCALE]], %{{.*}}) {dtype = si32,
func.func @float_result(%q: tensor<1x4x8xi8>) -> tensor<1x4x3xf32> {
  %sx = arith.constant 0.1 : f64
  %zx = arith.constant 7 : i64
  %sw = arith.constant 0.02 : f64
  %c0 = arith.constant 0 : i64
  %qw = arith.constant dense<2> : tensor<1x8x3xi8>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %x = "quantized_decomposed.dequantize_per_tensor"(%q, %sx, %zx) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<1x4x8xi8>, f64, i64) -> tensor<1x4x8xf32>
  %w = "quantized_decomposed.dequantize_per_tensor"(%qw, %sw, %c0) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<1x8x3xi8>, f64, i64) -> tensor<1x8x3xf32>
  %y = tosa.matmul %x, %w, %zero, %zero : (tensor<1x4x8xf32>, tensor<1x8x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x3xf32>
  return %y : tensor<1x4x3xf32>
}

// -----

// Unsigned values are signed ones with the highest bit flipped. Constants are flipped and moved at compile time.

// CHECK-LABEL: func.func @unsigned
// CHECK-SAME: %[[Q:.*]]: tensor<4x8xi8>
// CHECK-DAG: %[[W:.*]] = "tosa.const"() <{values = dense<-126> : tensor<1x8x3xi8>}>
// CHECK-DAG: %[[ZX:.*]] = "tosa.const"() <{values = dense<-121> : tensor<1xi8>}>
// CHECK-DAG: %[[ZW:.*]] = "tosa.const"() <{values = dense<2> : tensor<1xi8>}>
// CHECK: %[[R:.*]] = tosa.reshape %[[Q]]
// CHECK: %[[X:.*]] = tosa.bitwise_xor %[[R]]
// CHECK: tosa.matmul %[[X]], %[[W]], %[[ZX]], %[[ZW]] : {{.*}} -> tensor<1x4x3xi32>
func.func @unsigned(%q: tensor<4x8xi8>) -> tensor<1x4x3xf32> {
  %sx = arith.constant 0.1 : f64
  %zx = arith.constant 7 : i64
  %sw = arith.constant 0.02 : f64
  %zw = arith.constant 130 : i64
  %qw = arith.constant dense<2> : tensor<8x3xi8>
  %s0 = tosa.const_shape {values = dense<[1, 4, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %s1 = tosa.const_shape {values = dense<[1, 8, 3]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %x = "quantized_decomposed.dequantize_per_tensor"(%q, %sx, %zx) {dtype = ui8, quant_max = 255 : i64, quant_min = 0 : i64} : (tensor<4x8xi8>, f64, i64) -> tensor<4x8xf32>
  %w = "quantized_decomposed.dequantize_per_tensor"(%qw, %sw, %zw) {dtype = ui8, quant_max = 255 : i64, quant_min = 0 : i64} : (tensor<8x3xi8>, f64, i64) -> tensor<8x3xf32>
  %x1 = tosa.reshape %x, %s0 : (tensor<4x8xf32>, !tosa.shape<3>) -> tensor<1x4x8xf32>
  %w1 = tosa.reshape %w, %s1 : (tensor<8x3xf32>, !tosa.shape<3>) -> tensor<1x8x3xf32>
  %y = tosa.matmul %x1, %w1, %zero, %zero : (tensor<1x4x8xf32>, tensor<1x8x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x3xf32>
  return %y : tensor<1x4x3xf32>
}

// -----

// A zero point that is known at run time only is a factor of the sums of the weights, which are constant: 8 * 2.

// CHECK-LABEL: func.func @run_time
// CHECK-SAME: %[[Q:.*]]: tensor<1x4x8xi8>, %[[S:.*]]: tensor<1xf32>, %[[Z:.*]]: tensor<1xi32>
// CHECK-DAG: %[[SUMS:.*]] = "tosa.const"() <{values = dense<16> : tensor<1x1x3xi32>}>
// CHECK-DAG: %[[SW:.*]] = "tosa.const"() <{values = dense<2.000000e-02> : tensor<1x1x1xf32>}>
// CHECK-DAG: %[[SX:.*]] = tosa.reshape %[[S]]
// CHECK-DAG: %[[ZX:.*]] = tosa.reshape %[[Z]]
// CHECK: %[[A:.*]] = tosa.matmul %[[Q]], {{.*}} -> tensor<1x4x3xi32>
// CHECK: %[[TERM:.*]] = tosa.mul %[[SUMS]], %[[ZX]]
// CHECK: %[[SUM:.*]] = tosa.sub %[[A]], %[[TERM]]
// CHECK: %[[F:.*]] = tosa.cast %[[SUM]] : (tensor<1x4x3xi32>) -> tensor<1x4x3xf32>
// CHECK: %[[G:.*]] = tosa.mul %[[F]], %[[SX]]
// CHECK: tosa.mul %[[G]], %[[SW]]
func.func @run_time(%q: tensor<1x4x8xi8>, %sx: tensor<1xf32>, %zx: tensor<1xi32>) -> tensor<1x4x3xf32> {
  %sw = arith.constant 0.02 : f64
  %c0 = arith.constant 0 : i64
  %qw = arith.constant dense<2> : tensor<1x8x3xi8>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %x = "quantized_decomposed.dequantize_per_tensor"(%q, %sx, %zx) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<1x4x8xi8>, tensor<1xf32>, tensor<1xi32>) -> tensor<1x4x8xf32>
  %w = "quantized_decomposed.dequantize_per_tensor"(%qw, %sw, %c0) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<1x8x3xi8>, f64, i64) -> tensor<1x8x3xf32>
  %y = tosa.matmul %x, %w, %zero, %zero : (tensor<1x4x8xf32>, tensor<1x8x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x3xf32>
  return %y : tensor<1x4x3xf32>
}

// -----

// Zero points of the channels that no operation takes are factors of the sums over windows, a convolution with ones.

// CHECK-LABEL: func.func @zero_points_of_channels
// CHECK-DAG: %[[ONES:.*]] = "tosa.const"() <{values = dense<1> : tensor<1x1x1x3xi8>}>
// CHECK-DAG: %[[ZPS:.*]] = "tosa.const"() <{values = dense<{{.*}}100, -100{{.*}}> : tensor<1x1x1x2xi32>}>
// CHECK-DAG: %[[A:.*]] = tosa.conv2d {{.*}} -> tensor<1x4x4x2xi32>
// CHECK-DAG: %[[SUMS:.*]] = tosa.conv2d %{{.*}}, %[[ONES]], {{.*}} -> tensor<1x4x4x1xi32>
// CHECK: %[[TERM:.*]] = tosa.mul %[[SUMS]], %[[ZPS]]
// CHECK: tosa.sub %[[A]], %[[TERM]]
func.func @zero_points_of_channels(%q: tensor<1x4x4x3xi8>) -> tensor<1x4x4x2xf32> {
  %sx = arith.constant 0.1 : f64
  %zx = arith.constant -5 : i64
  %sw = arith.constant dense<0.02> : tensor<2xf32>
  %zw = arith.constant dense<[100, -100]> : tensor<2xi64>
  %qw = arith.constant dense<[[[[-100, 1, 1]]], [[[1, 1, 100]]]]> : tensor<2x1x1x3xi8>
  %bias = "tosa.const"() <{values = dense<0.0> : tensor<2xf32>}> : () -> tensor<2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %x = "quantized_decomposed.dequantize_per_tensor"(%q, %sx, %zx) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<1x4x4x3xi8>, f64, i64) -> tensor<1x4x4x3xf32>
  %w = "quantized_decomposed.dequantize_per_channel"(%qw, %sw, %zw) {axis = 0 : i64, dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<2x1x1x3xi8>, tensor<2xf32>, tensor<2xi64>) -> tensor<2x1x1x3xf32>
  %y = tosa.conv2d %x, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x3xf32>, tensor<2x1x1x3xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  return %y : tensor<1x4x4x2xf32>
}
