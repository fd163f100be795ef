// RUN: torq-opt %s -split-input-file -verify-diagnostics

// Too few operands.
func.func @conv2d(%arg0: tensor<1x16x4x4xi8>, %arg1: tensor<16x3x3x3xi8>, %arg2: tensor<32xi32>) {
  // expected-error@+1 {{'torq_hl.conv2d' op expected 4 operands, but found 3}}
  %0 = "torq_hl.conv2d"(%arg0, %arg1, %arg2) {input_zp = 3 : i32, weight_zp = 0 : i32, output_zp = -5 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 28 : i32, groups = 1 : i32, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>, dilation = array<i64: 1, 1>, vectorization_mode = 0 : i32} : (tensor<1x16x4x4xi8>, tensor<16x3x3x3xi8>, tensor<32xi32>) -> tensor<1x16x4x4xi8>
  return
}

// -----

// A missing attribute.
func.func @conv2d(%arg0: tensor<1x16x4x4xi8>, %arg1: tensor<16x3x3x3xi8>, %arg2: tensor<32xi32>, %arg3: tensor<1x3x8x8xi8>) {
  // expected-error@+1 {{'torq_hl.conv2d' op requires attribute 'pad'}}
  %0 = "torq_hl.conv2d"(%arg0, %arg1, %arg2, %arg3) {input_zp = 3 : i32, weight_zp = 0 : i32, output_zp = -5 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 28 : i32, groups = 1 : i32, stride = array<i64: 2, 2>, dilation = array<i64: 1, 1>, vectorization_mode = 0 : i32} : (tensor<1x16x4x4xi8>, tensor<16x3x3x3xi8>, tensor<32xi32>, tensor<1x3x8x8xi8>) -> tensor<1x16x4x4xi8>
  return
}

// -----

// An attribute of the wrong length.
func.func @conv2d(%arg0: tensor<1x16x4x4xi8>, %arg1: tensor<16x3x3x3xi8>, %arg2: tensor<32xi32>, %arg3: tensor<1x3x8x8xi8>) {
  // expected-error@+1 {{'torq_hl.conv2d' op attribute 'pad' failed to satisfy constraint: i64 dense array attribute with exactly 4 elements}}
  %0 = "torq_hl.conv2d"(%arg0, %arg1, %arg2, %arg3) {input_zp = 3 : i32, weight_zp = 0 : i32, output_zp = -5 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 28 : i32, groups = 1 : i32, pad = array<i64: 1, 1>, stride = array<i64: 2, 2>, dilation = array<i64: 1, 1>, vectorization_mode = 0 : i32} : (tensor<1x16x4x4xi8>, tensor<16x3x3x3xi8>, tensor<32xi32>, tensor<1x3x8x8xi8>) -> tensor<1x16x4x4xi8>
  return
}

// -----

// A negative pad.
func.func @conv2d(%arg0: tensor<1x16x4x4xi8>, %arg1: tensor<16x3x3x3xi8>, %arg2: tensor<32xi32>, %arg3: tensor<1x3x8x8xi8>) {
  // expected-error@+1 {{'torq_hl.conv2d' op attribute 'pad' failed to satisfy constraint: i64 dense array attribute with exactly 4 elements whose value is non-negative}}
  %0 = "torq_hl.conv2d"(%arg0, %arg1, %arg2, %arg3) {input_zp = 3 : i32, weight_zp = 0 : i32, output_zp = -5 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 28 : i32, groups = 1 : i32, pad = array<i64: 1, 1, 1, -1>, stride = array<i64: 2, 2>, dilation = array<i64: 1, 1>, vectorization_mode = 0 : i32} : (tensor<1x16x4x4xi8>, tensor<16x3x3x3xi8>, tensor<32xi32>, tensor<1x3x8x8xi8>) -> tensor<1x16x4x4xi8>
  return
}

// -----

// A stride of zero.
func.func @conv2d(%arg0: tensor<1x16x4x4xi8>, %arg1: tensor<16x3x3x3xi8>, %arg2: tensor<32xi32>, %arg3: tensor<1x3x8x8xi8>) {
  // expected-error@+1 {{'torq_hl.conv2d' op attribute 'stride' failed to satisfy constraint: i64 dense array attribute with exactly 2 elements whose value is positive}}
  %0 = "torq_hl.conv2d"(%arg0, %arg1, %arg2, %arg3) {input_zp = 3 : i32, weight_zp = 0 : i32, output_zp = -5 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 28 : i32, groups = 1 : i32, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 0, 1>, dilation = array<i64: 1, 1>, vectorization_mode = 0 : i32} : (tensor<1x16x4x4xi8>, tensor<16x3x3x3xi8>, tensor<32xi32>, tensor<1x3x8x8xi8>) -> tensor<1x16x4x4xi8>
  return
}

// -----

// An attribute of the wrong type.
func.func @conv2d(%arg0: tensor<1x16x4x4xi8>, %arg1: tensor<16x3x3x3xi8>, %arg2: tensor<32xi32>, %arg3: tensor<1x3x8x8xi8>) {
  // expected-error@+1 {{'torq_hl.conv2d' op attribute 'groups' failed to satisfy constraint: 32-bit signless integer attribute whose value is positive}}
  %0 = "torq_hl.conv2d"(%arg0, %arg1, %arg2, %arg3) {input_zp = 3 : i32, weight_zp = 0 : i32, output_zp = -5 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 28 : i32, groups = 1 : i64, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>, dilation = array<i64: 1, 1>, vectorization_mode = 0 : i32} : (tensor<1x16x4x4xi8>, tensor<16x3x3x3xi8>, tensor<32xi32>, tensor<1x3x8x8xi8>) -> tensor<1x16x4x4xi8>
  return
}

// -----

// An enumeration without that value.
func.func @conv2d(%arg0: tensor<1x16x4x4xi8>, %arg1: tensor<16x3x3x3xi8>, %arg2: tensor<32xi32>, %arg3: tensor<1x3x8x8xi8>) {
  // expected-error@+1 {{'torq_hl.conv2d' op attribute 'vectorization_mode' failed to satisfy constraint: vectorization mode}}
  %0 = "torq_hl.conv2d"(%arg0, %arg1, %arg2, %arg3) {input_zp = 3 : i32, weight_zp = 0 : i32, output_zp = -5 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 28 : i32, groups = 1 : i32, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>, dilation = array<i64: 1, 1>, vectorization_mode = 7 : i32} : (tensor<1x16x4x4xi8>, tensor<16x3x3x3xi8>, tensor<32xi32>, tensor<1x3x8x8xi8>) -> tensor<1x16x4x4xi8>
  return
}

// -----

// A default-valued attribute of the wrong type.
func.func @conv2d(%arg0: tensor<1x16x4x4xi8>, %arg1: tensor<16x3x3x3xi8>, %arg2: tensor<32xi32>, %arg3: tensor<1x3x8x8xi8>) {
  // expected-error@+1 {{'torq_hl.conv2d' op attribute 'nhwc_input' failed to satisfy constraint: bool attribute}}
  %0 = "torq_hl.conv2d"(%arg0, %arg1, %arg2, %arg3) {input_zp = 3 : i32, weight_zp = 0 : i32, output_zp = -5 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 28 : i32, groups = 1 : i32, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>, dilation = array<i64: 1, 1>, vectorization_mode = 0 : i32, nhwc_input = 1 : i32} : (tensor<1x16x4x4xi8>, tensor<16x3x3x3xi8>, tensor<32xi32>, tensor<1x3x8x8xi8>) -> tensor<1x16x4x4xi8>
  return
}

// -----

// A misspelled attribute.
func.func @conv2d(%arg0: tensor<1x16x4x4xi8>, %arg1: tensor<16x3x3x3xi8>, %arg2: tensor<32xi32>, %arg3: tensor<1x3x8x8xi8>) {
  // expected-error@+1 {{'torq_hl.conv2d' op has no attribute 'nhwc'; a discardable attribute has the prefix of a dialect}}
  %0 = "torq_hl.conv2d"(%arg0, %arg1, %arg2, %arg3) {input_zp = 3 : i32, weight_zp = 0 : i32, output_zp = -5 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 28 : i32, groups = 1 : i32, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>, dilation = array<i64: 1, 1>, vectorization_mode = 0 : i32, nhwc = true} : (tensor<1x16x4x4xi8>, tensor<16x3x3x3xi8>, tensor<32xi32>, tensor<1x3x8x8xi8>) -> tensor<1x16x4x4xi8>
  return
}

// -----

// An operand of the wrong type.
func.func @conv2d(%arg0: tensor<1x16x4x4xi8>, %arg1: tensor<16x3x3x3xi64>, %arg2: tensor<32xi32>, %arg3: tensor<1x3x8x8xi8>) {
  // expected-error-re@+1 {{'torq_hl.conv2d' op operand #1{{.*}} must be ranked tensor of 8-bit signless integer or 16-bit signless integer or bfloat16 type or 32-bit float values, but got 'tensor<16x3x3x3xi64>'}}
  %0 = "torq_hl.conv2d"(%arg0, %arg1, %arg2, %arg3) {input_zp = 3 : i32, weight_zp = 0 : i32, output_zp = -5 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 28 : i32, groups = 1 : i32, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>, dilation = array<i64: 1, 1>, vectorization_mode = 0 : i32} : (tensor<1x16x4x4xi8>, tensor<16x3x3x3xi64>, tensor<32xi32>, tensor<1x3x8x8xi8>) -> tensor<1x16x4x4xi8>
  return
}

// -----

// A scale_bias that is not one-dimensional.
func.func @conv2d(%arg0: tensor<1x16x4x4xi8>, %arg1: tensor<16x3x3x3xi8>, %arg2: tensor<16x2xi32>, %arg3: tensor<1x3x8x8xi8>) {
  // expected-error-re@+1 {{'torq_hl.conv2d' op operand #2{{.*}} must be 1-d tensor of interleaved (bias, multiplier) pairs, but got 'tensor<16x2xi32>'}}
  %0 = "torq_hl.conv2d"(%arg0, %arg1, %arg2, %arg3) {input_zp = 3 : i32, weight_zp = 0 : i32, output_zp = -5 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 28 : i32, groups = 1 : i32, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>, dilation = array<i64: 1, 1>, vectorization_mode = 0 : i32} : (tensor<1x16x4x4xi8>, tensor<16x3x3x3xi8>, tensor<16x2xi32>, tensor<1x3x8x8xi8>) -> tensor<1x16x4x4xi8>
  return
}

