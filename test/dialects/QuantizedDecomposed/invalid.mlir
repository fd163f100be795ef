// RUN: torq-opt %s -split-input-file -verify-diagnostics

func.func @quantize_per_tensor(%arg0: tensor<4x3xf32>, %arg1: tensor<f32>) {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_tensor' op expected 3 or more operands, but found 2}}
  %0 = "quantized_decomposed.quantize_per_tensor"(%arg0, %arg1) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xi8>
  return
}

// -----

func.func @quantize_per_tensor(%arg0: tensor<4x3xf32>, %arg1: tensor<f32>, %arg2: tensor<i8>) {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_tensor' op requires attribute 'dtype'}}
  %0 = "quantized_decomposed.quantize_per_tensor"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64} : (tensor<4x3xf32>, tensor<f32>, tensor<i8>) -> tensor<4x3xi8>
  return
}

// -----

// A dtype without signedness.
func.func @quantize_per_tensor(%arg0: tensor<4x3xf32>, %arg1: tensor<f32>, %arg2: tensor<i8>) {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_tensor' op attribute 'dtype' failed to satisfy constraint: storage type: si4, ui4, si8, ui8, si16, ui16 or si32}}
  %0 = "quantized_decomposed.quantize_per_tensor"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = i8} : (tensor<4x3xf32>, tensor<f32>, tensor<i8>) -> tensor<4x3xi8>
  return
}

// -----

func.func @quantize_per_tensor(%arg0: tensor<4x3xf32>, %arg1: tensor<f32>, %arg2: tensor<i8>) {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_tensor' op attribute 'dtype' failed to satisfy constraint: storage type: si4, ui4, si8, ui8, si16, ui16 or si32}}
  %0 = "quantized_decomposed.quantize_per_tensor"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = f32} : (tensor<4x3xf32>, tensor<f32>, tensor<i8>) -> tensor<4x3xi8>
  return
}

// -----

func.func @quantize_per_tensor(%arg0: tensor<4x3xf32>, %arg1: tensor<f32>, %arg2: tensor<i8>) {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_tensor' op attribute 'quant_min' failed to satisfy constraint: 64-bit signless integer attribute}}
  %0 = "quantized_decomposed.quantize_per_tensor"(%arg0, %arg1, %arg2) {quant_min = -128 : i32, quant_max = 127 : i64, dtype = si8} : (tensor<4x3xf32>, tensor<f32>, tensor<i8>) -> tensor<4x3xi8>
  return
}

// -----

func.func @quantize_per_tensor(%arg0: tensor<4x3xf32>, %arg1: tensor<f32>, %arg2: tensor<i8>) {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_tensor' op attribute 'divide' failed to satisfy constraint: unit attribute}}
  %0 = "quantized_decomposed.quantize_per_tensor"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide = true} : (tensor<4x3xf32>, tensor<f32>, tensor<i8>) -> tensor<4x3xi8>
  return
}

// -----

func.func @quantize_per_tensor(%arg0: tensor<4x3xf32>, %arg1: tensor<f32>, %arg2: tensor<i8>) {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_tensor' op has no attribute 'scale'; a discardable attribute has the prefix of a dialect}}
  %0 = "quantized_decomposed.quantize_per_tensor"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, scale = 1.0 : f32} : (tensor<4x3xf32>, tensor<f32>, tensor<i8>) -> tensor<4x3xi8>
  return
}

// -----

func.func @quantize_per_tensor(%arg0: tensor<4x3xi8>, %arg1: tensor<f32>, %arg2: tensor<i8>) {
  // expected-error-re@+1 {{'quantized_decomposed.quantize_per_tensor' op operand #0{{.*}} must be tensor of floating-point values, but got 'tensor<4x3xi8>'}}
  %0 = "quantized_decomposed.quantize_per_tensor"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x3xi8>, tensor<f32>, tensor<i8>) -> tensor<4x3xi8>
  return
}

// -----

