// RUN: torq-opt %s -split-input-file -verify-diagnostics

func.func @choose_qparams(%arg0: tensor<4x8xf32>) {
  // expected-error@+1 {{'quantized_decomposed.choose_qparams' op requires attribute 'eps'}}
  %0:2 = "quantized_decomposed.choose_qparams"(%arg0) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x8xf32>) -> (tensor<1xf64>, tensor<1xi64>)
  return
}

// -----

func.func @choose_qparams(%arg0: tensor<4x8xf32>) {
  // expected-error@+1 {{'quantized_decomposed.choose_qparams' op attribute 'eps' failed to satisfy constraint: 64-bit float attribute}}
  %0:2 = "quantized_decomposed.choose_qparams"(%arg0) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, eps = 1.0e-5 : f32} : (tensor<4x8xf32>) -> (tensor<1xf64>, tensor<1xi64>)
  return
}

// -----

func.func @choose_qparams(%arg0: tensor<4x8xf64>) {
  // expected-error-re@+1 {{'quantized_decomposed.choose_qparams' op operand #0{{.*}} must be tensor of f16, bf16 or f32 values, but got 'tensor<4x8xf64>'}}
  %0:2 = "quantized_decomposed.choose_qparams"(%arg0) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, eps = 1.0e-5 : f64} : (tensor<4x8xf64>) -> (tensor<1xf64>, tensor<1xi64>)
  return
}

// -----

func.func @choose_qparams(%arg0: tensor<4x8xi8>) {
  // expected-error-re@+1 {{'quantized_decomposed.choose_qparams' op operand #0{{.*}} must be tensor of f16, bf16 or f32 values, but got 'tensor<4x8xi8>'}}
  %0:2 = "quantized_decomposed.choose_qparams"(%arg0) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, eps = 1.0e-5 : f64} : (tensor<4x8xi8>) -> (tensor<1xf64>, tensor<1xi64>)
  return
}

// -----

func.func @choose_qparams(%arg0: !torch.vtensor<[4,8],f64>) {
  // expected-error@+1 {{'quantized_decomposed.choose_qparams' op 'input' must have element type f16, bf16 or f32, but got '!torch.vtensor<[4,8],f64>'}}
  %0:2 = "quantized_decomposed.choose_qparams"(%arg0) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, eps = 1.0e-5 : f64} : (!torch.vtensor<[4,8],f64>) -> (!torch.vtensor<[1],f64>, !torch.vtensor<[1],si64>)
  return
}

// -----

func.func @choose_qparams(%arg0: !torch.vtensor<[4,8],si8>) {
  // expected-error@+1 {{'quantized_decomposed.choose_qparams' op 'input' must have a floating-point element type, but got '!torch.vtensor<[4,8],si8>'}}
  %0:2 = "quantized_decomposed.choose_qparams"(%arg0) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, eps = 1.0e-5 : f64} : (!torch.vtensor<[4,8],si8>) -> (!torch.vtensor<[1],f64>, !torch.vtensor<[1],si64>)
  return
}

// -----

func.func @choose_qparams(%arg0: tensor<4x0xf32>) {
  // expected-error@+1 {{'quantized_decomposed.choose_qparams' op operand 'input' must not be empty, but got 'tensor<4x0xf32>'}}
  %0:2 = "quantized_decomposed.choose_qparams"(%arg0) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, eps = 1.0e-5 : f64} : (tensor<4x0xf32>) -> (tensor<1xf64>, tensor<1xi64>)
  return
}

// -----

func.func @choose_qparams(%arg0: tensor<4x8xf32>) {
  // expected-error@+1 {{'quantized_decomposed.choose_qparams' op result #0 ('scale') must have the inferred shape 1, but got 'tensor<f64>'}}
  %0:2 = "quantized_decomposed.choose_qparams"(%arg0) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, eps = 1.0e-5 : f64} : (tensor<4x8xf32>) -> (tensor<f64>, tensor<i64>)
  return
}

// -----

func.func @choose_qparams(%arg0: tensor<4x8xf32>) {
  // expected-error@+1 {{'quantized_decomposed.choose_qparams' op result #1 ('zero_point') must have the inferred shape 1, but got 'tensor<2xi64>'}}
  %0:2 = "quantized_decomposed.choose_qparams"(%arg0) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, eps = 1.0e-5 : f64} : (tensor<4x8xf32>) -> (tensor<1xf64>, tensor<2xi64>)
  return
}

// -----

func.func @choose_qparams(%arg0: tensor<4x8xf32>) {
  // expected-error-re@+1 {{'quantized_decomposed.choose_qparams' op result #0{{.*}} must be tensor of f64 values, but got 'tensor<1xf32>'}}
  %0:2 = "quantized_decomposed.choose_qparams"(%arg0) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, eps = 1.0e-5 : f64} : (tensor<4x8xf32>) -> (tensor<1xf32>, tensor<1xi64>)
  return
}

