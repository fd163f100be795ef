// RUN: torq-opt %s -split-input-file -verify-diagnostics

func.func @quantize_per_token(%arg0: tensor<4x8xf32>) {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_token' op expected 2 or more operands, but found 1}}
  %0 = "quantized_decomposed.quantize_per_token"(%arg0) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x8xf32>) -> tensor<4x8xi8>
  return
}

// -----

func.func @quantize_per_token(%arg0: tensor<4x8xf32>, %arg1: tensor<4x1xf32>, %arg2: tensor<4x1xi32>, %arg3: tensor<4x1xi32>) {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_token' op operand group starting at #2 requires 0 or 1 element, but found 2}}
  %0 = "quantized_decomposed.quantize_per_token"(%arg0, %arg1, %arg2, %arg3) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x8xf32>, tensor<4x1xf32>, tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x8xi8>
  return
}

// -----

func.func @quantize_per_token(%arg0: tensor<4x8xi8>, %arg1: tensor<4x1xf32>, %arg2: tensor<4x1xi32>) {
  // expected-error-re@+1 {{'quantized_decomposed.quantize_per_token' op operand #0{{.*}} must be tensor of floating-point values, but got 'tensor<4x8xi8>'}}
  %0 = "quantized_decomposed.quantize_per_token"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x8xi8>, tensor<4x1xf32>, tensor<4x1xi32>) -> tensor<4x8xi8>
  return
}

// -----

// Parameters are tensors.
func.func @quantize_per_token(%arg0: tensor<4x8xf32>, %arg1: f32, %arg2: tensor<4x1xi32>) {
  // expected-error-re@+1 {{'quantized_decomposed.quantize_per_token' op operand #1{{.*}} must be tensor of scales, but got 'f32'}}
  %0 = "quantized_decomposed.quantize_per_token"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x8xf32>, f32, tensor<4x1xi32>) -> tensor<4x8xi8>
  return
}

// -----

func.func @quantize_per_token(%arg0: tensor<4x8xf32>, %arg1: tensor<4x1xi32>, %arg2: tensor<4x1xi32>) {
  // expected-error-re@+1 {{'quantized_decomposed.quantize_per_token' op operand #1{{.*}} must be tensor of scales, but got 'tensor<4x1xi32>'}}
  %0 = "quantized_decomposed.quantize_per_token"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x8xf32>, tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x8xi8>
  return
}

// -----

func.func @quantize_per_token(%arg0: tensor<4x8xf32>, %arg1: tensor<4x1xcomplex<f32>>, %arg2: tensor<4x1xi32>) {
  // expected-error-re@+1 {{'quantized_decomposed.quantize_per_token' op operand #1{{.*}} must be tensor of scales, but got 'tensor<4x1xcomplex<f32>>'}}
  %0 = "quantized_decomposed.quantize_per_token"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x8xf32>, tensor<4x1xcomplex<f32>>, tensor<4x1xi32>) -> tensor<4x8xi8>
  return
}

// -----

func.func @quantize_per_token(%arg0: tensor<4x8xf32>, %arg1: tensor<4x1xf32>, %arg2: tensor<4x1xi1>) {
  // expected-error-re@+1 {{'quantized_decomposed.quantize_per_token' op operand #2{{.*}} must be tensor of integer or floating-point zero points, but got 'tensor<4x1xi1>'}}
  %0 = "quantized_decomposed.quantize_per_token"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x8xf32>, tensor<4x1xf32>, tensor<4x1xi1>) -> tensor<4x8xi8>
  return
}

// -----

// One for each row, with a dimension of size 1.
func.func @quantize_per_token(%arg0: tensor<4x8xf32>, %arg1: tensor<4xf32>, %arg2: tensor<4x1xi32>) {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_token' op operand 'scales' must have shape 4x1, but got 'tensor<4xf32>'}}
  %0 = "quantized_decomposed.quantize_per_token"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x8xf32>, tensor<4xf32>, tensor<4x1xi32>) -> tensor<4x8xi8>
  return
}

// -----