// -----

// A result that is no tensor.
func.func @conv2d(%arg0: tensor<1x16x4x4xi8>, %arg1: tensor<16x3x3x3xi8>, %arg2: tensor<32xi32>, %arg3: tensor<1x3x8x8xi8>) {
  // expected-error-re@+1 {{'torq_hl.conv2d' op result #0{{.*}} must be ranked tensor of 8-bit signless integer or 16-bit signless integer or 32-bit signless integer or bfloat16 type or 32-bit float values, but got 'vector<4xi8>'}}
  %0 = "torq_hl.conv2d"(%arg0, %arg1, %arg2, %arg3) {input_zp = 3 : i32, weight_zp = 0 : i32, output_zp = -5 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 28 : i32, groups = 1 : i32, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>, dilation = array<i64: 1, 1>, vectorization_mode = 0 : i32} : (tensor<1x16x4x4xi8>, tensor<16x3x3x3xi8>, tensor<32xi32>, tensor<1x3x8x8xi8>) -> vector<4xi8>
  return
}

// -----

// A result of the wrong shape.
func.func @conv2d(%arg0: tensor<1x16x4x5xi8>, %arg1: tensor<16x3x3x3xi8>, %arg2: tensor<32xi32>, %arg3: tensor<1x3x8x8xi8>) {
  // expected-error@+1 {{'torq_hl.conv2d' op result #0 ('output') must have the inferred shape 1x16x4x4, but got 'tensor<1x16x4x5xi8>'}}
  %0 = "torq_hl.conv2d"(%arg0, %arg1, %arg2, %arg3) {input_zp = 3 : i32, weight_zp = 0 : i32, output_zp = -5 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 28 : i32, groups = 1 : i32, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>, dilation = array<i64: 1, 1>, vectorization_mode = 0 : i32} : (tensor<1x16x4x5xi8>, tensor<16x3x3x3xi8>, tensor<32xi32>, tensor<1x3x8x8xi8>) -> tensor<1x16x4x5xi8>
  return
}

// -----

// A result of the wrong rank.
func.func @conv2d(%arg0: tensor<16x4x4xi8>, %arg1: tensor<16x3x3x3xi8>, %arg2: tensor<32xi32>, %arg3: tensor<1x3x8x8xi8>) {
  // expected-error@+1 {{'torq_hl.conv2d' op result #0 ('output') must have the inferred shape 1x16x4x4, but got 'tensor<16x4x4xi8>'}}
  %0 = "torq_hl.conv2d"(%arg0, %arg1, %arg2, %arg3) {input_zp = 3 : i32, weight_zp = 0 : i32, output_zp = -5 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 28 : i32, groups = 1 : i32, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>, dilation = array<i64: 1, 1>, vectorization_mode = 0 : i32} : (tensor<16x4x4xi8>, tensor<16x3x3x3xi8>, tensor<32xi32>, tensor<1x3x8x8xi8>) -> tensor<16x4x4xi8>
  return
}

// -----

// Input channels against weights.
func.func @conv2d(%arg0: tensor<1x16x4x4xi8>, %arg1: tensor<16x3x3x3xi8>, %arg2: tensor<32xi32>, %arg3: tensor<1x4x8x8xi8>) {
  // expected-error@+1 {{'torq_hl.conv2d' op 'weights' has 3 input channels and 'groups' is 1, but 'input' has 4 channels}}
  %0 = "torq_hl.conv2d"(%arg0, %arg1, %arg2, %arg3) {input_zp = 3 : i32, weight_zp = 0 : i32, output_zp = -5 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 28 : i32, groups = 1 : i32, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>, dilation = array<i64: 1, 1>, vectorization_mode = 0 : i32} : (tensor<1x16x4x4xi8>, tensor<16x3x3x3xi8>, tensor<32xi32>, tensor<1x4x8x8xi8>) -> tensor<1x16x4x4xi8>
  return
}

// -----

// Output channels against groups.
func.func @conv2d(%arg0: tensor<1x16x4x4xi8>, %arg1: tensor<16x1x3x3xi8>, %arg2: tensor<32xi32>, %arg3: tensor<1x3x8x8xi8>) {
  // expected-error@+1 {{'torq_hl.conv2d' op 'groups' (3) must divide the 16 output channels of 'weights'}}
  %0 = "torq_hl.conv2d"(%arg0, %arg1, %arg2, %arg3) {input_zp = 3 : i32, weight_zp = 0 : i32, output_zp = -5 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 28 : i32, groups = 3 : i32, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>, dilation = array<i64: 1, 1>, vectorization_mode = 0 : i32} : (tensor<1x16x4x4xi8>, tensor<16x1x3x3xi8>, tensor<32xi32>, tensor<1x3x8x8xi8>) -> tensor<1x16x4x4xi8>
  return
}

// -----

// A window larger than the padded input.
func.func @conv2d(%arg0: tensor<1x16x4x4xi8>, %arg1: tensor<16x3x3x3xi8>, %arg2: tensor<32xi32>, %arg3: tensor<1x3x8x8xi8>) {
  // expected-error@+1 {{'torq_hl.conv2d' op the window of 9 does not fit the padded height of 'input', 8}}
  %0 = "torq_hl.conv2d"(%arg0, %arg1, %arg2, %arg3) {input_zp = 3 : i32, weight_zp = 0 : i32, output_zp = -5 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 28 : i32, groups = 1 : i32, pad = array<i64: 1, 1, 0, 0>, stride = array<i64: 2, 2>, dilation = array<i64: 4, 4>, vectorization_mode = 0 : i32} : (tensor<1x16x4x4xi8>, tensor<16x3x3x3xi8>, tensor<32xi32>, tensor<1x3x8x8xi8>) -> tensor<1x16x4x4xi8>
  return
}

// -----

// init of another type than the result.
func.func @conv2d(%arg0: tensor<1x16x4x4xi16>, %arg1: tensor<16x3x3x3xi8>, %arg2: tensor<32xi32>, %arg3: tensor<1x3x8x8xi8>) {
  // expected-error@+1 {{'torq_hl.conv2d' op operand 'init' must have the type of the result, 'tensor<1x16x4x4xi8>', but got 'tensor<1x16x4x4xi16>'}}
  %0 = "torq_hl.conv2d"(%arg0, %arg1, %arg2, %arg3) {input_zp = 3 : i32, weight_zp = 0 : i32, output_zp = -5 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 28 : i32, groups = 1 : i32, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>, dilation = array<i64: 1, 1>, vectorization_mode = 0 : i32} : (tensor<1x16x4x4xi16>, tensor<16x3x3x3xi8>, tensor<32xi32>, tensor<1x3x8x8xi8>) -> tensor<1x16x4x4xi8>
  return
}

// -----

// A float input and an integer result.
func.func @conv2d(%arg0: tensor<1x16x4x4xi8>, %arg1: tensor<16x3x3x3xi8>, %arg2: tensor<32xi32>, %arg3: tensor<1x3x8x8xbf16>) {
  // expected-error@+1 {{'torq_hl.conv2d' op operand 'input' must hold integers as the result does, but got 'tensor<1x3x8x8xbf16>'}}
  %0 = "torq_hl.conv2d"(%arg0, %arg1, %arg2, %arg3) {input_zp = 3 : i32, weight_zp = 0 : i32, output_zp = -5 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 28 : i32, groups = 1 : i32, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>, dilation = array<i64: 1, 1>, vectorization_mode = 0 : i32} : (tensor<1x16x4x4xi8>, tensor<16x3x3x3xi8>, tensor<32xi32>, tensor<1x3x8x8xbf16>) -> tensor<1x16x4x4xi8>
  return
}

// -----

// Not a pair for each channel.
func.func @conv2d(%arg0: tensor<1x16x4x4xi8>, %arg1: tensor<16x3x3x3xi8>, %arg2: tensor<16xi32>, %arg3: tensor<1x3x8x8xi8>) {
  // expected-error@+1 {{'torq_hl.conv2d' op operand 'scale_bias' must be one-dimensional with 2 or 32 elements, but got 'tensor<16xi32>'}}
  %0 = "torq_hl.conv2d"(%arg0, %arg1, %arg2, %arg3) {input_zp = 3 : i32, weight_zp = 0 : i32, output_zp = -5 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 28 : i32, groups = 1 : i32, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>, dilation = array<i64: 1, 1>, vectorization_mode = 0 : i32} : (tensor<1x16x4x4xi8>, tensor<16x3x3x3xi8>, tensor<16xi32>, tensor<1x3x8x8xi8>) -> tensor<1x16x4x4xi8>
  return
}

// -----

// Biases without multipliers.
func.func @conv2d(%arg0: tensor<1x16x4x4xi8>, %arg1: tensor<16x3x3x3xi8>, %arg2: tensor<32xf32>, %arg3: tensor<1x3x8x8xi8>) {
  // expected-error@+1 {{'torq_hl.conv2d' op operand 'scale_bias' must hold i32 (bias, multiplier) pairs, but got 'tensor<32xf32>'}}
  %0 = "torq_hl.conv2d"(%arg0, %arg1, %arg2, %arg3) {input_zp = 3 : i32, weight_zp = 0 : i32, output_zp = -5 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 28 : i32, groups = 1 : i32, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>, dilation = array<i64: 1, 1>, vectorization_mode = 0 : i32} : (tensor<1x16x4x4xi8>, tensor<16x3x3x3xi8>, tensor<32xf32>, tensor<1x3x8x8xi8>) -> tensor<1x16x4x4xi8>
  return
}

// -----

// Zero points outside of what the elements can hold.
func.func @conv2d(%arg0: tensor<1x16x4x4xi8>, %arg1: tensor<16x3x3x3xi8>, %arg2: tensor<32xi32>, %arg3: tensor<1x3x8x8xi8>) {
  // expected-error@+1 {{'torq_hl.conv2d' op attribute 'input_zp' (128) must lie within the range of i8, -128 to 127}}
  %0 = "torq_hl.conv2d"(%arg0, %arg1, %arg2, %arg3) {input_zp = 128 : i32, weight_zp = 0 : i32, output_zp = -5 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 28 : i32, groups = 1 : i32, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>, dilation = array<i64: 1, 1>, vectorization_mode = 0 : i32} : (tensor<1x16x4x4xi8>, tensor<16x3x3x3xi8>, tensor<32xi32>, tensor<1x3x8x8xi8>) -> tensor<1x16x4x4xi8>
  return
}

