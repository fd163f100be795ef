// RUN: torq-opt %s | torq-opt | FileCheck %s

// CHECK-LABEL: func.func @conv2d
// CHECK: "torq_hl.conv2d"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) {dilation = array<i64: 1, 1>, groups = 1 : i32, input_zp = 3 : i32, output_max = 127 : i32, output_min = -128 : i32, output_zp = -5 : i32, pad = array<i64: 1, 1, 1, 1>, shift_factor = 28 : i32, stride = array<i64: 2, 2>, vectorization_mode = 0 : i32, weight_zp = 0 : i32} : (tensor<1x16x4x4xi8>, tensor<16x3x3x3xi8>, tensor<32xi32>, tensor<1x3x8x8xi8>) -> tensor<1x16x4x4xi8>
func.func @conv2d(%x: tensor<1x3x8x8xi8>, %w: tensor<16x3x3x3xi8>, %s: tensor<32xi32>) -> tensor<1x16x4x4xi8> {
  %0 = tensor.empty() : tensor<1x16x4x4xi8>
  %1 = "torq_hl.conv2d"(%0, %w, %s, %x) {input_zp = 3 : i32, weight_zp = 0 : i32, output_zp = -5 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 28 : i32, groups = 1 : i32, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>, dilation = array<i64: 1, 1>, vectorization_mode = 0 : i32} : (tensor<1x16x4x4xi8>, tensor<16x3x3x3xi8>, tensor<32xi32>, tensor<1x3x8x8xi8>) -> tensor<1x16x4x4xi8>
  return %1 : tensor<1x16x4x4xi8>
}

// Weights are i16 once a zero point is folded in, one pair serves all channels, the output is wider, and attributes
// with defaults are kept as written.
// CHECK-LABEL: func.func @conv2d_nhwc_grouped
// CHECK: "torq_hl.conv2d"
// CHECK-SAME: nhwc_input = true
// CHECK-SAME: segment_output = false
// CHECK-SAME: -> tensor<1x4x6x6xi32>
func.func @conv2d_nhwc_grouped(%i: tensor<1x4x6x6xi32>, %x: tensor<1x8x8x4xi8>, %w: tensor<4x2x3x3xi16>, %s: tensor<2xi32>) -> tensor<1x4x6x6xi32> {
  %0 = "torq_hl.conv2d"(%i, %w, %s, %x) {input_zp = 0 : i32, weight_zp = 0 : i32, output_zp = 0 : i32, output_min = -2147483648 : i32, output_max = 2147483647 : i32, shift_factor = 0 : i32, groups = 2 : i32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>, vectorization_mode = 0 : i32, nhwc_input = true, segment_output = false} : (tensor<1x4x6x6xi32>, tensor<4x2x3x3xi16>, tensor<2xi32>, tensor<1x8x8x4xi8>) -> tensor<1x4x6x6xi32>
  return %0 : tensor<1x4x6x6xi32>
}

// On floats scale_bias is a bias for each channel.
// CHECK-LABEL: func.func @conv2d_bf16
// CHECK: "torq_hl.conv2d"{{.*}} (tensor<1x4x6x6xbf16>, tensor<4x2x3x3xbf16>, tensor<4xf32>, tensor<1x2x8x8xbf16>) -> tensor<1x4x6x6xbf16>
func.func @conv2d_bf16(%i: tensor<1x4x6x6xbf16>, %x: tensor<1x2x8x8xbf16>, %w: tensor<4x2x3x3xbf16>, %s: tensor<4xf32>) -> tensor<1x4x6x6xbf16> {
  %0 = "torq_hl.conv2d"(%i, %w, %s, %x) {input_zp = 0 : i32, weight_zp = 0 : i32, output_zp = 0 : i32, output_min = 0 : i32, output_max = 0 : i32, shift_factor = 0 : i32, groups = 1 : i32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>, vectorization_mode = 0 : i32} : (tensor<1x4x6x6xbf16>, tensor<4x2x3x3xbf16>, tensor<4xf32>, tensor<1x2x8x8xbf16>) -> tensor<1x4x6x6xbf16>
  return %0 : tensor<1x4x6x6xbf16>
}

