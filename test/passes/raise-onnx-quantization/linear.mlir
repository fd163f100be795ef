// RUN: torq-opt --split-input-file --raise-onnx-quantization %s | FileCheck %s

// ONNX divides by the scale; the result is stored in the type of the zero point.

// CHECK-LABEL: func.func @quantize_per_tensor
// CHECK-DAG: %[[SCALE:.*]] = torch.vtensor.literal(dense<5.000000e-01> : tensor<f32>) : !torch.vtensor<[],f32>
// CHECK-DAG: %[[ZERO:.*]] = torch.vtensor.literal(dense<-3> : tensor<si8>) : !torch.vtensor<[],si8>
// CHECK: %[[Q:.*]] = "quantized_decomposed.quantize_per_tensor"(%arg0, %[[SCALE]], %[[ZERO]]) {divide, dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64}
// CHECK-SAME: -> !torch.vtensor<[2,4],si8>
// CHECK: return %[[Q]]
func.func @quantize_per_tensor(%x: !torch.vtensor<[2,4],f32>) -> !torch.vtensor<[2,4],si8> {
  %s = torch.operator "onnx.Constant"() {torch.onnx.value = dense<5.000000e-01> : tensor<f32>} : () -> !torch.vtensor<[],f32>
  %z = torch.operator "onnx.Constant"() {torch.onnx.value = dense<-3> : tensor<si8>} : () -> !torch.vtensor<[],si8>
  %q = torch.operator "onnx.QuantizeLinear"(%x, %s, %z) : (!torch.vtensor<[2,4],f32>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>) -> !torch.vtensor<[2,4],si8>
  return %q : !torch.vtensor<[2,4],si8>
}

// -----

// A dequantize has no division; its location is that of the node.

// CHECK-LABEL: func.func @dequantize_per_tensor
// CHECK: "quantized_decomposed.dequantize_per_tensor"(%arg0, {{.*}}) {dtype = ui8, quant_max = 255 : i64, quant_min = 0 : i64}
// CHECK-SAME: (!torch.vtensor<[2,4],ui8>, !torch.vtensor<[],f32>, !torch.vtensor<[],ui8>) -> !torch.vtensor<[2,4],f32>
func.func @dequantize_per_tensor(%x: !torch.vtensor<[2,4],ui8>) -> !torch.vtensor<[2,4],f32> {
  %s = torch.operator "onnx.Constant"() {torch.onnx.value = dense<5.000000e-01> : tensor<f32>} : () -> !torch.vtensor<[],f32>
  %z = torch.operator "onnx.Constant"() {torch.onnx.value = dense<200> : tensor<ui8>} : () -> !torch.vtensor<[],ui8>
  %d = torch.operator "onnx.DequantizeLinear"(%x, %s, %z) : (!torch.vtensor<[2,4],ui8>, !torch.vtensor<[],f32>, !torch.vtensor<[],ui8>) -> !torch.vtensor<[2,4],f32>
  return %d : !torch.vtensor<[2,4],f32>
}

// -----

// One scale in a vector is per tensor, whatever the axis says.

// CHECK-LABEL: func.func @one_element_vector
// CHECK-DAG: %[[SCALE:.*]] = torch.vtensor.literal(dense<5.000000e-01> : tensor<f32>)
// CHECK-DAG: %[[ZERO:.*]] = torch.vtensor.literal(dense<7> : tensor<si8>)
// CHECK: "quantized_decomposed.dequantize_per_tensor"(%arg0, %[[SCALE]], %[[ZERO]])
func.func @one_element_vector(%x: !torch.vtensor<[2,4],si8>) -> !torch.vtensor<[2,4],f32> {
  %s = torch.operator "onnx.Constant"() {torch.onnx.value = dense<5.000000e-01> : tensor<1xf32>} : () -> !torch.vtensor<[1],f32>
  %z = torch.operator "onnx.Constant"() {torch.onnx.value = dense<7> : tensor<1xsi8>} : () -> !torch.vtensor<[1],si8>
  %d = torch.operator "onnx.DequantizeLinear"(%x, %s, %z) {torch.onnx.axis = 0 : si64} : (!torch.vtensor<[2,4],si8>, !torch.vtensor<[1],f32>, !torch.vtensor<[1],si8>) -> !torch.vtensor<[2,4],f32>
  return %d : !torch.vtensor<[2,4],f32>
}

