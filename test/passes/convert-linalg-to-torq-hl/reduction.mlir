// RUN: torq-opt --split-input-file --convert-linalg-to-torq-hl=explain=true %s | FileCheck %s

#id = affine_map<(a, b, c, d) -> (a, b, c, d)>
#nc = affine_map<(a, b, c, d) -> (a, b)>

// Neighbouring dimensions become one; bias -12 * -5.

// CHECK-LABEL: func.func @sum
// CHECK-DAG: %[[SB:.*]] = arith.constant dense<[60, 1073741824]> : tensor<2xi32>
// CHECK: %[[X:.*]] = tensor.collapse_shape %arg0 {{\[}}[0], [1], [2, 3]] : tensor<1x2x3x4xi8> into tensor<1x2x12xi8>
// CHECK: "torq_hl.reduce"(%{{.*}}, %{{.*}}, %[[SB]], %[[X]]) {axis = 2 : i32, name = "reduce_sum", output_max = 127 : i32, output_min = -128 : i32, output_zp = 3 : i32, shift_factor = 32 : i32} {{.*}} -> tensor<1x2xi8>
func.func @sum(%x: tensor<1x2x3x4xi8>) -> tensor<1x2xi8> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-5> : tensor<i8>
  %sy = arith.constant dense<2.0> : tensor<f32>
  %zy = arith.constant dense<3> : tensor<i8>
  %zero = arith.constant 0.0 : f32
  %f = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x3x4xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x3x4xf32>
  %e = tensor.empty() : tensor<1x2xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<1x2xf32>) -> tensor<1x2xf32>
  %y = linalg.generic {indexing_maps = [#id, #nc], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%f : tensor<1x2x3x4xf32>) outs(%init : tensor<1x2xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = arith.addf %in, %out : f32
    linalg.yield %r : f32
  } -> tensor<1x2xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %sy, %zy) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x2xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2xi8>
  return %q : tensor<1x2xi8>
}

// -----

#id = affine_map<(a, b, c, d) -> (a, b, c, d)>
#bd = affine_map<(a, b, c, d) -> (b, d)>

// Others are moved to the end before.

// CHECK-LABEL: func.func @sum_apart
// CHECK: %[[T:.*]] = "torq_hl.transpose"(%{{.*}}, %arg0) {perm = array<i64: 1, 3, 0, 2>}
// CHECK: %[[X:.*]] = tensor.collapse_shape %[[T]] {{\[}}[0], [1], [2, 3]]
// CHECK: "torq_hl.reduce"(%{{.*}}, %{{.*}}, %{{.*}}, %[[X]]) {axis = 2 : i32, {{.*}} -> tensor<2x4xi8>
func.func @sum_apart(%x: tensor<3x2x3x4xi8>) -> tensor<2x4xi8> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-5> : tensor<i8>
  %sy = arith.constant dense<2.0> : tensor<f32>
  %zero = arith.constant 0.0 : f32
  %f = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<3x2x3x4xi8>, tensor<f32>, tensor<i8>) -> tensor<3x2x3x4xf32>
  %e = tensor.empty() : tensor<2x4xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %y = linalg.generic {indexing_maps = [#id, #bd], iterator_types = ["reduction", "parallel", "reduction", "parallel"]} ins(%f : tensor<3x2x3x4xf32>) outs(%init : tensor<2x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = arith.addf %in, %out : f32
    linalg.yield %r : f32
  } -> tensor<2x4xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %sy, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<2x4xf32>, tensor<f32>, tensor<i8>) -> tensor<2x4xi8>
  return %q : tensor<2x4xi8>
}

// -----

#id = affine_map<(a, b) -> (a, b)>
#row = affine_map<(a, b) -> (a)>

// The accumulator of a sum has 32 bits.

// CHECK-LABEL: func.func @sum_that_overflows
// CHECK-NOT: torq_hl.reduce"
// CHECK: torq_hl.refusal = "the i32 accumulator of a sum of 65536 elements could reach 2148532224"
func.func @sum_that_overflows(%x: tensor<2x65536xi16>) -> tensor<2xi16> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<16> : tensor<i16>
  %sy = arith.constant dense<2.0> : tensor<f32>
  %zero = arith.constant 0.0 : f32
  %f = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {quant_min = -32768 : i64, quant_max = 32767 : i64, dtype = si16} : (tensor<2x65536xi16>, tensor<f32>, tensor<i16>) -> tensor<2x65536xf32>
  %e = tensor.empty() : tensor<2xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %y = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%f : tensor<2x65536xf32>) outs(%init : tensor<2xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = arith.addf %in, %out : f32
    linalg.yield %r : f32
  } -> tensor<2xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %sy, %z) {quant_min = -32768 : i64, quant_max = 32767 : i64, dtype = si16, divide} : (tensor<2xf32>, tensor<f32>, tensor<i16>) -> tensor<2xi16>
  return %q : tensor<2xi16>
}

