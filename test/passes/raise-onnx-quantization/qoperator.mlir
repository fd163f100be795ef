// RUN: torq-opt --split-input-file --raise-onnx-quantization %s | FileCheck %s

// Int8 weights per output channel under uint8 activations; the bias has the scale of the accumulator, sx * sw[c], and
// zero point 0.

// CHECK-LABEL: func.func @conv_per_channel
// CHECK: %[[X:.*]] = "quantized_decomposed.dequantize_per_tensor"(%arg0, {{.*}}) {dtype = ui8,
// CHECK: %[[W:.*]] = "quantized_decomposed.dequantize_per_channel"({{.*}}) {axis = 0 : i64, dtype = si8,
// CHECK-DAG: %[[BIAS_SCALE:.*]] = torch.vtensor.literal(dense<[1.250000e-01, 5.000000e-01]> : tensor<2xf32>)
// CHECK-DAG: %[[BIAS_ZERO:.*]] = torch.vtensor.literal(dense<0> : tensor<2xsi32>)
// CHECK: %[[B:.*]] = "quantized_decomposed.dequantize_per_channel"({{.*}}, %[[BIAS_SCALE]], %[[BIAS_ZERO]]) {axis = 0 : i64, dtype = si32,
// CHECK: %[[Y:.*]] = torch.operator "onnx.Conv"(%[[X]], %[[W]], %[[B]]) {torch.onnx.group = 1 : si64, torch.onnx.pads = [1 : si64, 1 : si64, 1 : si64, 1 : si64]}
// CHECK-SAME: -> !torch.vtensor<[1,2,8,8],f32>
// CHECK: %[[Q:.*]] = "quantized_decomposed.quantize_per_tensor"(%[[Y]], {{.*}}) {divide, dtype = ui8, quant_max = 255 : i64, quant_min = 0 : i64}
// CHECK: return %[[Q]]
func.func @conv_per_channel(%x: !torch.vtensor<[1,3,8,8],ui8>) -> !torch.vtensor<[1,2,8,8],ui8> {
  %sx = torch.operator "onnx.Constant"() {torch.onnx.value = dense<0.5> : tensor<f32>} : () -> !torch.vtensor<[],f32>
  %zx = torch.operator "onnx.Constant"() {torch.onnx.value = dense<128> : tensor<ui8>} : () -> !torch.vtensor<[],ui8>
  %w = torch.operator "onnx.Constant"() {torch.onnx.value = dense<1> : tensor<2x3x3x3xsi8>} : () -> !torch.vtensor<[2,3,3,3],si8>
  %sw = torch.operator "onnx.Constant"() {torch.onnx.value = dense<[0.25, 1.0]> : tensor<2xf32>} : () -> !torch.vtensor<[2],f32>
  %zw = torch.operator "onnx.Constant"() {torch.onnx.value = dense<0> : tensor<2xsi8>} : () -> !torch.vtensor<[2],si8>
  %sy = torch.operator "onnx.Constant"() {torch.onnx.value = dense<2.0> : tensor<f32>} : () -> !torch.vtensor<[],f32>
  %zy = torch.operator "onnx.Constant"() {torch.onnx.value = dense<3> : tensor<ui8>} : () -> !torch.vtensor<[],ui8>
  %b = torch.operator "onnx.Constant"() {torch.onnx.value = dense<[10, 20]> : tensor<2xsi32>} : () -> !torch.vtensor<[2],si32>
  %y = torch.operator "onnx.QLinearConv"(%x, %sx, %zx, %w, %sw, %zw, %sy, %zy, %b) {torch.onnx.group = 1 : si64, torch.onnx.pads = [1 : si64, 1 : si64, 1 : si64, 1 : si64]} : (!torch.vtensor<[1,3,8,8],ui8>, !torch.vtensor<[],f32>, !torch.vtensor<[],ui8>, !torch.vtensor<[2,3,3,3],si8>, !torch.vtensor<[2],f32>, !torch.vtensor<[2],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],ui8>, !torch.vtensor<[2],si32>) -> !torch.vtensor<[1,2,8,8],ui8>
  return %y : !torch.vtensor<[1,2,8,8],ui8>
}