func.func @quantize_per_tensor(%arg0: tensor<4x3xf32>, %arg1: tensor<i8>, %arg2: tensor<i8>) {
  // expected-error-re@+1 {{'quantized_decomposed.quantize_per_tensor' op operand #1{{.*}} must be scale: a float or a tensor of floats, but got 'tensor<i8>'}}
  %0 = "quantized_decomposed.quantize_per_tensor"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x3xf32>, tensor<i8>, tensor<i8>) -> tensor<4x3xi8>
  return
}

// -----

func.func @quantize_per_tensor(%arg0: tensor<4x3xf32>, %arg1: tensor<f32>, %arg2: tensor<f32>) {
  // expected-error-re@+1 {{'quantized_decomposed.quantize_per_tensor' op operand #2{{.*}} must be zero point: an integer or a tensor of integers, but got 'tensor<f32>'}}
  %0 = "quantized_decomposed.quantize_per_tensor"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x3xf32>, tensor<f32>, tensor<f32>) -> tensor<4x3xi8>
  return
}

// -----

func.func @quantize_per_tensor(%arg0: tensor<4x3xf32>, %arg1: tensor<f32>, %arg2: tensor<i8>) {
  // expected-error-re@+1 {{'quantized_decomposed.quantize_per_tensor' op result #0{{.*}} must be tensor of quantized values, but got 'tensor<4x3xf32>'}}
  %0 = "quantized_decomposed.quantize_per_tensor"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x3xf32>, tensor<f32>, tensor<i8>) -> tensor<4x3xf32>
  return
}

// -----

func.func @quantize_per_tensor(%arg0: tensor<4x3xf32>, %arg1: tensor<f32>, %arg2: tensor<i8>) {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_tensor' op result #0 ('output') must have the inferred shape 4x3, but got 'tensor<3x4xi8>'}}
  %0 = "quantized_decomposed.quantize_per_tensor"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x3xf32>, tensor<f32>, tensor<i8>) -> tensor<3x4xi8>
  return
}

// -----

func.func @quantize_per_tensor(%arg0: tensor<4x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<i8>) {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_tensor' op operand 'scale' must have one element, but got 'tensor<3xf32>'}}
  %0 = "quantized_decomposed.quantize_per_tensor"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x3xf32>, tensor<3xf32>, tensor<i8>) -> tensor<4x3xi8>
  return
}

// -----

func.func @quantize_per_tensor(%arg0: tensor<4x3xf32>, %arg1: tensor<f32>, %arg2: tensor<3xi8>) {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_tensor' op operand 'zero_point' must have one element, but got 'tensor<3xi8>'}}
  %0 = "quantized_decomposed.quantize_per_tensor"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x3xf32>, tensor<f32>, tensor<3xi8>) -> tensor<4x3xi8>
  return
}

// -----

// The width of dtype is that of the stored elements.
func.func @quantize_per_tensor(%arg0: tensor<4x3xf32>, %arg1: tensor<f32>, %arg2: tensor<i8>) {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_tensor' op 'output' must have element type i16 for 'dtype' si16, but got 'tensor<4x3xi8>'}}
  %0 = "quantized_decomposed.quantize_per_tensor"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si16} : (tensor<4x3xf32>, tensor<f32>, tensor<i8>) -> tensor<4x3xi8>
  return
}

// -----

// On torch tensors, signedness too.
func.func @quantize_per_tensor(%arg0: !torch.vtensor<[4,3],f32>, %arg1: !torch.vtensor<[],f32>, %arg2: !torch.vtensor<[],ui8>) {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_tensor' op 'output' must have element type ui8 for 'dtype' ui8, but got '!torch.vtensor<[4,3],si8>'}}
  %0 = "quantized_decomposed.quantize_per_tensor"(%arg0, %arg1, %arg2) {quant_min = 0 : i64, quant_max = 255 : i64, dtype = ui8} : (!torch.vtensor<[4,3],f32>, !torch.vtensor<[],f32>, !torch.vtensor<[],ui8>) -> !torch.vtensor<[4,3],si8>
  return
}

// -----

