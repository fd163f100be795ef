// RUN: torq-opt --split-input-file --convert-linalg-to-torq-hl=explain=true %s | FileCheck %s

// Weights round(s1 / sy * 2^12) and round(s2 / sy * 2^12), bias -(3 * 3413 - 5 * 2731).

// CHECK-LABEL: func.func @add
// CHECK-DAG: %[[W:.*]] = arith.constant dense<[3413, 2731]> : tensor<2xi16>
// CHECK-DAG: %[[SB:.*]] = arith.constant dense<[3416, 1]> : tensor<2xi32>
// CHECK: "torq_hl.add"(%{{.*}}, %[[W]], %[[SB]], %arg0, %arg1) {input_zp = 0 : i32, name = "add", output_max = 127 : i32, output_min = -128 : i32, output_zp = 2 : i32, shift_factor = 12 : i32}
func.func @add(%x1: tensor<1x2x3x3xi8>, %x2: tensor<1x2x3x3xi8>) -> tensor<1x2x3x3xi8> {
  %s1 = arith.constant dense<0.05> : tensor<f32>
  %z1 = arith.constant dense<3> : tensor<i8>
  %s2 = arith.constant dense<0.04> : tensor<f32>
  %z2 = arith.constant dense<-5> : tensor<i8>
  %sy = arith.constant dense<0.06> : tensor<f32>
  %zy = arith.constant dense<2> : tensor<i8>
  %e = tensor.empty() : tensor<1x2x3x3xf32>
  %f1 = "quantized_decomposed.dequantize_per_tensor"(%x1, %s1, %z1) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x3x3xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x3x3xf32>
  %f2 = "quantized_decomposed.dequantize_per_tensor"(%x2, %s2, %z2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x3x3xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x3x3xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%f1, %f2 : tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) outs(%e : tensor<1x2x3x3xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %r = arith.addf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<1x2x3x3xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %sy, %zy) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x2x3x3xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x3x3xi8>
  return %q : tensor<1x2x3x3xi8>
}

// -----

// CHECK-LABEL: func.func @sub
// CHECK-DAG: %[[W:.*]] = arith.constant dense<[3413, -2731]> : tensor<2xi16>
// CHECK: "torq_hl.add"(%{{.*}}, %[[W]], {{.*}}name = "sub"
func.func @sub(%x1: tensor<1x2x3x3xi8>, %x2: tensor<1x2x3x3xi8>) -> tensor<1x2x3x3xi8> {
  %s1 = arith.constant dense<0.05> : tensor<f32>
  %z1 = arith.constant dense<3> : tensor<i8>
  %s2 = arith.constant dense<0.04> : tensor<f32>
  %z2 = arith.constant dense<-5> : tensor<i8>
  %sy = arith.constant dense<0.06> : tensor<f32>
  %zy = arith.constant dense<2> : tensor<i8>
  %e = tensor.empty() : tensor<1x2x3x3xf32>
  %f1 = "quantized_decomposed.dequantize_per_tensor"(%x1, %s1, %z1) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x3x3xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x3x3xf32>
  %f2 = "quantized_decomposed.dequantize_per_tensor"(%x2, %s2, %z2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x3x3xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x3x3xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%f1, %f2 : tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) outs(%e : tensor<1x2x3x3xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %r = arith.subf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<1x2x3x3xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %sy, %zy) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x2x3x3xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x3x3xi8>
  return %q : tensor<1x2x3x3xi8>
}

// -----

// CHECK-LABEL: func.func @add_channel_broadcast
// CHECK: "torq_hl.add"(%{{.*}}, %arg0, %arg1) {{.*}} : (tensor<1x2x3x3xi8>, tensor<2xi16>, tensor<2xi32>, tensor<1x2x3x3xi8>, tensor<2x1x1xi8>) -> tensor<1x2x3x3xi8>
func.func @add_channel_broadcast(%x1: tensor<1x2x3x3xi8>, %x2: tensor<2x1x1xi8>) -> tensor<1x2x3x3xi8> {
  %s1 = arith.constant dense<0.05> : tensor<f32>
  %z1 = arith.constant dense<3> : tensor<i8>
  %s2 = arith.constant dense<0.04> : tensor<f32>
  %z2 = arith.constant dense<-5> : tensor<i8>
  %sy = arith.constant dense<0.06> : tensor<f32>
  %zy = arith.constant dense<2> : tensor<i8>
  %e = tensor.empty() : tensor<1x2x3x3xf32>
  %f1 = "quantized_decomposed.dequantize_per_tensor"(%x1, %s1, %z1) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x3x3xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x3x3xf32>
  %f2 = "quantized_decomposed.dequantize_per_tensor"(%x2, %s2, %z2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2x1x1xi8>, tensor<f32>, tensor<i8>) -> tensor<2x1x1xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (b, 0, 0)>, affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%f1, %f2 : tensor<1x2x3x3xf32>, tensor<2x1x1xf32>) outs(%e : tensor<1x2x3x3xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %r = arith.addf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<1x2x3x3xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %sy, %zy) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x2x3x3xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x3x3xi8>
  return %q : tensor<1x2x3x3xi8>
}