// -----

// No bias, and parameters as vectors of one element.

// CHECK-LABEL: func.func @conv_without_bias
// CHECK: "quantized_decomposed.dequantize_per_tensor"(%arg0, {{.*}}) {{.*}} !torch.vtensor<[],f32>, !torch.vtensor<[],si8>)
// CHECK: "quantized_decomposed.dequantize_per_tensor"({{.*}}) {{.*}} !torch.vtensor<[],f32>, !torch.vtensor<[],si8>)
// CHECK: torch.operator "onnx.Conv"(%{{[^,]*}}, %{{[^,]*}}) :
// CHECK-NOT: dequantize
// CHECK: "quantized_decomposed.quantize_per_tensor"
func.func @conv_without_bias(%x: !torch.vtensor<[1,3,8,8],si8>) -> !torch.vtensor<[1,2,6,6],si8> {
  %s = torch.operator "onnx.Constant"() {torch.onnx.value = dense<0.5> : tensor<1xf32>} : () -> !torch.vtensor<[1],f32>
  %z = torch.operator "onnx.Constant"() {torch.onnx.value = dense<1> : tensor<1xsi8>} : () -> !torch.vtensor<[1],si8>
  %w = torch.operator "onnx.Constant"() {torch.onnx.value = dense<1> : tensor<2x3x3x3xsi8>} : () -> !torch.vtensor<[2,3,3,3],si8>
  %y = torch.operator "onnx.QLinearConv"(%x, %s, %z, %w, %s, %z, %s, %z) : (!torch.vtensor<[1,3,8,8],si8>, !torch.vtensor<[1],f32>, !torch.vtensor<[1],si8>, !torch.vtensor<[2,3,3,3],si8>, !torch.vtensor<[1],f32>, !torch.vtensor<[1],si8>, !torch.vtensor<[1],f32>, !torch.vtensor<[1],si8>) -> !torch.vtensor<[1,2,6,6],si8>
  return %y : !torch.vtensor<[1,2,6,6],si8>
}

// -----

// The scales of QGemm run along the columns of its second factor, which are rows with transB; alpha is a factor of the
// scale of the bias too.

// CHECK-LABEL: func.func @gemm
// CHECK: %[[W:.*]] = "quantized_decomposed.dequantize_per_channel"({{.*}}) {axis = 0 : i64, dtype = si8,
// CHECK: %[[BIAS_SCALE:.*]] = torch.vtensor.literal(dense<[2.500000e-01, 1.000000e+00]> : tensor<2xf32>)
// CHECK: %[[B:.*]] = "quantized_decomposed.dequantize_per_channel"({{.*}}, %[[BIAS_SCALE]], {{.*}}) {axis = 0 : i64, dtype = si32,
// CHECK: torch.operator "onnx.Gemm"({{.*}}, %[[W]], %[[B]]) {torch.onnx.alpha = 2.000000e+00 : f32, torch.onnx.transB = 1 : si64}
// CHECK: "quantized_decomposed.quantize_per_tensor"
func.func @gemm(%x: !torch.vtensor<[4,3],si8>) -> !torch.vtensor<[4,2],si8> {
  %sx = torch.operator "onnx.Constant"() {torch.onnx.value = dense<0.5> : tensor<f32>} : () -> !torch.vtensor<[],f32>
  %zx = torch.operator "onnx.Constant"() {torch.onnx.value = dense<1> : tensor<si8>} : () -> !torch.vtensor<[],si8>
  %w = torch.operator "onnx.Constant"() {torch.onnx.value = dense<1> : tensor<2x3xsi8>} : () -> !torch.vtensor<[2,3],si8>
  %sw = torch.operator "onnx.Constant"() {torch.onnx.value = dense<[0.25, 1.0]> : tensor<2xf32>} : () -> !torch.vtensor<[2],f32>
  %zw = torch.operator "onnx.Constant"() {torch.onnx.value = dense<0> : tensor<2xsi8>} : () -> !torch.vtensor<[2],si8>
  %b = torch.operator "onnx.Constant"() {torch.onnx.value = dense<[10, 20]> : tensor<2xsi32>} : () -> !torch.vtensor<[2],si32>
  %sy = torch.operator "onnx.Constant"() {torch.onnx.value = dense<2.0> : tensor<f32>} : () -> !torch.vtensor<[],f32>
  %zy = torch.operator "onnx.Constant"() {torch.onnx.value = dense<3> : tensor<si8>} : () -> !torch.vtensor<[],si8>
  %y = torch.operator "onnx.QGemm"(%x, %sx, %zx, %w, %sw, %zw, %b, %sy, %zy) {torch.onnx.alpha = 2.0 : f32, torch.onnx.transB = 1 : si64} : (!torch.vtensor<[4,3],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>, !torch.vtensor<[2,3],si8>, !torch.vtensor<[2],f32>, !torch.vtensor<[2],si8>, !torch.vtensor<[2],si32>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>) -> !torch.vtensor<[4,2],si8>
  return %y : !torch.vtensor<[4,2],si8>
}

