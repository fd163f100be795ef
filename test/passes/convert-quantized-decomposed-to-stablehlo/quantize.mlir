// RUN: torq-opt --split-input-file --convert-quantized-decomposed-to-stablehlo --canonicalize %s | FileCheck %s

// CHECK-LABEL: func.func @per_tensor
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
// CHECK-DAG: %[[R:.*]] = stablehlo.constant dense<1.000000e-03> : tensor<1x1xf32>
// CHECK-DAG: %[[LOW:.*]] = stablehlo.constant dense<-1.250000e+02> : tensor<f32>
// CHECK-DAG: %[[HIGH:.*]] = stablehlo.constant dense<1.300000e+02> : tensor<f32>
// CHECK-DAG: %[[NAN:.*]] = stablehlo.constant dense<3.000000e+00> : tensor<2x3xf32>
// CHECK-DAG: %[[Z:.*]] = stablehlo.constant dense<-3> : tensor<2x3xi32>
// CHECK: %[[FACTORS:.*]] = stablehlo.broadcast_in_dim %[[R]]
// CHECK: %[[SCALED:.*]] = stablehlo.multiply %[[X]], %[[FACTORS]]
// CHECK: %[[CLAMPED:.*]] = stablehlo.clamp %[[LOW]], %[[SCALED]], %[[HIGH]]
// CHECK: %[[ORDERED:.*]] = stablehlo.compare EQ, %[[SCALED]], %[[SCALED]]
// CHECK: %[[NUMBER:.*]] = stablehlo.select %[[ORDERED]], %[[CLAMPED]], %[[NAN]]
// CHECK: %[[ROUNDED:.*]] = stablehlo.round_nearest_even %[[NUMBER]]
// CHECK: %[[INTEGER:.*]] = stablehlo.convert %[[ROUNDED]] : (tensor<2x3xf32>) -> tensor<2x3xi32>
// CHECK: %[[SUM:.*]] = stablehlo.add %[[INTEGER]], %[[Z]]
// CHECK: stablehlo.convert %[[SUM]] : (tensor<2x3xi32>) -> tensor<2x3xi8>
func.func @per_tensor(%x: tensor<2x3xf32>) -> tensor<2x3xi8> {
  %scale = arith.constant 1.000000e+03 : f64
  %zp = arith.constant -3 : i64
  %q = "quantized_decomposed.quantize_per_tensor"(%x, %scale, %zp) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<2x3xf32>, f64, i64) -> tensor<2x3xi8>
  return %q : tensor<2x3xi8>
}

// -----

// A value of unsigned storage is none of a signed i8, which is what a conversion gives: it keeps the low bits.

// CHECK-LABEL: func.func @divide_to_unsigned
// CHECK: stablehlo.divide
// CHECK: %[[HIGH:.*]] = stablehlo.shift_left
// CHECK: %[[LOW:.*]] = stablehlo.shift_right_arithmetic %[[HIGH]]
// CHECK: stablehlo.convert %[[LOW]] : (tensor<4xi32>) -> tensor<4xi8>
func.func @divide_to_unsigned(%x: tensor<4xf32>) -> tensor<4xi8> {
  %scale = arith.constant dense<0.1> : tensor<f32>
  %zp = arith.constant dense<5> : tensor<i8>
  %q = "quantized_decomposed.quantize_per_tensor"(%x, %scale, %zp) {divide, dtype = ui8, quant_max = 255 : i64, quant_min = 0 : i64} : (tensor<4xf32>, tensor<f32>, tensor<i8>) -> tensor<4xi8>
  return %q : tensor<4xi8>
}

// -----

// Shapes that are known at run time only.

// CHECK-LABEL: func.func @dynamic
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32>
// CHECK: %[[ROWS:.*]] = tensor.dim %[[X]]
// CHECK: %[[SHAPE:.*]] = tensor.from_elements %[[ROWS]]
// CHECK: stablehlo.dynamic_broadcast_in_dim %{{.*}}, %[[SHAPE]], dims = [0, 1] {known_expanding_dimensions = array<i64: 0>, known_nonexpanding_dimensions = array<i64: 1>}
func.func @dynamic(%x: tensor<?x3xf32>, %scales: tensor<3xf32>) -> tensor<?x3xi8> {
  %zps = arith.constant dense<0> : tensor<3xi64>
  %q = "quantized_decomposed.quantize_per_channel"(%x, %scales, %zps) {axis = 1 : i64, dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<?x3xf32>, tensor<3xf32>, tensor<3xi64>) -> tensor<?x3xi8>
  return %q : tensor<?x3xi8>
}