// -----

func.func @conv2d(%arg0: tensor<1x16x4x4xi8>, %arg1: tensor<16x3x3x3xi8>, %arg2: tensor<32xi32>, %arg3: tensor<1x3x8x8xi8>) {
  // expected-error@+1 {{'torq_hl.conv2d' op attribute 'weight_zp' (-129) must lie within the range of i8, -128 to 127}}
  %0 = "torq_hl.conv2d"(%arg0, %arg1, %arg2, %arg3) {input_zp = 3 : i32, weight_zp = -129 : i32, output_zp = -5 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 28 : i32, groups = 1 : i32, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>, dilation = array<i64: 1, 1>, vectorization_mode = 0 : i32} : (tensor<1x16x4x4xi8>, tensor<16x3x3x3xi8>, tensor<32xi32>, tensor<1x3x8x8xi8>) -> tensor<1x16x4x4xi8>
  return
}

// -----

func.func @conv2d(%arg0: tensor<1x16x4x4xi8>, %arg1: tensor<16x3x3x3xi8>, %arg2: tensor<32xi32>, %arg3: tensor<1x3x8x8xi8>) {
  // expected-error@+1 {{'torq_hl.conv2d' op attribute 'output_zp' (200) must lie within the range of i8, -128 to 127}}
  %0 = "torq_hl.conv2d"(%arg0, %arg1, %arg2, %arg3) {input_zp = 3 : i32, weight_zp = 0 : i32, output_zp = 200 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 28 : i32, groups = 1 : i32, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>, dilation = array<i64: 1, 1>, vectorization_mode = 0 : i32} : (tensor<1x16x4x4xi8>, tensor<16x3x3x3xi8>, tensor<32xi32>, tensor<1x3x8x8xi8>) -> tensor<1x16x4x4xi8>
  return
}

// -----

// Bounds in the wrong order.
func.func @conv2d(%arg0: tensor<1x16x4x4xi8>, %arg1: tensor<16x3x3x3xi8>, %arg2: tensor<32xi32>, %arg3: tensor<1x3x8x8xi8>) {
  // expected-error@+1 {{'torq_hl.conv2d' op attribute 'output_min' (10) must not exceed 'output_max' (-10)}}
  %0 = "torq_hl.conv2d"(%arg0, %arg1, %arg2, %arg3) {input_zp = 3 : i32, weight_zp = 0 : i32, output_zp = -5 : i32, output_min = 10 : i32, output_max = -10 : i32, shift_factor = 28 : i32, groups = 1 : i32, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>, dilation = array<i64: 1, 1>, vectorization_mode = 0 : i32} : (tensor<1x16x4x4xi8>, tensor<16x3x3x3xi8>, tensor<32xi32>, tensor<1x3x8x8xi8>) -> tensor<1x16x4x4xi8>
  return
}

// -----

// A bound outside of what the elements can hold.
func.func @conv2d(%arg0: tensor<1x16x4x4xi8>, %arg1: tensor<16x3x3x3xi8>, %arg2: tensor<32xi32>, %arg3: tensor<1x3x8x8xi8>) {
  // expected-error@+1 {{'torq_hl.conv2d' op attribute 'output_max' (255) must lie within the range of i8, -128 to 127}}
  %0 = "torq_hl.conv2d"(%arg0, %arg1, %arg2, %arg3) {input_zp = 3 : i32, weight_zp = 0 : i32, output_zp = -5 : i32, output_min = -128 : i32, output_max = 255 : i32, shift_factor = 28 : i32, groups = 1 : i32, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>, dilation = array<i64: 1, 1>, vectorization_mode = 0 : i32} : (tensor<1x16x4x4xi8>, tensor<16x3x3x3xi8>, tensor<32xi32>, tensor<1x3x8x8xi8>) -> tensor<1x16x4x4xi8>
  return
}

// -----

// Weights with more than one input channel.
func.func @depthwise_conv2d(%arg0: tensor<1x6x8x8xi8>, %arg1: tensor<6x3x3x3xi8>, %arg2: tensor<12xi32>, %arg3: tensor<1x3x8x8xi8>) {
  // expected-error@+1 {{'torq_hl.depthwise_conv2d' op 'weights' must have 1 input channel, but has 3}}
  %0 = "torq_hl.depthwise_conv2d"(%arg0, %arg1, %arg2, %arg3) {input_zp = 3 : i32, weight_zp = 0 : i32, output_zp = -5 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 28 : i32, groups = 3 : i32, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>, vectorization_mode = 0 : i32} : (tensor<1x6x8x8xi8>, tensor<6x3x3x3xi8>, tensor<12xi32>, tensor<1x3x8x8xi8>) -> tensor<1x6x8x8xi8>
  return
}

// -----

// groups other than the channels.
func.func @depthwise_conv2d(%arg0: tensor<1x6x8x8xi8>, %arg1: tensor<6x1x3x3xi8>, %arg2: tensor<12xi32>, %arg3: tensor<1x3x8x8xi8>) {
  // expected-error@+1 {{'torq_hl.depthwise_conv2d' op 'weights' has 1 input channels and 'groups' is 1, but 'input' has 3 channels}}
  %0 = "torq_hl.depthwise_conv2d"(%arg0, %arg1, %arg2, %arg3) {input_zp = 3 : i32, weight_zp = 0 : i32, output_zp = -5 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 28 : i32, groups = 1 : i32, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>, vectorization_mode = 0 : i32} : (tensor<1x6x8x8xi8>, tensor<6x1x3x3xi8>, tensor<12xi32>, tensor<1x3x8x8xi8>) -> tensor<1x6x8x8xi8>
  return
}

// -----

func.func @depthwise_conv2d(%arg0: tensor<1x6x8x8xi8>, %arg1: tensor<6x1x3x3xi8>, %arg2: tensor<6xi32>, %arg3: tensor<1x3x8x8xi8>) {
  // expected-error@+1 {{'torq_hl.depthwise_conv2d' op operand 'scale_bias' must be one-dimensional with 2 or 12 elements, but got 'tensor<6xi32>'}}
  %0 = "torq_hl.depthwise_conv2d"(%arg0, %arg1, %arg2, %arg3) {input_zp = 3 : i32, weight_zp = 0 : i32, output_zp = -5 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 28 : i32, groups = 3 : i32, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>, vectorization_mode = 0 : i32} : (tensor<1x6x8x8xi8>, tensor<6x1x3x3xi8>, tensor<6xi32>, tensor<1x3x8x8xi8>) -> tensor<1x6x8x8xi8>
  return
}

// -----

func.func @depthwise_conv2d(%arg0: tensor<1x6x8x8xi8>, %arg1: tensor<6x1x3x3xi8>, %arg2: tensor<12xi32>, %arg3: tensor<1x3x8x8xi8>) {
  // expected-error@+1 {{'torq_hl.depthwise_conv2d' op attribute 'is_dw1d_stride1' failed to satisfy constraint: bool attribute}}
  %0 = "torq_hl.depthwise_conv2d"(%arg0, %arg1, %arg2, %arg3) {input_zp = 3 : i32, weight_zp = 0 : i32, output_zp = -5 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 28 : i32, groups = 3 : i32, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>, vectorization_mode = 0 : i32, is_dw1d_stride1 = unit} : (tensor<1x6x8x8xi8>, tensor<6x1x3x3xi8>, tensor<12xi32>, tensor<1x3x8x8xi8>) -> tensor<1x6x8x8xi8>
  return
}

// -----

func.func @conv1d(%arg0: tensor<1x4x5xi8>, %arg1: tensor<4x3x4xi8>, %arg2: tensor<8xi32>, %arg3: tensor<1x3x9xi8>) {
  // expected-error@+1 {{'torq_hl.conv1d' op attribute 'pad' failed to satisfy constraint: i64 dense array attribute with exactly 2 elements whose value is non-negative}}
  %0 = "torq_hl.conv1d"(%arg0, %arg1, %arg2, %arg3) {input_zp = 3 : i32, weight_zp = 0 : i32, output_zp = -5 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 28 : i32, groups = 1 : i32, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2>, dilation = array<i64: 1>, vectorization_mode = 0 : i32} : (tensor<1x4x5xi8>, tensor<4x3x4xi8>, tensor<8xi32>, tensor<1x3x9xi8>) -> tensor<1x4x5xi8>
  return
}

// -----

func.func @conv1d(%arg0: tensor<1x4x5xi8>, %arg1: tensor<4x3x4xi8>, %arg2: tensor<8xi32>, %arg3: tensor<1x3x9xi8>) {
  // expected-error@+1 {{'torq_hl.conv1d' op attribute 'stride' failed to satisfy constraint: i64 dense array attribute with exactly 1 elements whose value is positive}}
  %0 = "torq_hl.conv1d"(%arg0, %arg1, %arg2, %arg3) {input_zp = 3 : i32, weight_zp = 0 : i32, output_zp = -5 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 28 : i32, groups = 1 : i32, pad = array<i64: 2, 1>, stride = array<i64: 1, 1>, dilation = array<i64: 1>, vectorization_mode = 0 : i32} : (tensor<1x4x5xi8>, tensor<4x3x4xi8>, tensor<8xi32>, tensor<1x3x9xi8>) -> tensor<1x4x5xi8>
  return
}

// -----

func.func @conv1d(%arg0: tensor<1x4x5xi8>, %arg1: tensor<4x3x4xi8>, %arg2: tensor<8xi32>, %arg3: tensor<1x3x9x1xi8>) {
  // expected-error@+1 {{'torq_hl.conv1d' op 'input' must have rank 3 (NCW), but has rank 4}}
  %0 = "torq_hl.conv1d"(%arg0, %arg1, %arg2, %arg3) {input_zp = 3 : i32, weight_zp = 0 : i32, output_zp = -5 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 28 : i32, groups = 1 : i32, pad = array<i64: 2, 1>, stride = array<i64: 2>, dilation = array<i64: 1>, vectorization_mode = 0 : i32} : (tensor<1x4x5xi8>, tensor<4x3x4xi8>, tensor<8xi32>, tensor<1x3x9x1xi8>) -> tensor<1x4x5xi8>
  return
}

// -----