// -----

#id = affine_map<(a, b, c) -> (a, b, c)>
#ab = affine_map<(a, b, c) -> (a, b)>
#id2 = affine_map<(a, b) -> (a, b)>
#a = affine_map<(a, b) -> (a)>

// One dimension after the other, as torch-mlir writes it: the last reduction gives the other scale, and bias 5.

// CHECK-LABEL: func.func @maximum
// CHECK-DAG: %[[SAME:.*]] = arith.constant dense<[0, 1]> : tensor<2xi32>
// CHECK-DAG: %[[SB:.*]] = arith.constant dense<[5, 1073741824]> : tensor<2xi32>
// CHECK: %[[M:.*]] = "torq_hl.reduce"(%{{.*}}, %{{.*}}, %[[SAME]], %arg0) {axis = 2 : i32, name = "reduce_max", output_max = 127 : i32, output_min = -128 : i32, output_zp = 0 : i32, shift_factor = 0 : i32}
// CHECK: "torq_hl.reduce"(%{{.*}}, %{{.*}}, %[[SB]], %[[M]]) {axis = 1 : i32, name = "reduce_max", {{.*}}shift_factor = 32 : i32}
func.func @maximum(%x: tensor<2x3x4xi8>) -> tensor<2xi8> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-5> : tensor<i8>
  %sy = arith.constant dense<2.0> : tensor<f32>
  %least = arith.constant 0xFF800000 : f32
  %i0 = arith.constant 0 : i64
  %f = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2x3x4xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3x4xf32>
  %e = tensor.empty() : tensor<2x3xf32>
  %init = linalg.fill ins(%least : f32) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  %ei = tensor.empty() : tensor<2x3xi64>
  %first = linalg.fill ins(%i0 : i64) outs(%ei : tensor<2x3xi64>) -> tensor<2x3xi64>
  %y:2 = linalg.generic {indexing_maps = [#id, #ab, #ab], iterator_types = ["parallel", "parallel", "reduction"]} ins(%f : tensor<2x3x4xf32>) outs(%init, %first : tensor<2x3xf32>, tensor<2x3xi64>) {
  ^bb0(%in: f32, %out: f32, %at: i64):
    %i = linalg.index 2 : index
    %here = arith.index_cast %i : index to i64
    %r = arith.maximumf %in, %out : f32
    %more = arith.cmpf ogt, %in, %out : f32
    %p = arith.select %more, %here, %at : i64
    linalg.yield %r, %p : f32, i64
  } -> (tensor<2x3xf32>, tensor<2x3xi64>)
  %e1 = tensor.empty() : tensor<2xf32>
  %init1 = linalg.fill ins(%least : f32) outs(%e1 : tensor<2xf32>) -> tensor<2xf32>
  %y1 = linalg.generic {indexing_maps = [#id2, #a], iterator_types = ["parallel", "reduction"]} ins(%y#0 : tensor<2x3xf32>) outs(%init1 : tensor<2xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = arith.maximumf %in, %out : f32
    linalg.yield %r : f32
  } -> tensor<2xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y1, %sy, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<2xf32>, tensor<f32>, tensor<i8>) -> tensor<2xi8>
  return %q : tensor<2xi8>
}

// -----

#id = affine_map<(a, b) -> (a, b)>
#row = affine_map<(a, b) -> (a)>

// Zero as the initial value would win against negative values.

// CHECK-LABEL: func.func @maximum_from_zero
// CHECK-NOT: "torq_hl.reduce"
// CHECK: torq_hl.refusal = "the extremum starts from another value than its neutral one"
func.func @maximum_from_zero(%x: tensor<2x4xi8>) -> tensor<2xi8> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-5> : tensor<i8>
  %zero = arith.constant 0.0 : f32
  %f = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2x4xi8>, tensor<f32>, tensor<i8>) -> tensor<2x4xf32>
  %e = tensor.empty() : tensor<2xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %y = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%f : tensor<2x4xf32>) outs(%init : tensor<2xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = arith.maximumf %in, %out : f32
    linalg.yield %r : f32
  } -> tensor<2xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<2xf32>, tensor<f32>, tensor<i8>) -> tensor<2xi8>
  return %q : tensor<2xi8>
}

// -----

#id = affine_map<(a, b) -> (a, b)>
#row = affine_map<(a, b) -> (a)>

// The position is read from the integers; that of a minimum from those in reverse order.