// A torch tensor of integers.
func.func @quantize_per_tensor(%arg0: !torch.vtensor<[4,3],si8>, %arg1: !torch.vtensor<[],f32>, %arg2: !torch.vtensor<[],si8>) {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_tensor' op 'input' must have a floating-point element type, but got '!torch.vtensor<[4,3],si8>'}}
  %0 = "quantized_decomposed.quantize_per_tensor"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (!torch.vtensor<[4,3],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>) -> !torch.vtensor<[4,3],si8>
  return
}

// -----

func.func @quantize_per_tensor(%arg0: !torch.vtensor<[4,3],f32>, %arg1: !torch.vtensor<[],f32>, %arg2: !torch.vtensor<[],si8>) {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_tensor' op result #0 ('output') must have the inferred shape 4x3, but got '!torch.vtensor<[4,4],si8>'}}
  %0 = "quantized_decomposed.quantize_per_tensor"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (!torch.vtensor<[4,3],f32>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>) -> !torch.vtensor<[4,4],si8>
  return
}

// -----

func.func @quantize_per_tensor(%arg0: tensor<4x3xf32>, %arg1: tensor<f32>, %arg2: tensor<i8>) {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_tensor' op operand 'input' and the result must both be builtin or both be torch tensors, but are 'tensor<4x3xf32>' and '!torch.vtensor<[4,3],si8>'}}
  %0 = "quantized_decomposed.quantize_per_tensor"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x3xf32>, tensor<f32>, tensor<i8>) -> !torch.vtensor<[4,3],si8>
  return
}

// -----

func.func @quantize_per_tensor(%arg0: tensor<4x3xf32>, %arg1: tensor<f32>, %arg2: tensor<i8>) {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_tensor' op attribute 'quant_min' (127) must be less than 'quant_max' (-128)}}
  %0 = "quantized_decomposed.quantize_per_tensor"(%arg0, %arg1, %arg2) {quant_min = 127 : i64, quant_max = -128 : i64, dtype = si8} : (tensor<4x3xf32>, tensor<f32>, tensor<i8>) -> tensor<4x3xi8>
  return
}

// -----

func.func @quantize_per_tensor(%arg0: tensor<4x3xf32>, %arg1: tensor<f32>, %arg2: tensor<i8>) {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_tensor' op attribute 'quant_min' (5) must be less than 'quant_max' (5)}}
  %0 = "quantized_decomposed.quantize_per_tensor"(%arg0, %arg1, %arg2) {quant_min = 5 : i64, quant_max = 5 : i64, dtype = si8} : (tensor<4x3xf32>, tensor<f32>, tensor<i8>) -> tensor<4x3xi8>
  return
}

// -----

func.func @quantize_per_tensor(%arg0: tensor<4x3xf32>, %arg1: tensor<f32>, %arg2: tensor<i8>) {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_tensor' op attribute 'quant_max' (255) must lie within the range of si8, -128 to 127}}
  %0 = "quantized_decomposed.quantize_per_tensor"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 255 : i64, dtype = si8} : (tensor<4x3xf32>, tensor<f32>, tensor<i8>) -> tensor<4x3xi8>
  return
}

// -----

func.func @quantize_per_tensor(%arg0: tensor<4x3xf32>, %arg1: tensor<f32>, %arg2: tensor<i8>) {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_tensor' op attribute 'quant_min' (-1) must lie within the range of ui8, 0 to 255}}
  %0 = "quantized_decomposed.quantize_per_tensor"(%arg0, %arg1, %arg2) {quant_min = -1 : i64, quant_max = 255 : i64, dtype = ui8} : (tensor<4x3xf32>, tensor<f32>, tensor<i8>) -> tensor<4x3xi8>
  return
}

// -----

func.func @quantize_per_tensor(%arg0: tensor<4x3xf32>, %arg1: tensor<f32>, %arg2: tensor<i8>) {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_tensor' op requires attribute 'quant_max', or 'range'}}
  %0 = "quantized_decomposed.quantize_per_tensor"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, dtype = si8} : (tensor<4x3xf32>, tensor<f32>, tensor<i8>) -> tensor<4x3xi8>
  return
}