// -----

// Without an output scale the result is real.

// CHECK-LABEL: func.func @gemm_to_float
// CHECK: "quantized_decomposed.dequantize_per_channel"({{.*}}) {axis = 1 : i64, dtype = si8,
// CHECK: %[[Y:.*]] = torch.operator "onnx.Gemm"
// CHECK-NOT: quantize_per_tensor
// CHECK: return %[[Y]]
func.func @gemm_to_float(%x: !torch.vtensor<[4,3],si8>) -> !torch.vtensor<[4,2],f32> {
  %none = torch.constant.none
  %sx = torch.operator "onnx.Constant"() {torch.onnx.value = dense<0.5> : tensor<f32>} : () -> !torch.vtensor<[],f32>
  %zx = torch.operator "onnx.Constant"() {torch.onnx.value = dense<1> : tensor<si8>} : () -> !torch.vtensor<[],si8>
  %w = torch.operator "onnx.Constant"() {torch.onnx.value = dense<1> : tensor<3x2xsi8>} : () -> !torch.vtensor<[3,2],si8>
  %sw = torch.operator "onnx.Constant"() {torch.onnx.value = dense<[0.25, 1.0]> : tensor<2xf32>} : () -> !torch.vtensor<[2],f32>
  %zw = torch.operator "onnx.Constant"() {torch.onnx.value = dense<0> : tensor<2xsi8>} : () -> !torch.vtensor<[2],si8>
  %y = torch.operator "onnx.QGemm"(%x, %sx, %zx, %w, %sw, %zw, %none) : (!torch.vtensor<[4,3],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>, !torch.vtensor<[3,2],si8>, !torch.vtensor<[2],f32>, !torch.vtensor<[2],si8>, !torch.none) -> !torch.vtensor<[4,2],f32>
  return %y : !torch.vtensor<[4,2],f32>
}

// -----

// Scales of a stack of matrices run along their columns.

// CHECK-LABEL: func.func @matmul_3d
// CHECK: "quantized_decomposed.dequantize_per_tensor"(%arg0
// CHECK: "quantized_decomposed.dequantize_per_channel"({{.*}}) {axis = 2 : i64, dtype = si8,
// CHECK: torch.operator "onnx.MatMul"({{.*}}) : (!torch.vtensor<[5,4,3],f32>, !torch.vtensor<[5,3,2],f32>) -> !torch.vtensor<[5,4,2],f32>
func.func @matmul_3d(%x: !torch.vtensor<[5,4,3],ui8>) -> !torch.vtensor<[5,4,2],ui8> {
  %sx = torch.operator "onnx.Constant"() {torch.onnx.value = dense<0.5> : tensor<f32>} : () -> !torch.vtensor<[],f32>
  %zx = torch.operator "onnx.Constant"() {torch.onnx.value = dense<1> : tensor<ui8>} : () -> !torch.vtensor<[],ui8>
  %w = torch.operator "onnx.Constant"() {torch.onnx.value = dense<1> : tensor<5x3x2xsi8>} : () -> !torch.vtensor<[5,3,2],si8>
  %sw = torch.operator "onnx.Constant"() {torch.onnx.value = dense<[0.25, 1.0]> : tensor<2xf32>} : () -> !torch.vtensor<[2],f32>
  %zw = torch.operator "onnx.Constant"() {torch.onnx.value = dense<0> : tensor<2xsi8>} : () -> !torch.vtensor<[2],si8>
  %sy = torch.operator "onnx.Constant"() {torch.onnx.value = dense<2.0> : tensor<f32>} : () -> !torch.vtensor<[],f32>
  %zy = torch.operator "onnx.Constant"() {torch.onnx.value = dense<3> : tensor<ui8>} : () -> !torch.vtensor<[],ui8>
  %y = torch.operator "onnx.QLinearMatMul"(%x, %sx, %zx, %w, %sw, %zw, %sy, %zy) : (!torch.vtensor<[5,4,3],ui8>, !torch.vtensor<[],f32>, !torch.vtensor<[],ui8>, !torch.vtensor<[5,3,2],si8>, !torch.vtensor<[2],f32>, !torch.vtensor<[2],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],ui8>) -> !torch.vtensor<[5,4,2],ui8>
  return %y : !torch.vtensor<[5,4,2],ui8>
}