func.func @conv1d(%arg0: tensor<1x4x5xi8>, %arg1: tensor<4x3x4xi8>, %arg2: tensor<8xi32>, %arg3: tensor<1x3x9xi8>) {
  // expected-error@+1 {{'torq_hl.conv1d' op has no attribute 'nhwc_input'; a discardable attribute has the prefix of a dialect}}
  %0 = "torq_hl.conv1d"(%arg0, %arg1, %arg2, %arg3) {input_zp = 3 : i32, weight_zp = 0 : i32, output_zp = -5 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 28 : i32, groups = 1 : i32, pad = array<i64: 2, 1>, stride = array<i64: 2>, dilation = array<i64: 1>, vectorization_mode = 0 : i32, nhwc_input = true} : (tensor<1x4x5xi8>, tensor<4x3x4xi8>, tensor<8xi32>, tensor<1x3x9xi8>) -> tensor<1x4x5xi8>
  return
}

// -----

func.func @conv1d(%arg0: tensor<1x4x5xi8>, %arg1: tensor<4x3x4xi8>, %arg2: tensor<8xi32>, %arg3: tensor<1x3x2xi8>) {
  // expected-error@+1 {{'torq_hl.conv1d' op the window of 4 does not fit the padded width of 'input', 3}}
  %0 = "torq_hl.conv1d"(%arg0, %arg1, %arg2, %arg3) {input_zp = 3 : i32, weight_zp = 0 : i32, output_zp = -5 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 28 : i32, groups = 1 : i32, pad = array<i64: 0, 1>, stride = array<i64: 2>, dilation = array<i64: 1>, vectorization_mode = 0 : i32} : (tensor<1x4x5xi8>, tensor<4x3x4xi8>, tensor<8xi32>, tensor<1x3x2xi8>) -> tensor<1x4x5xi8>
  return
}

// -----

func.func @fully_connected(%arg0: tensor<2x10xi8>, %arg1: tensor<32x10xi8>, %arg2: tensor<20xi32>, %arg3: tensor<2x64xi8>) {
  // expected-error@+1 {{'torq_hl.fully_connected' op 'weights' has 32 rows, but the last dimension of 'input' is 64}}
  %0 = "torq_hl.fully_connected"(%arg0, %arg1, %arg2, %arg3) {input_zp = 0 : i32, weight_zp = 0 : i32, output_zp = 0 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 28 : i32, vectorization_mode = 0 : i32} : (tensor<2x10xi8>, tensor<32x10xi8>, tensor<20xi32>, tensor<2x64xi8>) -> tensor<2x10xi8>
  return
}

// -----

func.func @fully_connected(%arg0: tensor<2x10xi8>, %arg1: tensor<1x64x10xi8>, %arg2: tensor<20xi32>, %arg3: tensor<2x64xi8>) {
  // expected-error@+1 {{'torq_hl.fully_connected' op 'weights' must have rank 2 (KN), but has rank 3}}
  %0 = "torq_hl.fully_connected"(%arg0, %arg1, %arg2, %arg3) {input_zp = 0 : i32, weight_zp = 0 : i32, output_zp = 0 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 28 : i32, vectorization_mode = 0 : i32} : (tensor<2x10xi8>, tensor<1x64x10xi8>, tensor<20xi32>, tensor<2x64xi8>) -> tensor<2x10xi8>
  return
}

// -----

func.func @fully_connected(%arg0: tensor<2x10xi8>, %arg1: tensor<64x10xi8>, %arg2: tensor<128xi32>, %arg3: tensor<2x64xi8>) {
  // expected-error@+1 {{'torq_hl.fully_connected' op operand 'scale_bias' must be one-dimensional with 2 or 20 elements, but got 'tensor<128xi32>'}}
  %0 = "torq_hl.fully_connected"(%arg0, %arg1, %arg2, %arg3) {input_zp = 0 : i32, weight_zp = 0 : i32, output_zp = 0 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 28 : i32, vectorization_mode = 0 : i32} : (tensor<2x10xi8>, tensor<64x10xi8>, tensor<128xi32>, tensor<2x64xi8>) -> tensor<2x10xi8>
  return
}

// -----

func.func @fully_connected(%arg0: tensor<2x10xi8>, %arg1: tensor<64x10xi8>, %arg2: tensor<20xi32>, %arg3: tensor<2x64xi8>) {
  // expected-error@+1 {{'torq_hl.fully_connected' op attribute 'shift_factor' failed to satisfy constraint: 32-bit signless integer attribute whose value is non-negative}}
  %0 = "torq_hl.fully_connected"(%arg0, %arg1, %arg2, %arg3) {input_zp = 0 : i32, weight_zp = 0 : i32, output_zp = 0 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = -4 : i32, vectorization_mode = 0 : i32} : (tensor<2x10xi8>, tensor<64x10xi8>, tensor<20xi32>, tensor<2x64xi8>) -> tensor<2x10xi8>
  return
}

// -----

func.func @fully_connected(%arg0: tensor<10x2xi8>, %arg1: tensor<64x10xi8>, %arg2: tensor<20xi32>, %arg3: tensor<2x64xi8>) {
  // expected-error@+1 {{'torq_hl.fully_connected' op result #0 ('output') must have the inferred shape 2x10, but got 'tensor<10x2xi8>'}}
  %0 = "torq_hl.fully_connected"(%arg0, %arg1, %arg2, %arg3) {input_zp = 0 : i32, weight_zp = 0 : i32, output_zp = 0 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 28 : i32, vectorization_mode = 0 : i32} : (tensor<10x2xi8>, tensor<64x10xi8>, tensor<20xi32>, tensor<2x64xi8>) -> tensor<10x2xi8>
  return
}

// -----

func.func @fully_connected(%arg0: tensor<2x10xi8>, %arg1: tensor<64x10xi8>, %arg2: tensor<20xi32>, %arg3: tensor<i8>) {
  // expected-error@+1 {{'torq_hl.fully_connected' op 'input' must have rank 1 or more}}
  %0 = "torq_hl.fully_connected"(%arg0, %arg1, %arg2, %arg3) {input_zp = 0 : i32, weight_zp = 0 : i32, output_zp = 0 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 28 : i32, vectorization_mode = 0 : i32} : (tensor<2x10xi8>, tensor<64x10xi8>, tensor<20xi32>, tensor<i8>) -> tensor<2x10xi8>
  return
}

// -----

// Pairs for rows are pairs, too.
func.func @fully_connected(%arg0: tensor<2x10xi8>, %arg1: tensor<64x10xi8>, %arg2: tensor<5xi32>, %arg3: tensor<2x64xi8>) {
  // expected-error@+1 {{'torq_hl.fully_connected' op operand 'scale_bias' must hold pairs, but got 'tensor<5xi32>'}}
  %0 = "torq_hl.fully_connected"(%arg0, %arg1, %arg2, %arg3) {input_zp = 0 : i32, weight_zp = 0 : i32, output_zp = 0 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 28 : i32, vectorization_mode = 0 : i32, is_batch_scaled = true} : (tensor<2x10xi8>, tensor<64x10xi8>, tensor<5xi32>, tensor<2x64xi8>) -> tensor<2x10xi8>
  return
}

// -----

func.func @matmul(%arg0: tensor<2x3x5xi8>, %arg1: tensor<2xi32>, %arg2: tensor<2x3x4xi8>, %arg3: tensor<2x3x5xi8>) {
  // expected-error@+1 {{'torq_hl.matmul' op 'input1' has 4 columns, but 'input2' has 3 rows}}
  %0 = "torq_hl.matmul"(%arg0, %arg1, %arg2, %arg3) {output_zp = 0 : i32, output_min = -128 : i32, output_max = 127 : i32, shift = 28 : i32} : (tensor<2x3x5xi8>, tensor<2xi32>, tensor<2x3x4xi8>, tensor<2x3x5xi8>) -> tensor<2x3x5xi8>
  return
}

// -----

func.func @matmul(%arg0: tensor<2x3x5xi8>, %arg1: tensor<2xi32>, %arg2: tensor<2x3x4xi8>, %arg3: tensor<4x5xi8>) {
  // expected-error@+1 {{'torq_hl.matmul' op 'input1' and 'input2' must have one rank of at least 2, but have 3, 2}}
  %0 = "torq_hl.matmul"(%arg0, %arg1, %arg2, %arg3) {output_zp = 0 : i32, output_min = -128 : i32, output_max = 127 : i32, shift = 28 : i32} : (tensor<2x3x5xi8>, tensor<2xi32>, tensor<2x3x4xi8>, tensor<4x5xi8>) -> tensor<2x3x5xi8>
  return
}

// -----

func.func @matmul(%arg0: tensor<2x3x5xi8>, %arg1: tensor<2xi32>, %arg2: tensor<2x3x4xi8>, %arg3: tensor<1x4x5xi8>) {
  // expected-error@+1 {{'torq_hl.matmul' op a leading dimension is 2 in 'input1', but 1 in 'input2'}}
  %0 = "torq_hl.matmul"(%arg0, %arg1, %arg2, %arg3) {output_zp = 0 : i32, output_min = -128 : i32, output_max = 127 : i32, shift = 28 : i32} : (tensor<2x3x5xi8>, tensor<2xi32>, tensor<2x3x4xi8>, tensor<1x4x5xi8>) -> tensor<2x3x5xi8>
  return
}

// -----

func.func @matmul(%arg0: tensor<2x3x5xi8>, %arg1: tensor<10xi32>, %arg2: tensor<2x3x4xi8>, %arg3: tensor<2x4x5xi8>) {
  // expected-error@+1 {{'torq_hl.matmul' op operand 'scale_bias' must be one-dimensional with 2 elements, but got 'tensor<10xi32>'}}
  %0 = "torq_hl.matmul"(%arg0, %arg1, %arg2, %arg3) {output_zp = 0 : i32, output_min = -128 : i32, output_max = 127 : i32, shift = 28 : i32} : (tensor<2x3x5xi8>, tensor<10xi32>, tensor<2x3x4xi8>, tensor<2x4x5xi8>) -> tensor<2x3x5xi8>
  return
}

// -----

