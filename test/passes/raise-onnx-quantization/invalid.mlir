// RUN: torq-opt --split-input-file --raise-onnx-quantization --verify-diagnostics %s

func.func @zero_point_of_other_sign(%x: !torch.vtensor<[4],si8>) -> !torch.vtensor<[4],f32> {
  %s = torch.operator "onnx.Constant"() {torch.onnx.value = dense<0.5> : tensor<f32>} : () -> !torch.vtensor<[],f32>
  %z = torch.operator "onnx.Constant"() {torch.onnx.value = dense<0> : tensor<ui8>} : () -> !torch.vtensor<[],ui8>
  // expected-error@+1 {{DequantizeLinear: the zero point has element type ui8; si8 is needed}}
  %y = torch.operator "onnx.DequantizeLinear"(%x, %s, %z) : (!torch.vtensor<[4],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],ui8>) -> !torch.vtensor<[4],f32>
  return %y : !torch.vtensor<[4],f32>
}

// -----

func.func @float_zero_point(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],si8> {
  %s = torch.operator "onnx.Constant"() {torch.onnx.value = dense<0.5> : tensor<f32>} : () -> !torch.vtensor<[],f32>
  %z = torch.operator "onnx.Constant"() {torch.onnx.value = dense<0.0> : tensor<f32>} : () -> !torch.vtensor<[],f32>
  // expected-error@+1 {{QuantizeLinear: the zero point has element type f32; si8 is needed}}
  %y = torch.operator "onnx.QuantizeLinear"(%x, %s, %z) : (!torch.vtensor<[4],f32>, !torch.vtensor<[],f32>, !torch.vtensor<[],f32>) -> !torch.vtensor<[4],si8>
  return %y : !torch.vtensor<[4],si8>
}

// -----

func.func @integer_scale(%x: !torch.vtensor<[4],si8>) -> !torch.vtensor<[4],f32> {
  %s = torch.operator "onnx.Constant"() {torch.onnx.value = dense<1> : tensor<si32>} : () -> !torch.vtensor<[],si32>
  // expected-error@+1 {{DequantizeLinear: the scale has element type si32; a float type is needed}}
  %y = torch.operator "onnx.DequantizeLinear"(%x, %s) : (!torch.vtensor<[4],si8>, !torch.vtensor<[],si32>) -> !torch.vtensor<[4],f32>
  return %y : !torch.vtensor<[4],f32>
}

// -----

func.func @integer_input(%x: !torch.vtensor<[4],si16>) -> !torch.vtensor<[4],si8> {
  %s = torch.operator "onnx.Constant"() {torch.onnx.value = dense<0.5> : tensor<f32>} : () -> !torch.vtensor<[],f32>
  // expected-error@+1 {{QuantizeLinear: the input has element type si16; a float type or si32 is needed}}
  %y = torch.operator "onnx.QuantizeLinear"(%x, %s) : (!torch.vtensor<[4],si16>, !torch.vtensor<[],f32>) -> !torch.vtensor<[4],si8>
  return %y : !torch.vtensor<[4],si8>
}

// -----

func.func @number_of_scales(%x: !torch.vtensor<[4],si8>) -> !torch.vtensor<[4],f32> {
  %s = torch.operator "onnx.Constant"() {torch.onnx.value = dense<[0.5, 1.0, 2.0]> : tensor<3xf32>} : () -> !torch.vtensor<[3],f32>
  // expected-error@+1 {{DequantizeLinear: there are 3 scales for dimension 0 of size 4}}
  %y = torch.operator "onnx.DequantizeLinear"(%x, %s) {torch.onnx.axis = 0 : si64} : (!torch.vtensor<[4],si8>, !torch.vtensor<[3],f32>) -> !torch.vtensor<[4],f32>
  return %y : !torch.vtensor<[4],f32>
}

// -----

func.func @number_of_zero_points(%x: !torch.vtensor<[4],si8>) -> !torch.vtensor<[4],f32> {
  %s = torch.operator "onnx.Constant"() {torch.onnx.value = dense<[0.5, 1.0, 2.0, 4.0]> : tensor<4xf32>} : () -> !torch.vtensor<[4],f32>
  %z = torch.operator "onnx.Constant"() {torch.onnx.value = dense<[1, 2]> : tensor<2xsi8>} : () -> !torch.vtensor<[2],si8>
  // expected-error@+1 {{DequantizeLinear: there are 2 zero points for 4 scales}}
  %y = torch.operator "onnx.DequantizeLinear"(%x, %s, %z) {torch.onnx.axis = 0 : si64} : (!torch.vtensor<[4],si8>, !torch.vtensor<[4],f32>, !torch.vtensor<[2],si8>) -> !torch.vtensor<[4],f32>
  return %y : !torch.vtensor<[4],f32>
}

