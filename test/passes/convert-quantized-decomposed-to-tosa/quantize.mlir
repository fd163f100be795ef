// RUN: torq-opt --split-input-file --convert-quantized-decomposed-to-tosa --canonicalize %s | FileCheck %s

// The clamp comes before the rounding, with bounds less the zero point, and the zero point is added to integers. The
// reciprocal of a constant scale is rounded at compile time: in f64, then to f32.

// CHECK-LABEL: func.func @per_tensor
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
// CHECK-DAG: %[[R:.*]] = "tosa.const"() <{values = dense<1.000000e-03> : tensor<1x1xf32>}>
// CHECK-DAG: %[[NAN:.*]] = "tosa.const"() <{values = dense<3.000000e+00> : tensor<1x1xf32>}>
// CHECK-DAG: %[[Z:.*]] = "tosa.const"() <{values = dense<-3> : tensor<1x1xi32>}>
// CHECK: %[[SCALED:.*]] = tosa.mul %[[X]], %[[R]], %{{.*}} -> tensor<2x3xf32>
// CHECK: %[[CLAMPED:.*]] = tosa.clamp %[[SCALED]] {max_val = 1.300000e+02 : f32, min_val = -1.250000e+02 : f32}
// CHECK: %[[ORDERED:.*]] = tosa.equal %[[SCALED]], %[[SCALED]]
// CHECK: %[[NUMBER:.*]] = tosa.select %[[ORDERED]], %[[CLAMPED]], %[[NAN]]
// CHECK: %[[ROUNDED:.*]] = tosa.cast %[[NUMBER]] : (tensor<2x3xf32>) -> tensor<2x3xi32>
// CHECK: %[[SUM:.*]] = tosa.add %[[ROUNDED]], %[[Z]]
// CHECK: %[[Q:.*]] = tosa.cast %[[SUM]] : (tensor<2x3xi32>) -> tensor<2x3xi8>
// CHECK: return %[[Q]]
func.func @per_tensor(%x: tensor<2x3xf32>) -> tensor<2x3xi8> {
  %scale = arith.constant 1.000000e+03 : f64
  %zp = arith.constant -3 : i64
  %q = "quantized_decomposed.quantize_per_tensor"(%x, %scale, %zp) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<2x3xf32>, f64, i64) -> tensor<2x3xi8>
  return %q : tensor<2x3xi8>
}

// -----

// NaN becomes quant_min with a division. Division by a power of two is a product.

// CHECK-LABEL: func.func @divide_by_a_power_of_two
// CHECK-DAG: %[[R:.*]] = "tosa.const"() <{values = dense<4.000000e+00> : tensor<1xf32>}>
// CHECK-DAG: %[[LOW:.*]] = "tosa.const"() <{values = dense<0.000000e+00> : tensor<1xf32>}>
// CHECK: tosa.mul %{{.*}}, %[[R]]
// CHECK: tosa.select %{{.*}}, %{{.*}}, %[[LOW]]
// CHECK-NOT: tosa.add
// CHECK: return
func.func @divide_by_a_power_of_two(%x: tensor<4xf32>) -> tensor<4xi8> {
  %scale = arith.constant dense<0.25> : tensor<f32>
  %zp = arith.constant dense<0> : tensor<i8>
  %q = "quantized_decomposed.quantize_per_tensor"(%x, %scale, %zp) {divide, dtype = ui8, quant_max = 255 : i64, quant_min = 0 : i64} : (tensor<4xf32>, tensor<f32>, tensor<i8>) -> tensor<4xi8>
  return %q : tensor<4xi8>
}

// -----

// TOSA has no division: the last bit of the product with the reciprocal is made right.

// CHECK-LABEL: func.func @divide
// CHECK: %[[R:.*]] = tosa.reciprocal
// CHECK: tosa.mul %{{.*}}, %[[R]]
// CHECK: tosa.greater
// CHECK: tosa.select
// CHECK: tosa.cast
func.func @divide(%x: tensor<4xf32>, %scale: tensor<1xf32>) -> tensor<4xi8> {
  %zp = arith.constant dense<0> : tensor<i8>
  %q = "quantized_decomposed.quantize_per_tensor"(%x, %scale, %zp) {divide, dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<4xf32>, tensor<1xf32>, tensor<i8>) -> tensor<4xi8>
  return %q : tensor<4xi8>
}