// CHECK-LABEL: func.func @dynamic_batch
// CHECK: "torq_hl.conv2d"{{.*}} -> tensor<?x4x6x6xi8>
func.func @dynamic_batch(%i: tensor<?x4x6x6xi8>, %x: tensor<?x2x8x8xi8>, %w: tensor<4x2x3x3xi8>, %s: tensor<8xi32>) -> tensor<?x4x6x6xi8> {
  %0 = "torq_hl.conv2d"(%i, %w, %s, %x) {input_zp = 0 : i32, weight_zp = 0 : i32, output_zp = 0 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 0 : i32, groups = 1 : i32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>, vectorization_mode = 0 : i32} : (tensor<?x4x6x6xi8>, tensor<4x2x3x3xi8>, tensor<8xi32>, tensor<?x2x8x8xi8>) -> tensor<?x4x6x6xi8>
  return %0 : tensor<?x4x6x6xi8>
}

// CHECK-LABEL: func.func @depthwise_conv2d
// CHECK: "torq_hl.depthwise_conv2d"{{.*}}groups = 3 : i32{{.*}} -> tensor<1x6x8x8xi8>
func.func @depthwise_conv2d(%i: tensor<1x6x8x8xi8>, %x: tensor<1x3x8x8xi8>, %w: tensor<6x1x3x3xi8>, %s: tensor<12xi32>) -> tensor<1x6x8x8xi8> {
  %0 = "torq_hl.depthwise_conv2d"(%i, %w, %s, %x) {input_zp = -128 : i32, weight_zp = 0 : i32, output_zp = 0 : i32, output_min = 0 : i32, output_max = 127 : i32, shift_factor = 36 : i32, groups = 3 : i32, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>, vectorization_mode = 0 : i32} : (tensor<1x6x8x8xi8>, tensor<6x1x3x3xi8>, tensor<12xi32>, tensor<1x3x8x8xi8>) -> tensor<1x6x8x8xi8>
  return %0 : tensor<1x6x8x8xi8>
}

// CHECK-LABEL: func.func @conv1d
// CHECK: "torq_hl.conv1d"{{.*}}pad = array<i64: 2, 1>{{.*}} -> tensor<1x4x5xi8>
func.func @conv1d(%i: tensor<1x4x5xi8>, %x: tensor<1x3x9xi8>, %w: tensor<4x3x4xi8>, %s: tensor<8xi32>) -> tensor<1x4x5xi8> {
  %0 = "torq_hl.conv1d"(%i, %w, %s, %x) {input_zp = 0 : i32, weight_zp = 0 : i32, output_zp = 0 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 28 : i32, groups = 1 : i32, pad = array<i64: 2, 1>, stride = array<i64: 2>, dilation = array<i64: 1>, vectorization_mode = 0 : i32} : (tensor<1x4x5xi8>, tensor<4x3x4xi8>, tensor<8xi32>, tensor<1x3x9xi8>) -> tensor<1x4x5xi8>
  return %0 : tensor<1x4x5xi8>
}

// CHECK-LABEL: func.func @fully_connected
// CHECK: "torq_hl.fully_connected"{{.*}} -> tensor<2x3x10xi8>
func.func @fully_connected(%i: tensor<2x3x10xi8>, %x: tensor<2x3x64xi8>, %w: tensor<64x10xi8>, %s: tensor<20xi32>) -> tensor<2x3x10xi8> {
  %0 = "torq_hl.fully_connected"(%i, %w, %s, %x) {input_zp = 0 : i32, weight_zp = 0 : i32, output_zp = 0 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 28 : i32, vectorization_mode = 0 : i32} : (tensor<2x3x10xi8>, tensor<64x10xi8>, tensor<20xi32>, tensor<2x3x64xi8>) -> tensor<2x3x10xi8>
  return %0 : tensor<2x3x10xi8>
}