func.func @quantize_per_token(%arg0: tensor<4x8xf32>, %arg1: tensor<3x1xf32>, %arg2: tensor<4x1xi32>) {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_token' op operand 'scales' must have shape 4x1, but got 'tensor<3x1xf32>'}}
  %0 = "quantized_decomposed.quantize_per_token"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x8xf32>, tensor<3x1xf32>, tensor<4x1xi32>) -> tensor<4x8xi8>
  return
}

// -----

func.func @quantize_per_token(%arg0: tensor<4x8xf32>, %arg1: tensor<4x1xf32>, %arg2: tensor<4x8xi32>) {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_token' op operand 'zero_points' must have shape 4x1, but got 'tensor<4x8xi32>'}}
  %0 = "quantized_decomposed.quantize_per_token"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x8xf32>, tensor<4x1xf32>, tensor<4x8xi32>) -> tensor<4x8xi8>
  return
}

// -----

func.func @quantize_per_token(%arg0: tensor<f32>, %arg1: tensor<f32>) {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_token' op operand 'input' must have rank 1 or more}}
  %0 = "quantized_decomposed.quantize_per_token"(%arg0, %arg1) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<f32>, tensor<f32>) -> tensor<i8>
  return
}

// -----

func.func @quantize_per_token(%arg0: tensor<4x8xf32>, %arg1: tensor<4x1xf32>, %arg2: tensor<4x1xi32>) {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_token' op result #0 ('output') must have the inferred shape 4x8, but got 'tensor<8x4xi8>'}}
  %0 = "quantized_decomposed.quantize_per_token"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x8xf32>, tensor<4x1xf32>, tensor<4x1xi32>) -> tensor<8x4xi8>
  return
}

// -----

func.func @quantize_per_token(%arg0: tensor<4x8xf32>, %arg1: tensor<4x1xf32>, %arg2: tensor<4x1xi32>) {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_token' op 'output' must have element type i16 for 'dtype' si16, but got 'tensor<4x8xi8>'}}
  %0 = "quantized_decomposed.quantize_per_token"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si16} : (tensor<4x8xf32>, tensor<4x1xf32>, tensor<4x1xi32>) -> tensor<4x8xi8>
  return
}

// -----

func.func @quantize_per_token(%arg0: tensor<4x8xf32>, %arg1: tensor<4x1xf32>, %arg2: tensor<4x1xi32>) {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_token' op attribute 'quant_min' (-129) must lie within the range of si8, -128 to 127}}
  %0 = "quantized_decomposed.quantize_per_token"(%arg0, %arg1, %arg2) {quant_min = -129 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x8xf32>, tensor<4x1xf32>, tensor<4x1xi32>) -> tensor<4x8xi8>
  return
}

// -----

func.func @quantize_per_token(%arg0: tensor<4x8xf32>, %arg1: tensor<4x1xf32>, %arg2: tensor<4x1xi32>) {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_token' op requires attribute 'quant_min'}}
  %0 = "quantized_decomposed.quantize_per_token"(%arg0, %arg1, %arg2) {quant_max = 127 : i64, dtype = si8} : (tensor<4x8xf32>, tensor<4x1xf32>, tensor<4x1xi32>) -> tensor<4x8xi8>
  return
}

// -----

// Tokens are not divided in ONNX.
func.func @quantize_per_token(%arg0: tensor<4x8xf32>, %arg1: tensor<4x1xf32>, %arg2: tensor<4x1xi32>) {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_token' op has no attribute 'divide'; a discardable attribute has the prefix of a dialect}}
  %0 = "quantized_decomposed.quantize_per_token"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<4x8xf32>, tensor<4x1xf32>, tensor<4x1xi32>) -> tensor<4x8xi8>
  return
}

// -----

func.func @quantize_per_token(%arg0: tensor<4x8xf32>, %arg1: tensor<4x1xf32>, %arg2: tensor<4x1xi32>) {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_token' op attribute 'round_first' failed to satisfy constraint: unit attribute}}
  %0 = "quantized_decomposed.quantize_per_token"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, round_first = true} : (tensor<4x8xf32>, tensor<4x1xf32>, tensor<4x1xi32>) -> tensor<4x8xi8>
  return
}

