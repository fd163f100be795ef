// RUN: torq-opt --split-input-file --convert-linalg-to-torq-hl=explain=true %s | FileCheck %s

#id = affine_map<(a, b) -> (a, b)>
#n = affine_map<(a, b) -> ()>

// x * sigmoid(x), two operations on one dequantized tensor: entry 0 is that of -128, -6.55 * sigmoid(-6.55) / 0.04 - 100
// rounded, -100 as a number of 8 bits shifted by 8; the last is 6.2 * sigmoid(6.2) / 0.04 - 100, 55.

// CHECK-LABEL: func.func @silu
// CHECK: %[[SB:.*]] = arith.constant dense<[-128, 128]> : tensor<2xi32>
// CHECK: %[[Y:.*]] = "torq_hl.table"(%{{.*}}, %[[SB]], %arg0) {static_table = array<i32: 39936, {{.*}}, 14080>}
// CHECK-NEXT: return %[[Y]]
func.func @silu(%x: tensor<2x3xi8>) -> tensor<2x3xi8> {
  %s = arith.constant dense<0.05> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i8>
  %sy = arith.constant dense<0.04> : tensor<f32>
  %zy = arith.constant dense<-100> : tensor<i8>
  %one = arith.constant dense<1.0> : tensor<f32>
  %e = tensor.empty() : tensor<2x3xf32>
  %f = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3xf32>
  %g = linalg.generic {indexing_maps = [#id, #n, #id], iterator_types = ["parallel", "parallel"]} ins(%f, %one : tensor<2x3xf32>, tensor<f32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%in: f32, %o: f32, %out: f32):
    %a = arith.negf %in : f32
    %b = math.exp %a : f32
    %c = arith.addf %b, %o : f32
    %d = arith.divf %o, %c : f32
    linalg.yield %d : f32
  } -> tensor<2x3xf32>
  %h = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%f, %g : tensor<2x3xf32>, tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%in: f32, %o: f32, %out: f32):
    %a = arith.mulf %in, %o : f32
    linalg.yield %a : f32
  } -> tensor<2x3xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%h, %sy, %zy) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<2x3xi8>
  return %q : tensor<2x3xi8>
}

// -----

#id = affine_map<(a, b) -> (a, b)>

// Two tensors are no table.

// CHECK-LABEL: func.func @two_tensors
// CHECK-NOT: torq_hl.table
func.func @two_tensors(%x: tensor<2x3xi8>, %y: tensor<2x3xi8>) -> tensor<2x3xi8> {
  %s = arith.constant dense<0.05> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i8>
  %e = tensor.empty() : tensor<2x3xf32>
  %f = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3xf32>
  %g = "quantized_decomposed.dequantize_per_tensor"(%y, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3xf32>
  %h = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%f, %g : tensor<2x3xf32>, tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%in: f32, %o: f32, %out: f32):
    %a = math.powf %in, %o : f32
    linalg.yield %a : f32
  } -> tensor<2x3xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%h, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<2x3xi8>
  return %q : tensor<2x3xi8>
}

// -----

#id = affine_map<(a, b) -> (a, b)>

// What depends on the position is no table either.

// CHECK-LABEL: func.func @position
// CHECK-NOT: torq_hl.table
func.func @position(%x: tensor<2x3xi8>) -> tensor<2x3xi8> {
  %s = arith.constant dense<0.05> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i8>
  %e = tensor.empty() : tensor<2x3xf32>
  %f = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3xf32>
  %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%f : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%in: f32, %out: f32):
    %i = linalg.index 1 : index
    %j = arith.index_cast %i : index to i32
    %k = arith.sitofp %j : i32 to f32
    %a = arith.addf %in, %k : f32
    linalg.yield %a : f32
  } -> tensor<2x3xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%h, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<2x3xi8>
  return %q : tensor<2x3xi8>
}

// -----

// A function of a tensor and of a number that is dequantized, as an operand and taken out of its tensor.

// CHECK-LABEL: func.func @dequantized_number
// CHECK: %[[A:.*]] = "torq_hl.table"(%{{.*}}, %{{.*}}, %arg0)
// CHECK: %[[B:.*]] = "torq_hl.table"(%{{.*}}, %{{.*}}, %arg0)
// CHECK: return %[[A]], %[[B]]
func.func @dequantized_number(%x: tensor<2x3xi8>) -> (tensor<2x3xi8>, tensor<2x3xi8>) {
  %c0 = arith.constant 0 : index
  %c = arith.constant dense<7> : tensor<1xi8>
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-5> : tensor<i8>
  %f = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3xf32>
  %g = "quantized_decomposed.dequantize_per_tensor"(%c, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1xi8>, tensor<f32>, tensor<i8>) -> tensor<1xf32>
  %e = tensor.empty() : tensor<2x3xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (0)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%f, %g : tensor<2x3xf32>, tensor<1xf32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%in: f32, %number: f32, %out: f32):
    %r = arith.addf %in, %number : f32
    linalg.yield %r : f32
  } -> tensor<2x3xf32>
  %q1 = "quantized_decomposed.quantize_per_tensor"(%y, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<2x3xi8>
  %w = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%f : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%in: f32, %out: f32):
    %number = tensor.extract %g[%c0] : tensor<1xf32>
    %r = arith.mulf %number, %in : f32
    linalg.yield %r : f32
  } -> tensor<2x3xf32>
  %q2 = "quantized_decomposed.quantize_per_tensor"(%w, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<2x3xi8>
  return %q1, %q2 : tensor<2x3xi8>, tensor<2x3xi8>
}

// -----

// A comparison between, as in PRelu with one slope.

// CHECK-LABEL: func.func @comparison
// CHECK: "torq_hl.table"(%{{.*}}, %{{.*}}, %arg0)
func.func @comparison(%x: tensor<2x3xi8>) -> tensor<2x3xi8> {
  %zero = arith.constant 0.0 : f32
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-5> : tensor<i8>
  %f = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3xf32>
  %e = tensor.empty() : tensor<2x3xf32>
  %b = tensor.empty() : tensor<2x3xi1>
  %c = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%f : tensor<2x3xf32>) outs(%b : tensor<2x3xi1>) {
  ^bb0(%in: f32, %out: i1):
    %r = arith.cmpf olt, %in, %zero : f32
    linalg.yield %r : i1
  } -> tensor<2x3xi1>
  %n = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%f : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = arith.negf %in : f32
    linalg.yield %r : f32
  } -> tensor<2x3xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%c, %n, %f : tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%negative: i1, %a: f32, %in: f32, %out: f32):
    %r = arith.select %negative, %a, %in : f32
    linalg.yield %r : f32
  } -> tensor<2x3xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<2x3xi8>
  return %q : tensor<2x3xi8>
}