// -----

// Element-wise operators, with the attributes that the float operator has.

// CHECK-LABEL: func.func @elementwise
// CHECK-COUNT-2: dequantize_per_tensor
// CHECK: torch.operator "onnx.Add"({{.*}}) : (!torch.vtensor<[2,4],f32>, !torch.vtensor<[4],f32>) -> !torch.vtensor<[2,4],f32>
// CHECK: quantize_per_tensor
// CHECK-COUNT-2: dequantize_per_tensor
// CHECK: torch.operator "onnx.Mul"
// CHECK: torch.operator "onnx.LeakyRelu"({{.*}}) {torch.onnx.alpha = 1.000000e-01 : f32}
// CHECK: torch.operator "onnx.Sigmoid"
// CHECK: torch.operator "onnx.Softmax"({{.*}}) {torch.onnx.axis = -1 : si64} :
// CHECK: torch.operator "onnx.Where"(%arg2, {{.*}}) : (!torch.vtensor<[2,4],i1>, !torch.vtensor<[2,4],f32>, !torch.vtensor<[2,4],f32>)
func.func @elementwise(%a: !torch.vtensor<[2,4],si8>, %b: !torch.vtensor<[4],si8>, %c: !torch.vtensor<[2,4],i1>) -> !torch.vtensor<[2,4],si8> {
  %s = torch.operator "onnx.Constant"() {torch.onnx.value = dense<0.5> : tensor<f32>} : () -> !torch.vtensor<[],f32>
  %z = torch.operator "onnx.Constant"() {torch.onnx.value = dense<1> : tensor<si8>} : () -> !torch.vtensor<[],si8>
  %0 = torch.operator "onnx.QLinearAdd"(%a, %s, %z, %b, %s, %z, %s, %z) : (!torch.vtensor<[2,4],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>, !torch.vtensor<[4],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>) -> !torch.vtensor<[2,4],si8>
  %1 = torch.operator "onnx.QLinearMul"(%0, %s, %z, %b, %s, %z, %s, %z) : (!torch.vtensor<[2,4],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>, !torch.vtensor<[4],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>) -> !torch.vtensor<[2,4],si8>
  %2 = torch.operator "onnx.QLinearLeakyRelu"(%1, %s, %z, %s, %z) {torch.onnx.alpha = 0.1 : f32} : (!torch.vtensor<[2,4],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>) -> !torch.vtensor<[2,4],si8>
  %3 = torch.operator "onnx.QLinearSigmoid"(%2, %s, %z, %s, %z) : (!torch.vtensor<[2,4],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>) -> !torch.vtensor<[2,4],si8>
  %4 = torch.operator "onnx.QLinearSoftmax"(%3, %s, %z, %s, %z) {torch.onnx.axis = -1 : si64, torch.onnx.opset = 17 : si64} : (!torch.vtensor<[2,4],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>) -> !torch.vtensor<[2,4],si8>
  %5 = torch.operator "onnx.QLinearWhere"(%c, %4, %s, %z, %3, %s, %z, %s, %z) : (!torch.vtensor<[2,4],i1>, !torch.vtensor<[2,4],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>, !torch.vtensor<[2,4],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>) -> !torch.vtensor<[2,4],si8>
  return %5 : !torch.vtensor<[2,4],si8>
}

