// RUN: torq-opt --split-input-file --quantized-decomposed-simplify %s | FileCheck %s
// RUN: torq-opt --split-input-file --quantized-decomposed-simplify %s -o %t.once
// RUN: torq-opt --split-input-file --quantized-decomposed-simplify --quantized-decomposed-simplify %s -o %t.twice
// RUN: diff %t.once %t.twice

// A quantize of what was dequantized with the same parameters gives back the integers.

// CHECK-LABEL: func.func @cancel
// CHECK-NEXT: return %arg0
func.func @cancel(%q: tensor<4xi8>) -> tensor<4xi8> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i8>
  %0 = "quantized_decomposed.dequantize_per_tensor"(%q, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4xi8>, tensor<f32>, tensor<i8>) -> tensor<4xf32>
  %1 = "quantized_decomposed.quantize_per_tensor"(%0, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4xf32>, tensor<f32>, tensor<i8>) -> tensor<4xi8>
  return %1 : tensor<4xi8>
}

// -----

// The parameters are compared by value, and along the same axis.

// CHECK-LABEL: func.func @cancel_per_channel
// CHECK-NEXT: return %arg0
func.func @cancel_per_channel(%q: !torch.vtensor<[2,4],ui8>) -> !torch.vtensor<[2,4],ui8> {
  %s = torch.vtensor.literal(dense<[0.5, 0.25]> : tensor<2xf32>) : !torch.vtensor<[2],f32>
  %z = torch.vtensor.literal(dense<[3, 200]> : tensor<2xui8>) : !torch.vtensor<[2],ui8>
  %s2 = torch.vtensor.literal(dense<[0.5, 0.25]> : tensor<2xf32>) : !torch.vtensor<[2],f32>
  %0 = "quantized_decomposed.dequantize_per_channel"(%q, %s, %z) {axis = -2 : i64, quant_min = 0 : i64, quant_max = 255 : i64, dtype = ui8} : (!torch.vtensor<[2,4],ui8>, !torch.vtensor<[2],f32>, !torch.vtensor<[2],ui8>) -> !torch.vtensor<[2,4],f32>
  %1 = "quantized_decomposed.quantize_per_channel"(%0, %s2, %z) {axis = 0 : i64, divide, quant_min = 0 : i64, quant_max = 255 : i64, dtype = ui8} : (!torch.vtensor<[2,4],f32>, !torch.vtensor<[2],f32>, !torch.vtensor<[2],ui8>) -> !torch.vtensor<[2,4],ui8>
  return %1 : !torch.vtensor<[2,4],ui8>
}

// -----

// A dequantize of what was quantized is what the model wants to compute: the quantization error.