func.func @matmul(%arg0: tensor<2x3x5xi8>, %arg1: tensor<2xi32>, %arg2: tensor<2x3x4xi8>, %arg3: tensor<2x4x5xf32>) {
  // expected-error@+1 {{'torq_hl.matmul' op operand 'input2' must hold integers as the result does, but got 'tensor<2x4x5xf32>'}}
  %0 = "torq_hl.matmul"(%arg0, %arg1, %arg2, %arg3) {output_zp = 0 : i32, output_min = -128 : i32, output_max = 127 : i32, shift = 28 : i32} : (tensor<2x3x5xi8>, tensor<2xi32>, tensor<2x3x4xi8>, tensor<2x4x5xf32>) -> tensor<2x3x5xi8>
  return
}

// -----

func.func @add(%arg0: tensor<2x3x4xi8>, %arg1: tensor<2xi16>, %arg2: tensor<2xi32>, %arg3: tensor<2x3x4xi8>, %arg4: tensor<3x1xi8>) {
  // expected-error@+1 {{'torq_hl.add' op attribute 'name' failed to satisfy constraint: string attribute that is one of: add, sub}}
  %0 = "torq_hl.add"(%arg0, %arg1, %arg2, %arg3, %arg4) {name = "mul", input_zp = 0 : i32, output_zp = 2 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 12 : i32} : (tensor<2x3x4xi8>, tensor<2xi16>, tensor<2xi32>, tensor<2x3x4xi8>, tensor<3x1xi8>) -> tensor<2x3x4xi8>
  return
}

// -----

func.func @add(%arg0: tensor<2x3x4xi8>, %arg1: tensor<2xi16>, %arg2: tensor<2xi32>, %arg3: tensor<2x3x4xi8>, %arg4: tensor<2x1xi8>) {
  // expected-error@+1 {{'torq_hl.add' op 'input1' and 'input2' do not broadcast: 3 against 2}}
  %0 = "torq_hl.add"(%arg0, %arg1, %arg2, %arg3, %arg4) {name = "add", input_zp = 0 : i32, output_zp = 2 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 12 : i32} : (tensor<2x3x4xi8>, tensor<2xi16>, tensor<2xi32>, tensor<2x3x4xi8>, tensor<2x1xi8>) -> tensor<2x3x4xi8>
  return
}

// -----

func.func @add(%arg0: tensor<2x3x4xi8>, %arg1: tensor<1xi16>, %arg2: tensor<2xi32>, %arg3: tensor<2x3x4xi8>, %arg4: tensor<3x1xi8>) {
  // expected-error@+1 {{'torq_hl.add' op operand 'weights' must be one-dimensional with 2 elements, but got 'tensor<1xi16>'}}
  %0 = "torq_hl.add"(%arg0, %arg1, %arg2, %arg3, %arg4) {name = "add", input_zp = 0 : i32, output_zp = 2 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 12 : i32} : (tensor<2x3x4xi8>, tensor<1xi16>, tensor<2xi32>, tensor<2x3x4xi8>, tensor<3x1xi8>) -> tensor<2x3x4xi8>
  return
}

// -----

func.func @add(%arg0: tensor<2x3x4xi8>, %arg1: tensor<2xf32>, %arg2: tensor<2xi32>, %arg3: tensor<2x3x4xi8>, %arg4: tensor<3x1xi8>) {
  // expected-error@+1 {{'torq_hl.add' op operand 'weights' must hold integers as the result does, but got 'tensor<2xf32>'}}
  %0 = "torq_hl.add"(%arg0, %arg1, %arg2, %arg3, %arg4) {name = "add", input_zp = 0 : i32, output_zp = 2 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 12 : i32} : (tensor<2x3x4xi8>, tensor<2xf32>, tensor<2xi32>, tensor<2x3x4xi8>, tensor<3x1xi8>) -> tensor<2x3x4xi8>
  return
}

// -----

func.func @add(%arg0: tensor<2x3x4xi8>, %arg1: tensor<2xi16>, %arg2: tensor<2xi32>, %arg3: tensor<2x3x4xi8>, %arg4: tensor<3x1xi8>) {
  // expected-error@+1 {{'torq_hl.add' op operand 'input2' must have one element with 'rhs_is_scalar', but got 'tensor<3x1xi8>'}}
  %0 = "torq_hl.add"(%arg0, %arg1, %arg2, %arg3, %arg4) {name = "add", input_zp = 0 : i32, output_zp = 2 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 12 : i32, rhs_is_scalar = true} : (tensor<2x3x4xi8>, tensor<2xi16>, tensor<2xi32>, tensor<2x3x4xi8>, tensor<3x1xi8>) -> tensor<2x3x4xi8>
  return
}

// -----

func.func @add(%arg0: tensor<2x3x4xi8>, %arg1: tensor<2xi16>, %arg2: tensor<2xi32>, %arg3: tensor<2x3x4xi8>, %arg4: tensor<3x1xi8>) {
  // expected-error@+1 {{'torq_hl.add' op attribute 'output_zp' (-200) must lie within the range of i8, -128 to 127}}
  %0 = "torq_hl.add"(%arg0, %arg1, %arg2, %arg3, %arg4) {name = "add", input_zp = 0 : i32, output_zp = -200 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 12 : i32} : (tensor<2x3x4xi8>, tensor<2xi16>, tensor<2xi32>, tensor<2x3x4xi8>, tensor<3x1xi8>) -> tensor<2x3x4xi8>
  return
}

// -----

func.func @mul(%arg0: tensor<2x3xi8>, %arg1: tensor<2xi32>, %arg2: tensor<2x3xi16>, %arg3: tensor<3xi16>) {
  // expected-error@+1 {{'torq_hl.mul' op attribute 'shift' failed to satisfy constraint: 8-bit signless integer attribute whose value is non-negative}}
  %0 = "torq_hl.mul"(%arg0, %arg1, %arg2, %arg3) {output_zp = 0 : i32, output_min = -128 : i32, output_max = 127 : i32, shift = 32 : i32} : (tensor<2x3xi8>, tensor<2xi32>, tensor<2x3xi16>, tensor<3xi16>) -> tensor<2x3xi8>
  return
}

// -----

func.func @mul(%arg0: tensor<2x3xi8>, %arg1: tensor<2xi32>, %arg2: tensor<2x3xi16>, %arg3: tensor<2xi16>) {
  // expected-error@+1 {{'torq_hl.mul' op 'input1' and 'input2' do not broadcast: 3 against 2}}
  %0 = "torq_hl.mul"(%arg0, %arg1, %arg2, %arg3) {output_zp = 0 : i32, output_min = -128 : i32, output_max = 127 : i32, shift = 32 : i8} : (tensor<2x3xi8>, tensor<2xi32>, tensor<2x3xi16>, tensor<2xi16>) -> tensor<2x3xi8>
  return
}

// -----

func.func @mul(%arg0: tensor<2x3xi8>, %arg1: tensor<6xi32>, %arg2: tensor<2x3xi16>, %arg3: tensor<3xi16>) {
  // expected-error@+1 {{'torq_hl.mul' op operand 'scale_bias' must be one-dimensional with 2 elements, but got 'tensor<6xi32>'}}
  %0 = "torq_hl.mul"(%arg0, %arg1, %arg2, %arg3) {output_zp = 0 : i32, output_min = -128 : i32, output_max = 127 : i32, shift = 32 : i8} : (tensor<2x3xi8>, tensor<6xi32>, tensor<2x3xi16>, tensor<3xi16>) -> tensor<2x3xi8>
  return
}

// -----

// On floats there is one bias.
func.func @mul(%arg0: tensor<2x3xbf16>, %arg1: tensor<2xf32>, %arg2: tensor<2x3xbf16>, %arg3: tensor<3xbf16>) {
  // expected-error@+1 {{'torq_hl.mul' op operand 'scale_bias' must be one-dimensional with 1 element, but got 'tensor<2xf32>'}}
  %0 = "torq_hl.mul"(%arg0, %arg1, %arg2, %arg3) {output_zp = 0 : i32, output_min = -128 : i32, output_max = 127 : i32, shift = 32 : i8} : (tensor<2x3xbf16>, tensor<2xf32>, tensor<2x3xbf16>, tensor<3xbf16>) -> tensor<2x3xbf16>
  return
}

// -----

// Neither one weight nor one for each of the three channels.
func.func @fma(%arg0: tensor<1x3x4x4xi16>, %arg1: tensor<4xi8>, %arg2: tensor<2xi32>, %arg3: tensor<1x3x4x4xi8>) {
  // expected-error@+1 {{'torq_hl.fma' op operand 'weights' must be one-dimensional with 1 or 3 elements, but got 'tensor<4xi8>'}}
  %0 = "torq_hl.fma"(%arg0, %arg1, %arg2, %arg3) {output_zp = 0 : i32, output_min = -32768 : i32, output_max = 32767 : i32, shift_factor = 0 : i32} : (tensor<1x3x4x4xi16>, tensor<4xi8>, tensor<2xi32>, tensor<1x3x4x4xi8>) -> tensor<1x3x4x4xi16>
  return
}

// -----

func.func @fma(%arg0: tensor<1x3x4x4xi16>, %arg1: tensor<1xi8>, %arg2: tensor<8xi32>, %arg3: tensor<1x3x4x4xi8>) {
  // expected-error@+1 {{'torq_hl.fma' op operand 'scale_bias' must be one-dimensional with 2 or 6 elements, but got 'tensor<8xi32>'}}
  %0 = "torq_hl.fma"(%arg0, %arg1, %arg2, %arg3) {output_zp = 0 : i32, output_min = -32768 : i32, output_max = 32767 : i32, shift_factor = 0 : i32} : (tensor<1x3x4x4xi16>, tensor<1xi8>, tensor<8xi32>, tensor<1x3x4x4xi8>) -> tensor<1x3x4x4xi16>
  return
}

// -----

func.func @fma(%arg0: tensor<1x3x4x4xi16>, %arg1: tensor<1xi8>, %arg2: tensor<2xi32>, %arg3: tensor<1x3x4x4xi8>) {
  // expected-error@+1 {{'torq_hl.fma' op attribute 'output_min' (-32769) must lie within the range of i16, -32768 to 32767}}
  %0 = "torq_hl.fma"(%arg0, %arg1, %arg2, %arg3) {output_zp = 0 : i32, output_min = -32769 : i32, output_max = 32767 : i32, shift_factor = 0 : i32} : (tensor<1x3x4x4xi16>, tensor<1xi8>, tensor<2xi32>, tensor<1x3x4x4xi8>) -> tensor<1x3x4x4xi16>
  return
}

// -----