// -----

func.func @axis_out_of_range(%x: !torch.vtensor<[4],si8>) -> !torch.vtensor<[4],f32> {
  %s = torch.operator "onnx.Constant"() {torch.onnx.value = dense<[0.5, 1.0, 2.0, 4.0]> : tensor<4xf32>} : () -> !torch.vtensor<[4],f32>
  // expected-error@+1 {{DequantizeLinear: the axis -2 is out of range for 1 dimensions}}
  %y = torch.operator "onnx.DequantizeLinear"(%x, %s) {torch.onnx.axis = -2 : si64} : (!torch.vtensor<[4],si8>, !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32>
  return %y : !torch.vtensor<[4],f32>
}

// -----

func.func @scales_of_sum(%x: !torch.vtensor<[2,4],si8>) -> !torch.vtensor<[2,4],si8> {
  %s = torch.operator "onnx.Constant"() {torch.onnx.value = dense<0.5> : tensor<f32>} : () -> !torch.vtensor<[],f32>
  %s4 = torch.operator "onnx.Constant"() {torch.onnx.value = dense<[0.5, 1.0, 2.0, 4.0]> : tensor<4xf32>} : () -> !torch.vtensor<[4],f32>
  %z = torch.operator "onnx.Constant"() {torch.onnx.value = dense<0> : tensor<si8>} : () -> !torch.vtensor<[],si8>
  // expected-error@+1 {{QLinearAdd: there are 4 scales of the first input where the operator takes one}}
  %y = torch.operator "onnx.QLinearAdd"(%x, %s4, %z, %x, %s, %z, %s, %z) : (!torch.vtensor<[2,4],si8>, !torch.vtensor<[4],f32>, !torch.vtensor<[],si8>, !torch.vtensor<[2,4],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>) -> !torch.vtensor<[2,4],si8>
  return %y : !torch.vtensor<[2,4],si8>
}

// -----

func.func @bias_type(%x: !torch.vtensor<[1,1,4,4],si8>, %b: !torch.vtensor<[1],f32>) -> !torch.vtensor<[1,1,4,4],si8> {
  %s = torch.operator "onnx.Constant"() {torch.onnx.value = dense<0.5> : tensor<f32>} : () -> !torch.vtensor<[],f32>
  %z = torch.operator "onnx.Constant"() {torch.onnx.value = dense<0> : tensor<si8>} : () -> !torch.vtensor<[],si8>
  %w = torch.operator "onnx.Constant"() {torch.onnx.value = dense<1> : tensor<1x1x1x1xsi8>} : () -> !torch.vtensor<[1,1,1,1],si8>
  // expected-error@+1 {{QLinearConv: the bias has element type f32; si32 is needed}}
  %y = torch.operator "onnx.QLinearConv"(%x, %s, %z, %w, %s, %z, %s, %z, %b) : (!torch.vtensor<[1,1,4,4],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>, !torch.vtensor<[1,1,1,1],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>, !torch.vtensor<[1],f32>) -> !torch.vtensor<[1,1,4,4],si8>
  return %y : !torch.vtensor<[1,1,4,4],si8>
}

// -----

func.func @channels_last(%x: !torch.vtensor<[1,4,4,3],si8>) -> !torch.vtensor<[1,1,1,3],si8> {
  %s = torch.operator "onnx.Constant"() {torch.onnx.value = dense<0.5> : tensor<f32>} : () -> !torch.vtensor<[],f32>
  %z = torch.operator "onnx.Constant"() {torch.onnx.value = dense<0> : tensor<si8>} : () -> !torch.vtensor<[],si8>
  // expected-error@+1 {{QLinearGlobalAveragePool: the channels-last layout is not supported}}
  %y = torch.operator "onnx.QLinearGlobalAveragePool"(%x, %s, %z, %s, %z) {torch.onnx.channels_last = 1 : si64} : (!torch.vtensor<[1,4,4,3],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>) -> !torch.vtensor<[1,1,1,3],si8>
  return %y : !torch.vtensor<[1,1,1,3],si8>
}

// -----

func.func @softmax_over_two_dimensions(%x: !torch.vtensor<[2,4,3],si8>) -> !torch.vtensor<[2,4,3],si8> {
  %s = torch.operator "onnx.Constant"() {torch.onnx.value = dense<0.5> : tensor<f32>} : () -> !torch.vtensor<[],f32>
  %z = torch.operator "onnx.Constant"() {torch.onnx.value = dense<0> : tensor<si8>} : () -> !torch.vtensor<[],si8>
  // expected-error@+1 {{QLinearSoftmax: a softmax over several dimensions (opset 12 and earlier) is not supported}}
  %y = torch.operator "onnx.QLinearSoftmax"(%x, %s, %z, %s, %z) {torch.onnx.axis = 1 : si64, torch.onnx.opset = 12 : si64} : (!torch.vtensor<[2,4,3],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>) -> !torch.vtensor<[2,4,3],si8>
  return %y : !torch.vtensor<[2,4,3],si8>
}

// -----

func.func @unknown_type(%x: !torch.vtensor<[2,4],si8>) -> !torch.none {
  %s = torch.operator "onnx.Constant"() {torch.onnx.value = dense<0.5> : tensor<f32>} : () -> !torch.vtensor<[],f32>
  %z = torch.operator "onnx.Constant"() {torch.onnx.value = dense<0> : tensor<si8>} : () -> !torch.vtensor<[],si8>
  // expected-error@+1 {{Mystery: the type of the result is unknown, and the operator is not one of ONNX}}
  %y = torch.operator "onnx.Mystery"(%x) : (!torch.vtensor<[2,4],si8>) -> !torch.none
  return %y : !torch.none
}

// -----

func.func @operands_do_not_fit(%x: !torch.vtensor<[2,4],si8>, %w: !torch.vtensor<[3],si8>) -> !torch.none {
  %s = torch.operator "onnx.Constant"() {torch.onnx.value = dense<0.5> : tensor<f32>} : () -> !torch.vtensor<[],f32>
  %z = torch.operator "onnx.Constant"() {torch.onnx.value = dense<0> : tensor<si8>} : () -> !torch.vtensor<[],si8>
  // expected-error-re@+1 {{QLinearAdd: {{.*}}Incompatible dimensions}}
  %y = torch.operator "onnx.QLinearAdd"(%x, %s, %z, %w, %s, %z, %s, %z) : (!torch.vtensor<[2,4],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>, !torch.vtensor<[3],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>) -> !torch.none
  return %y : !torch.none
}

// -----

func.func @block_size(%x: !torch.vtensor<[6],si8>) -> !torch.vtensor<[6],f32> {
  %s = torch.operator "onnx.Constant"() {torch.onnx.value = dense<[0.5, 1.0]> : tensor<2xf32>} : () -> !torch.vtensor<[2],f32>
  // expected-error@+1 {{DequantizeLinear: blocks of 4 elements do not divide dimension 0 of size 6}}
  %y = torch.operator "onnx.DequantizeLinear"(%x, %s) {torch.onnx.axis = 0 : si64, torch.onnx.block_size = 4 : si64} : (!torch.vtensor<[6],si8>, !torch.vtensor<[2],f32>) -> !torch.vtensor<[6],f32>
  return %y : !torch.vtensor<[6],f32>
}

// -----

func.func @scales_of_blocks(%x: !torch.vtensor<[6],si8>) -> !torch.vtensor<[6],f32> {
  %s = torch.operator "onnx.Constant"() {torch.onnx.value = dense<[0.5, 1.0]> : tensor<2xf32>} : () -> !torch.vtensor<[2],f32>
  // expected-error@+1 {{DequantizeLinear: scales of shape [2] do not fit blocks of 2: [3] is needed}}
  %y = torch.operator "onnx.DequantizeLinear"(%x, %s) {torch.onnx.axis = 0 : si64, torch.onnx.block_size = 2 : si64} : (!torch.vtensor<[6],si8>, !torch.vtensor<[2],f32>) -> !torch.vtensor<[6],f32>
  return %y : !torch.vtensor<[6],f32>
}

// -----

func.func @scales_of_unknown_number(%x: !torch.vtensor<[6],si8>, %s: !torch.vtensor<[?],f32>) -> !torch.vtensor<[6],f32> {
  // expected-error@+1 {{DequantizeLinear: the number of elements of the scale is not known}}
  %y = torch.operator "onnx.DequantizeLinear"(%x, %s) {torch.onnx.axis = 0 : si64} : (!torch.vtensor<[6],si8>, !torch.vtensor<[?],f32>) -> !torch.vtensor<[6],f32>
  return %y : !torch.vtensor<[6],f32>
}

// -----

// Zero points along the dimension that is summed over are those of no row.

func.func @zero_points_of_depth(%a: !torch.vtensor<[2,3],ui8>, %b: !torch.vtensor<[3,4],si8>, %z: !torch.vtensor<[2,3],ui8>) -> !torch.vtensor<[2,4],si32> {
  // expected-error@+1 {{MatMulInteger: the zero point of the first input has shape [2, 3], which does not fit a tensor of shape [2, 3]}}
  %y = torch.operator "onnx.MatMulInteger"(%a, %b, %z) : (!torch.vtensor<[2,3],ui8>, !torch.vtensor<[3,4],si8>, !torch.vtensor<[2,3],ui8>) -> !torch.vtensor<[2,4],si32>
  return %y : !torch.vtensor<[2,4],si32>
}

// -----

func.func @zero_points_of_columns(%a: !torch.vtensor<[2,3],ui8>, %b: !torch.vtensor<[3,4],si8>, %z: !torch.vtensor<[3],si8>) -> !torch.vtensor<[2,4],si32> {
  %none = torch.constant.none
  // expected-error@+1 {{MatMulInteger: the zero point of the second input has shape [3], which does not fit a tensor of shape [3, 4]}}
  %y = torch.operator "onnx.MatMulInteger"(%a, %b, %none, %z) : (!torch.vtensor<[2,3],ui8>, !torch.vtensor<[3,4],si8>, !torch.none, !torch.vtensor<[3],si8>) -> !torch.vtensor<[2,4],si32>
  return %y : !torch.vtensor<[2,4],si32>
}

// -----

func.func @zero_points_of_image(%x: !torch.vtensor<[1,2,3,3],ui8>, %w: !torch.vtensor<[2,2,1,1],ui8>, %z: !torch.vtensor<[2],ui8>) -> !torch.vtensor<[1,2,3,3],si32> {
  // expected-error@+1 {{ConvInteger: the zero point of the first input has shape [2] where the operator takes one}}
  %y = torch.operator "onnx.ConvInteger"(%x, %w, %z) : (!torch.vtensor<[1,2,3,3],ui8>, !torch.vtensor<[2,2,1,1],ui8>, !torch.vtensor<[2],ui8>) -> !torch.vtensor<[1,2,3,3],si32>
  return %y : !torch.vtensor<[1,2,3,3],si32>
}

// -----

func.func @half_is_not_quantized_dynamically(%x: !torch.vtensor<[4],f16>) -> !torch.vtensor<[4],ui8> {
  // expected-error@+1 {{DynamicQuantizeLinear: the input has element type f16; f32 is needed}}
  %y, %s, %z = torch.operator "onnx.DynamicQuantizeLinear"(%x) : (!torch.vtensor<[4],f16>) -> (!torch.vtensor<[4],ui8>, !torch.vtensor<[],f16>, !torch.vtensor<[],ui8>)
  return %y : !torch.vtensor<[4],ui8>
}

// -----

func.func @packed_weights(%x: !torch.vtensor<[2,32],f32>, %b: !torch.vtensor<[6,2,8],ui8>, %s: !torch.vtensor<[12],f32>) -> !torch.vtensor<[2,6],f32> {
  // expected-error@+1 {{MatMulNBits: the weights are not constant}}
  %y = torch.operator "onnx.MatMulNBits"(%x, %b, %s) {torch.onnx.K = 32 : si64, torch.onnx.N = 6 : si64, torch.onnx.bits = 4 : si64, torch.onnx.block_size = 16 : si64} : (!torch.vtensor<[2,32],f32>, !torch.vtensor<[6,2,8],ui8>, !torch.vtensor<[12],f32>) -> !torch.vtensor<[2,6],f32>
  return %y : !torch.vtensor<[2,6],f32>
}

// -----

func.func @two_bits(%x: !torch.vtensor<[2,32],f32>, %b: !torch.vtensor<[6,2,4],ui8>, %s: !torch.vtensor<[12],f32>) -> !torch.vtensor<[2,6],f32> {
  // expected-error@+1 {{MatMulNBits: weights of 2 bits are not supported}}
  %y = torch.operator "onnx.MatMulNBits"(%x, %b, %s) {torch.onnx.K = 32 : si64, torch.onnx.N = 6 : si64, torch.onnx.bits = 2 : si64, torch.onnx.block_size = 16 : si64} : (!torch.vtensor<[2,32],f32>, !torch.vtensor<[6,2,4],ui8>, !torch.vtensor<[12],f32>) -> !torch.vtensor<[2,6],f32>
  return %y : !torch.vtensor<[2,6],f32>
}