// -----

// A run-time range replaces the attributes.
func.func @quantize_per_tensor(%arg0: tensor<4x3xf32>, %arg1: tensor<f32>, %arg2: tensor<i8>, %arg3: tensor<i64>, %arg4: tensor<i64>) {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_tensor' op attribute 'quant_min' and 'range' exclude each other}}
  %0 = "quantized_decomposed.quantize_per_tensor"(%arg0, %arg1, %arg2, %arg3, %arg4) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x3xf32>, tensor<f32>, tensor<i8>, tensor<i64>, tensor<i64>) -> tensor<4x3xi8>
  return
}

// -----

func.func @quantize_per_tensor(%arg0: tensor<4x3xf32>, %arg1: tensor<f32>, %arg2: tensor<i8>, %arg3: tensor<i64>) {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_tensor' op 'range' must be empty or hold two bounds, but has 1}}
  %0 = "quantized_decomposed.quantize_per_tensor"(%arg0, %arg1, %arg2, %arg3) {dtype = si8} : (tensor<4x3xf32>, tensor<f32>, tensor<i8>, tensor<i64>) -> tensor<4x3xi8>
  return
}

// -----

func.func @quantize_per_tensor(%arg0: tensor<4x3xf32>, %arg1: tensor<f32>, %arg2: tensor<i8>, %arg3: i64, %arg4: f32) {
  // expected-error-re@+1 {{'quantized_decomposed.quantize_per_tensor' op operand #4{{.*}} must be variadic of bound of the quantized range, but got 'f32'}}
  %0 = "quantized_decomposed.quantize_per_tensor"(%arg0, %arg1, %arg2, %arg3, %arg4) {dtype = si8} : (tensor<4x3xf32>, tensor<f32>, tensor<i8>, i64, f32) -> tensor<4x3xi8>
  return
}

// -----

func.func @dequantize_per_tensor(%arg0: tensor<4x3xi16>, %arg1: tensor<f32>, %arg2: tensor<i8>) {
  // expected-error@+1 {{'quantized_decomposed.dequantize_per_tensor' op 'input' must have element type i8 for 'dtype' si8, but got 'tensor<4x3xi16>'}}
  %0 = "quantized_decomposed.dequantize_per_tensor"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x3xi16>, tensor<f32>, tensor<i8>) -> tensor<4x3xf32>
  return
}

// -----

func.func @dequantize_per_tensor(%arg0: tensor<4x3xi8>, %arg1: tensor<f32>, %arg2: tensor<i8>) {
  // expected-error-re@+1 {{'quantized_decomposed.dequantize_per_tensor' op result #0{{.*}} must be tensor of floating-point values, but got 'tensor<4x3xi32>'}}
  %0 = "quantized_decomposed.dequantize_per_tensor"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x3xi8>, tensor<f32>, tensor<i8>) -> tensor<4x3xi32>
  return
}

// -----

func.func @dequantize_per_tensor(%arg0: !torch.vtensor<[4,3],si8>, %arg1: !torch.vtensor<[],f32>, %arg2: !torch.vtensor<[],si8>) {
  // expected-error@+1 {{'quantized_decomposed.dequantize_per_tensor' op 'output' must have a floating-point element type, but got '!torch.vtensor<[4,3],si32>'}}
  %0 = "quantized_decomposed.dequantize_per_tensor"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (!torch.vtensor<[4,3],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>) -> !torch.vtensor<[4,3],si32>
  return
}

// -----

func.func @dequantize_per_tensor(%arg0: tensor<4x3xi8>, %arg1: tensor<f32>, %arg2: tensor<i8>) {
  // expected-error@+1 {{'quantized_decomposed.dequantize_per_tensor' op result #0 ('output') must have the inferred shape 4x3, but got 'tensor<4xf32>'}}
  %0 = "quantized_decomposed.dequantize_per_tensor"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x3xi8>, tensor<f32>, tensor<i8>) -> tensor<4xf32>
  return
}