// -----

func.func @choose_qparams(%arg0: tensor<4x8xf32>) {
  // expected-error-re@+1 {{'quantized_decomposed.choose_qparams' op result #1{{.*}} must be tensor of 64-bit integers, but got 'tensor<1xi8>'}}
  %0:2 = "quantized_decomposed.choose_qparams"(%arg0) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, eps = 1.0e-5 : f64} : (tensor<4x8xf32>) -> (tensor<1xf64>, tensor<1xi8>)
  return
}

// -----

func.func @choose_qparams(%arg0: tensor<4x8xf32>) {
  // expected-error@+1 {{'quantized_decomposed.choose_qparams' op expected 2 results}}
  %0 = "quantized_decomposed.choose_qparams"(%arg0) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, eps = 1.0e-5 : f64} : (tensor<4x8xf32>) -> tensor<1xf64>
  return
}

// -----

func.func @choose_qparams(%arg0: !torch.vtensor<[4,8],f32>) {
  // expected-error@+1 {{'quantized_decomposed.choose_qparams' op the scale must have element type f64, but got '!torch.vtensor<[1],f32>'}}
  %0:2 = "quantized_decomposed.choose_qparams"(%arg0) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, eps = 1.0e-5 : f64} : (!torch.vtensor<[4,8],f32>) -> (!torch.vtensor<[1],f32>, !torch.vtensor<[1],si64>)
  return
}

// -----

func.func @choose_qparams(%arg0: !torch.vtensor<[4,8],f32>) {
  // expected-error@+1 {{'quantized_decomposed.choose_qparams' op the zero point must have element type si64, but got '!torch.vtensor<[1],si32>'}}
  %0:2 = "quantized_decomposed.choose_qparams"(%arg0) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, eps = 1.0e-5 : f64} : (!torch.vtensor<[4,8],f32>) -> (!torch.vtensor<[1],f64>, !torch.vtensor<[1],si32>)
  return
}

// -----

func.func @choose_qparams(%arg0: tensor<4x8xf32>) {
  // expected-error@+1 {{'quantized_decomposed.choose_qparams' op operand 'input' and the result must both be builtin or both be torch tensors, but are 'tensor<4x8xf32>' and '!torch.vtensor<[1],si64>'}}
  %0:2 = "quantized_decomposed.choose_qparams"(%arg0) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, eps = 1.0e-5 : f64} : (tensor<4x8xf32>) -> (tensor<1xf64>, !torch.vtensor<[1],si64>)
  return
}

// -----

func.func @choose_qparams(%arg0: tensor<4x8xf32>) {
  // expected-error@+1 {{'quantized_decomposed.choose_qparams' op 0 must lie between attributes 'quant_min' (1) and 'quant_max' (127)}}
  %0:2 = "quantized_decomposed.choose_qparams"(%arg0) {quant_min = 1 : i64, quant_max = 127 : i64, dtype = si8, eps = 1.0e-5 : f64} : (tensor<4x8xf32>) -> (tensor<1xf64>, tensor<1xi64>)
  return
}

// -----

func.func @choose_qparams_symmetric(%arg0: tensor<4x8xf32>) {
  // expected-error@+1 {{'quantized_decomposed.choose_qparams_symmetric' op attribute 'quant_min' (127) must be less than 'quant_max' (-128)}}
  %0:2 = "quantized_decomposed.choose_qparams_symmetric"(%arg0) {quant_min = 127 : i64, quant_max = -128 : i64, dtype = si8, eps = 1.0e-5 : f64} : (tensor<4x8xf32>) -> (tensor<1xf64>, tensor<1xi64>)
  return
}

// -----

func.func @choose_qparams_symmetric(%arg0: tensor<4x8xf32>) {
  // expected-error@+1 {{'quantized_decomposed.choose_qparams_symmetric' op attribute 'quant_max' (128) must lie within the range of si8, -128 to 127}}
  %0:2 = "quantized_decomposed.choose_qparams_symmetric"(%arg0) {quant_min = -128 : i64, quant_max = 128 : i64, dtype = si8, eps = 1.0e-5 : f64} : (tensor<4x8xf32>) -> (tensor<1xf64>, tensor<1xi64>)
  return
}

// -----

// PyTorch has it for one type.
func.func @choose_qparams_per_token(%arg0: tensor<4x8xf32>) {
  // expected-error@+1 {{'quantized_decomposed.choose_qparams_per_token' op attribute 'dtype' must be si8, but is ui8}}
  %0:2 = "quantized_decomposed.choose_qparams_per_token"(%arg0) {dtype = ui8} : (tensor<4x8xf32>) -> (tensor<4x1xf32>, tensor<4x1xf32>)
  return
}