// -----

// An operand along the leading dimension is no numpy broadcast.

// CHECK-LABEL: func.func @add_leading_broadcast
// CHECK-NOT: torq_hl
// CHECK: torq_hl.refusal = "the operands do not broadcast over trailing dimensions"
func.func @add_leading_broadcast(%x1: tensor<1x2x3x3xi8>, %x2: tensor<2xi8>) -> tensor<1x2x3x3xi8> {
  %s1 = arith.constant dense<0.05> : tensor<f32>
  %z1 = arith.constant dense<3> : tensor<i8>
  %s2 = arith.constant dense<0.04> : tensor<f32>
  %z2 = arith.constant dense<-5> : tensor<i8>
  %sy = arith.constant dense<0.06> : tensor<f32>
  %zy = arith.constant dense<2> : tensor<i8>
  %e = tensor.empty() : tensor<1x2x3x3xf32>
  %f1 = "quantized_decomposed.dequantize_per_tensor"(%x1, %s1, %z1) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x3x3xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x3x3xf32>
  %f2 = "quantized_decomposed.dequantize_per_tensor"(%x2, %s2, %z2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2xi8>, tensor<f32>, tensor<i8>) -> tensor<2xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (b)>, affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%f1, %f2 : tensor<1x2x3x3xf32>, tensor<2xf32>) outs(%e : tensor<1x2x3x3xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %r = arith.addf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<1x2x3x3xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %sy, %zy) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x2x3x3xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x3x3xi8>
  return %q : tensor<1x2x3x3xi8>
}

// -----

// Zero points leave by an fma that widens; 0.05 * 0.04 / 0.06 is 143165579 / 2^32.

// CHECK-LABEL: func.func @mul
// CHECK-DAG: %[[SB1:.*]] = arith.constant dense<[-3, 1]> : tensor<2xi32>
// CHECK-DAG: %[[SB2:.*]] = arith.constant dense<[5, 1]> : tensor<2xi32>
// CHECK-DAG: %[[SB:.*]] = arith.constant dense<[0, 143165579]> : tensor<2xi32>
// CHECK: %[[A:.*]] = "torq_hl.fma"(%{{.*}}, %{{.*}}, %[[SB1]], %arg0) {{.*}} -> tensor<1x2x3x3xi16>
// CHECK: %[[B:.*]] = "torq_hl.fma"(%{{.*}}, %{{.*}}, %[[SB2]], %arg1) {{.*}} -> tensor<1x2x3x3xi16>
// CHECK: "torq_hl.mul"(%{{.*}}, %[[SB]], %[[A]], %[[B]]) {{.*}}shift = 32 : i8
func.func @mul(%x1: tensor<1x2x3x3xi8>, %x2: tensor<1x2x3x3xi8>) -> tensor<1x2x3x3xi8> {
  %s1 = arith.constant dense<0.05> : tensor<f32>
  %z1 = arith.constant dense<3> : tensor<i8>
  %s2 = arith.constant dense<0.04> : tensor<f32>
  %z2 = arith.constant dense<-5> : tensor<i8>
  %sy = arith.constant dense<0.06> : tensor<f32>
  %zy = arith.constant dense<2> : tensor<i8>
  %e = tensor.empty() : tensor<1x2x3x3xf32>
  %f1 = "quantized_decomposed.dequantize_per_tensor"(%x1, %s1, %z1) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x3x3xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x3x3xf32>
  %f2 = "quantized_decomposed.dequantize_per_tensor"(%x2, %s2, %z2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x3x3xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x3x3xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%f1, %f2 : tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) outs(%e : tensor<1x2x3x3xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %r = arith.mulf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<1x2x3x3xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %sy, %zy) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x2x3x3xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x3x3xi8>
  return %q : tensor<1x2x3x3xi8>
}

// -----

// What a function with unsigned borders keeps of torq-signed-storage.

