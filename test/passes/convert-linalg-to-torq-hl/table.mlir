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