// -----

// A negative axis counts from the end.

// CHECK-LABEL: func.func @negative_axis
// CHECK: "quantized_decomposed.dequantize_per_channel"(%arg0, {{.*}}) {axis = 1 : i64, dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64}
// CHECK-SAME: (!torch.vtensor<[4,2,3],si8>, !torch.vtensor<[2],f32>, !torch.vtensor<[2],si8>)
func.func @negative_axis(%x: !torch.vtensor<[4,2,3],si8>) -> !torch.vtensor<[4,2,3],f32> {
  %s = torch.operator "onnx.Constant"() {torch.onnx.value = dense<[5.000000e-01, 2.500000e-01]> : tensor<2xf32>} : () -> !torch.vtensor<[2],f32>
  %z = torch.operator "onnx.Constant"() {torch.onnx.value = dense<[1, 2]> : tensor<2xsi8>} : () -> !torch.vtensor<[2],si8>
  %d = torch.operator "onnx.DequantizeLinear"(%x, %s, %z) {torch.onnx.axis = -2 : si64} : (!torch.vtensor<[4,2,3],si8>, !torch.vtensor<[2],f32>, !torch.vtensor<[2],si8>) -> !torch.vtensor<[4,2,3],f32>
  return %d : !torch.vtensor<[4,2,3],f32>
}

// -----

// The axis is 1 when the node does not say; one zero point serves all channels.

// CHECK-LABEL: func.func @default_axis
// CHECK: %[[ZERO:.*]] = torch.vtensor.literal(dense<9> : tensor<2xui8>)
// CHECK: "quantized_decomposed.quantize_per_channel"(%arg0, {{.*}}, %[[ZERO]]) {axis = 1 : i64, divide, dtype = ui8, quant_max = 255 : i64, quant_min = 0 : i64}
func.func @default_axis(%x: !torch.vtensor<[4,2,3],f32>) -> !torch.vtensor<[4,2,3],ui8> {
  %s = torch.operator "onnx.Constant"() {torch.onnx.value = dense<[5.000000e-01, 2.500000e-01]> : tensor<2xf32>} : () -> !torch.vtensor<[2],f32>
  %z = torch.operator "onnx.Constant"() {torch.onnx.value = dense<9> : tensor<2xui8>} : () -> !torch.vtensor<[2],ui8>
  %q = torch.operator "onnx.QuantizeLinear"(%x, %s, %z) : (!torch.vtensor<[4,2,3],f32>, !torch.vtensor<[2],f32>, !torch.vtensor<[2],ui8>) -> !torch.vtensor<[4,2,3],ui8>
  return %q : !torch.vtensor<[4,2,3],ui8>
}

// -----

// An absent zero point is zero, of the type of the stored values.

// CHECK-LABEL: func.func @no_zero_point
// CHECK: %[[ZERO:.*]] = torch.vtensor.literal(dense<0> : tensor<ui8>)
// CHECK: "quantized_decomposed.quantize_per_tensor"(%arg0, {{.*}}, %[[ZERO]])
// CHECK: %[[ZEROS:.*]] = torch.vtensor.literal(dense<0> : tensor<4xui8>)
// CHECK: "quantized_decomposed.dequantize_per_channel"({{.*}}, %[[ZEROS]]) {axis = 1 : i64
func.func @no_zero_point(%x: !torch.vtensor<[2,4],f32>) -> !torch.vtensor<[2,4],f32> {
  %s = torch.operator "onnx.Constant"() {torch.onnx.value = dense<5.000000e-01> : tensor<f32>} : () -> !torch.vtensor<[],f32>
  %s4 = torch.operator "onnx.Constant"() {torch.onnx.value = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>} : () -> !torch.vtensor<[4],f32>
  %none = torch.constant.none
  %q = torch.operator "onnx.QuantizeLinear"(%x, %s) : (!torch.vtensor<[2,4],f32>, !torch.vtensor<[],f32>) -> !torch.vtensor<[2,4],ui8>
  %d = torch.operator "onnx.DequantizeLinear"(%q, %s4, %none) : (!torch.vtensor<[2,4],ui8>, !torch.vtensor<[4],f32>, !torch.none) -> !torch.vtensor<[2,4],f32>
  return %d : !torch.vtensor<[2,4],f32>
}

// -----

