// RUN: torq-opt --split-input-file --torq-fuse-quantized-ops --canonicalize %s | FileCheck %s

// The zero point of the tensor is multiplied with the constant sums of the columns, in integers; then one rounding.

// CHECK-LABEL: func.func @per_tensor
// CHECK-SAME: (%[[Q:.*]]: tensor<2x3xi8>, %[[S:.*]]: tensor<1xf64>, %[[Z:.*]]: tensor<1xi64>)
// CHECK-DAG: %[[SUMS:.*]] = arith.constant dense<[9, 12]> : tensor<2xi32>
// CHECK-DAG: %[[SW:.*]] = arith.constant dense<[5.000000e-01, 2.500000e-01]> : tensor<2xf64>
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK: %[[LONG:.*]] = tensor.extract %[[Z]]
// CHECK: %[[ZX:.*]] = arith.trunci %[[LONG]] : i64 to i32
// CHECK: %[[ACC:.*]] = linalg.quantized_matmul ins(%[[Q]], %{{.*}}, %[[ZERO]], %[[ZERO]] : tensor<2x3xi8>, tensor<3x2xi8>, i32, i32)
// CHECK: %[[SX:.*]] = tensor.extract %[[S]]
// CHECK: linalg.generic {{.*}} ins(%[[ACC]], %[[SUMS]], %[[SW]] : tensor<2x2xi32>, tensor<2xi32>, tensor<2xf64>)
// CHECK: ^bb0(%[[A:.*]]: i32, %[[SUM:.*]]: i32, %[[W:.*]]: f64,
// CHECK: %[[TERM:.*]] = arith.muli %[[SUM]], %[[ZX]] : i32
// CHECK: %[[EXACT:.*]] = arith.subi %[[A]], %[[TERM]] : i32
// CHECK: %[[REAL:.*]] = arith.sitofp %[[EXACT]] : i32 to f64
// CHECK: %[[ONE:.*]] = arith.mulf %[[REAL]], %[[SX]] : f64
// CHECK: %[[BOTH:.*]] = arith.mulf %[[ONE]], %[[W]] : f64
// CHECK: arith.truncf %[[BOTH]] : f64 to f32
func.func @per_tensor(%q: tensor<2x3xi8>, %s: tensor<1xf64>, %z: tensor<1xi64>) -> tensor<2x2xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi8>
  %sw = arith.constant dense<[0.5, 0.25]> : tensor<2xf32>
  %zw = arith.constant dense<0> : tensor<2xi64>
  %x = "quantized_decomposed.dequantize_per_tensor"(%q, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2x3xi8>, tensor<1xf64>, tensor<1xi64>) -> tensor<2x3xf32>
  %wf = "quantized_decomposed.dequantize_per_channel"(%w, %sw, %zw) {axis = 1 : i64, quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<3x2xi8>, tensor<2xf32>, tensor<2xi64>) -> tensor<3x2xf32>
  %e = tensor.empty() : tensor<2x2xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
  %y = linalg.matmul ins(%x, %wf : tensor<2x3xf32>, tensor<3x2xf32>) outs(%init : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// -----

// Parameters of tokens are read along the rows. What choose_qparams_per_token gives as zero points is 0.

// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0, d1) -> (d0, 0)>
// CHECK-LABEL: func.func @symmetric_tokens
// CHECK: %[[C:.*]]:2 = "quantized_decomposed.choose_qparams_per_token"
// CHECK: %[[Q:.*]] = "quantized_decomposed.quantize_per_token"
// CHECK: %[[ACC:.*]] = linalg.quantized_matmul ins(%[[Q]],
// CHECK: %[[SX:.*]] = linalg.generic {{.*}} ins(%[[C]]#0 : tensor<?x1xf32>)
// CHECK: arith.extf
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #[[ROW]], #{{.*}}], {{.*}} ins(%[[ACC]], %[[SX]] : tensor<?x2xi32>, tensor<?x1xf64>)
// CHECK-NOT: arith.subi
func.func @symmetric_tokens(%x: tensor<?x3xf32>, %init: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %w = arith.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi8>
  %sw = arith.constant dense<0.5> : tensor<1xf32>
  %zw = arith.constant dense<0> : tensor<1xi64>
  %zero = arith.constant 0.0 : f32
  %c:2 = "quantized_decomposed.choose_qparams_per_token"(%x) {dtype = si8} : (tensor<?x3xf32>) -> (tensor<?x1xf32>, tensor<?x1xf32>)
  %q = "quantized_decomposed.quantize_per_token"(%x, %c#0, %c#1) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<?x3xf32>, tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<?x3xi8>
  %d = "quantized_decomposed.dequantize_per_token"(%q, %c#0, %c#1) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<?x3xi8>, tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<?x3xf32>
  %wf = "quantized_decomposed.dequantize_per_tensor"(%w, %sw, %zw) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<3x2xi8>, tensor<1xf32>, tensor<1xi64>) -> tensor<3x2xf32>
  %i = linalg.fill ins(%zero : f32) outs(%init : tensor<?x2xf32>) -> tensor<?x2xf32>
  %y = linalg.matmul ins(%d, %wf : tensor<?x3xf32>, tensor<3x2xf32>) outs(%i : tensor<?x2xf32>) -> tensor<?x2xf32>
  return %y : tensor<?x2xf32>
}

// -----

// Unsigned values are computed with as signed ones: the highest bit is flipped, and the zero point is 128 less. The
// padding is with the zero point, and an initial value that is not 0 is added in float.

// CHECK-LABEL: func.func @unsigned_convolution
// CHECK-SAME: (%[[Q:.*]]: tensor<1x2x3x3xi8>, %[[S:.*]]: tensor<f32>, %[[Z:.*]]: tensor<i8>, %[[BIAS:.*]]: tensor<1x4x3x3xf32>)
// CHECK-DAG: %[[HALF:.*]] = arith.constant 128 : i32
// CHECK: %[[BYTE:.*]] = tensor.extract %[[Z]]
// CHECK: %[[WIDE:.*]] = arith.extui %[[BYTE]] : i8 to i32
// CHECK: %[[ZX:.*]] = arith.subi %[[WIDE]], %[[HALF]] : i32
// CHECK: %[[SIGNED:.*]] = linalg.generic {{.*}} ins(%[[Q]]
// CHECK: arith.xori
// CHECK: %[[PAD:.*]] = arith.trunci %[[ZX]] : i32 to i8
// CHECK: %[[X:.*]] = tensor.pad %[[SIGNED]]
// CHECK: tensor.yield %[[PAD]] : i8
// CHECK: %[[ACC:.*]] = linalg.conv_2d_nchw_fchw_q {{.*}}ins(%[[X]],
// CHECK: linalg.generic {{.*}} ins(%[[ACC]], %[[BIAS]] : tensor<1x4x3x3xi32>, tensor<1x4x3x3xf32>)
// CHECK: arith.truncf
// CHECK: arith.addf
func.func @unsigned_convolution(%q: tensor<1x2x3x3xi8>, %s: tensor<f32>, %z: tensor<i8>, %bias: tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<1> : tensor<4x2x3x3xi8>
  %sw = arith.constant dense<0.5> : tensor<f32>
  %zw = arith.constant dense<0> : tensor<i8>
  %x = "quantized_decomposed.dequantize_per_tensor"(%q, %s, %z) {quant_min = 0 : i64, quant_max = 255 : i64, dtype = ui8} : (tensor<1x2x3x3xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x3x3xf32>
  %wf = "quantized_decomposed.dequantize_per_tensor"(%w, %sw, %zw) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x2x3x3xi8>, tensor<f32>, tensor<i8>) -> tensor<4x2x3x3xf32>
  %padded = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<1x2x3x3xf32> to tensor<1x2x5x5xf32>
  %y = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%padded, %wf : tensor<1x2x5x5xf32>, tensor<4x2x3x3xf32>) outs(%bias : tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32>
  return %y : tensor<1x4x3x3xf32>
}