// -----

func.func @dequantize_per_tensor(%arg0: tensor<4x3xi8>, %arg1: tensor<f32>, %arg2: tensor<i8>) {
  // expected-error@+1 {{'quantized_decomposed.dequantize_per_tensor' op has no attribute 'divide'; a discardable attribute has the prefix of a dialect}}
  %0 = "quantized_decomposed.dequantize_per_tensor"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<4x3xi8>, tensor<f32>, tensor<i8>) -> tensor<4x3xf32>
  return
}

// -----

func.func @dequantize_per_tensor(%arg0: tensor<4x3xi8>, %arg1: tensor<f32>, %arg2: tensor<i8>) {
  // expected-error@+1 {{'quantized_decomposed.dequantize_per_tensor' op attribute 'quant_min' (127) must be less than 'quant_max' (-128)}}
  %0 = "quantized_decomposed.dequantize_per_tensor"(%arg0, %arg1, %arg2) {quant_min = 127 : i64, quant_max = -128 : i64, dtype = si8} : (tensor<4x3xi8>, tensor<f32>, tensor<i8>) -> tensor<4x3xf32>
  return
}

// -----

func.func @dequantize_per_tensor(%arg0: tensor<4x3xi8>, %arg1: tensor<4xf32>, %arg2: tensor<i8>) {
  // expected-error@+1 {{'quantized_decomposed.dequantize_per_tensor' op operand 'scale' must have one element, but got 'tensor<4xf32>'}}
  %0 = "quantized_decomposed.dequantize_per_tensor"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x3xi8>, tensor<4xf32>, tensor<i8>) -> tensor<4x3xf32>
  return
}

// -----

func.func @quantize_per_channel(%arg0: tensor<4x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<3xi8>) {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_channel' op requires attribute 'axis'}}
  %0 = "quantized_decomposed.quantize_per_channel"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x3xf32>, tensor<3xf32>, tensor<3xi8>) -> tensor<4x3xi8>
  return
}

// -----

func.func @quantize_per_channel(%arg0: tensor<4x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<3xi8>) {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_channel' op attribute 'axis' (2) must be a dimension of 'input', of rank 2}}
  %0 = "quantized_decomposed.quantize_per_channel"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, axis = 2 : i64} : (tensor<4x3xf32>, tensor<3xf32>, tensor<3xi8>) -> tensor<4x3xi8>
  return
}

// -----

func.func @quantize_per_channel(%arg0: tensor<4x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<3xi8>) {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_channel' op attribute 'axis' (-3) must be a dimension of 'input', of rank 2}}
  %0 = "quantized_decomposed.quantize_per_channel"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, axis = -3 : i64} : (tensor<4x3xf32>, tensor<3xf32>, tensor<3xi8>) -> tensor<4x3xi8>
  return
}

// -----

func.func @quantize_per_channel(%arg0: tensor<4x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<3xi8>) {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_channel' op operand 'scales' must be one-dimensional with 4 elements, as 'input' along 'axis' 0, but got 'tensor<3xf32>'}}
  %0 = "quantized_decomposed.quantize_per_channel"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, axis = 0 : i64} : (tensor<4x3xf32>, tensor<3xf32>, tensor<3xi8>) -> tensor<4x3xi8>
  return
}

// -----

func.func @quantize_per_channel(%arg0: tensor<4x3xf32>, %arg1: tensor<f32>, %arg2: tensor<3xi8>) {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_channel' op operand 'scales' must be one-dimensional with 3 elements, as 'input' along 'axis' 1, but got 'tensor<f32>'}}
  %0 = "quantized_decomposed.quantize_per_channel"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, axis = 1 : i64} : (tensor<4x3xf32>, tensor<f32>, tensor<3xi8>) -> tensor<4x3xi8>
  return
}

// -----