// CHECK-LABEL: func.func @fully_connected_batch_scaled
// CHECK: "torq_hl.fully_connected"{{.*}}is_batch_scaled = true
func.func @fully_connected_batch_scaled(%i: tensor<6x10xi8>, %x: tensor<6x64xi8>, %w: tensor<64x10xi8>, %s: tensor<12xi32>) -> tensor<6x10xi8> {
  %0 = "torq_hl.fully_connected"(%i, %w, %s, %x) {input_zp = 0 : i32, weight_zp = 0 : i32, output_zp = 0 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 28 : i32, vectorization_mode = 0 : i32, is_batch_scaled = true} : (tensor<6x10xi8>, tensor<64x10xi8>, tensor<12xi32>, tensor<6x64xi8>) -> tensor<6x10xi8>
  return %0 : tensor<6x10xi8>
}

// CHECK-LABEL: func.func @matmul
// CHECK: "torq_hl.matmul"{{.*}}input1_unsigned = true{{.*}} -> tensor<2x3x5xi8>
func.func @matmul(%i: tensor<2x3x5xi8>, %s: tensor<2xi32>, %x: tensor<2x3x4xi8>, %y: tensor<2x4x5xi8>) -> tensor<2x3x5xi8> {
  %0 = "torq_hl.matmul"(%i, %s, %x, %y) {output_zp = 0 : i32, output_min = -128 : i32, output_max = 127 : i32, shift = 28 : i32, input1_unsigned = true} : (tensor<2x3x5xi8>, tensor<2xi32>, tensor<2x3x4xi8>, tensor<2x4x5xi8>) -> tensor<2x3x5xi8>
  return %0 : tensor<2x3x5xi8>
}

// CHECK-LABEL: func.func @add
// CHECK: "torq_hl.add"{{.*}}name = "add"{{.*}} -> tensor<2x3x4xi8>
// CHECK: "torq_hl.add"{{.*}}name = "sub"{{.*}}rhs_is_scalar = true{{.*}} -> tensor<2x3x4xi8>
func.func @add(%i: tensor<2x3x4xi8>, %w: tensor<2xi16>, %s: tensor<2xi32>, %x: tensor<2x3x4xi8>, %y: tensor<3x1xi8>, %z: tensor<1xi8>) -> (tensor<2x3x4xi8>, tensor<2x3x4xi8>) {
  %0 = "torq_hl.add"(%i, %w, %s, %x, %y) {name = "add", input_zp = 0 : i32, output_zp = 2 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 12 : i32} : (tensor<2x3x4xi8>, tensor<2xi16>, tensor<2xi32>, tensor<2x3x4xi8>, tensor<3x1xi8>) -> tensor<2x3x4xi8>
  %1 = "torq_hl.add"(%i, %w, %s, %x, %z) {name = "sub", input_zp = 0 : i32, output_zp = 2 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 12 : i32, rhs_is_scalar = true} : (tensor<2x3x4xi8>, tensor<2xi16>, tensor<2xi32>, tensor<2x3x4xi8>, tensor<1xi8>) -> tensor<2x3x4xi8>
  return %0, %1 : tensor<2x3x4xi8>, tensor<2x3x4xi8>
}

// CHECK-LABEL: func.func @mul
// CHECK: "torq_hl.mul"{{.*}}shift = 32 : i8{{.*}} (tensor<2x3xi8>, tensor<2xi32>, tensor<2x3xi16>, tensor<1x3xi16>) -> tensor<2x3xi8>
// CHECK: "torq_hl.mul"{{.*}} -> tensor<2x3xbf16>
func.func @mul(%i: tensor<2x3xi8>, %s: tensor<2xi32>, %x: tensor<2x3xi16>, %y: tensor<1x3xi16>, %f: tensor<2x3xbf16>, %b: tensor<1xf32>) -> (tensor<2x3xi8>, tensor<2x3xbf16>) {
  %0 = "torq_hl.mul"(%i, %s, %x, %y) {output_zp = 0 : i32, output_min = -128 : i32, output_max = 127 : i32, shift = 32 : i8} : (tensor<2x3xi8>, tensor<2xi32>, tensor<2x3xi16>, tensor<1x3xi16>) -> tensor<2x3xi8>
  %1 = "torq_hl.mul"(%f, %b, %f, %f) {output_zp = 0 : i32, output_min = 0 : i32, output_max = 0 : i32, shift = 0 : i8} : (tensor<2x3xbf16>, tensor<1xf32>, tensor<2x3xbf16>, tensor<2x3xbf16>) -> tensor<2x3xbf16>
  return %0, %1 : tensor<2x3xi8>, tensor<2x3xbf16>
}

