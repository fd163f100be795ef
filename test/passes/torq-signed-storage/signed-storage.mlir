// RUN: torq-opt --split-input-file --torq-signed-storage %s | FileCheck %s

// The pair keeps its meaning: zero point and range move by 128, and the two flips between them cancel.

// CHECK-LABEL: func.func @pair
// CHECK: %[[Z:.*]] = arith.constant dense<2> : tensor<i8>
// CHECK: %[[Q:.*]] = "quantized_decomposed.quantize_per_tensor"(%arg0, %{{.*}}, %[[Z]]) {divide, dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64}
// CHECK: %[[Y:.*]] = "quantized_decomposed.dequantize_per_tensor"(%[[Q]], %{{.*}}, %[[Z]]) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64}
// CHECK: return %[[Y]]
func.func @pair(%x: tensor<4xf32>) -> tensor<4xf32> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-126> : tensor<i8>
  %q = "quantized_decomposed.quantize_per_tensor"(%x, %s, %z) {quant_min = 0 : i64, quant_max = 255 : i64, dtype = ui8, divide} : (tensor<4xf32>, tensor<f32>, tensor<i8>) -> tensor<4xi8>
  %y = "quantized_decomposed.dequantize_per_tensor"(%q, %s, %z) {quant_min = 0 : i64, quant_max = 255 : i64, dtype = ui8} : (tensor<4xi8>, tensor<f32>, tensor<i8>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// At the border of the function the flip stays.

// CHECK-LABEL: func.func @border
// CHECK: %[[F:.*]] = linalg.generic {{.*}} ins(%arg0 : tensor<4xi8>)
// CHECK: arith.xori %{{.*}}, %c-128_i8
// CHECK: "quantized_decomposed.dequantize_per_tensor"(%[[F]]
func.func @border(%q: tensor<4xi8>) -> tensor<4xf32> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-126> : tensor<i8>
  %y = "quantized_decomposed.dequantize_per_tensor"(%q, %s, %z) {quant_min = 0 : i64, quant_max = 255 : i64, dtype = ui8} : (tensor<4xi8>, tensor<f32>, tensor<i8>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Unsigned weights flip at compile time: 0, 130 and 255 are -128, 2 and 127.

// CHECK-LABEL: func.func @constant
// CHECK: %[[W:.*]] = arith.constant dense<[-128, 2, 127]> : tensor<3xi8>
// CHECK: "quantized_decomposed.dequantize_per_channel"(%[[W]], %{{.*}}) {axis = 0 : i64, dtype = si8
func.func @constant() -> tensor<3xf32> {
  %w = arith.constant dense<[0, -126, -1]> : tensor<3xi8>
  %s = arith.constant dense<[0.5, 0.25, 1.0]> : tensor<3xf32>
  %z = arith.constant dense<[-126, 0, -1]> : tensor<3xi8>
  %y = "quantized_decomposed.dequantize_per_channel"(%w, %s, %z) {axis = 0 : i64, quant_min = 0 : i64, quant_max = 255 : i64, dtype = ui8} : (tensor<3xi8>, tensor<3xf32>, tensor<3xi8>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// -----

// Flips move through data movement.

// CHECK-LABEL: func.func @moved
// CHECK-NOT: arith.xori
// CHECK: %[[P:.*]] = tensor.pad %{{.*}} low
// CHECK: tensor.yield %c-128_i8
// CHECK: %[[C:.*]] = tensor.collapse_shape %[[P]]
// CHECK: "quantized_decomposed.dequantize_per_tensor"(%[[C]]
// CHECK-NOT: arith.xori
func.func @moved(%x: tensor<1x1x4x4xf32>) -> tensor<6x6xf32> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-126> : tensor<i8>
  %least = arith.constant 0 : i8
  %q = "quantized_decomposed.quantize_per_tensor"(%x, %s, %z) {quant_min = 0 : i64, quant_max = 255 : i64, dtype = ui8, divide} : (tensor<1x1x4x4xf32>, tensor<f32>, tensor<i8>) -> tensor<1x1x4x4xi8>
  %p = tensor.pad %q low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %least : i8
  } : tensor<1x1x4x4xi8> to tensor<1x1x6x6xi8>
  %c = tensor.collapse_shape %p [[0, 1, 2], [3]] : tensor<1x1x6x6xi8> into tensor<6x6xi8>
  %y = "quantized_decomposed.dequantize_per_tensor"(%c, %s, %z) {quant_min = 0 : i64, quant_max = 255 : i64, dtype = ui8} : (tensor<6x6xi8>, tensor<f32>, tensor<i8>) -> tensor<6x6xf32>
  return %y : tensor<6x6xf32>
}

// -----

// Concatenation of a flipped value with one that is not: nothing to gain.

// CHECK-LABEL: func.func @concat
// CHECK: arith.xori
// CHECK: tensor.concat dim(0) %{{.*}}, %arg1
func.func @concat(%x: tensor<4xf32>, %r: tensor<4xi8>) -> tensor<8xi8> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-126> : tensor<i8>
  %q = "quantized_decomposed.quantize_per_tensor"(%x, %s, %z) {quant_min = 0 : i64, quant_max = 255 : i64, dtype = ui8, divide} : (tensor<4xf32>, tensor<f32>, tensor<i8>) -> tensor<4xi8>
  %c = tensor.concat dim(0) %q, %r : (tensor<4xi8>, tensor<4xi8>) -> tensor<8xi8>
  return %c : tensor<8xi8>
}

// -----

// Signed storage, and run-time parameters, are left alone.

// CHECK-LABEL: func.func @left_alone
// CHECK: dtype = si8
// CHECK: dtype = ui8
// CHECK-NOT: arith.xori
func.func @left_alone(%x: tensor<4xf32>, %rt: tensor<i8>) -> (tensor<4xi8>, tensor<4xi8>) {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i8>
  %q = "quantized_decomposed.quantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<4xf32>, tensor<f32>, tensor<i8>) -> tensor<4xi8>
  %r = "quantized_decomposed.quantize_per_tensor"(%x, %s, %rt) {quant_min = 0 : i64, quant_max = 255 : i64, dtype = ui8, divide} : (tensor<4xf32>, tensor<f32>, tensor<i8>) -> tensor<4xi8>
  return %q, %r : tensor<4xi8>, tensor<4xi8>
}

// -----

// Flips move through repetition.

// CHECK-LABEL: func.func @repetition
// CHECK: %[[R:.*]] = linalg.broadcast
// CHECK-NOT: arith.xori
// CHECK: "quantized_decomposed.dequantize_per_tensor"(%{{.*}}, {{.*}}) {dtype = si8
func.func @repetition(%x: tensor<1x3xf32>) -> tensor<2x4x3xf32> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-126> : tensor<i8>
  %q = "quantized_decomposed.quantize_per_tensor"(%x, %s, %z) {quant_min = 0 : i64, quant_max = 255 : i64, dtype = ui8, divide} : (tensor<1x3xf32>, tensor<f32>, tensor<i8>) -> tensor<1x3xi8>
  %e = tensor.empty() : tensor<2x1x3xi8>
  %b = linalg.broadcast ins(%q : tensor<1x3xi8>) outs(%e : tensor<2x1x3xi8>) dimensions = [0]
  %f = tensor.empty() : tensor<2x4x3xi8>
  %g = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, 0, c)>, affine_map<(a, b, c) -> (a, b, c)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%b : tensor<2x1x3xi8>) outs(%f : tensor<2x4x3xi8>) {
  ^bb0(%in: i8, %out: i8):
    linalg.yield %in : i8
  } -> tensor<2x4x3xi8>
  %d = "quantized_decomposed.dequantize_per_tensor"(%g, %s, %z) {quant_min = 0 : i64, quant_max = 255 : i64, dtype = ui8} : (tensor<2x4x3xi8>, tensor<f32>, tensor<i8>) -> tensor<2x4x3xf32>
  return %d : tensor<2x4x3xf32>
}

