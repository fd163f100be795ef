// RUN: torq-opt --split-input-file --convert-linalg-to-torq-hl=explain=true %s | FileCheck %s

#id = affine_map<(a, b, c) -> (a, b, c)>

// With the same parameters the integers are ordered as the values are.

// CHECK-LABEL: func.func @same
// CHECK: "torq_hl.elementwisebinary"(%{{.*}}, %arg0, %arg1) {op_type = 6 : i32} : (tensor<1x2x3xi1>, tensor<1x2x3xi8>, tensor<1x2x3xi8>) -> tensor<1x2x3xi1>
func.func @same(%x1: tensor<1x2x3xi8>, %x2: tensor<1x2x3xi8>) -> tensor<1x2x3xi1> {
  %s = arith.constant dense<0.05> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i8>
  %f1 = "quantized_decomposed.dequantize_per_tensor"(%x1, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x3xf32>
  %f2 = "quantized_decomposed.dequantize_per_tensor"(%x2, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x3xf32>
  %ei = tensor.empty() : tensor<1x2x3xi1>
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%f1, %f2 : tensor<1x2x3xf32>, tensor<1x2x3xf32>) outs(%ei : tensor<1x2x3xi1>) {
  ^bb0(%a: f32, %b: f32, %out: i1):
    %r = arith.cmpf ogt, %a, %b : f32
    linalg.yield %r : i1
  } -> tensor<1x2x3xi1>
  return %y : tensor<1x2x3xi1>
}

// -----

#id = affine_map<(a, b, c) -> (a, b, c)>

// There is no less than: the operands change places.

// CHECK-LABEL: func.func @less_or_equal
// CHECK: "torq_hl.elementwisebinary"(%{{.*}}, %arg1, %arg0) {op_type = 7 : i32}
func.func @less_or_equal(%x1: tensor<1x2x3xi8>, %x2: tensor<1x2x3xi8>) -> tensor<1x2x3xi1> {
  %s = arith.constant dense<0.05> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i8>
  %f1 = "quantized_decomposed.dequantize_per_tensor"(%x1, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x3xf32>
  %f2 = "quantized_decomposed.dequantize_per_tensor"(%x2, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x3xf32>
  %ei = tensor.empty() : tensor<1x2x3xi1>
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%f1, %f2 : tensor<1x2x3xf32>, tensor<1x2x3xf32>) outs(%ei : tensor<1x2x3xi1>) {
  ^bb0(%a: f32, %b: f32, %out: i1):
    %r = arith.cmpf ole, %a, %b : f32
    linalg.yield %r : i1
  } -> tensor<1x2x3xi1>
  return %y : tensor<1x2x3xi1>
}

// -----

#id = affine_map<(a, b, c) -> (a, b, c)>

// Not equal is equal, inverted.

// CHECK-LABEL: func.func @not_equal
// CHECK: %[[E:.*]] = "torq_hl.elementwisebinary"(%{{.*}}, %arg0, %arg1) {op_type = 8 : i32}
// CHECK: "torq_hl.elementwisebinary"(%{{.*}}, %[[E]], %{{.*}}) {op_type = 2 : i32}
func.func @not_equal(%x1: tensor<1x2x3xi8>, %x2: tensor<1x2x3xi8>) -> tensor<1x2x3xi1> {
  %s = arith.constant dense<0.05> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i8>
  %f1 = "quantized_decomposed.dequantize_per_tensor"(%x1, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x3xf32>
  %f2 = "quantized_decomposed.dequantize_per_tensor"(%x2, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x3xf32>
  %ei = tensor.empty() : tensor<1x2x3xi1>
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%f1, %f2 : tensor<1x2x3xf32>, tensor<1x2x3xf32>) outs(%ei : tensor<1x2x3xi1>) {
  ^bb0(%a: f32, %b: f32, %out: i1):
    %r = arith.cmpf une, %a, %b : f32
    linalg.yield %r : i1
  } -> tensor<1x2x3xi1>
  return %y : tensor<1x2x3xi1>
}

// -----

#id = affine_map<(a, b, c) -> (a, b, c)>

// With different ones, tables give the rank of each value among those of both sides.

// CHECK-LABEL: func.func @different
// CHECK: %[[A:.*]] = "torq_hl.table"(%{{.*}}, %{{.*}}, %arg0) {{.*}} -> tensor<1x2x3xi16>
// CHECK: %[[B:.*]] = "torq_hl.table"(%{{.*}}, %{{.*}}, %arg1) {{.*}} -> tensor<1x2x3xi16>
// CHECK: "torq_hl.elementwisebinary"(%{{.*}}, %[[A]], %[[B]]) {op_type = 6 : i32}
func.func @different(%x1: tensor<1x2x3xi8>, %x2: tensor<1x2x3xi8>) -> tensor<1x2x3xi1> {
  %s = arith.constant dense<0.05> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i8>
  %s2 = arith.constant dense<0.03> : tensor<f32>
  %z2 = arith.constant dense<-7> : tensor<i8>
  %f1 = "quantized_decomposed.dequantize_per_tensor"(%x1, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x3xf32>
  %f2 = "quantized_decomposed.dequantize_per_tensor"(%x2, %s2, %z2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x3xf32>
  %ei = tensor.empty() : tensor<1x2x3xi1>
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%f1, %f2 : tensor<1x2x3xf32>, tensor<1x2x3xf32>) outs(%ei : tensor<1x2x3xi1>) {
  ^bb0(%a: f32, %b: f32, %out: i1):
    %r = arith.cmpf ogt, %a, %b : f32
    linalg.yield %r : i1
  } -> tensor<1x2x3xi1>
  return %y : tensor<1x2x3xi1>
}

// -----

#id = affine_map<(a, b, c) -> (a, b, c)>

// A number lies between two integers: 13 is 0.5, and 14 the first above it.

// CHECK-LABEL: func.func @number
// CHECK: %[[N:.*]] = arith.constant dense<14> : tensor<i8>
// CHECK: "torq_hl.elementwisebinary"(%{{.*}}, %arg0, %[[N]]) {op_type = 7 : i32}
func.func @number(%x1: tensor<1x2x3xi8>) -> tensor<1x2x3xi1> {
  %s = arith.constant dense<0.05> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i8>
  %n = arith.constant 0.5 : f32
  %f1 = "quantized_decomposed.dequantize_per_tensor"(%x1, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x3xf32>
  %ei = tensor.empty() : tensor<1x2x3xi1>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%f1 : tensor<1x2x3xf32>) outs(%ei : tensor<1x2x3xi1>) {
  ^bb0(%a: f32, %out: i1):
    %r = arith.cmpf ogt, %a, %n : f32
    linalg.yield %r : i1
  } -> tensor<1x2x3xi1>
  return %y : tensor<1x2x3xi1>
}

// -----

#id = affine_map<(a, b, c) -> (a, b, c)>

// A number beyond all values.

// CHECK-LABEL: func.func @number_beyond
// CHECK: %[[N:.*]] = arith.constant dense<127> : tensor<i8>
// CHECK: "torq_hl.elementwisebinary"(%{{.*}}, %[[N]], %arg0) {op_type = 7 : i32}
func.func @number_beyond(%x1: tensor<1x2x3xi8>) -> tensor<1x2x3xi1> {
  %s = arith.constant dense<0.05> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i8>
  %n = arith.constant 100.0 : f32
  %f1 = "quantized_decomposed.dequantize_per_tensor"(%x1, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x3xf32>
  %ei = tensor.empty() : tensor<1x2x3xi1>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%f1 : tensor<1x2x3xf32>) outs(%ei : tensor<1x2x3xi1>) {
  ^bb0(%a: f32, %out: i1):
    %r = arith.cmpf olt, %a, %n : f32
    linalg.yield %r : i1
  } -> tensor<1x2x3xi1>
  return %y : tensor<1x2x3xi1>
}

// -----

#id = affine_map<(a, b, c) -> (a, b, c)>
#c = affine_map<(a, b, c) -> (b, 0)>

// Constants for each channel.

// CHECK-LABEL: func.func @channels
// CHECK: %[[N:.*]] = arith.constant dense<{{\[}}[13], [-7]]> : tensor<2x1xi8>
// CHECK: "torq_hl.elementwisebinary"(%{{.*}}, %[[N]], %arg0) {op_type = 6 : i32}
func.func @channels(%x1: tensor<1x2x3xi8>) -> tensor<1x2x3xi1> {
  %s = arith.constant dense<0.05> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i8>
  %n = arith.constant dense<[[0.5], [-0.5]]> : tensor<2x1xf32>
  %f1 = "quantized_decomposed.dequantize_per_tensor"(%x1, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x3xf32>
  %ei = tensor.empty() : tensor<1x2x3xi1>
  %y = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%f1, %n : tensor<1x2x3xf32>, tensor<2x1xf32>) outs(%ei : tensor<1x2x3xi1>) {
  ^bb0(%a: f32, %b: f32, %out: i1):
    %r = arith.cmpf olt, %a, %b : f32
    linalg.yield %r : i1
  } -> tensor<1x2x3xi1>
  return %y : tensor<1x2x3xi1>
}

// -----

#id = affine_map<(a, b, c) -> (a, b, c)>
#c = affine_map<(a, b, c) -> (b, 0)>

// A value equals the one constant and never the other.

// CHECK-LABEL: func.func @some_equal
// CHECK-NOT: torq_hl.elementwisebinary
// CHECK: torq_hl.refusal = "some of the constants are equal to no value"
func.func @some_equal(%x1: tensor<1x2x3xi8>) -> tensor<1x2x3xi1> {
  %s = arith.constant dense<0.05> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i8>
  %n = arith.constant dense<[[0.0], [0.51]]> : tensor<2x1xf32>
  %f1 = "quantized_decomposed.dequantize_per_tensor"(%x1, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x3xf32>
  %ei = tensor.empty() : tensor<1x2x3xi1>
  %y = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%f1, %n : tensor<1x2x3xf32>, tensor<2x1xf32>) outs(%ei : tensor<1x2x3xi1>) {
  ^bb0(%a: f32, %b: f32, %out: i1):
    %r = arith.cmpf oeq, %a, %b : f32
    linalg.yield %r : i1
  } -> tensor<1x2x3xi1>
  return %y : tensor<1x2x3xi1>
}

// -----

#id = affine_map<(a, b, c) -> (a, b, c)>

// Tables have 256 entries.

// CHECK-LABEL: func.func @wide
// CHECK-NOT: torq_hl.elementwisebinary
// CHECK: torq_hl.refusal = "values of 16 bits are compared in one scale alone"
func.func @wide(%x1: tensor<1x2x3xi16>, %x2: tensor<1x2x3xi16>) -> tensor<1x2x3xi1> {
  %s = arith.constant dense<0.05> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i16>
  %s2 = arith.constant dense<0.03> : tensor<f32>
  %f1 = "quantized_decomposed.dequantize_per_tensor"(%x1, %s, %z) {quant_min = -32768 : i64, quant_max = 32767 : i64, dtype = si16} : (tensor<1x2x3xi16>, tensor<f32>, tensor<i16>) -> tensor<1x2x3xf32>
  %f2 = "quantized_decomposed.dequantize_per_tensor"(%x2, %s2, %z) {quant_min = -32768 : i64, quant_max = 32767 : i64, dtype = si16} : (tensor<1x2x3xi16>, tensor<f32>, tensor<i16>) -> tensor<1x2x3xf32>
  %ei = tensor.empty() : tensor<1x2x3xi1>
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%f1, %f2 : tensor<1x2x3xf32>, tensor<1x2x3xf32>) outs(%ei : tensor<1x2x3xi1>) {
  ^bb0(%a: f32, %b: f32, %out: i1):
    %r = arith.cmpf ogt, %a, %b : f32
    linalg.yield %r : i1
  } -> tensor<1x2x3xi1>
  return %y : tensor<1x2x3xi1>
}

// -----

#id = affine_map<(a, b, c) -> (a, b, c)>

// Or of conditions.

// CHECK-LABEL: func.func @logic
// CHECK: "torq_hl.elementwisebinary"(%{{.*}}, %arg0, %arg1) {op_type = 10 : i32}
func.func @logic(%x1: tensor<1x2x3xi1>, %x2: tensor<1x2x3xi1>) -> tensor<1x2x3xi1> {
  %ei = tensor.empty() : tensor<1x2x3xi1>
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x1, %x2 : tensor<1x2x3xi1>, tensor<1x2x3xi1>) outs(%ei : tensor<1x2x3xi1>) {
  ^bb0(%a: i1, %b: i1, %out: i1):
    %r = arith.ori %a, %b : i1
    linalg.yield %r : i1
  } -> tensor<1x2x3xi1>
  return %y : tensor<1x2x3xi1>
}

// -----

#id = affine_map<(a, b, c) -> (a, b, c)>

// And of integers is bitwise.

// CHECK-LABEL: func.func @bits
// CHECK: "torq_hl.elementwisebinary"(%{{.*}}, %arg0, %arg1) {op_type = 0 : i32}
func.func @bits(%x1: tensor<1x2x3xi8>, %x2: tensor<1x2x3xi8>) -> tensor<1x2x3xi8> {
  %ei = tensor.empty() : tensor<1x2x3xi8>
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x1, %x2 : tensor<1x2x3xi8>, tensor<1x2x3xi8>) outs(%ei : tensor<1x2x3xi8>) {
  ^bb0(%a: i8, %b: i8, %out: i8):
    %r = arith.andi %a, %b : i8
    linalg.yield %r : i8
  } -> tensor<1x2x3xi8>
  return %y : tensor<1x2x3xi8>
}

// -----

#id = affine_map<(a, b, c) -> (a, b, c)>

// Each of both in the parameters of the output.

// CHECK-LABEL: func.func @select
// CHECK: %[[R:.*]] = "torq_hl.fma"(%{{.*}}, %{{.*}}, %{{.*}}, %arg2)
// CHECK: "torq_hl.select"(%{{.*}}, %arg0, %arg1, %[[R]]) : (tensor<1x2x3xi8>, tensor<1x2x3xi1>, tensor<1x2x3xi8>, tensor<1x2x3xi8>) -> tensor<1x2x3xi8>
func.func @select(%c: tensor<1x2x3xi1>, %x1: tensor<1x2x3xi8>, %x2: tensor<1x2x3xi8>) -> tensor<1x2x3xi8> {
  %s = arith.constant dense<0.05> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i8>
  %s2 = arith.constant dense<0.03> : tensor<f32>
  %z2 = arith.constant dense<-7> : tensor<i8>
  %f1 = "quantized_decomposed.dequantize_per_tensor"(%x1, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x3xf32>
  %f2 = "quantized_decomposed.dequantize_per_tensor"(%x2, %s2, %z2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x3xf32>
  %e = tensor.empty() : tensor<1x2x3xf32>
  %y = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%c, %f1, %f2 : tensor<1x2x3xi1>, tensor<1x2x3xf32>, tensor<1x2x3xf32>) outs(%e : tensor<1x2x3xf32>) {
  ^bb0(%p: i1, %a: f32, %b: f32, %out: f32):
    %r = arith.select %p, %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<1x2x3xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x3xi8>
  return %q : tensor<1x2x3xi8>
}

// -----

#id = affine_map<(a, b, c) -> (a, b, c)>

// A number is quantized at compile time.

// CHECK-LABEL: func.func @select_number
// CHECK: %[[N:.*]] = arith.constant dense<13> : tensor<i8>
// CHECK: "torq_hl.select"(%{{.*}}, %arg0, %[[N]], %arg1)
func.func @select_number(%c: tensor<1x2x3xi1>, %x1: tensor<1x2x3xi8>) -> tensor<1x2x3xi8> {
  %s = arith.constant dense<0.05> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i8>
  %n = arith.constant 0.5 : f32
  %f1 = "quantized_decomposed.dequantize_per_tensor"(%x1, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x3xf32>
  %e = tensor.empty() : tensor<1x2x3xf32>
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%c, %f1 : tensor<1x2x3xi1>, tensor<1x2x3xf32>) outs(%e : tensor<1x2x3xf32>) {
  ^bb0(%p: i1, %a: f32, %out: f32):
    %r = arith.select %p, %n, %a : f32
    linalg.yield %r : f32
  } -> tensor<1x2x3xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x3xi8>
  return %q : tensor<1x2x3xi8>
}

// -----

#id = affine_map<(a, b, c) -> (a, b, c)>

// A float has no integers.

// CHECK-LABEL: func.func @select_float
// CHECK-NOT: torq_hl.select
// CHECK: torq_hl.refusal = "what is selected is neither dequantized with constant parameters nor constant"
func.func @select_float(%c: tensor<1x2x3xi1>, %f2: tensor<1x2x3xf32>, %x1: tensor<1x2x3xi8>) -> tensor<1x2x3xi8> {
  %s = arith.constant dense<0.05> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i8>
  %f1 = "quantized_decomposed.dequantize_per_tensor"(%x1, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x3xf32>
  %e = tensor.empty() : tensor<1x2x3xf32>
  %y = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%c, %f1, %f2 : tensor<1x2x3xi1>, tensor<1x2x3xf32>, tensor<1x2x3xf32>) outs(%e : tensor<1x2x3xf32>) {
  ^bb0(%p: i1, %a: f32, %b: f32, %out: f32):
    %r = arith.select %p, %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<1x2x3xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x3xi8>
  return %q : tensor<1x2x3xi8>
}