// -----

// What the ODS can not see in a torch tensor.
func.func @quantize_per_token(%arg0: !torch.vtensor<[4,8],si8>, %arg1: !torch.vtensor<[4,1],f32>) {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_token' op 'input' must have a floating-point element type, but got '!torch.vtensor<[4,8],si8>'}}
  %0 = "quantized_decomposed.quantize_per_token"(%arg0, %arg1) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (!torch.vtensor<[4,8],si8>, !torch.vtensor<[4,1],f32>) -> !torch.vtensor<[4,8],si8>
  return
}

// -----

func.func @quantize_per_token(%arg0: !torch.vtensor<[4,8],f32>, %arg1: !torch.vtensor<[4,1],si32>) {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_token' op 'scales' must have a floating-point element type, but got '!torch.vtensor<[4,1],si32>'}}
  %0 = "quantized_decomposed.quantize_per_token"(%arg0, %arg1) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (!torch.vtensor<[4,8],f32>, !torch.vtensor<[4,1],si32>) -> !torch.vtensor<[4,8],si8>
  return
}

// -----

func.func @quantize_per_token(%arg0: !torch.vtensor<[4,8],complex<f32>>, %arg1: !torch.vtensor<[4,1],f32>) {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_token' op 'input' must have a floating-point element type, but got '!torch.vtensor<[4,8],complex<f32>>'}}
  %0 = "quantized_decomposed.quantize_per_token"(%arg0, %arg1) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (!torch.vtensor<[4,8],complex<f32>>, !torch.vtensor<[4,1],f32>) -> !torch.vtensor<[4,8],si8>
  return
}

// -----

// On builtin tensors this zero point would be taken for an unsigned one.
func.func @quantize_per_token(%arg0: !torch.vtensor<[4,8],f32>, %arg1: !torch.vtensor<[4,1],f32>, %arg2: !torch.vtensor<[4,1],si8>) {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_token' op 'zero_points' of 8 bits must be unsigned for 'dtype' ui8, but got '!torch.vtensor<[4,1],si8>'}}
  %0 = "quantized_decomposed.quantize_per_token"(%arg0, %arg1, %arg2) {quant_min = 0 : i64, quant_max = 255 : i64, dtype = ui8} : (!torch.vtensor<[4,8],f32>, !torch.vtensor<[4,1],f32>, !torch.vtensor<[4,1],si8>) -> !torch.vtensor<[4,8],ui8>
  return
}

// -----

func.func @dequantize_per_token(%arg0: !torch.vtensor<[4,8],ui8>, %arg1: !torch.vtensor<[4,1],f32>, %arg2: !torch.vtensor<[4,1],ui16>) {
  // expected-error@+1 {{'quantized_decomposed.dequantize_per_token' op 'zero_points' of 16 bits must be signed for 'dtype' ui8, but got '!torch.vtensor<[4,1],ui16>'}}
  %0 = "quantized_decomposed.dequantize_per_token"(%arg0, %arg1, %arg2) {quant_min = 0 : i64, quant_max = 255 : i64, dtype = ui8} : (!torch.vtensor<[4,8],ui8>, !torch.vtensor<[4,1],f32>, !torch.vtensor<[4,1],ui16>) -> !torch.vtensor<[4,8],f32>
  return
}

// -----

func.func @dequantize_per_token(%arg0: tensor<4x8xi16>, %arg1: tensor<4x1xf32>, %arg2: tensor<4x1xi32>) {
  // expected-error@+1 {{'quantized_decomposed.dequantize_per_token' op 'input' must have element type i8 for 'dtype' si8, but got 'tensor<4x8xi16>'}}
  %0 = "quantized_decomposed.dequantize_per_token"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x8xi16>, tensor<4x1xf32>, tensor<4x1xi32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @dequantize_per_token(%arg0: tensor<4x8xi8>, %arg1: tensor<4x1xf32>, %arg2: tensor<4x1xi32>) {
  // expected-error-re@+1 {{'quantized_decomposed.dequantize_per_token' op result #0{{.*}} must be tensor of floating-point values, but got 'tensor<4x8xi32>'}}
  %0 = "quantized_decomposed.dequantize_per_token"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x8xi8>, tensor<4x1xf32>, tensor<4x1xi32>) -> tensor<4x8xi32>
  return
}