// Wider storage, and the i32 bias of a weighted operator with its own scales.

// CHECK-LABEL: func.func @storage_types
// CHECK: "quantized_decomposed.quantize_per_tensor"(%arg0, {{.*}}) {divide, dtype = si16, quant_max = 32767 : i64, quant_min = -32768 : i64}
// CHECK: "quantized_decomposed.dequantize_per_tensor"({{.*}}) {dtype = si16,
// CHECK: "quantized_decomposed.dequantize_per_tensor"(%arg1, {{.*}}) {dtype = ui16, quant_max = 65535 : i64, quant_min = 0 : i64}
// CHECK: "quantized_decomposed.dequantize_per_channel"(%arg2, {{.*}}) {axis = 0 : i64, dtype = si32, quant_max = 2147483647 : i64, quant_min = -2147483648 : i64}
func.func @storage_types(%x: !torch.vtensor<[4],f32>, %u: !torch.vtensor<[4],ui16>, %b: !torch.vtensor<[4],si32>) -> (!torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>) {
  %s = torch.operator "onnx.Constant"() {torch.onnx.value = dense<5.000000e-01> : tensor<f32>} : () -> !torch.vtensor<[],f32>
  %s4 = torch.operator "onnx.Constant"() {torch.onnx.value = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>} : () -> !torch.vtensor<[4],f32>
  %z16 = torch.operator "onnx.Constant"() {torch.onnx.value = dense<-1000> : tensor<si16>} : () -> !torch.vtensor<[],si16>
  %zu16 = torch.operator "onnx.Constant"() {torch.onnx.value = dense<60000> : tensor<ui16>} : () -> !torch.vtensor<[],ui16>
  %q = torch.operator "onnx.QuantizeLinear"(%x, %s, %z16) : (!torch.vtensor<[4],f32>, !torch.vtensor<[],f32>, !torch.vtensor<[],si16>) -> !torch.vtensor<[4],si16>
  %d = torch.operator "onnx.DequantizeLinear"(%q, %s, %z16) : (!torch.vtensor<[4],si16>, !torch.vtensor<[],f32>, !torch.vtensor<[],si16>) -> !torch.vtensor<[4],f32>
  %du = torch.operator "onnx.DequantizeLinear"(%u, %s, %zu16) : (!torch.vtensor<[4],ui16>, !torch.vtensor<[],f32>, !torch.vtensor<[],ui16>) -> !torch.vtensor<[4],f32>
  %db = torch.operator "onnx.DequantizeLinear"(%b, %s4) {torch.onnx.axis = 0 : si64} : (!torch.vtensor<[4],si32>, !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32>
  return %d, %du, %db : !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>
}

// -----

// A scale of half precision makes values of half precision.

// CHECK-LABEL: func.func @half_precision
// CHECK: "quantized_decomposed.dequantize_per_tensor"(%arg0, {{.*}}) {{.*}} : (!torch.vtensor<[4],si8>, !torch.vtensor<[],f16>, !torch.vtensor<[],si8>) -> !torch.vtensor<[4],f16>
func.func @half_precision(%x: !torch.vtensor<[4],si8>) -> !torch.vtensor<[4],f16> {
  %s = torch.operator "onnx.Constant"() {torch.onnx.value = dense<5.000000e-01> : tensor<f16>} : () -> !torch.vtensor<[],f16>
  %d = torch.operator "onnx.DequantizeLinear"(%x, %s) : (!torch.vtensor<[4],si8>, !torch.vtensor<[],f16>) -> !torch.vtensor<[4],f16>
  return %d : !torch.vtensor<[4],f16>
}

// -----

// Other operators stay, and so does an operator of that name that is not from ONNX.

// CHECK-LABEL: func.func @others
// CHECK: torch.operator "onnx.Relu"
// CHECK: torch.operator "other.QuantizeLinear"
func.func @others(%x: !torch.vtensor<[4],f32>) -> (!torch.vtensor<[4],f32>, !torch.vtensor<[4],si8>) {
  %r = torch.operator "onnx.Relu"(%x) : (!torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32>
  %q = torch.operator "other.QuantizeLinear"(%x) : (!torch.vtensor<[4],f32>) -> !torch.vtensor<[4],si8>
  return %r, %q : !torch.vtensor<[4],f32>, !torch.vtensor<[4],si8>
}
