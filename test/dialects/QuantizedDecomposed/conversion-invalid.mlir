// RUN: torq-opt %s -split-input-file -verify-diagnostics

func.func @fake_quant_per_channel(%arg0: tensor<4x8xf16>, %arg1: tensor<4xf32>, %arg2: tensor<4xi32>) {
  // expected-error-re@+1 {{'quantized_decomposed.fake_quant_per_channel' op operand #0{{.*}} must be tensor of f32 values, but got 'tensor<4x8xf16>'}}
  %0 = "quantized_decomposed.fake_quant_per_channel"(%arg0, %arg1, %arg2) {axis = 0 : i64, quant_min = -128 : i64, quant_max = 127 : i64} : (tensor<4x8xf16>, tensor<4xf32>, tensor<4xi32>) -> tensor<4x8xf16>
  return
}

// -----

func.func @fake_quant_per_channel(%arg0: !torch.vtensor<[4,8],bf16>, %arg1: !torch.vtensor<[4],f32>, %arg2: !torch.vtensor<[4],si32>) {
  // expected-error@+1 {{'quantized_decomposed.fake_quant_per_channel' op 'input' must have element type f32, but got '!torch.vtensor<[4,8],bf16>'}}
  %0 = "quantized_decomposed.fake_quant_per_channel"(%arg0, %arg1, %arg2) {axis = 0 : i64, quant_min = -128 : i64, quant_max = 127 : i64} : (!torch.vtensor<[4,8],bf16>, !torch.vtensor<[4],f32>, !torch.vtensor<[4],si32>) -> !torch.vtensor<[4,8],bf16>
  return
}

// -----

func.func @fake_quant_per_channel(%arg0: !torch.vtensor<[4,8],f32>, %arg1: !torch.vtensor<[4],si32>, %arg2: !torch.vtensor<[4],si32>) {
  // expected-error@+1 {{'quantized_decomposed.fake_quant_per_channel' op 'scales' must have a floating-point element type, but got '!torch.vtensor<[4],si32>'}}
  %0 = "quantized_decomposed.fake_quant_per_channel"(%arg0, %arg1, %arg2) {axis = 0 : i64, quant_min = -128 : i64, quant_max = 127 : i64} : (!torch.vtensor<[4,8],f32>, !torch.vtensor<[4],si32>, !torch.vtensor<[4],si32>) -> !torch.vtensor<[4,8],f32>
  return
}

// -----

func.func @fake_quant_per_channel(%arg0: !torch.vtensor<[4,8],f32>, %arg1: !torch.vtensor<[4],f32>, %arg2: !torch.vtensor<[4],ui8>) {
  // expected-error@+1 {{'quantized_decomposed.fake_quant_per_channel' op 'zero_points' must be signed integers, but got '!torch.vtensor<[4],ui8>'}}
  %0 = "quantized_decomposed.fake_quant_per_channel"(%arg0, %arg1, %arg2) {axis = 0 : i64, quant_min = -128 : i64, quant_max = 127 : i64} : (!torch.vtensor<[4,8],f32>, !torch.vtensor<[4],f32>, !torch.vtensor<[4],ui8>) -> !torch.vtensor<[4,8],f32>
  return
}

// -----