func.func @quantize_per_channel(%arg0: tensor<4x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<4xi8>) {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_channel' op operand 'zero_points' must be one-dimensional with 3 elements, as 'input' along 'axis' -1, but got 'tensor<4xi8>'}}
  %0 = "quantized_decomposed.quantize_per_channel"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, axis = -1 : i64} : (tensor<4x3xf32>, tensor<3xf32>, tensor<4xi8>) -> tensor<4x3xi8>
  return
}

// -----

func.func @quantize_per_channel(%arg0: tensor<4x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<3xi8>) {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_channel' op requires attribute 'quant_min'}}
  %0 = "quantized_decomposed.quantize_per_channel"(%arg0, %arg1, %arg2) {quant_max = 127 : i64, dtype = si8, axis = 1 : i64} : (tensor<4x3xf32>, tensor<3xf32>, tensor<3xi8>) -> tensor<4x3xi8>
  return
}

// -----

func.func @quantize_per_channel(%arg0: tensor<4x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<3xi8>) {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_channel' op attribute 'quant_min' (-129) must lie within the range of si8, -128 to 127}}
  %0 = "quantized_decomposed.quantize_per_channel"(%arg0, %arg1, %arg2) {quant_min = -129 : i64, quant_max = 127 : i64, dtype = si8, axis = 1 : i64} : (tensor<4x3xf32>, tensor<3xf32>, tensor<3xi8>) -> tensor<4x3xi8>
  return
}

// -----

func.func @quantize_per_channel(%arg0: tensor<4x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<3xi8>, %arg3: tensor<i64>) {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_channel' op expected 3 operands, but found 4}}
  %0 = "quantized_decomposed.quantize_per_channel"(%arg0, %arg1, %arg2, %arg3) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, axis = 1 : i64} : (tensor<4x3xf32>, tensor<3xf32>, tensor<3xi8>, tensor<i64>) -> tensor<4x3xi8>
  return
}

// -----

func.func @dequantize_per_channel(%arg0: tensor<4x3xi8>, %arg1: tensor<3xf32>, %arg2: tensor<3xi8>) {
  // expected-error@+1 {{'quantized_decomposed.dequantize_per_channel' op requires attribute 'axis'}}
  %0 = "quantized_decomposed.dequantize_per_channel"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x3xi8>, tensor<3xf32>, tensor<3xi8>) -> tensor<4x3xf32>
  return
}

// -----

func.func @dequantize_per_channel(%arg0: tensor<4x3xi8>, %arg1: tensor<3xf32>, %arg2: tensor<3xi8>) {
  // expected-error@+1 {{'quantized_decomposed.dequantize_per_channel' op attribute 'axis' (2) must be a dimension of 'input', of rank 2}}
  %0 = "quantized_decomposed.dequantize_per_channel"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, axis = 2 : i64} : (tensor<4x3xi8>, tensor<3xf32>, tensor<3xi8>) -> tensor<4x3xf32>
  return
}

// -----

func.func @dequantize_per_channel(%arg0: tensor<4x3xi8>, %arg1: tensor<3xf32>, %arg2: tensor<3xi8>) {
  // expected-error@+1 {{'quantized_decomposed.dequantize_per_channel' op attribute 'axis' (-3) must be a dimension of 'input', of rank 2}}
  %0 = "quantized_decomposed.dequantize_per_channel"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, axis = -3 : i64} : (tensor<4x3xi8>, tensor<3xf32>, tensor<3xi8>) -> tensor<4x3xf32>
  return
}

// -----

func.func @dequantize_per_channel(%arg0: tensor<4x3xi8>, %arg1: tensor<3xf32>, %arg2: tensor<3xi8>) {
  // expected-error@+1 {{'quantized_decomposed.dequantize_per_channel' op operand 'scales' must be one-dimensional with 4 elements, as 'input' along 'axis' 0, but got 'tensor<3xf32>'}}
  %0 = "quantized_decomposed.dequantize_per_channel"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, axis = 0 : i64} : (tensor<4x3xi8>, tensor<3xf32>, tensor<3xi8>) -> tensor<4x3xf32>
  return
}

