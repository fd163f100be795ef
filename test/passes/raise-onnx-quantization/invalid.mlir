// RUN: torq-opt --split-input-file --raise-onnx-quantization --verify-diagnostics %s

func.func @runtime_scale(%x: !torch.vtensor<[4],f32>, %s: !torch.vtensor<[],f32>) -> !torch.vtensor<[4],si8> {
  %z = torch.operator "onnx.Constant"() {torch.onnx.value = dense<0> : tensor<si8>} : () -> !torch.vtensor<[],si8>
  // expected-error@+1 {{QuantizeLinear: the scale is not constant}}
  %y = torch.operator "onnx.QuantizeLinear"(%x, %s, %z) : (!torch.vtensor<[4],f32>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>) -> !torch.vtensor<[4],si8>
  return %y : !torch.vtensor<[4],si8>
}

// -----

func.func @runtime_zero_point(%x: !torch.vtensor<[4],f32>, %z: !torch.vtensor<[],si8>) -> !torch.vtensor<[4],si8> {
  %s = torch.operator "onnx.Constant"() {torch.onnx.value = dense<0.5> : tensor<f32>} : () -> !torch.vtensor<[],f32>
  // expected-error@+1 {{QuantizeLinear: the zero point is not constant}}
  %y = torch.operator "onnx.QuantizeLinear"(%x, %s, %z) : (!torch.vtensor<[4],f32>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>) -> !torch.vtensor<[4],si8>
  return %y : !torch.vtensor<[4],si8>
}

// -----

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

func.func @integer_input(%x: !torch.vtensor<[4],si32>) -> !torch.vtensor<[4],si8> {
  %s = torch.operator "onnx.Constant"() {torch.onnx.value = dense<0.5> : tensor<f32>} : () -> !torch.vtensor<[],f32>
  // expected-error@+1 {{QuantizeLinear: the input has element type si32; a float type is needed}}
  %y = torch.operator "onnx.QuantizeLinear"(%x, %s) : (!torch.vtensor<[4],si32>, !torch.vtensor<[],f32>) -> !torch.vtensor<[4],si8>
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

func.func @blocked(%x: !torch.vtensor<[4],si8>) -> !torch.vtensor<[4],f32> {
  %s = torch.operator "onnx.Constant"() {torch.onnx.value = dense<[0.5, 1.0]> : tensor<2xf32>} : () -> !torch.vtensor<[2],f32>
  // expected-error@+1 {{DequantizeLinear: blocked quantization (block_size) is not supported}}
  %y = torch.operator "onnx.DequantizeLinear"(%x, %s) {torch.onnx.axis = 0 : si64, torch.onnx.block_size = 2 : si64} : (!torch.vtensor<[4],si8>, !torch.vtensor<[2],f32>) -> !torch.vtensor<[4],f32>
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

func.func @second_scale(%x: !torch.vtensor<[2,4],si8>, %s2: !torch.vtensor<[],f32>) -> !torch.vtensor<[2,4],si8> {
  %s = torch.operator "onnx.Constant"() {torch.onnx.value = dense<0.5> : tensor<f32>} : () -> !torch.vtensor<[],f32>
  %z = torch.operator "onnx.Constant"() {torch.onnx.value = dense<0> : tensor<si8>} : () -> !torch.vtensor<[],si8>
  // expected-error@+1 {{QLinearAdd: the scale of the second input is not constant}}
  %y = torch.operator "onnx.QLinearAdd"(%x, %s, %z, %x, %s2, %z, %s, %z) : (!torch.vtensor<[2,4],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>, !torch.vtensor<[2,4],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>) -> !torch.vtensor<[2,4],si8>
  return %y : !torch.vtensor<[2,4],si8>
}

// -----

func.func @output_scale(%x: !torch.vtensor<[2,4],si8>, %s2: !torch.vtensor<[],f32>) -> !torch.vtensor<[2,4],si8> {
  %s = torch.operator "onnx.Constant"() {torch.onnx.value = dense<0.5> : tensor<f32>} : () -> !torch.vtensor<[],f32>
  %z = torch.operator "onnx.Constant"() {torch.onnx.value = dense<0> : tensor<si8>} : () -> !torch.vtensor<[],si8>
  // expected-error@+1 {{QLinearAdd: the scale of the result is not constant}}
  %y = torch.operator "onnx.QLinearAdd"(%x, %s, %z, %x, %s, %z, %s2, %z) : (!torch.vtensor<[2,4],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>, !torch.vtensor<[2,4],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>) -> !torch.vtensor<[2,4],si8>
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
