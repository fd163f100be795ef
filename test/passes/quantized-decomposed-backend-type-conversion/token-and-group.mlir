// RUN: torq-opt --split-input-file --quantized-decomposed-backend-type-conversion %s | FileCheck %s

// Both results of an operation, and what uses them.

// CHECK-LABEL: func.func @per_token
// CHECK: %[[X:.*]] = torch_c.to_builtin_tensor %arg0 : !torch.vtensor<[?,8],f32> -> tensor<?x8xf32>
// CHECK: %[[P:.*]]:2 = "quantized_decomposed.choose_qparams_per_token_asymmetric"(%[[X]]) {dtype = si8} : (tensor<?x8xf32>) -> (tensor<?x1xf64>, tensor<?x1xi64>)
// CHECK-DAG: torch_c.from_builtin_tensor %[[P]]#0 : tensor<?x1xf64> -> !torch.vtensor<[?,1],f64>
// CHECK-DAG: torch_c.from_builtin_tensor %[[P]]#1 : tensor<?x1xi64> -> !torch.vtensor<[?,1],si64>
// CHECK: "quantized_decomposed.quantize_per_token"({{.*}}) {{.*}} : (tensor<?x8xf32>, tensor<?x1xf64>, tensor<?x1xi64>) -> tensor<?x8xi8>
func.func @per_token(%x: !torch.vtensor<[?,8],f32>) -> !torch.vtensor<[?,8],si8> {
  %0:2 = "quantized_decomposed.choose_qparams_per_token_asymmetric"(%x) {dtype = si8} : (!torch.vtensor<[?,8],f32>) -> (!torch.vtensor<[?,1],f64>, !torch.vtensor<[?,1],si64>)
  %1 = "quantized_decomposed.quantize_per_token"(%x, %0#0, %0#1) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (!torch.vtensor<[?,8],f32>, !torch.vtensor<[?,1],f64>, !torch.vtensor<[?,1],si64>) -> !torch.vtensor<[?,8],si8>
  return %1 : !torch.vtensor<[?,8],si8>
}

// -----

// CHECK-LABEL: func.func @per_channel_group
// CHECK-DAG: %[[W:.*]] = arith.constant dense<{{\[}}[1, -6]]> : tensor<1x2xi8>
// CHECK-DAG: %[[Z:.*]] = arith.constant dense<-56> : tensor<1x1xi8>
// CHECK: "quantized_decomposed.dequantize_per_channel_group"(%[[W]], %{{.*}}, %[[Z]]) {dtype = ui8, group_size = 2 : i64, {{.*}} : (tensor<1x2xi8>, tensor<1x1xf32>, tensor<1x1xi8>) -> tensor<1x2xf32>
func.func @per_channel_group(%s: !torch.vtensor<[1,1],f32>) -> !torch.vtensor<[1,2],f32> {
  %w = torch.vtensor.literal(dense<[[1, 250]]> : tensor<1x2xui8>) : !torch.vtensor<[1,2],ui8>
  %z = torch.vtensor.literal(dense<200> : tensor<1x1xui8>) : !torch.vtensor<[1,1],ui8>
  %0 = "quantized_decomposed.dequantize_per_channel_group"(%w, %s, %z) {group_size = 2 : i64, quant_min = 0 : i64, quant_max = 255 : i64, dtype = ui8} : (!torch.vtensor<[1,2],ui8>, !torch.vtensor<[1,1],f32>, !torch.vtensor<[1,1],ui8>) -> !torch.vtensor<[1,2],f32>
  return %0 : !torch.vtensor<[1,2],f32>
}

// -----

// CHECK-LABEL: func.func @conversion
// CHECK: "quantized_decomposed.convert_element_type"(%{{.*}}) {dtype = i1, input_dtype = ui8} : (tensor<?xi8>) -> tensor<?xi1>
func.func @conversion(%x: !torch.vtensor<[?],ui8>) -> !torch.vtensor<[?],i1> {
  %0 = "quantized_decomposed.convert_element_type"(%x) {dtype = i1, input_dtype = ui8} : (!torch.vtensor<[?],ui8>) -> !torch.vtensor<[?],i1>
  return %0 : !torch.vtensor<[?],i1>
}