// CHECK-LABEL: func.func @fma
// CHECK: "torq_hl.fma"{{.*}} -> tensor<1x3x4x4xi16>
// CHECK: "torq_hl.fma"{{.*}}input_unsigned = true{{.*}} -> tensor<1x3x4x4xi16>
func.func @fma(%i: tensor<1x3x4x4xi16>, %w1: tensor<1xi8>, %s1: tensor<2xi32>, %w3: tensor<3xi8>, %s3: tensor<6xi32>, %x: tensor<1x3x4x4xi8>) -> (tensor<1x3x4x4xi16>, tensor<1x3x4x4xi16>) {
  %0 = "torq_hl.fma"(%i, %w1, %s1, %x) {output_zp = 0 : i32, output_min = -32768 : i32, output_max = 32767 : i32, shift_factor = 0 : i32} : (tensor<1x3x4x4xi16>, tensor<1xi8>, tensor<2xi32>, tensor<1x3x4x4xi8>) -> tensor<1x3x4x4xi16>
  %1 = "torq_hl.fma"(%i, %w3, %s3, %x) {output_zp = 0 : i32, output_min = -32768 : i32, output_max = 32767 : i32, shift_factor = 0 : i32, input_unsigned = true} : (tensor<1x3x4x4xi16>, tensor<3xi8>, tensor<6xi32>, tensor<1x3x4x4xi8>) -> tensor<1x3x4x4xi16>
  return %0, %1 : tensor<1x3x4x4xi16>, tensor<1x3x4x4xi16>
}

// CHECK-LABEL: func.func @act
// CHECK: "torq_hl.act"(%{{.*}}, %{{.*}}) {{{.*}}name = "f2i"{{.*}} (tensor<4xi8>, tensor<4xf32>) -> tensor<4xi8>
// CHECK: "torq_hl.act"(%{{.*}}, %{{.*}}) {{{.*}}name = "i2f"{{.*}} (tensor<4xf32>, tensor<4xi8>) -> tensor<4xf32>
// CHECK: "torq_hl.act"(%{{.*}}, %{{.*}}, %{{.*}}) {{{.*}}name = "clamp"{{.*}} (tensor<4xi8>, tensor<4xi8>, tensor<1xi8>) -> tensor<4xi8>
func.func @act(%f: tensor<4xf32>, %q: tensor<4xi8>, %w: tensor<1xi8>) -> (tensor<4xi8>, tensor<4xf32>, tensor<4xi8>) {
  %0 = "torq_hl.act"(%q, %f) {name = "f2i", input_zp = 0 : i32, output_zp = 0 : i32, min_int = -128 : i64, max_int = 127 : i64, min_fp = -1.0 : f32, max_fp = 1.0 : f32} : (tensor<4xi8>, tensor<4xf32>) -> tensor<4xi8>
  %1 = "torq_hl.act"(%f, %q) {name = "i2f", input_zp = 3 : i32, output_zp = 0 : i32, min_int = -128 : i64, max_int = 127 : i64, min_fp = -1.0 : f32, max_fp = 1.0 : f32} : (tensor<4xf32>, tensor<4xi8>) -> tensor<4xf32>
  %2 = "torq_hl.act"(%q, %q, %w) {name = "clamp", input_zp = 0 : i32, output_zp = 0 : i32, min_int = 0 : i64, max_int = 6 : i64, min_fp = 0.0 : f32, max_fp = 6.0 : f32} : (tensor<4xi8>, tensor<4xi8>, tensor<1xi8>) -> tensor<4xi8>
  return %0, %1, %2 : tensor<4xi8>, tensor<4xf32>, tensor<4xi8>
}