// -----

// And through generics that read a tensor at positions of their own.

// CHECK-LABEL: func.func @read_backwards
// CHECK: %[[Q:.*]] = "quantized_decomposed.quantize_per_tensor"(%arg0, {{.*}}) {divide, dtype = si8
// CHECK: tensor.extract %[[Q]]
// CHECK-NOT: arith.xori
// CHECK: "quantized_decomposed.dequantize_per_tensor"(%{{.*}}, {{.*}}) {dtype = si8
func.func @read_backwards(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c3 = arith.constant 3 : index
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-126> : tensor<i8>
  %q = "quantized_decomposed.quantize_per_tensor"(%x, %s, %z) {quant_min = 0 : i64, quant_max = 255 : i64, dtype = ui8, divide} : (tensor<4xf32>, tensor<f32>, tensor<i8>) -> tensor<4xi8>
  %e = tensor.empty() : tensor<4xi8>
  %g = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>], iterator_types = ["parallel"]} ins(%q : tensor<4xi8>) outs(%e : tensor<4xi8>) {
  ^bb0(%in: i8, %out: i8):
    %i = linalg.index 0 : index
    %j = arith.subi %c3, %i : index
    %element = tensor.extract %q[%j] : tensor<4xi8>
    linalg.yield %element : i8
  } -> tensor<4xi8>
  %d = "quantized_decomposed.dequantize_per_tensor"(%g, %s, %z) {quant_min = 0 : i64, quant_max = 255 : i64, dtype = ui8} : (tensor<4xi8>, tensor<f32>, tensor<i8>) -> tensor<4xf32>
  return %d : tensor<4xf32>
}
