// RUN: torq-opt --split-input-file --verify-diagnostics --convert-torq-hl-to-linalg %s

func.func @layout(%x: tensor<1x1x4x4xi8>, %w: tensor<1x1x1x1xi8>, %scale_bias: tensor<2xi32>) -> tensor<1x1x4x4xi8> {
  %init = tensor.empty() : tensor<1x1x4x4xi8>
  // expected-error @below {{'torq_hl.conv2d' op is not lowered to linalg: segment_output is True}}
  %y = "torq_hl.conv2d"(%init, %w, %scale_bias, %x) {segment_output = true, input_zp = 7 : i32, weight_zp = 0 : i32, output_zp = 0 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 0 : i32, groups = 1 : i32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>, vectorization_mode = 0 : i32} : (tensor<1x1x4x4xi8>, tensor<1x1x1x1xi8>, tensor<2xi32>, tensor<1x1x4x4xi8>) -> tensor<1x1x4x4xi8>
  return %y : tensor<1x1x4x4xi8>
}

// -----

func.func @floats(%x: tensor<4xbf16>, %w: tensor<1xbf16>, %bias: tensor<1xf32>) -> tensor<4xbf16> {
  %init = tensor.empty() : tensor<4xbf16>
  // expected-error @below {{'torq_hl.fma' op is not lowered to linalg: element type bf16}}
  %y = "torq_hl.fma"(%init, %w, %bias, %x) {output_zp = 0 : i32, output_min = 0 : i32, output_max = 0 : i32, shift_factor = 0 : i32} : (tensor<4xbf16>, tensor<1xbf16>, tensor<1xf32>, tensor<4xbf16>) -> tensor<4xbf16>
  return %y : tensor<4xbf16>
}

// -----

func.func @single(%x: tensor<4xf32>, %w: tensor<2xf32>, %bias: tensor<1xf32>) -> tensor<4xf32> {
  %init = tensor.empty() : tensor<4xf32>
  // expected-error @below {{'torq_hl.add' op is not lowered to linalg: a sum of floats takes two of bf16 with weights of bf16, and one bias of f32}}
  %y = "torq_hl.add"(%init, %w, %bias, %x, %x) {name = "add", input_zp = 0 : i32, output_zp = 0 : i32, output_min = 0 : i32, output_max = 0 : i32, shift_factor = 0 : i32} : (tensor<4xf32>, tensor<2xf32>, tensor<1xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