// CHECK-LABEL: func.func @table
// CHECK: "torq_hl.table"(%{{.*}}, %{{.*}}, %{{.*}}) {static_table = array<i32: 0, 1,
// CHECK: "torq_hl.table"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (tensor<4xi8>, tensor<2xi32>, tensor<4xi8>, tensor<256xi32>) -> tensor<4xi8>
func.func @table(%x: tensor<4xi8>, %s: tensor<2xi32>, %t: tensor<256xi32>) -> (tensor<4xi8>, tensor<4xi8>) {
  %0 = "torq_hl.table"(%x, %s, %x) {static_table = array<i32: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 90, 91, 92, 93, 94, 95, 96, 97, 98, 99, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 132, 133, 134, 135, 136, 137, 138, 139, 140, 141, 142, 143, 144, 145, 146, 147, 148, 149, 150, 151, 152, 153, 154, 155, 156, 157, 158, 159, 160, 161, 162, 163, 164, 165, 166, 167, 168, 169, 170, 171, 172, 173, 174, 175, 176, 177, 178, 179, 180, 181, 182, 183, 184, 185, 186, 187, 188, 189, 190, 191, 192, 193, 194, 195, 196, 197, 198, 199, 200, 201, 202, 203, 204, 205, 206, 207, 208, 209, 210, 211, 212, 213, 214, 215, 216, 217, 218, 219, 220, 221, 222, 223, 224, 225, 226, 227, 228, 229, 230, 231, 232, 233, 234, 235, 236, 237, 238, 239, 240, 241, 242, 243, 244, 245, 246, 247, 248, 249, 250, 251, 252, 253, 254, 255>} : (tensor<4xi8>, tensor<2xi32>, tensor<4xi8>) -> tensor<4xi8>
  %1 = "torq_hl.table"(%x, %s, %x, %t) : (tensor<4xi8>, tensor<2xi32>, tensor<4xi8>, tensor<256xi32>) -> tensor<4xi8>
  return %0, %1 : tensor<4xi8>, tensor<4xi8>
}

// CHECK-LABEL: func.func @elementwisebinary
// CHECK: "torq_hl.elementwisebinary"{{.*}}is_unsigned = true, op_type = 5 : i32{{.*}} -> tensor<2x3xi8>
// CHECK: "torq_hl.elementwisebinary"{{.*}}op_type = 8 : i32{{.*}} -> tensor<2x3xi1>
func.func @elementwisebinary(%i: tensor<2x3xi8>, %b: tensor<2x3xi1>, %x: tensor<2x1xi8>, %y: tensor<3xi8>) -> (tensor<2x3xi8>, tensor<2x3xi1>) {
  %0 = "torq_hl.elementwisebinary"(%i, %x, %y) {op_type = 5 : i32, is_unsigned = true} : (tensor<2x3xi8>, tensor<2x1xi8>, tensor<3xi8>) -> tensor<2x3xi8>
  %1 = "torq_hl.elementwisebinary"(%b, %x, %y) {op_type = 8 : i32} : (tensor<2x3xi1>, tensor<2x1xi8>, tensor<3xi8>) -> tensor<2x3xi1>
  return %0, %1 : tensor<2x3xi8>, tensor<2x3xi1>
}

// CHECK-LABEL: func.func @maxpool2d
// CHECK: "torq_hl.maxpool2d"{{.*}}kernel = array<i64: 3, 3>{{.*}} -> tensor<1x4x4x4xi8>
func.func @maxpool2d(%i: tensor<1x4x4x4xi8>, %w: tensor<1xi8>, %s: tensor<2xi32>, %x: tensor<1x4x8x8xi8>) -> tensor<1x4x4x4xi8> {
  %0 = "torq_hl.maxpool2d"(%i, %w, %s, %x) {input_zp = -128 : i32, output_min = -128 : i32, output_max = 127 : i32, stride = array<i64: 2, 2>, pad = array<i64: 1, 1, 1, 1>, kernel = array<i64: 3, 3>} : (tensor<1x4x4x4xi8>, tensor<1xi8>, tensor<2xi32>, tensor<1x4x8x8xi8>) -> tensor<1x4x4x4xi8>
  return %0 : tensor<1x4x4x4xi8>
}