func.func @fma(%arg0: tensor<1x3x4x5xi16>, %arg1: tensor<1xi8>, %arg2: tensor<2xi32>, %arg3: tensor<1x3x4x4xi8>) {
  // expected-error@+1 {{'torq_hl.fma' op result #0 ('output') must have the inferred shape 1x3x4x4, but got 'tensor<1x3x4x5xi16>'}}
  %0 = "torq_hl.fma"(%arg0, %arg1, %arg2, %arg3) {output_zp = 0 : i32, output_min = -32768 : i32, output_max = 32767 : i32, shift_factor = 0 : i32} : (tensor<1x3x4x5xi16>, tensor<1xi8>, tensor<2xi32>, tensor<1x3x4x4xi8>) -> tensor<1x3x4x5xi16>
  return
}

// -----

func.func @act(%arg0: tensor<4xi8>, %arg1: tensor<4xf32>) {
  // expected-error@+1 {{'torq_hl.act' op attribute 'name' failed to satisfy constraint: string attribute that is one of: f2f, f2i, i2f, clamp, abs, negate, tanh}}
  %0 = "torq_hl.act"(%arg0, %arg1) {name = "sine", input_zp = 0 : i32, output_zp = 0 : i32, min_int = -128 : i64, max_int = 127 : i64, min_fp = 0.0 : f32, max_fp = 1.0 : f32} : (tensor<4xi8>, tensor<4xf32>) -> tensor<4xi8>
  return
}

// -----

func.func @act(%arg0: tensor<4xi8>, %arg1: tensor<4xi8>) {
  // expected-error@+1 {{'torq_hl.act' op 'input' of "f2i" must hold floats, but got 'tensor<4xi8>'}}
  %0 = "torq_hl.act"(%arg0, %arg1) {name = "f2i", input_zp = 0 : i32, output_zp = 0 : i32, min_int = -128 : i64, max_int = 127 : i64, min_fp = 0.0 : f32, max_fp = 1.0 : f32} : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  return
}

// -----

func.func @act(%arg0: tensor<4xi8>, %arg1: tensor<4xi8>) {
  // expected-error@+1 {{'torq_hl.act' op 'output' of "i2f" must hold floats, but got 'tensor<4xi8>'}}
  %0 = "torq_hl.act"(%arg0, %arg1) {name = "i2f", input_zp = 0 : i32, output_zp = 0 : i32, min_int = -128 : i64, max_int = 127 : i64, min_fp = 0.0 : f32, max_fp = 1.0 : f32} : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  return
}

// -----

func.func @act(%arg0: tensor<4xi8>, %arg1: tensor<4xf32>) {
  // expected-error@+1 {{'torq_hl.act' op 'output' must have the element type of 'input', f32, but has i8}}
  %0 = "torq_hl.act"(%arg0, %arg1) {name = "clamp", input_zp = 0 : i32, output_zp = 0 : i32, min_int = -128 : i64, max_int = 127 : i64, min_fp = 0.0 : f32, max_fp = 1.0 : f32} : (tensor<4xi8>, tensor<4xf32>) -> tensor<4xi8>
  return
}

// -----

func.func @act(%arg0: tensor<4xi8>, %arg1: tensor<4xf32>) {
  // expected-error@+1 {{'torq_hl.act' op attribute 'min_int' (5) must not exceed 'max_int' (4)}}
  %0 = "torq_hl.act"(%arg0, %arg1) {name = "f2i", input_zp = 0 : i32, output_zp = 0 : i32, min_int = 5 : i64, max_int = 4 : i64, min_fp = 0.0 : f32, max_fp = 1.0 : f32} : (tensor<4xi8>, tensor<4xf32>) -> tensor<4xi8>
  return
}

// -----

func.func @act(%arg0: tensor<4xi8>, %arg1: tensor<4xf32>) {
  // expected-error@+1 {{'torq_hl.act' op attribute 'min_fp' (2) must not exceed 'max_fp' (1)}}
  %0 = "torq_hl.act"(%arg0, %arg1) {name = "f2i", input_zp = 0 : i32, output_zp = 0 : i32, min_int = -128 : i64, max_int = 127 : i64, min_fp = 2.0 : f32, max_fp = 1.0 : f32} : (tensor<4xi8>, tensor<4xf32>) -> tensor<4xi8>
  return
}

// -----

func.func @act(%arg0: tensor<4xi8>, %arg1: tensor<4xf32>, %arg2: tensor<1xi8>, %arg3: tensor<1xi8>) {
  // expected-error@+1 {{'torq_hl.act' op operand group starting at #2 requires 0 or 1 element, but found 2}}
  %0 = "torq_hl.act"(%arg0, %arg1, %arg2, %arg3) {name = "f2i", input_zp = 0 : i32, output_zp = 0 : i32, min_int = -128 : i64, max_int = 127 : i64, min_fp = 0.0 : f32, max_fp = 1.0 : f32} : (tensor<4xi8>, tensor<4xf32>, tensor<1xi8>, tensor<1xi8>) -> tensor<4xi8>
  return
}

// -----

func.func @table(%arg0: tensor<4xi8>, %arg1: tensor<2xi32>, %arg2: tensor<4xi8>) {
  // expected-error@+1 {{'torq_hl.table' op must have either the attribute 'static_table' or the operand 'dynamic_table'}}
  %0 = "torq_hl.table"(%arg0, %arg1, %arg2) : (tensor<4xi8>, tensor<2xi32>, tensor<4xi8>) -> tensor<4xi8>
  return
}

// -----

func.func @table(%arg0: tensor<4xi8>, %arg1: tensor<2xi32>, %arg2: tensor<4xi8>) {
  // expected-error@+1 {{'torq_hl.table' op attribute 'static_table' failed to satisfy constraint: i32 dense array attribute with exactly 256 elements}}
  %0 = "torq_hl.table"(%arg0, %arg1, %arg2) {static_table = array<i32: 1, 2>} : (tensor<4xi8>, tensor<2xi32>, tensor<4xi8>) -> tensor<4xi8>
  return
}

// -----

func.func @table(%arg0: tensor<4xi8>, %arg1: tensor<2xi32>, %arg2: tensor<4xi8>, %arg3: tensor<255xi32>) {
  // expected-error@+1 {{'torq_hl.table' op operand 'dynamic_table' must be one-dimensional with 256 elements, but got 'tensor<255xi32>'}}
  %0 = "torq_hl.table"(%arg0, %arg1, %arg2, %arg3) : (tensor<4xi8>, tensor<2xi32>, tensor<4xi8>, tensor<255xi32>) -> tensor<4xi8>
  return
}

// -----

func.func @table(%arg0: tensor<4xi8>, %arg1: tensor<2xi32>, %arg2: tensor<4xi8>, %arg3: tensor<256xi8>) {
  // expected-error-re@+1 {{'torq_hl.table' op operand #3{{.*}} must be 1D tensor of 32-bit signless integer values, but got 'tensor<256xi8>'}}
  %0 = "torq_hl.table"(%arg0, %arg1, %arg2, %arg3) : (tensor<4xi8>, tensor<2xi32>, tensor<4xi8>, tensor<256xi8>) -> tensor<4xi8>
  return
}

// -----

func.func @table(%arg0: tensor<4xi8>, %arg1: tensor<4xi32>, %arg2: tensor<4xi8>, %arg3: tensor<256xi32>) {
  // expected-error@+1 {{'torq_hl.table' op operand 'scale_bias' must be one-dimensional with 2 elements, but got 'tensor<4xi32>'}}
  %0 = "torq_hl.table"(%arg0, %arg1, %arg2, %arg3) : (tensor<4xi8>, tensor<4xi32>, tensor<4xi8>, tensor<256xi32>) -> tensor<4xi8>
  return
}

// -----

func.func @table(%arg0: tensor<4xi8>, %arg1: tensor<2xi32>, %arg2: tensor<4xi32>, %arg3: tensor<256xi32>) {
  // expected-error-re@+1 {{'torq_hl.table' op operand #2{{.*}} must be ranked tensor of 8-bit signless integer or 16-bit signless integer values, but got 'tensor<4xi32>'}}
  %0 = "torq_hl.table"(%arg0, %arg1, %arg2, %arg3) : (tensor<4xi8>, tensor<2xi32>, tensor<4xi32>, tensor<256xi32>) -> tensor<4xi8>
  return
}

// -----

func.func @table(%arg0: tensor<4xi8>, %arg1: tensor<2xi32>, %arg2: tensor<4xi16>, %arg3: tensor<256xi32>) {
  // expected-error@+1 {{'torq_hl.table' op the result must not be narrower than operand 'input', 'tensor<4xi16>', but is 'tensor<4xi8>'}}
  %0 = "torq_hl.table"(%arg0, %arg1, %arg2, %arg3) : (tensor<4xi8>, tensor<2xi32>, tensor<4xi16>, tensor<256xi32>) -> tensor<4xi8>
  return
}

// -----

func.func @elementwisebinary(%arg0: tensor<2x3xi8>, %arg1: tensor<2x1xi8>, %arg2: tensor<3xi8>) {
  // expected-error@+1 {{'torq_hl.elementwisebinary' op attribute 'op_type' failed to satisfy constraint: elementwise operation}}
  %0 = "torq_hl.elementwisebinary"(%arg0, %arg1, %arg2) {op_type = 15 : i32} : (tensor<2x3xi8>, tensor<2x1xi8>, tensor<3xi8>) -> tensor<2x3xi8>
  return
}

// -----

func.func @elementwisebinary(%arg0: tensor<2x3xi8>, %arg1: tensor<2x1xi8>, %arg2: tensor<3xi16>) {
  // expected-error@+1 {{'torq_hl.elementwisebinary' op 'input2' must have the element type of 'input1', i8, but has i16}}
  %0 = "torq_hl.elementwisebinary"(%arg0, %arg1, %arg2) {op_type = 5 : i32} : (tensor<2x3xi8>, tensor<2x1xi8>, tensor<3xi16>) -> tensor<2x3xi8>
  return
}

// -----

// A comparison gives i1.
func.func @elementwisebinary(%arg0: tensor<2x3xi8>, %arg1: tensor<2x1xi8>, %arg2: tensor<3xi8>) {
  // expected-error@+1 {{'torq_hl.elementwisebinary' op the result must have element type i1 for 'op_type' 6, but got 'tensor<2x3xi8>'}}
  %0 = "torq_hl.elementwisebinary"(%arg0, %arg1, %arg2) {op_type = 6 : i32} : (tensor<2x3xi8>, tensor<2x1xi8>, tensor<3xi8>) -> tensor<2x3xi8>
  return
}