// -----

// A concatenation has any number of inputs, each with its own parameters; pooling keeps its window.

// CHECK-LABEL: func.func @concat_and_pool
// CHECK-DAG: %[[S1:.*]] = torch.vtensor.literal(dense<5.000000e-01> : tensor<f32>)
// CHECK: %[[A:.*]] = "quantized_decomposed.dequantize_per_tensor"(%arg0, %[[S1]],
// CHECK: %[[S2:.*]] = torch.vtensor.literal(dense<2.500000e-01> : tensor<f32>)
// CHECK: %[[B:.*]] = "quantized_decomposed.dequantize_per_tensor"(%arg1, %[[S2]],
// CHECK: %[[C:.*]] = "quantized_decomposed.dequantize_per_tensor"(%arg0,
// CHECK: torch.operator "onnx.Concat"(%[[A]], %[[B]], %[[C]]) {torch.onnx.axis = 1 : si64} : {{.*}} -> !torch.vtensor<[1,7,4,4],f32>
// CHECK: torch.operator "onnx.AveragePool"({{.*}}) {torch.onnx.kernel_shape = [2 : si64, 2 : si64]} : (!torch.vtensor<[1,7,4,4],f32>) -> !torch.vtensor<[1,7,3,3],f32>
// CHECK: torch.operator "onnx.GlobalAveragePool"({{[^{]*}}) : (!torch.vtensor<[1,7,3,3],f32>) -> !torch.vtensor<[1,7,1,1],f32>
func.func @concat_and_pool(%a: !torch.vtensor<[1,3,4,4],ui8>, %b: !torch.vtensor<[1,1,4,4],ui8>) -> !torch.vtensor<[1,7,1,1],ui8> {
  %s = torch.operator "onnx.Constant"() {torch.onnx.value = dense<0.5> : tensor<f32>} : () -> !torch.vtensor<[],f32>
  %s2 = torch.operator "onnx.Constant"() {torch.onnx.value = dense<0.25> : tensor<f32>} : () -> !torch.vtensor<[],f32>
  %z = torch.operator "onnx.Constant"() {torch.onnx.value = dense<1> : tensor<ui8>} : () -> !torch.vtensor<[],ui8>
  %0 = torch.operator "onnx.QLinearConcat"(%s, %z, %a, %s, %z, %b, %s2, %z, %a, %s, %z) {torch.onnx.axis = 1 : si64} : (!torch.vtensor<[],f32>, !torch.vtensor<[],ui8>, !torch.vtensor<[1,3,4,4],ui8>, !torch.vtensor<[],f32>, !torch.vtensor<[],ui8>, !torch.vtensor<[1,1,4,4],ui8>, !torch.vtensor<[],f32>, !torch.vtensor<[],ui8>, !torch.vtensor<[1,3,4,4],ui8>, !torch.vtensor<[],f32>, !torch.vtensor<[],ui8>) -> !torch.vtensor<[1,7,4,4],ui8>
  %1 = torch.operator "onnx.QLinearAveragePool"(%0, %s, %z, %s, %z) {torch.onnx.channels_last = 0 : si64, torch.onnx.kernel_shape = [2 : si64, 2 : si64]} : (!torch.vtensor<[1,7,4,4],ui8>, !torch.vtensor<[],f32>, !torch.vtensor<[],ui8>, !torch.vtensor<[],f32>, !torch.vtensor<[],ui8>) -> !torch.vtensor<[1,7,3,3],ui8>
  %2 = torch.operator "onnx.QLinearGlobalAveragePool"(%1, %s, %z, %s, %z) {torch.onnx.channels_last = 0 : si64} : (!torch.vtensor<[1,7,3,3],ui8>, !torch.vtensor<[],f32>, !torch.vtensor<[],ui8>, !torch.vtensor<[],f32>, !torch.vtensor<[],ui8>) -> !torch.vtensor<[1,7,1,1],ui8>
  return %2 : !torch.vtensor<[1,7,1,1],ui8>
}