// CHECK-LABEL: func.func @avg_pool2d
// CHECK: "torq_hl.avg_pool2d"{{.*}} -> tensor<2x1x1x5xi8>
func.func @avg_pool2d(%i: tensor<2x1x1x5xi8>, %w: tensor<1xi8>, %s: tensor<2xi32>, %x: tensor<2x7x7x5xi8>) -> tensor<2x1x1x5xi8> {
  %0 = "torq_hl.avg_pool2d"(%i, %w, %s, %x) {input_zp = 4 : i32, output_zp = 0 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 32 : i32} : (tensor<2x1x1x5xi8>, tensor<1xi8>, tensor<2xi32>, tensor<2x7x7x5xi8>) -> tensor<2x1x1x5xi8>
  return %0 : tensor<2x1x1x5xi8>
}

// CHECK-LABEL: func.func @reduce_mean
// CHECK: "torq_hl.reduce_mean"{{.*}} -> tensor<2x1xi8>
func.func @reduce_mean(%i: tensor<2x1xi8>, %w: tensor<1xi8>, %s: tensor<2xi32>, %x: tensor<2x49xi8>) -> tensor<2x1xi8> {
  %0 = "torq_hl.reduce_mean"(%i, %w, %s, %x) {input_zp = 4 : i32, output_zp = 0 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 32 : i32} : (tensor<2x1xi8>, tensor<1xi8>, tensor<2xi32>, tensor<2x49xi8>) -> tensor<2x1xi8>
  return %0 : tensor<2x1xi8>
}

// CHECK-LABEL: func.func @reduce
// CHECK: "torq_hl.reduce"{{.*}}axis = 1 : i32, name = "reduce_max"{{.*}} -> tensor<2x5xi8>
// CHECK: "torq_hl.argmax"{{.*}}axis = 2 : i32{{.*}} -> tensor<2x49xi32>
func.func @reduce(%i: tensor<2x5xi8>, %j: tensor<2x49xi32>, %w: tensor<1xi8>, %s: tensor<2xi32>, %x: tensor<2x49x5xi8>) -> (tensor<2x5xi8>, tensor<2x49xi32>) {
  %0 = "torq_hl.reduce"(%i, %w, %s, %x) {name = "reduce_max", axis = 1 : i32, output_zp = 0 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 32 : i32} : (tensor<2x5xi8>, tensor<1xi8>, tensor<2xi32>, tensor<2x49x5xi8>) -> tensor<2x5xi8>
  %1 = "torq_hl.argmax"(%j, %s, %x) {axis = 2 : i32} : (tensor<2x49xi32>, tensor<2xi32>, tensor<2x49x5xi8>) -> tensor<2x49xi32>
  return %0, %1 : tensor<2x5xi8>, tensor<2x49xi32>
}

// CHECK-LABEL: func.func @select
// CHECK: "torq_hl.select"{{.*}} -> tensor<2x3xi8>
func.func @select(%i: tensor<2x3xi8>, %c: tensor<2x1xi1>, %x: tensor<3xi8>, %y: tensor<2x3xi8>) -> tensor<2x3xi8> {
  %0 = "torq_hl.select"(%i, %c, %x, %y) : (tensor<2x3xi8>, tensor<2x1xi1>, tensor<3xi8>, tensor<2x3xi8>) -> tensor<2x3xi8>
  return %0 : tensor<2x3xi8>
}

