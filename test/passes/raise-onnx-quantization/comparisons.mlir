// RUN: torq-opt --split-input-file --raise-onnx-quantization %s | FileCheck %s

// The maximum of quantized values is taken of real values, as in a QDQ model, with the parameters of the producer, which
// reshapes and other movements keep.

// CHECK-LABEL: func.func @max_pool_of_quantized
// CHECK: %[[Q:.*]] = "quantized_decomposed.quantize_per_tensor"(%arg0
// CHECK: %[[R:.*]] = torch.operator "onnx.Transpose"(%[[Q]])
// CHECK-DAG: %[[S:.*]] = torch.vtensor.literal(dense<5.000000e-01> : tensor<f32>)
// CHECK-DAG: %[[Z:.*]] = torch.vtensor.literal(dense<128> : tensor<ui8>)
// CHECK: %[[X:.*]] = "quantized_decomposed.dequantize_per_tensor"(%[[R]], %[[S]], %[[Z]]) {dtype = ui8
// CHECK: %[[M:.*]] = torch.operator "onnx.MaxPool"(%[[X]]) {torch.onnx.kernel_shape = [2 : si64, 2 : si64], torch.onnx.strides = [2 : si64, 2 : si64]} : (!torch.vtensor<[1,3,8,8],f32>) -> !torch.vtensor<[1,3,4,4],f32>
// CHECK: "quantized_decomposed.quantize_per_tensor"(%[[M]], {{.*}}) {divide, dtype = ui8, quant_max = 255 : i64, quant_min = 0 : i64}
func.func @max_pool_of_quantized(%x: !torch.vtensor<[1,3,8,8],f32>) -> !torch.vtensor<[1,3,4,4],ui8> {
  %s = torch.operator "onnx.Constant"() {torch.onnx.value = dense<0.5> : tensor<f32>} : () -> !torch.vtensor<[],f32>
  %z = torch.operator "onnx.Constant"() {torch.onnx.value = dense<128> : tensor<ui8>} : () -> !torch.vtensor<[],ui8>
  %q = torch.operator "onnx.QuantizeLinear"(%x, %s, %z) : (!torch.vtensor<[1,3,8,8],f32>, !torch.vtensor<[],f32>, !torch.vtensor<[],ui8>) -> !torch.vtensor<[1,3,8,8],ui8>
  %t = torch.operator "onnx.Transpose"(%q) {torch.onnx.perm = [0 : si64, 1 : si64, 3 : si64, 2 : si64]} : (!torch.vtensor<[1,3,8,8],ui8>) -> !torch.vtensor<[1,3,8,8],ui8>
  %m = torch.operator "onnx.MaxPool"(%t) {torch.onnx.kernel_shape = [2 : si64, 2 : si64], torch.onnx.strides = [2 : si64, 2 : si64]} : (!torch.vtensor<[1,3,8,8],ui8>) -> !torch.vtensor<[1,3,4,4],ui8>
  return %m : !torch.vtensor<[1,3,4,4],ui8>
}

// -----

// Where the parameters are not known, scale 1 and zero point 0 give the same integers.

// CHECK-LABEL: func.func @max_pool_of_input
// CHECK-DAG: %[[S:.*]] = torch.vtensor.literal(dense<1.000000e+00> : tensor<f32>)
// CHECK-DAG: %[[Z:.*]] = torch.vtensor.literal(dense<0> : tensor<si8>)
// CHECK: "quantized_decomposed.dequantize_per_tensor"(%arg0, %[[S]], %[[Z]])
// CHECK: torch.operator "onnx.MaxPool"
// CHECK: "quantized_decomposed.quantize_per_tensor"
func.func @max_pool_of_input(%x: !torch.vtensor<[1,3,8,8],si8>) -> !torch.vtensor<[1,3,4,4],si8> {
  %m = torch.operator "onnx.MaxPool"(%x) {torch.onnx.kernel_shape = [2 : si64, 2 : si64], torch.onnx.strides = [2 : si64, 2 : si64]} : (!torch.vtensor<[1,3,8,8],si8>) -> !torch.vtensor<[1,3,4,4],si8>
  return %m : !torch.vtensor<[1,3,4,4],si8>
}

