// RUN: torq-opt --split-input-file --quantized-decomposed-backend-type-conversion %s | FileCheck %s

// Storage becomes signless; dtype keeps the sign. Constants become builtin constants at once.

// CHECK-LABEL: func.func @per_tensor
// CHECK: %[[X:.*]] = torch_c.to_builtin_tensor %arg0 : !torch.vtensor<[2,?],f32> -> tensor<2x?xf32>
// CHECK-DAG: %[[S:.*]] = arith.constant dense<5.000000e-01> : tensor<f32>
// CHECK-DAG: %[[Z:.*]] = arith.constant dense<-56> : tensor<i8>
// CHECK: %[[Q:.*]] = "quantized_decomposed.quantize_per_tensor"(%[[X]], %[[S]], %[[Z]]) {divide, dtype = ui8, quant_max = 255 : i64, quant_min = 0 : i64} : (tensor<2x?xf32>, tensor<f32>, tensor<i8>) -> tensor<2x?xi8>
// CHECK: %[[T:.*]] = torch_c.from_builtin_tensor %[[Q]] : tensor<2x?xi8> -> !torch.vtensor<[2,?],ui8>
// CHECK: return %[[T]]
func.func @per_tensor(%x: !torch.vtensor<[2,?],f32>) -> !torch.vtensor<[2,?],ui8> {
  %s = torch.vtensor.literal(dense<0.5> : tensor<f32>) : !torch.vtensor<[],f32>
  %z = torch.vtensor.literal(dense<200> : tensor<ui8>) : !torch.vtensor<[],ui8>
  %0 = "quantized_decomposed.quantize_per_tensor"(%x, %s, %z) {divide, quant_min = 0 : i64, quant_max = 255 : i64, dtype = ui8} : (!torch.vtensor<[2,?],f32>, !torch.vtensor<[],f32>, !torch.vtensor<[],ui8>) -> !torch.vtensor<[2,?],ui8>
  return %0 : !torch.vtensor<[2,?],ui8>
}

// -----

// A weight, per channel, and parameters that are computed.

// CHECK-LABEL: func.func @per_channel
// CHECK-DAG: %[[W:.*]] = arith.constant dense<{{\[}}[1, -2], [3, 4]]> : tensor<2x2xi8>
// CHECK-DAG: %[[S:.*]] = torch_c.to_builtin_tensor %arg0 : !torch.vtensor<[2],f32> -> tensor<2xf32>
// CHECK-DAG: %[[Z:.*]] = arith.constant dense<0> : tensor<2xi8>
// CHECK: "quantized_decomposed.dequantize_per_channel"(%[[W]], %[[S]], %[[Z]]) {axis = 0 : i64, {{.*}}} : (tensor<2x2xi8>, tensor<2xf32>, tensor<2xi8>) -> tensor<2x2xf32>
func.func @per_channel(%s: !torch.vtensor<[2],f32>) -> !torch.vtensor<[2,2],f32> {
  %w = torch.vtensor.literal(dense<[[1, -2], [3, 4]]> : tensor<2x2xsi8>) : !torch.vtensor<[2,2],si8>
  %z = torch.vtensor.literal(dense<0> : tensor<2xsi8>) : !torch.vtensor<[2],si8>
  %0 = "quantized_decomposed.dequantize_per_channel"(%w, %s, %z) {axis = 0 : i64, quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (!torch.vtensor<[2,2],si8>, !torch.vtensor<[2],f32>, !torch.vtensor<[2],si8>) -> !torch.vtensor<[2,2],f32>
  return %0 : !torch.vtensor<[2,2],f32>
}

// -----

// Parameters of PyTorch are Python numbers.

// CHECK-LABEL: func.func @scalars
// CHECK-DAG: %[[S:.*]] = torch_c.to_f64
// CHECK-DAG: %[[Z:.*]] = torch_c.to_i64
// CHECK: "quantized_decomposed.quantize_per_tensor"({{.*}}, %[[S]], %[[Z]]) {{.*}} : (tensor<4xf32>, f64, i64) -> tensor<4xi8>
func.func @scalars(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],si8> {
  %s = torch.constant.float 5.000000e-01
  %z = torch.constant.int 3
  %0 = "quantized_decomposed.quantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (!torch.vtensor<[4],f32>, !torch.float, !torch.int) -> !torch.vtensor<[4],si8>
  return %0 : !torch.vtensor<[4],si8>
}

// -----

// On builtin tensors there is nothing to do.

// CHECK-LABEL: func.func @builtin
// CHECK-NOT: torch_c
// CHECK: return
func.func @builtin(%q: tensor<4xi8>) -> tensor<4xf32> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i8>
  %0 = "quantized_decomposed.dequantize_per_tensor"(%q, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4xi8>, tensor<f32>, tensor<i8>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