// CHECK-LABEL: func.func @data_movement
// CHECK: "torq_hl.transpose"{{.*}}perm = array<i64: 2, 0, 1>{{.*}} -> tensor<4x2x3xi8>
// CHECK: "torq_hl.broadcast"{{.*}}dimensions = array<i64: 0, 2>{{.*}} -> tensor<4x2x3xi8>
// CHECK: "torq_hl.fill"{{.*}}value = -3 : i32{{.*}} -> tensor<4x2x3xi8>
// CHECK: "torq_hl.identity"{{.*}} -> tensor<4x2x3xi8>
// CHECK: "torq_hl.convert"{{.*}} (tensor<4x2x3xi32>, tensor<4x2x3xi8>) -> tensor<4x2x3xi32>
func.func @data_movement(%i: tensor<4x2x3xi8>, %j: tensor<4x2x3xi32>, %x: tensor<2x3x4xi8>, %y: tensor<2xi8>) -> tensor<4x2x3xi32> {
  %0 = "torq_hl.transpose"(%i, %x) {perm = array<i64: 2, 0, 1>} : (tensor<4x2x3xi8>, tensor<2x3x4xi8>) -> tensor<4x2x3xi8>
  %1 = "torq_hl.broadcast"(%i, %y) {dimensions = array<i64: 0, 2>} : (tensor<4x2x3xi8>, tensor<2xi8>) -> tensor<4x2x3xi8>
  %2 = "torq_hl.fill"(%i) {value = -3 : i32} : (tensor<4x2x3xi8>) -> tensor<4x2x3xi8>
  %3 = "torq_hl.identity"(%2, %1) : (tensor<4x2x3xi8>, tensor<4x2x3xi8>) -> tensor<4x2x3xi8>
  %4 = "torq_hl.convert"(%j, %3) : (tensor<4x2x3xi32>, tensor<4x2x3xi8>) -> tensor<4x2x3xi32>
  return %4 : tensor<4x2x3xi32>
}

// CHECK-LABEL: func.func @discardable_attributes
// CHECK: "torq_hl.identity"{{.*}} {other.note = 1 : i32, "torq-executor" = "css"}
func.func @discardable_attributes(%x: tensor<4xi8>) -> tensor<4xi8> {
  %0 = "torq_hl.identity"(%x, %x) {"torq-executor" = "css", other.note = 1 : i32} : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  return %0 : tensor<4xi8>
}

// Indices are i32 or i64, of any rank.
// CHECK-LABEL: func.func @gather
// CHECK: "torq_hl.gather"(%{{.*}}, %{{.*}}, %{{.*}}) : (tensor<2x5x16xi8>, tensor<10x16xi8>, tensor<2x5xi64>) -> tensor<2x5x16xi8>
func.func @gather(%i: tensor<2x5x16xi8>, %v: tensor<10x16xi8>, %n: tensor<2x5xi64>) -> tensor<2x5x16xi8> {
  %0 = "torq_hl.gather"(%i, %v, %n) : (tensor<2x5x16xi8>, tensor<10x16xi8>, tensor<2x5xi64>) -> tensor<2x5x16xi8>
  return %0 : tensor<2x5x16xi8>
}

// CHECK-LABEL: func.func @resize_nearest_neighbor
// CHECK: "torq_hl.ResizeNearestNeighbor"(%{{.*}}, %{{.*}}) {scale_factor = 2 : i32} : (tensor<1x3x8x6xi8>, tensor<1x3x4x3xi8>) -> tensor<1x3x8x6xi8>
func.func @resize_nearest_neighbor(%i: tensor<1x3x8x6xi8>, %x: tensor<1x3x4x3xi8>) -> tensor<1x3x8x6xi8> {
  %0 = "torq_hl.ResizeNearestNeighbor"(%i, %x) {scale_factor = 2 : i32} : (tensor<1x3x8x6xi8>, tensor<1x3x4x3xi8>) -> tensor<1x3x8x6xi8>
  return %0 : tensor<1x3x8x6xi8>
}

// CHECK-LABEL: func.func @depth_to_space
// CHECK: "torq_hl.DepthToSpace"(%{{.*}}, %{{.*}}, %{{.*}}) {blockSize = 2 : i32, mode_type = 1 : i32}
func.func @depth_to_space(%i: tensor<1x3x8x6xi8>, %w: tensor<1xi8>, %x: tensor<1x12x4x3xi8>) -> tensor<1x3x8x6xi8> {
  %0 = "torq_hl.DepthToSpace"(%i, %w, %x) {blockSize = 2 : i32, mode_type = 1 : i32} : (tensor<1x3x8x6xi8>, tensor<1xi8>, tensor<1x12x4x3xi8>) -> tensor<1x3x8x6xi8>
  return %0 : tensor<1x3x8x6xi8>
}