// -----

// The bounds of a clip are real constants.

// CHECK-LABEL: func.func @clip
// CHECK: %[[X:.*]] = "quantized_decomposed.dequantize_per_tensor"(%[[Q:.*]], {{.*}}) {dtype = ui8
// CHECK: %[[LOW:.*]] = torch.vtensor.literal(dense<-6.300000e+01> : tensor<f32>)
// CHECK: torch.operator "onnx.Clip"(%[[X]], %[[LOW]], %{{.*}}) : (!torch.vtensor<[4],f32>, !torch.vtensor<[],f32>, !torch.none) -> !torch.vtensor<[4],f32>
// CHECK: "quantized_decomposed.quantize_per_tensor"
func.func @clip(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],ui8> {
  %none = torch.constant.none
  %s = torch.operator "onnx.Constant"() {torch.onnx.value = dense<0.5> : tensor<f32>} : () -> !torch.vtensor<[],f32>
  %z = torch.operator "onnx.Constant"() {torch.onnx.value = dense<128> : tensor<ui8>} : () -> !torch.vtensor<[],ui8>
  %low = torch.operator "onnx.Constant"() {torch.onnx.value = dense<2> : tensor<ui8>} : () -> !torch.vtensor<[],ui8>
  %q = torch.operator "onnx.QuantizeLinear"(%x, %s, %z) : (!torch.vtensor<[4],f32>, !torch.vtensor<[],f32>, !torch.vtensor<[],ui8>) -> !torch.vtensor<[4],ui8>
  %c = torch.operator "onnx.Clip"(%q, %low, %none) : (!torch.vtensor<[4],ui8>, !torch.vtensor<[],ui8>, !torch.none) -> !torch.vtensor<[4],ui8>
  return %c : !torch.vtensor<[4],ui8>
}

// -----

// CHECK-LABEL: func.func @arg_max
// CHECK: %[[X:.*]] = "quantized_decomposed.dequantize_per_tensor"(%arg0
// CHECK: %[[I:.*]] = torch.operator "onnx.ArgMax"(%[[X]]) {torch.onnx.axis = 1 : si64, torch.onnx.keepdims = 0 : si64}
// CHECK: return %[[I]]
func.func @arg_max(%x: !torch.vtensor<[2,4],ui8>) -> !torch.vtensor<[2],si64> {
  %i = torch.operator "onnx.ArgMax"(%x) {torch.onnx.axis = 1 : si64, torch.onnx.keepdims = 0 : si64} : (!torch.vtensor<[2,4],ui8>) -> !torch.vtensor<[2],si64>
  return %i : !torch.vtensor<[2],si64>
}

// -----

// Real values, and integers that f32 does not hold, are none of this pass's.

// CHECK-LABEL: func.func @others
// CHECK-NOT: quantize
// CHECK: return
func.func @others(%x: !torch.vtensor<[1,3,8,8],f32>, %i: !torch.vtensor<[1,3,8,8],si32>) -> (!torch.vtensor<[1,3,4,4],f32>, !torch.vtensor<[1,3,4,4],si32>) {
  %m = torch.operator "onnx.MaxPool"(%x) {torch.onnx.kernel_shape = [2 : si64, 2 : si64], torch.onnx.strides = [2 : si64, 2 : si64]} : (!torch.vtensor<[1,3,8,8],f32>) -> !torch.vtensor<[1,3,4,4],f32>
  %n = torch.operator "onnx.MaxPool"(%i) {torch.onnx.kernel_shape = [2 : si64, 2 : si64], torch.onnx.strides = [2 : si64, 2 : si64]} : (!torch.vtensor<[1,3,8,8],si32>) -> !torch.vtensor<[1,3,4,4],si32>
  return %m, %n : !torch.vtensor<[1,3,4,4],f32>, !torch.vtensor<[1,3,4,4],si32>
}