// -----

func.func @dequantize_per_token(%arg0: tensor<4x8xi8>, %arg1: tensor<4x1xf32>, %arg2: tensor<4x1xi32>) {
  // expected-error@+1 {{'quantized_decomposed.dequantize_per_token' op operand 'input' and the result must both be builtin or both be torch tensors, but are 'tensor<4x8xi8>' and '!torch.vtensor<[4,8],f32>'}}
  %0 = "quantized_decomposed.dequantize_per_token"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x8xi8>, tensor<4x1xf32>, tensor<4x1xi32>) -> !torch.vtensor<[4,8],f32>
  return
}

// -----

func.func @quantize_per_channel_group(%arg0: tensor<4x8xf32>, %arg1: tensor<4x2xf32>, %arg2: tensor<4x2xi32>) {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_channel_group' op requires attribute 'group_size'}}
  %0 = "quantized_decomposed.quantize_per_channel_group"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x8xf32>, tensor<4x2xf32>, tensor<4x2xi32>) -> tensor<4x8xi8>
  return
}

// -----

func.func @quantize_per_channel_group(%arg0: tensor<4x8xf32>, %arg1: tensor<4x2xf32>, %arg2: tensor<4x2xi32>) {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_channel_group' op attribute 'group_size' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  %0 = "quantized_decomposed.quantize_per_channel_group"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, group_size = 0 : i64} : (tensor<4x8xf32>, tensor<4x2xf32>, tensor<4x2xi32>) -> tensor<4x8xi8>
  return
}

// -----

func.func @quantize_per_channel_group(%arg0: tensor<4x8xf32>, %arg1: tensor<4x3xf32>) {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_channel_group' op attribute 'group_size' (3) must divide dimension 1 of 'input', which is 8}}
  %0 = "quantized_decomposed.quantize_per_channel_group"(%arg0, %arg1) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, group_size = 3 : i64} : (tensor<4x8xf32>, tensor<4x3xf32>) -> tensor<4x8xi8>
  return
}

// -----

func.func @quantize_per_channel_group(%arg0: tensor<4x8xf32>, %arg1: tensor<4x2xf32>, %arg2: tensor<4x2xi32>) {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_channel_group' op attribute 'axis' (2) must be a dimension of 'input', of rank 2}}
  %0 = "quantized_decomposed.quantize_per_channel_group"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, group_size = 4 : i64, axis = 2 : i64} : (tensor<4x8xf32>, tensor<4x2xf32>, tensor<4x2xi32>) -> tensor<4x8xi8>
  return
}

// -----

func.func @quantize_per_channel_group(%arg0: tensor<4x8xf32>, %arg1: tensor<4x2xf32>, %arg2: tensor<4x2xi32>) {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_channel_group' op attribute 'axis' (-3) must be a dimension of 'input', of rank 2}}
  %0 = "quantized_decomposed.quantize_per_channel_group"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, group_size = 4 : i64, axis = -3 : i64} : (tensor<4x8xf32>, tensor<4x2xf32>, tensor<4x2xi32>) -> tensor<4x8xi8>
  return
}

// -----

func.func @quantize_per_channel_group(%arg0: tensor<4x8xf32>, %arg1: tensor<4x4xf32>, %arg2: tensor<4x2xi32>) {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_channel_group' op operand 'scales' must have shape 4x2, but got 'tensor<4x4xf32>'}}
  %0 = "quantized_decomposed.quantize_per_channel_group"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, group_size = 4 : i64} : (tensor<4x8xf32>, tensor<4x4xf32>, tensor<4x2xi32>) -> tensor<4x8xi8>
  return
}