// -----

func.func @dequantize_per_channel(%arg0: tensor<4x3xi8>, %arg1: tensor<f32>, %arg2: tensor<3xi8>) {
  // expected-error@+1 {{'quantized_decomposed.dequantize_per_channel' op operand 'scales' must be one-dimensional with 3 elements, as 'input' along 'axis' 1, but got 'tensor<f32>'}}
  %0 = "quantized_decomposed.dequantize_per_channel"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, axis = 1 : i64} : (tensor<4x3xi8>, tensor<f32>, tensor<3xi8>) -> tensor<4x3xf32>
  return
}

// -----

func.func @dequantize_per_channel(%arg0: tensor<4x3xi8>, %arg1: tensor<3xf32>, %arg2: tensor<4xi8>) {
  // expected-error@+1 {{'quantized_decomposed.dequantize_per_channel' op operand 'zero_points' must be one-dimensional with 3 elements, as 'input' along 'axis' -1, but got 'tensor<4xi8>'}}
  %0 = "quantized_decomposed.dequantize_per_channel"(%arg0, %arg1, %arg2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, axis = -1 : i64} : (tensor<4x3xi8>, tensor<3xf32>, tensor<4xi8>) -> tensor<4x3xf32>
  return
}

// -----

func.func @dequantize_per_channel(%arg0: tensor<4x3xi8>, %arg1: tensor<3xf32>, %arg2: tensor<3xi8>) {
  // expected-error@+1 {{'quantized_decomposed.dequantize_per_channel' op requires attribute 'quant_min'}}
  %0 = "quantized_decomposed.dequantize_per_channel"(%arg0, %arg1, %arg2) {quant_max = 127 : i64, dtype = si8, axis = 1 : i64} : (tensor<4x3xi8>, tensor<3xf32>, tensor<3xi8>) -> tensor<4x3xf32>
  return
}

// -----

func.func @dequantize_per_channel(%arg0: tensor<4x3xi8>, %arg1: tensor<3xf32>, %arg2: tensor<3xi8>) {
  // expected-error@+1 {{'quantized_decomposed.dequantize_per_channel' op attribute 'quant_min' (-129) must lie within the range of si8, -128 to 127}}
  %0 = "quantized_decomposed.dequantize_per_channel"(%arg0, %arg1, %arg2) {quant_min = -129 : i64, quant_max = 127 : i64, dtype = si8, axis = 1 : i64} : (tensor<4x3xi8>, tensor<3xf32>, tensor<3xi8>) -> tensor<4x3xf32>
  return
}

// -----

func.func @dequantize_per_channel(%arg0: tensor<4x3xi8>, %arg1: tensor<3xf32>, %arg2: tensor<3xi8>, %arg3: tensor<i64>) {
  // expected-error@+1 {{'quantized_decomposed.dequantize_per_channel' op expected 3 operands, but found 4}}
  %0 = "quantized_decomposed.dequantize_per_channel"(%arg0, %arg1, %arg2, %arg3) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, axis = 1 : i64} : (tensor<4x3xi8>, tensor<3xf32>, tensor<3xi8>, tensor<i64>) -> tensor<4x3xf32>
  return
}

// -----

// On builtin tensors this zero point would be taken for an unsigned one.
func.func @quantize_per_channel(%arg0: !torch.vtensor<[4,3],f32>, %arg1: !torch.vtensor<[3],f32>, %arg2: !torch.vtensor<[3],si8>) {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_channel' op 'zero_points' of 8 bits must be unsigned for 'dtype' ui8, but got '!torch.vtensor<[3],si8>'}}
  %0 = "quantized_decomposed.quantize_per_channel"(%arg0, %arg1, %arg2) {axis = 1 : i64, quant_min = 0 : i64, quant_max = 255 : i64, dtype = ui8} : (!torch.vtensor<[4,3],f32>, !torch.vtensor<[3],f32>, !torch.vtensor<[3],si8>) -> !torch.vtensor<[4,3],ui8>
  return
}