// CHECK-LABEL: func.func @bit_flip
// CHECK: %[[M:.*]] = arith.constant dense<-128> : tensor<1xi8>
// CHECK: "torq_hl.elementwisebinary"(%{{.*}}, %arg0, %[[M]]) {op_type = 2 : i32}
func.func @bit_flip(%x: tensor<2x3xi8>) -> tensor<2x3xi8> {
  %e = tensor.empty() : tensor<2x3xi8>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<2x3xi8>) outs(%e : tensor<2x3xi8>) {
  ^bb0(%in: i8, %out: i8):
    %bit = arith.constant -128 : i8
    %r = arith.xori %in, %bit : i8
    linalg.yield %r : i8
  } -> tensor<2x3xi8>
  return %y : tensor<2x3xi8>
}

// -----

// A maximum of values in the same scale compares the integers; the operand in another is requantized before.

// CHECK-LABEL: func.func @maximum
// CHECK: %[[B:.*]] = "torq_hl.fma"(%{{.*}}, %{{.*}}, %{{.*}}, %arg1)
// CHECK: "torq_hl.elementwisebinary"(%{{.*}}, %arg0, %[[B]]) {op_type = 5 : i32}
func.func @maximum(%x1: tensor<2x3xi8>, %x2: tensor<2x3xi8>) -> tensor<2x3xi8> {
  %s1 = arith.constant dense<0.05> : tensor<f32>
  %z1 = arith.constant dense<3> : tensor<i8>
  %s2 = arith.constant dense<0.04> : tensor<f32>
  %e = tensor.empty() : tensor<2x3xf32>
  %f1 = "quantized_decomposed.dequantize_per_tensor"(%x1, %s1, %z1) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3xf32>
  %f2 = "quantized_decomposed.dequantize_per_tensor"(%x2, %s2, %z1) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%f1, %f2 : tensor<2x3xf32>, tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %p = arith.cmpf ogt, %a, %b : f32
    %r = arith.select %p, %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<2x3xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %s1, %z1) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<2x3xi8>
  return %q : tensor<2x3xi8>
}

// -----

// What a function without dimensions keeps of torq-signed-storage.

// CHECK-LABEL: func.func @bit_flip_of_a_number
// CHECK: "torq_hl.elementwisebinary"(%{{.*}}, %arg0, %{{.*}}) {{.*}} -> tensor<i8>
func.func @bit_flip_of_a_number(%x: tensor<i8>) -> tensor<i8> {
  %e = tensor.empty() : tensor<i8>
  %y = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []} ins(%x : tensor<i8>) outs(%e : tensor<i8>) {
  ^bb0(%in: i8, %out: i8):
    %bit = arith.constant -128 : i8
    %r = arith.xori %in, %bit : i8
    linalg.yield %r : i8
  } -> tensor<i8>
  return %y : tensor<i8>
}

// -----

// CHECK-LABEL: func.func @bit_flip_of_64_bits
// CHECK: linalg.generic {{.*}}torq_hl.refusal = "the operands are i64; there are integers of 32 bits at most"
func.func @bit_flip_of_64_bits(%x: tensor<2xi64>) -> tensor<2xi64> {
  %e = tensor.empty() : tensor<2xi64>
  %y = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>], iterator_types = ["parallel"]} ins(%x : tensor<2xi64>) outs(%e : tensor<2xi64>) {
  ^bb0(%in: i64, %out: i64):
    %ones = arith.constant -1 : i64
    %r = arith.xori %in, %ones : i64
    linalg.yield %r : i64
  } -> tensor<2xi64>
  return %y : tensor<2xi64>
}

// -----

// A number that a product takes out of a run-time tensor is an operand like any other.

// CHECK-LABEL: func.func @product_with_a_number
// CHECK: %[[A:.*]] = "torq_hl.fma"(%{{.*}}, %{{.*}}, %{{.*}}, %arg1) {{.*}} -> tensor<1xi16>
// CHECK: %[[B:.*]] = "torq_hl.fma"(%{{.*}}, %{{.*}}, %{{.*}}, %arg0) {{.*}} -> tensor<2x3xi16>
// CHECK: "torq_hl.mul"(%{{.*}}, %{{.*}}, %[[A]], %[[B]]) {{.*}} -> tensor<2x3xi8>
func.func @product_with_a_number(%x: tensor<2x3xi8>, %n: tensor<1xi8>) -> tensor<2x3xi8> {
  %c0 = arith.constant 0 : index
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-5> : tensor<i8>
  %f = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3xf32>
  %g = "quantized_decomposed.dequantize_per_tensor"(%n, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1xi8>, tensor<f32>, tensor<i8>) -> tensor<1xf32>
  %e = tensor.empty() : tensor<2x3xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%f : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%in: f32, %out: f32):
    %number = tensor.extract %g[%c0] : tensor<1xf32>
    %r = arith.mulf %number, %in : f32
    linalg.yield %r : f32
  } -> tensor<2x3xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<2x3xi8>
  return %q : tensor<2x3xi8>
}