// -----

// One group for each row, and two rows for each group.
func.func @quantize_per_channel_group(%arg0: tensor<4x8xf32>, %arg1: tensor<2x1xf32>) {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_channel_group' op operand 'scales' must have shape 2x8, but got 'tensor<2x1xf32>'}}
  %0 = "quantized_decomposed.quantize_per_channel_group"(%arg0, %arg1) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, group_size = 2 : i64, axis = 0 : i64} : (tensor<4x8xf32>, tensor<2x1xf32>) -> tensor<4x8xi8>
  return
}

// -----

func.func @quantize_per_channel_group(%arg0: tensor<4x8xf32>, %arg1: tensor<8xf32>, %arg2: tensor<4x2xi32>) {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_channel_group' op operand 'scales' must have shape 4x2, but got 'tensor<8xf32>'}}
  %0 = "quantized_decomposed.quantize_per_channel_group"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, group_size = 4 : i64} : (tensor<4x8xf32>, tensor<8xf32>, tensor<4x2xi32>) -> tensor<4x8xi8>
  return
}

// -----

func.func @quantize_per_channel_group(%arg0: tensor<4x8xf32>, %arg1: tensor<4x2xf32>, %arg2: tensor<4x1xi32>) {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_channel_group' op operand 'zero_points' must have shape 4x2, but got 'tensor<4x1xi32>'}}
  %0 = "quantized_decomposed.quantize_per_channel_group"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, group_size = 4 : i64} : (tensor<4x8xf32>, tensor<4x2xf32>, tensor<4x1xi32>) -> tensor<4x8xi8>
  return
}

// -----

func.func @dequantize_per_channel_group(%arg0: tensor<4x8xi8>, %arg1: tensor<4x2xf32>, %arg2: tensor<4x2xi32>) {
  // expected-error@+1 {{'quantized_decomposed.dequantize_per_channel_group' op result #0 ('output') must have the inferred shape 4x8, but got 'tensor<4x4xf32>'}}
  %0 = "quantized_decomposed.dequantize_per_channel_group"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, group_size = 4 : i64} : (tensor<4x8xi8>, tensor<4x2xf32>, tensor<4x2xi32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @dequantize_per_channel_group(%arg0: tensor<4x8xi8>, %arg1: tensor<4x2xf32>, %arg2: tensor<4x2xi32>) {
  // expected-error@+1 {{'quantized_decomposed.dequantize_per_channel_group' op has no attribute 'divide'; a discardable attribute has the prefix of a dialect}}
  %0 = "quantized_decomposed.dequantize_per_channel_group"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, group_size = 4 : i64, divide} : (tensor<4x8xi8>, tensor<4x2xf32>, tensor<4x2xi32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @dequantize_per_channel_group(%arg0: tensor<4x8xi4>, %arg1: tensor<4x2xf32>) {
  // expected-error@+1 {{'quantized_decomposed.dequantize_per_channel_group' op attribute 'quant_max' (8) must lie within the range of si4, -8 to 7}}
  %0 = "quantized_decomposed.dequantize_per_channel_group"(%arg0, %arg1) {quant_min = -8 : i64, quant_max = 8 : i64, dtype = si4, group_size = 4 : i64} : (tensor<4x8xi4>, tensor<4x2xf32>) -> tensor<4x8xf32>
  return
}

// -----

// Eight bits do not hold the values of a wider type.
func.func @dequantize_per_channel_group(%arg0: tensor<4x8xi8>, %arg1: tensor<4x2xf32>) {
  // expected-error@+1 {{'quantized_decomposed.dequantize_per_channel_group' op 'input' must have element type i4 for 'dtype' si4, but got 'tensor<4x8xi8>'}}
  %0 = "quantized_decomposed.dequantize_per_channel_group"(%arg0, %arg1) {quant_min = -8 : i64, quant_max = 7 : i64, dtype = si4, group_size = 4 : i64} : (tensor<4x8xi8>, tensor<4x2xf32>) -> tensor<4x8xf32>
  return
}