// -----

func.func @choose_qparams_per_token(%arg0: tensor<4x8xf32>) {
  // expected-error@+1 {{'quantized_decomposed.choose_qparams_per_token' op result #0 ('scales') must have the inferred shape 4x1, but got 'tensor<4xf32>'}}
  %0:2 = "quantized_decomposed.choose_qparams_per_token"(%arg0) {dtype = si8} : (tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

// The types that torch.export records.
func.func @choose_qparams_per_token(%arg0: !torch.vtensor<[4,8],f32>) {
  // expected-error@+1 {{'quantized_decomposed.choose_qparams_per_token' op 'scales' must have element type f32 for 'input' of f32, but got '!torch.vtensor<[4,1],f64>'}}
  %0:2 = "quantized_decomposed.choose_qparams_per_token"(%arg0) {dtype = si8} : (!torch.vtensor<[4,8],f32>) -> (!torch.vtensor<[4,1],f64>, !torch.vtensor<[4,1],f64>)
  return
}

// -----

// f16 overflows.
func.func @choose_qparams_per_token(%arg0: tensor<4x8xf16>) {
  // expected-error@+1 {{'quantized_decomposed.choose_qparams_per_token' op 'scales' must have element type f32 for 'input' of f16, but got 'tensor<4x1xf16>'}}
  %0:2 = "quantized_decomposed.choose_qparams_per_token"(%arg0) {dtype = si8} : (tensor<4x8xf16>) -> (tensor<4x1xf16>, tensor<4x1xf16>)
  return
}

// -----

func.func @choose_qparams_per_token(%arg0: tensor<4x8xbf16>) {
  // expected-error@+1 {{'quantized_decomposed.choose_qparams_per_token' op 'zero_points' must have element type bf16 for 'input' of bf16, but got 'tensor<4x1xf32>'}}
  %0:2 = "quantized_decomposed.choose_qparams_per_token"(%arg0) {dtype = si8} : (tensor<4x8xbf16>) -> (tensor<4x1xbf16>, tensor<4x1xf32>)
  return
}

// -----

func.func @choose_qparams_per_token_asymmetric(%arg0: tensor<f32>) {
  // expected-error@+1 {{'quantized_decomposed.choose_qparams_per_token_asymmetric' op 'input' must have rank 1 or more}}
  %0:2 = "quantized_decomposed.choose_qparams_per_token_asymmetric"(%arg0) {dtype = si8} : (tensor<f32>) -> (tensor<1xf64>, tensor<1xi64>)
  return
}

// -----

func.func @choose_qparams_per_token_asymmetric(%arg0: tensor<4x0xf32>) {
  // expected-error@+1 {{'quantized_decomposed.choose_qparams_per_token_asymmetric' op 'input' must not be empty along its last dimension}}
  %0:2 = "quantized_decomposed.choose_qparams_per_token_asymmetric"(%arg0) {dtype = si8} : (tensor<4x0xf32>) -> (tensor<4x1xf64>, tensor<4x1xi64>)
  return
}

// -----

func.func @choose_qparams_per_token_asymmetric(%arg0: tensor<4x8xf32>) {
  // expected-error-re@+1 {{'quantized_decomposed.choose_qparams_per_token_asymmetric' op result #0{{.*}} must be tensor of f64 values, but got 'tensor<4x1xf32>'}}
  %0:2 = "quantized_decomposed.choose_qparams_per_token_asymmetric"(%arg0) {dtype = si8} : (tensor<4x8xf32>) -> (tensor<4x1xf32>, tensor<4x1xi64>)
  return
}

// -----

func.func @choose_qparams_per_token_asymmetric(%arg0: !torch.vtensor<[4,8],f32>) {
  // expected-error@+1 {{'quantized_decomposed.choose_qparams_per_token_asymmetric' op the zero point must have element type si64, but got '!torch.vtensor<[4,1],ui64>'}}
  %0:2 = "quantized_decomposed.choose_qparams_per_token_asymmetric"(%arg0) {dtype = si8} : (!torch.vtensor<[4,8],f32>) -> (!torch.vtensor<[4,1],f64>, !torch.vtensor<[4,1],ui64>)
  return
}

// -----

func.func @choose_qparams_per_token_asymmetric_impl(%arg0: tensor<4x8xf32>) {
  // expected-error@+1 {{'quantized_decomposed._choose_qparams_per_token_asymmetric_impl' op has no attribute 'quant_min'; a discardable attribute has the prefix of a dialect}}
  %0:2 = "quantized_decomposed._choose_qparams_per_token_asymmetric_impl"(%arg0) {dtype = si8, quant_min = -128 : i64} : (tensor<4x8xf32>) -> (tensor<4x1xf64>, tensor<4x1xi64>)
  return
}