func.func @fake_quant_per_channel(%arg0: tensor<4x8xf32>, %arg1: tensor<4xf32>, %arg2: tensor<4xf32>) {
  // expected-error-re@+1 {{'quantized_decomposed.fake_quant_per_channel' op operand #2{{.*}} must be tensor of signed integers, but got 'tensor<4xf32>'}}
  %0 = "quantized_decomposed.fake_quant_per_channel"(%arg0, %arg1, %arg2) {axis = 0 : i64, quant_min = -128 : i64, quant_max = 127 : i64} : (tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @fake_quant_per_channel(%arg0: tensor<4x8xf32>, %arg1: tensor<4xf32>, %arg2: tensor<4xi32>) {
  // expected-error@+1 {{'quantized_decomposed.fake_quant_per_channel' op attribute 'axis' (2) must be a dimension of 'input', of rank 2}}
  %0 = "quantized_decomposed.fake_quant_per_channel"(%arg0, %arg1, %arg2) {axis = 2 : i64, quant_min = -128 : i64, quant_max = 127 : i64} : (tensor<4x8xf32>, tensor<4xf32>, tensor<4xi32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @fake_quant_per_channel(%arg0: tensor<4x8xf32>, %arg1: tensor<8xf32>, %arg2: tensor<4xi32>) {
  // expected-error@+1 {{'quantized_decomposed.fake_quant_per_channel' op operand 'scales' must be one-dimensional with 4 elements, as 'input' along 'axis' 0, but got 'tensor<8xf32>'}}
  %0 = "quantized_decomposed.fake_quant_per_channel"(%arg0, %arg1, %arg2) {axis = 0 : i64, quant_min = -128 : i64, quant_max = 127 : i64} : (tensor<4x8xf32>, tensor<8xf32>, tensor<4xi32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @fake_quant_per_channel(%arg0: tensor<4x8xf32>, %arg1: tensor<4xf32>, %arg2: tensor<4xi32>) {
  // expected-error@+1 {{'quantized_decomposed.fake_quant_per_channel' op attribute 'quant_min' (7) must be less than 'quant_max' (7)}}
  %0 = "quantized_decomposed.fake_quant_per_channel"(%arg0, %arg1, %arg2) {axis = 0 : i64, quant_min = 7 : i64, quant_max = 7 : i64} : (tensor<4x8xf32>, tensor<4xf32>, tensor<4xi32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @fake_quant_per_channel(%arg0: tensor<4x8xf32>, %arg1: tensor<4xf32>, %arg2: tensor<4xi32>) {
  // expected-error@+1 {{'quantized_decomposed.fake_quant_per_channel' op has no attribute 'dtype'; a discardable attribute has the prefix of a dialect}}
  %0 = "quantized_decomposed.fake_quant_per_channel"(%arg0, %arg1, %arg2) {axis = 0 : i64, quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x8xf32>, tensor<4xf32>, tensor<4xi32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @fake_quant_per_channel(%arg0: tensor<4x8xf32>, %arg1: tensor<4xf32>, %arg2: tensor<4xi32>) {
  // expected-error@+1 {{'quantized_decomposed.fake_quant_per_channel' op result #0 ('output') must have the inferred shape 4x8, but got 'tensor<8x4xf32>'}}
  %0 = "quantized_decomposed.fake_quant_per_channel"(%arg0, %arg1, %arg2) {axis = 0 : i64, quant_min = -128 : i64, quant_max = 127 : i64} : (tensor<4x8xf32>, tensor<4xf32>, tensor<4xi32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @convert_element_type(%arg0: tensor<4x8xi8>) {
  // expected-error@+1 {{'quantized_decomposed.convert_element_type' op requires attribute 'input_dtype'}}
  %0 = "quantized_decomposed.convert_element_type"(%arg0) {dtype = f32} : (tensor<4x8xi8>) -> tensor<4x8xf32>
  return
}

// -----

// Signless integers say nothing.
func.func @convert_element_type(%arg0: tensor<4x8xi8>) {
  // expected-error@+1 {{'quantized_decomposed.convert_element_type' op attribute 'input_dtype' failed to satisfy constraint: element type: f16, bf16, f32, f64, i1, si8, ui8, si16, ui16, si32 or si64}}
  %0 = "quantized_decomposed.convert_element_type"(%arg0) {dtype = f32, input_dtype = i8} : (tensor<4x8xi8>) -> tensor<4x8xf32>
  return
}

// -----

func.func @convert_element_type(%arg0: tensor<4x8xf32>) {
  // expected-error-re@+1 {{'quantized_decomposed.convert_element_type' op result #0{{.*}} must be tensor of booleans, integers or floating-point values, but got 'tensor<4x8xf8E5M2>'}}
  %0 = "quantized_decomposed.convert_element_type"(%arg0) {dtype = f32, input_dtype = f32} : (tensor<4x8xf32>) -> tensor<4x8xf8E5M2>
  return
}

// -----

func.func @convert_element_type(%arg0: !torch.vtensor<[4,8],f32>) {
  // expected-error@+1 {{'quantized_decomposed.convert_element_type' op attribute 'dtype' failed to satisfy constraint: element type: f16, bf16, f32, f64, i1, si8, ui8, si16, ui16, si32 or si64}}
  %0 = "quantized_decomposed.convert_element_type"(%arg0) {dtype = complex<f32>, input_dtype = f32} : (!torch.vtensor<[4,8],f32>) -> !torch.vtensor<[4,8],complex<f32>>
  return
}

// -----

func.func @convert_element_type(%arg0: tensor<4x8xi16>) {
  // expected-error@+1 {{'quantized_decomposed.convert_element_type' op 'input' must have element type i8 for 'input_dtype' ui8, but got 'tensor<4x8xi16>'}}
  %0 = "quantized_decomposed.convert_element_type"(%arg0) {dtype = f32, input_dtype = ui8} : (tensor<4x8xi16>) -> tensor<4x8xf32>
  return
}

// -----

func.func @convert_element_type(%arg0: !torch.vtensor<[4,8],si8>) {
  // expected-error@+1 {{'quantized_decomposed.convert_element_type' op 'input' must have element type ui8 for 'input_dtype' ui8, but got '!torch.vtensor<[4,8],si8>'}}
  %0 = "quantized_decomposed.convert_element_type"(%arg0) {dtype = f32, input_dtype = ui8} : (!torch.vtensor<[4,8],si8>) -> !torch.vtensor<[4,8],f32>
  return
}

// -----

func.func @convert_element_type(%arg0: tensor<4x8xf32>) {
  // expected-error@+1 {{'quantized_decomposed.convert_element_type' op 'output' must have element type f16 for 'dtype' f16, but got 'tensor<4x8xf32>'}}
  %0 = "quantized_decomposed.convert_element_type"(%arg0) {dtype = f16, input_dtype = f32} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @convert_element_type(%arg0: tensor<4x8xf32>) {
  // expected-error@+1 {{'quantized_decomposed.convert_element_type' op result #0 ('output') must have the inferred shape 4x8, but got 'tensor<4xi32>'}}
  %0 = "quantized_decomposed.convert_element_type"(%arg0) {dtype = si32, input_dtype = f32} : (tensor<4x8xf32>) -> tensor<4xi32>
  return
}