// -----

// Parameters of an axis stretch along the others. The bounds of the clamp differ as the zero points do.

// CHECK-LABEL: func.func @per_channel
// CHECK-DAG: %[[R:.*]] = "tosa.const"() <{values = dense<{{\[\[}}2.000000e+00], [4.000000e+00]]> : tensor<2x1xf32>}>
// CHECK-DAG: %[[LOW:.*]] = "tosa.const"() <{values = dense<{{\[\[}}-1.280000e+02], [-1.290000e+02]]> : tensor<2x1xf32>}>
// CHECK-DAG: %[[HIGH:.*]] = "tosa.const"() <{values = dense<{{\[\[}}1.270000e+02], [1.260000e+02]]> : tensor<2x1xf32>}>
// CHECK: %[[SCALED:.*]] = tosa.mul %{{.*}}, %[[R]], %{{.*}} : (tensor<2x?xf32>, tensor<2x1xf32>, tensor<1xi8>) -> tensor<2x?xf32>
// CHECK: %[[MAX:.*]] = tosa.maximum %[[SCALED]], %[[LOW]]
// CHECK: tosa.minimum %[[MAX]], %[[HIGH]]
func.func @per_channel(%x: tensor<2x?xf32>) -> tensor<2x?xi8> {
  %scales = arith.constant dense<[0.5, 0.25]> : tensor<2xf32>
  %zps = arith.constant dense<[0, 1]> : tensor<2xi64>
  %q = "quantized_decomposed.quantize_per_channel"(%x, %scales, %zps) {axis = 0 : i64, dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<2x?xf32>, tensor<2xf32>, tensor<2xi64>) -> tensor<2x?xi8>
  return %q : tensor<2x?xi8>
}

// -----

// A zero point that is known at run time is added in float, after rounding: to an integer and back.

// CHECK-LABEL: func.func @run_time
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[S:.*]]: tensor<1xf32>, %[[Z:.*]]: tensor<1xi32>
// CHECK: %[[R:.*]] = tosa.reciprocal %[[S]]
// CHECK: %[[SCALED:.*]] = tosa.mul %[[X]], %[[R]]
// CHECK: %[[INTEGER:.*]] = tosa.cast %{{.*}} : (tensor<4xf32>) -> tensor<4xi32>
// CHECK: %[[FLOAT:.*]] = tosa.cast %[[INTEGER]]
// CHECK: %[[ROUNDED:.*]] = tosa.select %{{.*}}, %[[FLOAT]], %[[SCALED]]
// CHECK: %[[ZF:.*]] = tosa.cast %[[Z]] : (tensor<1xi32>) -> tensor<1xf32>
// CHECK: tosa.add %[[ROUNDED]], %[[ZF]]
func.func @run_time(%x: tensor<4xf32>, %scale: tensor<1xf32>, %zp: tensor<1xi32>) -> tensor<4xi8> {
  %q = "quantized_decomposed.quantize_per_tensor"(%x, %scale, %zp) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<4xf32>, tensor<1xf32>, tensor<1xi32>) -> tensor<4xi8>
  return %q : tensor<4xi8>
}

// -----

// What computes on torch tensors stays.

// CHECK-LABEL: func.func @torch
// CHECK: "quantized_decomposed.quantize_per_tensor"
func.func @torch(%x: !torch.vtensor<[4],f32>, %scale: !torch.float, %zp: !torch.int) -> !torch.vtensor<[4],si8> {
  %q = "quantized_decomposed.quantize_per_tensor"(%x, %scale, %zp) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (!torch.vtensor<[4],f32>, !torch.float, !torch.int) -> !torch.vtensor<[4],si8>
  return %q : !torch.vtensor<[4],si8>
}
