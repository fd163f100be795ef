// RUN: torq-opt --split-input-file --torq-fuse-quantized-ops-stablehlo --canonicalize --mlir-print-debuginfo %s | FileCheck %s

// The term of the zero point (-(-5) * 8 * 2 = 80) and the bias (0.5 / (0.1 * 0.02) = 250) are one constant. The rescale
// is a product and a shift that rounds half up.

// CHECK-LABEL: func.func @product
// CHECK-SAME: %[[X:.*]]: tensor<4x8xi8>
// CHECK-DAG: %[[W:.*]] = stablehlo.constant dense<2> : tensor<8x3xi8>
// CHECK-DAG: %[[BIAS:.*]] = stablehlo.constant dense<{{\[\[}}330, 80, 80]]> : tensor<1x3xi32>
// CHECK-DAG: %[[M:.*]] = stablehlo.constant dense<1963413621> : tensor<4x3xi64>
// CHECK-DAG: %[[HALF:.*]] = stablehlo.constant dense<34359738368> : tensor<4x3xi64>
// CHECK-DAG: %[[SHIFT:.*]] = stablehlo.constant dense<36> : tensor<4x3xi64>
// CHECK-DAG: %[[LOW:.*]] = stablehlo.constant dense<3> : tensor<i64>
// CHECK-DAG: %[[HIGH:.*]] = stablehlo.constant dense<127> : tensor<i64>
// CHECK: %[[A:.*]] = stablehlo.dot_general %[[X]], %[[W]], contracting_dims = [1] x [0] : (tensor<4x8xi8>, tensor<8x3xi8>) -> tensor<4x3xi32>
// CHECK: %[[B:.*]] = stablehlo.broadcast_in_dim %[[BIAS]]
// CHECK: %[[SUM:.*]] = stablehlo.add %[[A]], %[[B]]
// CHECK: %[[WIDE:.*]] = stablehlo.convert %[[SUM]] : (tensor<4x3xi32>) -> tensor<4x3xi64>
// CHECK: %[[P:.*]] = stablehlo.multiply %[[WIDE]], %[[M]]
// CHECK: %[[R:.*]] = stablehlo.add %[[P]], %[[HALF]]
// CHECK: %[[Q:.*]] = stablehlo.shift_right_arithmetic %[[R]], %[[SHIFT]]
// CHECK: %[[Z:.*]] = stablehlo.add %[[Q]]
// CHECK: %[[C:.*]] = stablehlo.clamp %[[LOW]], %[[Z]], %[[HIGH]]
// CHECK: stablehlo.convert %[[C]] : (tensor<4x3xi64>) -> tensor<4x3xi8> loc(#[[LOC:.*]])
// CHECK-DAG: #[[PRODUCT:.*]] = loc("product")
// CHECK-DAG: #[[OUTPUT:.*]] = loc("output")
// CHECK: #[[LOC]] = loc(fused[#[[PRODUCT]], #[[OUTPUT]]])
func.func @product(%q: tensor<4x8xi8>) -> tensor<4x3xi8> {
  %sx = arith.constant 0.1 : f64
  %zx = arith.constant -5 : i64
  %sw = arith.constant 0.02 : f64
  %c0 = arith.constant 0 : i64
  %sy = arith.constant 0.07 : f64
  %zy = arith.constant 3 : i64
  %qw = arith.constant dense<2> : tensor<8x3xi8>
  %bias = stablehlo.constant dense<[0.5, 0.0, 0.0]> : tensor<3xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<4x3xf32>
  %x = "quantized_decomposed.dequantize_per_tensor"(%q, %sx, %zx) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<4x8xi8>, f64, i64) -> tensor<4x8xf32>
  %w = "quantized_decomposed.dequantize_per_tensor"(%qw, %sw, %c0) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<8x3xi8>, f64, i64) -> tensor<8x3xf32>
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<4x3xf32> loc("product")
  %b = stablehlo.broadcast_in_dim %bias, dims = [1] : (tensor<3xf32>) -> tensor<4x3xf32>
  %s = stablehlo.add %y, %b : tensor<4x3xf32>
  %r = stablehlo.maximum %s, %zero : tensor<4x3xf32>
  %o = "quantized_decomposed.quantize_per_tensor"(%r, %sy, %zy) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<4x3xf32>, f64, i64) -> tensor<4x3xi8> loc("output")
  return %o : tensor<4x3xi8>
}