// -----

func.func @elementwisebinary(%arg0: tensor<2x3xi16>, %arg1: tensor<2x1xi8>, %arg2: tensor<3xi8>) {
  // expected-error@+1 {{'torq_hl.elementwisebinary' op the result must have element type i8 for 'op_type' 14, but got 'tensor<2x3xi16>'}}
  %0 = "torq_hl.elementwisebinary"(%arg0, %arg1, %arg2) {op_type = 14 : i32} : (tensor<2x3xi16>, tensor<2x1xi8>, tensor<3xi8>) -> tensor<2x3xi16>
  return
}

// -----

func.func @elementwisebinary(%arg0: tensor<2x3xi8>, %arg1: tensor<2x1xi8>, %arg2: tensor<3xi8>) {
  // expected-error@+1 {{'torq_hl.elementwisebinary' op attribute 'op_type' (3) is an operation on one input}}
  %0 = "torq_hl.elementwisebinary"(%arg0, %arg1, %arg2) {op_type = 3 : i32} : (tensor<2x3xi8>, tensor<2x1xi8>, tensor<3xi8>) -> tensor<2x3xi8>
  return
}

// -----

func.func @elementwisebinary(%arg0: tensor<2x3xf32>, %arg1: tensor<2x1xf32>, %arg2: tensor<3xf32>) {
  // expected-error@+1 {{'torq_hl.elementwisebinary' op operand 'input1' must hold integers for a bitwise 'op_type' (2), but got 'tensor<2x1xf32>'}}
  %0 = "torq_hl.elementwisebinary"(%arg0, %arg1, %arg2) {op_type = 2 : i32} : (tensor<2x3xf32>, tensor<2x1xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @maxpool2d(%arg0: tensor<1x4x4x4xi8>, %arg1: tensor<1xi8>, %arg2: tensor<2xi32>, %arg3: tensor<1x4x8x8xi8>) {
  // expected-error@+1 {{'torq_hl.maxpool2d' op attribute 'kernel' failed to satisfy constraint: i64 dense array attribute with exactly 2 elements whose value is positive}}
  %0 = "torq_hl.maxpool2d"(%arg0, %arg1, %arg2, %arg3) {input_zp = -128 : i32, output_min = -128 : i32, output_max = 127 : i32, stride = array<i64: 2, 2>, pad = array<i64: 1, 1, 1, 1>, kernel = array<i64: 3, 0>} : (tensor<1x4x4x4xi8>, tensor<1xi8>, tensor<2xi32>, tensor<1x4x8x8xi8>) -> tensor<1x4x4x4xi8>
  return
}

// -----

func.func @maxpool2d(%arg0: tensor<1x4x4x4xi8>, %arg1: tensor<1xi8>, %arg2: tensor<2xi32>, %arg3: tensor<1x4x8x8xi8>) {
  // expected-error@+1 {{'torq_hl.maxpool2d' op the window of 11 does not fit the padded width of 'input', 10}}
  %0 = "torq_hl.maxpool2d"(%arg0, %arg1, %arg2, %arg3) {input_zp = -128 : i32, output_min = -128 : i32, output_max = 127 : i32, stride = array<i64: 2, 2>, pad = array<i64: 1, 1, 1, 1>, kernel = array<i64: 3, 11>} : (tensor<1x4x4x4xi8>, tensor<1xi8>, tensor<2xi32>, tensor<1x4x8x8xi8>) -> tensor<1x4x4x4xi8>
  return
}

// -----

func.func @maxpool2d(%arg0: tensor<1x4x4x4xi8>, %arg1: tensor<1xi8>, %arg2: tensor<2xi32>, %arg3: tensor<1x4x8x8xi16>) {
  // expected-error@+1 {{'torq_hl.maxpool2d' op 'output' must have the element type of 'input', i16, but has i8}}
  %0 = "torq_hl.maxpool2d"(%arg0, %arg1, %arg2, %arg3) {input_zp = -128 : i32, output_min = -128 : i32, output_max = 127 : i32, stride = array<i64: 2, 2>, pad = array<i64: 1, 1, 1, 1>, kernel = array<i64: 3, 3>} : (tensor<1x4x4x4xi8>, tensor<1xi8>, tensor<2xi32>, tensor<1x4x8x8xi16>) -> tensor<1x4x4x4xi8>
  return
}

// -----

func.func @maxpool2d(%arg0: tensor<1x4x4x4xi8>, %arg1: tensor<4xi8>, %arg2: tensor<2xi32>, %arg3: tensor<1x4x8x8xi8>) {
  // expected-error@+1 {{'torq_hl.maxpool2d' op operand 'weights' must be one-dimensional with 1 element, but got 'tensor<4xi8>'}}
  %0 = "torq_hl.maxpool2d"(%arg0, %arg1, %arg2, %arg3) {input_zp = -128 : i32, output_min = -128 : i32, output_max = 127 : i32, stride = array<i64: 2, 2>, pad = array<i64: 1, 1, 1, 1>, kernel = array<i64: 3, 3>} : (tensor<1x4x4x4xi8>, tensor<4xi8>, tensor<2xi32>, tensor<1x4x8x8xi8>) -> tensor<1x4x4x4xi8>
  return
}

// -----

func.func @maxpool2d(%arg0: tensor<1x4x4x4xi8>, %arg1: tensor<1xi8>, %arg2: tensor<2xi32>, %arg3: tensor<1x4x8x8xi8>) {
  // expected-error@+1 {{'torq_hl.maxpool2d' op attribute 'input_zp' (-129) must lie within the range of i8, -128 to 127}}
  %0 = "torq_hl.maxpool2d"(%arg0, %arg1, %arg2, %arg3) {input_zp = -129 : i32, output_min = -128 : i32, output_max = 127 : i32, stride = array<i64: 2, 2>, pad = array<i64: 1, 1, 1, 1>, kernel = array<i64: 3, 3>} : (tensor<1x4x4x4xi8>, tensor<1xi8>, tensor<2xi32>, tensor<1x4x8x8xi8>) -> tensor<1x4x4x4xi8>
  return
}

// -----

// The result is NHWC too.
func.func @avg_pool2d(%arg0: tensor<2x5x1x1xi8>, %arg1: tensor<1xi8>, %arg2: tensor<2xi32>, %arg3: tensor<2x7x7x5xi8>) {
  // expected-error@+1 {{'torq_hl.avg_pool2d' op result #0 ('output') must have the inferred shape 2x1x1x5, but got 'tensor<2x5x1x1xi8>'}}
  %0 = "torq_hl.avg_pool2d"(%arg0, %arg1, %arg2, %arg3) {input_zp = 0 : i32, output_zp = 0 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 32 : i32} : (tensor<2x5x1x1xi8>, tensor<1xi8>, tensor<2xi32>, tensor<2x7x7x5xi8>) -> tensor<2x5x1x1xi8>
  return
}

// -----

func.func @avg_pool2d(%arg0: tensor<2x1x1x5xi8>, %arg1: tensor<1xi8>, %arg2: tensor<2xi32>, %arg3: tensor<7x7x5xi8>) {
  // expected-error@+1 {{'torq_hl.avg_pool2d' op 'input' must have rank 4 (NHWC), but has rank 3}}
  %0 = "torq_hl.avg_pool2d"(%arg0, %arg1, %arg2, %arg3) {input_zp = 0 : i32, output_zp = 0 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 32 : i32} : (tensor<2x1x1x5xi8>, tensor<1xi8>, tensor<2xi32>, tensor<7x7x5xi8>) -> tensor<2x1x1x5xi8>
  return
}

// -----

func.func @avg_pool2d(%arg0: tensor<2x1x1x5xi8>, %arg1: tensor<1xi8>, %arg2: tensor<10xi32>, %arg3: tensor<2x7x7x5xi8>) {
  // expected-error@+1 {{'torq_hl.avg_pool2d' op operand 'scale_bias' must be one-dimensional with 2 elements, but got 'tensor<10xi32>'}}
  %0 = "torq_hl.avg_pool2d"(%arg0, %arg1, %arg2, %arg3) {input_zp = 0 : i32, output_zp = 0 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 32 : i32} : (tensor<2x1x1x5xi8>, tensor<1xi8>, tensor<10xi32>, tensor<2x7x7x5xi8>) -> tensor<2x1x1x5xi8>
  return
}

// -----

// The reduced dimension stays, of size 1.
func.func @reduce_mean(%arg0: tensor<2xi8>, %arg1: tensor<1xi8>, %arg2: tensor<2xi32>, %arg3: tensor<2x49xi8>) {
  // expected-error@+1 {{'torq_hl.reduce_mean' op result #0 ('output') must have the inferred shape 2x1, but got 'tensor<2xi8>'}}
  %0 = "torq_hl.reduce_mean"(%arg0, %arg1, %arg2, %arg3) {input_zp = 0 : i32, output_zp = 0 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 32 : i32} : (tensor<2xi8>, tensor<1xi8>, tensor<2xi32>, tensor<2x49xi8>) -> tensor<2xi8>
  return
}

// -----

func.func @reduce_mean(%arg0: tensor<2x1xi8>, %arg1: tensor<1xi8>, %arg2: tensor<2xi32>, %arg3: tensor<i8>) {
  // expected-error@+1 {{'torq_hl.reduce_mean' op 'input' must have rank 1 or more}}
  %0 = "torq_hl.reduce_mean"(%arg0, %arg1, %arg2, %arg3) {input_zp = 0 : i32, output_zp = 0 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 32 : i32} : (tensor<2x1xi8>, tensor<1xi8>, tensor<2xi32>, tensor<i8>) -> tensor<2x1xi8>
  return
}

// -----

func.func @reduce_mean(%arg0: tensor<2x1xi8>, %arg1: tensor<1xi8>, %arg2: tensor<2xi32>, %arg3: tensor<2x49xi8>) {
  // expected-error@+1 {{'torq_hl.reduce_mean' op requires attribute 'output_zp'}}
  %0 = "torq_hl.reduce_mean"(%arg0, %arg1, %arg2, %arg3) {input_zp = 0 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 32 : i32} : (tensor<2x1xi8>, tensor<1xi8>, tensor<2xi32>, tensor<2x49xi8>) -> tensor<2x1xi8>
  return
}

// -----

func.func @reduce_mean(%arg0: tensor<2x1xi8>, %arg1: tensor<49xi8>, %arg2: tensor<2xi32>, %arg3: tensor<2x49xi8>) {
  // expected-error@+1 {{'torq_hl.reduce_mean' op operand 'weights' must be one-dimensional with 1 element, but got 'tensor<49xi8>'}}
  %0 = "torq_hl.reduce_mean"(%arg0, %arg1, %arg2, %arg3) {input_zp = 0 : i32, output_zp = 0 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 32 : i32} : (tensor<2x1xi8>, tensor<49xi8>, tensor<2xi32>, tensor<2x49xi8>) -> tensor<2x1xi8>
  return
}

// -----

func.func @transpose(%arg0: tensor<4x2x3xi8>, %arg1: tensor<2x3x4xi8>) {
  // expected-error@+1 {{'torq_hl.transpose' op 'perm' must be a permutation of 0..2, but is [2, 0, 0]}}
  %0 = "torq_hl.transpose"(%arg0, %arg1) {perm = array<i64: 2, 0, 0>} : (tensor<4x2x3xi8>, tensor<2x3x4xi8>) -> tensor<4x2x3xi8>
  return
}

// -----

func.func @transpose(%arg0: tensor<4x2x3xi8>, %arg1: tensor<2x3x4xi8>) {
  // expected-error@+1 {{'torq_hl.transpose' op 'perm' must be a permutation of 0..2, but is [1, 0]}}
  %0 = "torq_hl.transpose"(%arg0, %arg1) {perm = array<i64: 1, 0>} : (tensor<4x2x3xi8>, tensor<2x3x4xi8>) -> tensor<4x2x3xi8>
  return
}

// -----

func.func @transpose(%arg0: tensor<4x2x3xi8>, %arg1: tensor<2x3x4xi8>) {
  // expected-error@+1 {{'torq_hl.transpose' op result #0 ('output') must have the inferred shape 3x2x4, but got 'tensor<4x2x3xi8>'}}
  %0 = "torq_hl.transpose"(%arg0, %arg1) {perm = array<i64: 1, 0, 2>} : (tensor<4x2x3xi8>, tensor<2x3x4xi8>) -> tensor<4x2x3xi8>
  return
}

// -----

func.func @transpose(%arg0: tensor<4x2x3xi8>, %arg1: tensor<2x3x4xi16>) {
  // expected-error@+1 {{'torq_hl.transpose' op 'output' must have the element type of 'input', i16, but has i8}}
  %0 = "torq_hl.transpose"(%arg0, %arg1) {perm = array<i64: 2, 0, 1>} : (tensor<4x2x3xi8>, tensor<2x3x4xi16>) -> tensor<4x2x3xi8>
  return
}

// -----

func.func @broadcast(%arg0: tensor<4x2x3xi8>, %arg1: tensor<2xi8>) {
  // expected-error@+1 {{'torq_hl.broadcast' op 'dimensions' must be increasing and within 0..2, but is [2, 0]}}
  %0 = "torq_hl.broadcast"(%arg0, %arg1) {dimensions = array<i64: 2, 0>} : (tensor<4x2x3xi8>, tensor<2xi8>) -> tensor<4x2x3xi8>
  return
}

// -----

func.func @broadcast(%arg0: tensor<4x2x3xi8>, %arg1: tensor<2xi8>) {
  // expected-error@+1 {{'torq_hl.broadcast' op 'dimensions' must be increasing and within 0..2, but is [0, 3]}}
  %0 = "torq_hl.broadcast"(%arg0, %arg1) {dimensions = array<i64: 0, 3>} : (tensor<4x2x3xi8>, tensor<2xi8>) -> tensor<4x2x3xi8>
  return
}

// -----

func.func @broadcast(%arg0: tensor<4x2x3xi8>, %arg1: tensor<2xi8>) {
  // expected-error@+1 {{'torq_hl.broadcast' op 'init' without 'dimensions' has shape 3, but 'input' has shape 2}}
  %0 = "torq_hl.broadcast"(%arg0, %arg1) {dimensions = array<i64: 0, 1>} : (tensor<4x2x3xi8>, tensor<2xi8>) -> tensor<4x2x3xi8>
  return
}

// -----

func.func @fill(%arg0: tensor<4xi8>) {
  // expected-error@+1 {{'torq_hl.fill' op attribute 'value' failed to satisfy constraint: 32-bit signless integer attribute}}
  %0 = "torq_hl.fill"(%arg0) {value = 1.0 : f32} : (tensor<4xi8>) -> tensor<4xi8>
  return
}

// -----

func.func @fill(%arg0: tensor<4xi8>) {
  // expected-error@+1 {{'torq_hl.fill' op result #0 ('output') must have the inferred shape 4, but got 'tensor<5xi8>'}}
  %0 = "torq_hl.fill"(%arg0) {value = 1 : i32} : (tensor<4xi8>) -> tensor<5xi8>
  return
}

// -----

func.func @fill(%arg0: tensor<4xi16>) {
  // expected-error@+1 {{'torq_hl.fill' op operand 'init' must have the type of the result, 'tensor<4xi8>', but got 'tensor<4xi16>'}}
  %0 = "torq_hl.fill"(%arg0) {value = 1 : i32} : (tensor<4xi16>) -> tensor<4xi8>
  return
}

// -----

func.func @identity(%arg0: tensor<5xi8>, %arg1: tensor<4xi8>) {
  // expected-error@+1 {{'torq_hl.identity' op result #0 ('output') must have the inferred shape 4, but got 'tensor<5xi8>'}}
  %0 = "torq_hl.identity"(%arg0, %arg1) : (tensor<5xi8>, tensor<4xi8>) -> tensor<5xi8>
  return
}

// -----

func.func @identity(%arg0: tensor<4xi8>, %arg1: tensor<4xi16>) {
  // expected-error@+1 {{'torq_hl.identity' op 'output' must have the element type of 'input', i16, but has i8}}
  %0 = "torq_hl.identity"(%arg0, %arg1) : (tensor<4xi8>, tensor<4xi16>) -> tensor<4xi8>
  return
}

// -----

func.func @identity(%arg0: tensor<4xi8>, %arg1: tensor<*xi8>) {
  // expected-error-re@+1 {{'torq_hl.identity' op operand #1{{.*}} must be ranked tensor of 1-bit signless integer or 8-bit signless integer or 16-bit signless integer or 32-bit signless integer or bfloat16 type or 32-bit float values, but got 'tensor<*xi8>'}}
  %0 = "torq_hl.identity"(%arg0, %arg1) : (tensor<4xi8>, tensor<*xi8>) -> tensor<4xi8>
  return
}

// -----

func.func @convert(%arg0: tensor<4x1xi16>, %arg1: tensor<4xi8>) {
  // expected-error@+1 {{'torq_hl.convert' op result #0 ('output') must have the inferred shape 4, but got 'tensor<4x1xi16>'}}
  %0 = "torq_hl.convert"(%arg0, %arg1) : (tensor<4x1xi16>, tensor<4xi8>) -> tensor<4x1xi16>
  return
}

// -----

func.func @convert(%arg0: tensor<4xi8>, %arg1: tensor<4xi8>) {
  // expected-error@+1 {{'torq_hl.convert' op operand 'init' must have the type of the result, 'tensor<4xi16>', but got 'tensor<4xi8>'}}
  %0 = "torq_hl.convert"(%arg0, %arg1) : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi16>
  return
}

// -----

func.func @reduce(%i: tensor<2xi8>, %w: tensor<1xi8>, %s: tensor<2xi32>, %x: tensor<2x4xi8>) {
  // expected-error@+1 {{'torq_hl.reduce' op 'axis' (2) must be a dimension of 'input', which has rank 2}}
  %0 = "torq_hl.reduce"(%i, %w, %s, %x) {name = "reduce_sum", axis = 2 : i32, output_zp = 0 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 32 : i32} : (tensor<2xi8>, tensor<1xi8>, tensor<2xi32>, tensor<2x4xi8>) -> tensor<2xi8>
  return
}

// -----

func.func @reduce(%i: tensor<2xi8>, %w: tensor<1xi8>, %s: tensor<4xi32>, %x: tensor<2x4xi8>) {
  // expected-error@+1 {{'torq_hl.reduce' op operand 'scale_bias' must be one-dimensional with 2 elements, but got 'tensor<4xi32>'}}
  %0 = "torq_hl.reduce"(%i, %w, %s, %x) {name = "reduce_sum", axis = 1 : i32, output_zp = 0 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 32 : i32} : (tensor<2xi8>, tensor<1xi8>, tensor<4xi32>, tensor<2x4xi8>) -> tensor<2xi8>
  return
}

// -----

func.func @argmax(%i: tensor<4xi32>, %s: tensor<2xi32>, %x: tensor<2x4xi8>) {
  // expected-error@+1 {{'torq_hl.argmax' op result #0 ('output') must have the inferred shape 2, but got 'tensor<4xi32>'}}
  %0 = "torq_hl.argmax"(%i, %s, %x) {axis = 1 : i32} : (tensor<4xi32>, tensor<2xi32>, tensor<2x4xi8>) -> tensor<4xi32>
  return
}

// -----

func.func @select(%i: tensor<4xi8>, %c: tensor<4xi1>, %x: tensor<4xi8>, %y: tensor<4xi16>) {
  // expected-error@+1 {{'torq_hl.select' op 'input3' must have the element type of 'input2', i8, but has i16}}
  %0 = "torq_hl.select"(%i, %c, %x, %y) : (tensor<4xi8>, tensor<4xi1>, tensor<4xi8>, tensor<4xi16>) -> tensor<4xi8>
  return
}

// -----

func.func @elementwisebinary(%i: tensor<4xi1>) {
  // expected-error@+1 {{'torq_hl.elementwisebinary' op attribute 'op_type' (14) is arithmetic, which i1 does not have}}
  %0 = "torq_hl.elementwisebinary"(%i, %i, %i) {op_type = 14 : i32} : (tensor<4xi1>, tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  return
}

// -----

func.func @unknown(%arg0: tensor<4xi8>) {
  // expected-error@+1 {{unregistered operation 'torq_hl.identify' found in dialect ('torq_hl') that does not allow unknown operations}}
  %0 = "torq_hl.identify"(%arg0) : (tensor<4xi8>) -> tensor<4xi8>
  return
}