// CHECK-LABEL: func.func @position
// CHECK: %[[P:.*]] = "torq_hl.argmax"(%{{.*}}, %{{.*}}, %arg0) {axis = 1 : i32} : (tensor<2xi32>, tensor<2xi32>, tensor<2x4xi8>) -> tensor<2xi32>
// CHECK: linalg.generic {{.*}} ins(%[[P]] : tensor<2xi32>)
// CHECK-NEXT: ^bb0
// CHECK-NEXT: arith.extsi %{{.*}} : i32 to i64
// CHECK-NOT: arith.maximumf
func.func @position(%x: tensor<2x4xi8>) -> tensor<2xi64> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-5> : tensor<i8>
  %least = arith.constant 0xFF800000 : f32
  %i0 = arith.constant 0 : i64
  %f = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2x4xi8>, tensor<f32>, tensor<i8>) -> tensor<2x4xf32>
  %e = tensor.empty() : tensor<2xf32>
  %init = linalg.fill ins(%least : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %ei = tensor.empty() : tensor<2xi64>
  %first = linalg.fill ins(%i0 : i64) outs(%ei : tensor<2xi64>) -> tensor<2xi64>
  %y:2 = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%f : tensor<2x4xf32>) outs(%init, %first : tensor<2xf32>, tensor<2xi64>) {
  ^bb0(%in: f32, %out: f32, %at: i64):
    %i = linalg.index 1 : index
    %here = arith.index_cast %i : index to i64
    %r = arith.maximumf %in, %out : f32
    %more = arith.cmpf ogt, %in, %out : f32
    %p = arith.select %more, %here, %at : i64
    linalg.yield %r, %p : f32, i64
  } -> (tensor<2xf32>, tensor<2xi64>)
  return %y#1 : tensor<2xi64>
}

// -----

#id = affine_map<(a, b) -> (a, b)>
#row = affine_map<(a, b) -> (a)>

// Last of equals is not what the operation gives.

// CHECK-LABEL: func.func @last_position
// CHECK-NOT: torq_hl.argmax
func.func @last_position(%x: tensor<2x4xi8>) -> tensor<2xi64> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-5> : tensor<i8>
  %least = arith.constant 0xFF800000 : f32
  %i0 = arith.constant 0 : i64
  %f = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2x4xi8>, tensor<f32>, tensor<i8>) -> tensor<2x4xf32>
  %e = tensor.empty() : tensor<2xf32>
  %init = linalg.fill ins(%least : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %ei = tensor.empty() : tensor<2xi64>
  %first = linalg.fill ins(%i0 : i64) outs(%ei : tensor<2xi64>) -> tensor<2xi64>
  %y:2 = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%f : tensor<2x4xf32>) outs(%init, %first : tensor<2xf32>, tensor<2xi64>) {
  ^bb0(%in: f32, %out: f32, %at: i64):
    %i = linalg.index 1 : index
    %here = arith.index_cast %i : index to i64
    %r = arith.maximumf %in, %out : f32
    %more = arith.cmpf oge, %in, %out : f32
    %p = arith.select %more, %here, %at : i64
    linalg.yield %r, %p : f32, i64
  } -> (tensor<2xf32>, tensor<2xi64>)
  return %y#1 : tensor<2xi64>
}

// -----

#id = affine_map<(a, b) -> (a, b)>
#row = affine_map<(a, b) -> (a)>

// Different integers can be the same float.

// CHECK-LABEL: func.func @position_of_infinities
// CHECK-NOT: torq_hl.argmax
// CHECK: torq_hl.refusal = "the scale 3.00{{[0-9]*}}e+38 makes different integers equal"
func.func @position_of_infinities(%x: tensor<2x4xi8>) -> tensor<2xi64> {
  %s = arith.constant dense<3.0e38> : tensor<f32>
  %z = arith.constant dense<-5> : tensor<i8>
  %least = arith.constant 0xFF800000 : f32
  %i0 = arith.constant 0 : i64
  %f = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2x4xi8>, tensor<f32>, tensor<i8>) -> tensor<2x4xf32>
  %e = tensor.empty() : tensor<2xf32>
  %init = linalg.fill ins(%least : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %ei = tensor.empty() : tensor<2xi64>
  %first = linalg.fill ins(%i0 : i64) outs(%ei : tensor<2xi64>) -> tensor<2xi64>
  %y:2 = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%f : tensor<2x4xf32>) outs(%init, %first : tensor<2xf32>, tensor<2xi64>) {
  ^bb0(%in: f32, %out: f32, %at: i64):
    %i = linalg.index 1 : index
    %here = arith.index_cast %i : index to i64
    %r = arith.maximumf %in, %out : f32
    %more = arith.cmpf ogt, %in, %out : f32
    %p = arith.select %more, %here, %at : i64
    linalg.yield %r, %p : f32, i64
  } -> (tensor<2xf32>, tensor<2xi64>)
  return %y#1 : tensor<2xi64>
}