// CHECK-LABEL: func.func @never_cancel_quantize_dequantize
// CHECK: "quantized_decomposed.quantize_per_tensor"
// CHECK: "quantized_decomposed.dequantize_per_tensor"
func.func @never_cancel_quantize_dequantize(%x: tensor<4xf32>) -> tensor<4xf32> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i8>
  %0 = "quantized_decomposed.quantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4xf32>, tensor<f32>, tensor<i8>) -> tensor<4xi8>
  %1 = "quantized_decomposed.dequantize_per_tensor"(%0, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4xi8>, tensor<f32>, tensor<i8>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// Another scale, another zero point or another sign: the values change.

// CHECK-LABEL: func.func @other_parameters
// CHECK-COUNT-3: "quantized_decomposed.quantize_per_tensor"
func.func @other_parameters(%q: tensor<4xi8>) -> (tensor<4xi8>, tensor<4xi8>, tensor<4xi8>) {
  %s = arith.constant dense<0.5> : tensor<f32>
  %s2 = arith.constant dense<0.50000006> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i8>
  %z2 = arith.constant dense<4> : tensor<i8>
  %0 = "quantized_decomposed.dequantize_per_tensor"(%q, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4xi8>, tensor<f32>, tensor<i8>) -> tensor<4xf32>
  %1 = "quantized_decomposed.quantize_per_tensor"(%0, %s2, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4xf32>, tensor<f32>, tensor<i8>) -> tensor<4xi8>
  %2 = "quantized_decomposed.quantize_per_tensor"(%0, %s, %z2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4xf32>, tensor<f32>, tensor<i8>) -> tensor<4xi8>
  %3 = "quantized_decomposed.quantize_per_tensor"(%0, %s, %z) {quant_min = 0 : i64, quant_max = 255 : i64, dtype = ui8} : (tensor<4xf32>, tensor<f32>, tensor<i8>) -> tensor<4xi8>
  return %1, %2, %3 : tensor<4xi8>, tensor<4xi8>, tensor<4xi8>
}

// -----

// A narrower range clamps, unless the integers are known to be inside: they were quantized to it.

// CHECK-LABEL: func.func @narrow_range
// CHECK: %[[Q:.*]] = "quantized_decomposed.quantize_per_tensor"(%arg1
// CHECK: %[[CLAMPED:.*]] = "quantized_decomposed.quantize_per_tensor"(%{{.*}}) {dtype = si8, quant_max = 127 : i64, quant_min = -127 : i64}
// CHECK: return %[[CLAMPED]], %[[Q]]
func.func @narrow_range(%q: tensor<4xi8>, %x: tensor<4xf32>) -> (tensor<4xi8>, tensor<4xi8>) {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i8>
  %0 = "quantized_decomposed.dequantize_per_tensor"(%q, %s, %z) {quant_min = -127 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4xi8>, tensor<f32>, tensor<i8>) -> tensor<4xf32>
  %p = "quantized_decomposed.quantize_per_tensor"(%x, %s, %z) {quant_min = -100 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4xf32>, tensor<f32>, tensor<i8>) -> tensor<4xi8>
  %1 = "quantized_decomposed.dequantize_per_tensor"(%p, %s, %z) {quant_min = -127 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4xi8>, tensor<f32>, tensor<i8>) -> tensor<4xf32>
  %2 = "quantized_decomposed.quantize_per_tensor"(%0, %s, %z) {quant_min = -127 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4xf32>, tensor<f32>, tensor<i8>) -> tensor<4xi8>
  %3 = "quantized_decomposed.quantize_per_tensor"(%1, %s, %z) {quant_min = -127 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4xf32>, tensor<f32>, tensor<i8>) -> tensor<4xi8>
  return %2, %3 : tensor<4xi8>, tensor<4xi8>
}

// -----

// f32 does not hold every i32, f16 not every i8 times a scale, and a denormal scale has no reciprocal.

// CHECK-LABEL: func.func @inexact
// CHECK-COUNT-3: "quantized_decomposed.quantize_per_tensor"
func.func @inexact(%w: tensor<4xi32>, %q: tensor<4xi8>) -> (tensor<4xi32>, tensor<4xi8>, tensor<4xi8>) {
  %s = arith.constant dense<0.3> : tensor<f32>
  %tiny = arith.constant dense<1.0e-40> : tensor<f32>
  %z32 = arith.constant dense<0> : tensor<i32>
  %z = arith.constant dense<0> : tensor<i8>
  %0 = "quantized_decomposed.dequantize_per_tensor"(%w, %s, %z32) {quant_min = -2147483648 : i64, quant_max = 2147483647 : i64, dtype = si32} : (tensor<4xi32>, tensor<f32>, tensor<i32>) -> tensor<4xf32>
  %1 = "quantized_decomposed.quantize_per_tensor"(%0, %s, %z32) {quant_min = -2147483648 : i64, quant_max = 2147483647 : i64, dtype = si32} : (tensor<4xf32>, tensor<f32>, tensor<i32>) -> tensor<4xi32>
  %2 = "quantized_decomposed.dequantize_per_tensor"(%q, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4xi8>, tensor<f32>, tensor<i8>) -> tensor<4xf16>
  %3 = "quantized_decomposed.quantize_per_tensor"(%2, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4xf16>, tensor<f32>, tensor<i8>) -> tensor<4xi8>
  %4 = "quantized_decomposed.dequantize_per_tensor"(%q, %tiny, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4xi8>, tensor<f32>, tensor<i8>) -> tensor<4xf32>
  %5 = "quantized_decomposed.quantize_per_tensor"(%4, %tiny, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4xf32>, tensor<f32>, tensor<i8>) -> tensor<4xi8>
  return %1, %3, %5 : tensor<4xi32>, tensor<4xi8>, tensor<4xi8>
}

// -----

// A constant is quantized, with the rounding of the operation (ties to even, saturation); its dequantize is kept.

// CHECK-LABEL: func.func @fold_constant
// CHECK: %[[W:.*]] = arith.constant dense<[0, 2, 2, 127, -128, 5]> : tensor<6xi8>
// CHECK: "quantized_decomposed.dequantize_per_tensor"(%[[W]]
func.func @fold_constant() -> tensor<6xf32> {
  %x = arith.constant dense<[0.25, 0.75, 1.0, 1.0e9, 0xFF800000, 2.5]> : tensor<6xf32>
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<0> : tensor<i8>
  %0 = "quantized_decomposed.quantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<6xf32>, tensor<f32>, tensor<i8>) -> tensor<6xi8>
  %1 = "quantized_decomposed.dequantize_per_tensor"(%0, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<6xi8>, tensor<f32>, tensor<i8>) -> tensor<6xf32>
  return %1 : tensor<6xf32>
}

// -----

// Unsigned, per channel, on torch tensors.

// CHECK-LABEL: func.func @fold_torch_constant
// CHECK: torch.vtensor.literal(dense<{{\[}}[202, 204], [4, 8]]> : tensor<2x2xui8>) : !torch.vtensor<[2,2],ui8>
// CHECK-NOT: quantize_per_channel
func.func @fold_torch_constant() -> !torch.vtensor<[2,2],ui8> {
  %x = torch.vtensor.literal(dense<[[1.0, 2.0], [1.0, 2.0]]> : tensor<2x2xf32>) : !torch.vtensor<[2,2],f32>
  %s = torch.vtensor.literal(dense<[0.5, 0.25]> : tensor<2xf32>) : !torch.vtensor<[2],f32>
  %z = torch.vtensor.literal(dense<[200, 0]> : tensor<2xui8>) : !torch.vtensor<[2],ui8>
  %0 = "quantized_decomposed.quantize_per_channel"(%x, %s, %z) {axis = 0 : i64, divide, quant_min = 0 : i64, quant_max = 255 : i64, dtype = ui8} : (!torch.vtensor<[2,2],f32>, !torch.vtensor<[2],f32>, !torch.vtensor<[2],ui8>) -> !torch.vtensor<[2,2],ui8>
  return %0 : !torch.vtensor<[2,2],ui8>
}

// -----

// Parameters at run time stand in the way.

// CHECK-LABEL: func.func @runtime_parameters
// CHECK: "quantized_decomposed.quantize_per_tensor"
func.func @runtime_parameters(%s: tensor<f32>) -> tensor<2xi8> {
  %x = arith.constant dense<[0.25, 0.75]> : tensor<2xf32>
  %z = arith.constant dense<0> : tensor<i8>
  %0 = "quantized_decomposed.quantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2xf32>, tensor<f32>, tensor<i8>) -> tensor<2xi8>
  return %0 : tensor<2xi8>
}

// -----

// What nobody uses is removed.

// CHECK-LABEL: func.func @dead
// CHECK-NEXT: return %arg0
func.func @dead(%x: tensor<4xf32>) -> tensor<4xf32> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i8>
  %0 = "quantized_decomposed.quantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4xf32>, tensor<f32>, tensor<i8>) -> tensor<4xi8>
  %1 = "quantized_decomposed.dequantize_per_tensor"(%0, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4xi8>, tensor<f32>, tensor<i8>) -> tensor<4xf32>
  return %x : tensor<4xf32>
}
