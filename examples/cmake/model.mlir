func.func @main(%x: tensor<1x3x8x8xi8>, %w: tensor<16x3x3x3xi8>, %pairs: tensor<32xi32>, %table: tensor<256xi32>, %range: tensor<2xi32>) -> tensor<1x16x4x4xi8> {
  %init = tensor.empty() : tensor<1x16x4x4xi8>
  %convolved = "torq_hl.conv2d"(%init, %w, %pairs, %x) {input_zp = 3 : i32, weight_zp = 0 : i32, output_zp = -5 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 28 : i32, groups = 1 : i32, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>, dilation = array<i64: 1, 1>, vectorization_mode = 0 : i32, "torq-executor" = "nss"} : (tensor<1x16x4x4xi8>, tensor<16x3x3x3xi8>, tensor<32xi32>, tensor<1x3x8x8xi8>) -> tensor<1x16x4x4xi8>
  %copied = "torq_hl.identity"(%init, %convolved) {"torq-executor" = "nss"} : (tensor<1x16x4x4xi8>, tensor<1x16x4x4xi8>) -> tensor<1x16x4x4xi8>
  %looked_up = "torq_hl.table"(%init, %range, %copied, %table) {"torq-executor" = "nss"} : (tensor<1x16x4x4xi8>, tensor<2xi32>, tensor<1x16x4x4xi8>, tensor<256xi32>) -> tensor<1x16x4x4xi8>
  %result = "torq_hl.identity"(%init, %looked_up) {"torq-executor" = "css"} : (tensor<1x16x4x4xi8>, tensor<1x16x4x4xi8>) -> tensor<1x16x4x4xi8>
  return %result : tensor<1x16x4x4xi8>
}
