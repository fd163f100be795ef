// RUN: torq-opt --split-input-file --convert-linalg-to-torq-hl=explain=true %s | FileCheck %s

#id = affine_map<(a, b, c) -> (a, b, c)>
#c = affine_map<(a, b, c) -> (b, 0)>

// A multiplier for each channel: 0.5 * 2^28 and -2 * 2^28.

// CHECK-LABEL: func.func @mul
// CHECK-DAG: %[[W:.*]] = arith.constant dense<1> : tensor<1xi8>
// CHECK-DAG: %[[SB:.*]] = arith.constant dense<[-3, 134217728, -3, -536870912]> : tensor<4xi32>
// CHECK: "torq_hl.fma"(%{{.*}}, %[[W]], %[[SB]], %arg0) {output_max = 127 : i32, output_min = -128 : i32, output_zp = -5 : i32, shift_factor = 28 : i32}
func.func @mul(%x1: tensor<1x2x3xi8>) -> tensor<1x2x3xi8> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i8>
  %zy = arith.constant dense<-5> : tensor<i8>
  %e = tensor.empty() : tensor<1x2x3xf32>
  %n = arith.constant dense<[[0.5], [-2.0]]> : tensor<2x1xf32>
  %f1 = "quantized_decomposed.dequantize_per_tensor"(%x1, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x3xf32>
  %y = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%f1, %n : tensor<1x2x3xf32>, tensor<2x1xf32>) outs(%e : tensor<1x2x3xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %r = arith.mulf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<1x2x3xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %s, %zy) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x3xi8>
  return %q : tensor<1x2x3xi8>
}

// -----

#id = affine_map<(a, b, c) -> (a, b, c)>
#c = affine_map<(a, b, c) -> (b, 0)>

// A division is a product with the reciprocals.

// CHECK-LABEL: func.func @div
// CHECK: %[[SB:.*]] = arith.constant dense<[-3, 536870912, -3, -134217728]> : tensor<4xi32>
// CHECK: "torq_hl.fma"(%{{.*}}, %{{.*}}, %[[SB]], %arg0)
func.func @div(%x1: tensor<1x2x3xi8>) -> tensor<1x2x3xi8> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i8>
  %zy = arith.constant dense<-5> : tensor<i8>
  %e = tensor.empty() : tensor<1x2x3xf32>
  %n = arith.constant dense<[[0.5], [-2.0]]> : tensor<2x1xf32>
  %f1 = "quantized_decomposed.dequantize_per_tensor"(%x1, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x3xf32>
  %y = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%f1, %n : tensor<1x2x3xf32>, tensor<2x1xf32>) outs(%e : tensor<1x2x3xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %r = arith.divf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<1x2x3xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %s, %zy) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x3xi8>
  return %q : tensor<1x2x3xi8>
}

// -----

#id = affine_map<(a, b, c) -> (a, b, c)>
#c = affine_map<(a, b, c) -> (b, 0)>

// An offset in fractions of an input step: (0.5 / 0.5 - 3) * 2^14 and (-2 / 0.5 - 3) * 2^14.

// CHECK-LABEL: func.func @add
// CHECK-DAG: %[[W:.*]] = arith.constant dense<16384> : tensor<1xi16>
// CHECK-DAG: %[[SB:.*]] = arith.constant dense<[-32768, 1073741824, -114688, 1073741824]> : tensor<4xi32>
// CHECK: "torq_hl.fma"(%{{.*}}, %[[W]], %[[SB]], %arg0) {{.*}}shift_factor = 44 : i32
func.func @add(%x1: tensor<1x2x3xi8>) -> tensor<1x2x3xi8> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i8>
  %zy = arith.constant dense<-5> : tensor<i8>
  %e = tensor.empty() : tensor<1x2x3xf32>
  %n = arith.constant dense<[[0.5], [-2.0]]> : tensor<2x1xf32>
  %f1 = "quantized_decomposed.dequantize_per_tensor"(%x1, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x3xf32>
  %y = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%f1, %n : tensor<1x2x3xf32>, tensor<2x1xf32>) outs(%e : tensor<1x2x3xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %r = arith.addf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<1x2x3xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %s, %zy) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x3xi8>
  return %q : tensor<1x2x3xi8>
}

// -----

#id = affine_map<(a, b, c) -> (a, b, c)>
#c = affine_map<(a, b, c) -> (b, 0)>

// A value subtracted from constants.

// CHECK-LABEL: func.func @sub_from
// CHECK: %[[SB:.*]] = arith.constant dense<[-65536, -1073741824, 16384, -1073741824]> : tensor<4xi32>
// CHECK: "torq_hl.fma"(%{{.*}}, %{{.*}}, %[[SB]], %arg0)
func.func @sub_from(%x1: tensor<1x2x3xi8>) -> tensor<1x2x3xi8> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i8>
  %zy = arith.constant dense<-5> : tensor<i8>
  %e = tensor.empty() : tensor<1x2x3xf32>
  %n = arith.constant dense<[[0.5], [-2.0]]> : tensor<2x1xf32>
  %f1 = "quantized_decomposed.dequantize_per_tensor"(%x1, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x3xf32>
  %y = linalg.generic {indexing_maps = [#c, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%n, %f1 : tensor<2x1xf32>, tensor<1x2x3xf32>) outs(%e : tensor<1x2x3xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %r = arith.subf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<1x2x3xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %s, %zy) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x3xi8>
  return %q : tensor<1x2x3xi8>
}

// -----

#id = affine_map<(a, b, c) -> (a, b, c)>
#c = affine_map<(a, b, c) -> (b, 0)>

// Both are one operation, as a normalization with constants is.

// CHECK-LABEL: func.func @scale_and_shift
// CHECK: %[[SB:.*]] = arith.constant dense<[-16384, {{[0-9]+}}, -16384, {{-[0-9]+}}]> : tensor<4xi32>
// CHECK: "torq_hl.fma"(%{{.*}}, %{{.*}}, %[[SB]], %arg0)
// CHECK-NOT: torq_hl.
func.func @scale_and_shift(%x1: tensor<1x2x3xi8>) -> tensor<1x2x3xi8> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i8>
  %zy = arith.constant dense<-5> : tensor<i8>
  %e = tensor.empty() : tensor<1x2x3xf32>
  %n = arith.constant dense<[[0.5], [-2.0]]> : tensor<2x1xf32>
  %f1 = "quantized_decomposed.dequantize_per_tensor"(%x1, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x3xf32>
  %m = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%f1, %n : tensor<1x2x3xf32>, tensor<2x1xf32>) outs(%e : tensor<1x2x3xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %r = arith.mulf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<1x2x3xf32>
  %y = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%m, %n : tensor<1x2x3xf32>, tensor<2x1xf32>) outs(%e : tensor<1x2x3xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %r = arith.addf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<1x2x3xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %s, %zy) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x3xi8>
  return %q : tensor<1x2x3xi8>
}

// -----

#id = affine_map<(a, b, c) -> (a, b, c)>
#c = affine_map<(a, b, c) -> (b, 0)>

// Without a factor there is no unit for the offset.

// CHECK-LABEL: func.func @zero_factor
// CHECK-NOT: torq_hl.fma
// CHECK: torq_hl.refusal = "a channel has the factor zero, and an offset
func.func @zero_factor(%x1: tensor<1x2x3xi8>) -> tensor<1x2x3xi8> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i8>
  %zy = arith.constant dense<-5> : tensor<i8>
  %e = tensor.empty() : tensor<1x2x3xf32>
  %n = arith.constant dense<[[0.5], [0.0]]> : tensor<2x1xf32>
  %o = arith.constant dense<[[0.5], [-2.0]]> : tensor<2x1xf32>
  %f1 = "quantized_decomposed.dequantize_per_tensor"(%x1, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x3xf32>
  %m = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%f1, %n : tensor<1x2x3xf32>, tensor<2x1xf32>) outs(%e : tensor<1x2x3xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %r = arith.mulf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<1x2x3xf32>
  %y = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%m, %o : tensor<1x2x3xf32>, tensor<2x1xf32>) outs(%e : tensor<1x2x3xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %r = arith.addf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<1x2x3xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %s, %zy) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x3xi8>
  return %q : tensor<1x2x3xi8>
}

// -----

#id = affine_map<(a, b, c) -> (a, b, c)>

// A constant for each element is an operand in i16.

// CHECK-LABEL: func.func @mul_elements
// CHECK: %[[N:.*]] = arith.constant dense<{{.*}}4096, -16384, 8192], [2048, 32767, -8192]]]> : tensor<1x2x3xi16>
// CHECK: "torq_hl.mul"(%{{.*}}, %{{.*}}, %{{.*}}, %[[N]])
func.func @mul_elements(%x1: tensor<1x2x3xi8>) -> tensor<1x2x3xi8> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i8>
  %zy = arith.constant dense<-5> : tensor<i8>
  %e = tensor.empty() : tensor<1x2x3xf32>
  %n = arith.constant dense<[[[0.5, -2.0, 1.0], [0.25, 4.0, -1.0]]]> : tensor<1x2x3xf32>
  %f1 = "quantized_decomposed.dequantize_per_tensor"(%x1, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x3xf32>
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%f1, %n : tensor<1x2x3xf32>, tensor<1x2x3xf32>) outs(%e : tensor<1x2x3xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %r = arith.mulf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<1x2x3xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %s, %zy) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x3xi8>
  return %q : tensor<1x2x3xi8>
}

// -----

#id = affine_map<(a, b, c) -> (a, b, c)>

// The weight of constants to add is a whole number, the least with which they fit in i16.

// CHECK-LABEL: func.func @add_elements
// CHECK-DAG: %[[W:.*]] = arith.constant dense<[4096, 2]> : tensor<2xi16>
// CHECK-DAG: %[[N:.*]] = arith.constant dense<{{.*}}2048, -8192, 4096], [1024, 16384, -4096]]]> : tensor<1x2x3xi16>
// CHECK: "torq_hl.add"(%{{.*}}, %[[W]], %{{.*}}, %arg0, %[[N]])
func.func @add_elements(%x1: tensor<1x2x3xi8>) -> tensor<1x2x3xi8> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i8>
  %zy = arith.constant dense<-5> : tensor<i8>
  %e = tensor.empty() : tensor<1x2x3xf32>
  %n = arith.constant dense<[[[0.5, -2.0, 1.0], [0.25, 4.0, -1.0]]]> : tensor<1x2x3xf32>
  %f1 = "quantized_decomposed.dequantize_per_tensor"(%x1, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x3xf32>
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%f1, %n : tensor<1x2x3xf32>, tensor<1x2x3xf32>) outs(%e : tensor<1x2x3xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %r = arith.addf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<1x2x3xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %s, %zy) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x3xi8>
  return %q : tensor<1x2x3xi8>
}

// -----

#id = affine_map<(a, b, c) -> (a, b, c)>
#c = affine_map<(a, b, c) -> (b, 0)>

// Constants of a maximum are quantized as the output is.

// CHECK-LABEL: func.func @max_channels
// CHECK: %[[N:.*]] = arith.constant dense<{{\[}}[4], [-1]]> : tensor<2x1xi8>
// CHECK: "torq_hl.elementwisebinary"(%{{.*}}, %arg0, %[[N]]) {op_type = 5 : i32}
func.func @max_channels(%x1: tensor<1x2x3xi8>) -> tensor<1x2x3xi8> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i8>
  %e = tensor.empty() : tensor<1x2x3xf32>
  %n = arith.constant dense<[[0.5], [-2.0]]> : tensor<2x1xf32>
  %f1 = "quantized_decomposed.dequantize_per_tensor"(%x1, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x3xf32>
  %y = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%f1, %n : tensor<1x2x3xf32>, tensor<2x1xf32>) outs(%e : tensor<1x2x3xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %r = arith.maximumf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<1x2x3xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x3xi8>
  return %q : tensor<1x2x3xi8>
}

// -----

#id = affine_map<(a, b, c) -> (a, b, c)>
#c = affine_map<(a, b, c) -> (b, 0)>

// Slopes of at most 1: the greater of both branches.

// CHECK-LABEL: func.func @prelu
// CHECK: %[[S:.*]] = "torq_hl.fma"(%{{.*}}, %{{.*}}, %{{.*}}, %arg0)
// CHECK: "torq_hl.elementwisebinary"(%{{.*}}, %[[S]], %arg0) {op_type = 5 : i32}
func.func @prelu(%x1: tensor<1x2x3xi8>) -> tensor<1x2x3xi8> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i8>
  %e = tensor.empty() : tensor<1x2x3xf32>
  %zero = arith.constant 0.0 : f64
  %n = arith.constant dense<[[0.5], [-2.0]]> : tensor<2x1xf32>
  %f1 = "quantized_decomposed.dequantize_per_tensor"(%x1, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x3xf32>
  %m = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%f1, %n : tensor<1x2x3xf32>, tensor<2x1xf32>) outs(%e : tensor<1x2x3xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %r = arith.mulf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<1x2x3xf32>
  %ei = tensor.empty() : tensor<1x2x3xi1>
  %c = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%f1 : tensor<1x2x3xf32>) outs(%ei : tensor<1x2x3xi1>) {
  ^bb0(%a: f32, %out: i1):
    %d = arith.extf %a : f32 to f64
    %r = arith.cmpf olt, %d, %zero : f64
    linalg.yield %r : i1
  } -> tensor<1x2x3xi1>
  %y = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%c, %m, %f1 : tensor<1x2x3xi1>, tensor<1x2x3xf32>, tensor<1x2x3xf32>) outs(%e : tensor<1x2x3xf32>) {
  ^bb0(%p: i1, %a: f32, %b: f32, %out: f32):
    %r = arith.select %p, %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<1x2x3xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x3xi8>
  return %q : tensor<1x2x3xi8>
}

// -----

#id = affine_map<(a, b, c) -> (a, b, c)>
#c = affine_map<(a, b, c) -> (b, 0)>

// Slopes of at least 1: the lesser.

// CHECK-LABEL: func.func @prelu_steep
// CHECK: "torq_hl.elementwisebinary"(%{{.*}}, %{{.*}}, %arg0) {op_type = 4 : i32}
func.func @prelu_steep(%x1: tensor<1x2x3xi8>) -> tensor<1x2x3xi8> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i8>
  %e = tensor.empty() : tensor<1x2x3xf32>
  %zero = arith.constant 0.0 : f64
  %n = arith.constant dense<[[1.5], [2.0]]> : tensor<2x1xf32>
  %f1 = "quantized_decomposed.dequantize_per_tensor"(%x1, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x3xf32>
  %m = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%f1, %n : tensor<1x2x3xf32>, tensor<2x1xf32>) outs(%e : tensor<1x2x3xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %r = arith.mulf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<1x2x3xf32>
  %ei = tensor.empty() : tensor<1x2x3xi1>
  %c = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%f1 : tensor<1x2x3xf32>) outs(%ei : tensor<1x2x3xi1>) {
  ^bb0(%a: f32, %out: i1):
    %d = arith.extf %a : f32 to f64
    %r = arith.cmpf olt, %d, %zero : f64
    linalg.yield %r : i1
  } -> tensor<1x2x3xi1>
  %y = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%c, %m, %f1 : tensor<1x2x3xi1>, tensor<1x2x3xf32>, tensor<1x2x3xf32>) outs(%e : tensor<1x2x3xf32>) {
  ^bb0(%p: i1, %a: f32, %b: f32, %out: f32):
    %r = arith.select %p, %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<1x2x3xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x3xi8>
  return %q : tensor<1x2x3xi8>
}

// -----

#id = affine_map<(a, b, c) -> (a, b, c)>
#c = affine_map<(a, b, c) -> (b, 0)>

// Of both kinds: the sum of the two halves, one of which is 0.

// CHECK-LABEL: func.func @prelu_mixed
// CHECK: %[[NEG:.*]] = "torq_hl.fma"(%{{.*}}, %{{.*}}, %{{.*}}, %arg0) {output_max = 0 : i32, output_min = -32768 : i32
// CHECK: %[[S:.*]] = "torq_hl.fma"(%{{.*}}, %{{.*}}, %{{.*}}, %[[NEG]])
// CHECK: %[[POS:.*]] = "torq_hl.fma"(%{{.*}}, %{{.*}}, %{{.*}}, %arg0) {output_max = 32767 : i32, output_min = 0 : i32
// CHECK: "torq_hl.add"(%{{.*}}, %{{.*}}, %{{.*}}, %[[POS]], %[[S]])
func.func @prelu_mixed(%x1: tensor<1x2x3xi8>) -> tensor<1x2x3xi8> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i8>
  %e = tensor.empty() : tensor<1x2x3xf32>
  %zero = arith.constant 0.0 : f64
  %n = arith.constant dense<[[0.5], [2.0]]> : tensor<2x1xf32>
  %f1 = "quantized_decomposed.dequantize_per_tensor"(%x1, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x3xf32>
  %m = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%f1, %n : tensor<1x2x3xf32>, tensor<2x1xf32>) outs(%e : tensor<1x2x3xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %r = arith.mulf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<1x2x3xf32>
  %ei = tensor.empty() : tensor<1x2x3xi1>
  %c = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%f1 : tensor<1x2x3xf32>) outs(%ei : tensor<1x2x3xi1>) {
  ^bb0(%a: f32, %out: i1):
    %d = arith.extf %a : f32 to f64
    %r = arith.cmpf olt, %d, %zero : f64
    linalg.yield %r : i1
  } -> tensor<1x2x3xi1>
  %y = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%c, %m, %f1 : tensor<1x2x3xi1>, tensor<1x2x3xf32>, tensor<1x2x3xf32>) outs(%e : tensor<1x2x3xf32>) {
  ^bb0(%p: i1, %a: f32, %b: f32, %out: f32):
    %r = arith.select %p, %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<1x2x3xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x3xi8>
  return %q : tensor<1x2x3xi8>
}

// -----

#id = affine_map<(a, b, c) -> (a, b, c)>

// A quotient of two run-time values stays on the host.

// CHECK-LABEL: func.func @div_by_value
// CHECK-NOT: torq_hl.mul
// CHECK: torq_hl.refusal = "the NPU has no division by a run-time value"
func.func @div_by_value(%x1: tensor<1x2x3xi8>, %x2: tensor<1x2x3xi8>) -> tensor<1x2x3xi8> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i8>
  %e = tensor.empty() : tensor<1x2x3xf32>
  %f1 = "quantized_decomposed.dequantize_per_tensor"(%x1, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x3xf32>
  %f2 = "quantized_decomposed.dequantize_per_tensor"(%x2, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x3xf32>
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%f1, %f2 : tensor<1x2x3xf32>, tensor<1x2x3xf32>) outs(%e : tensor<1x2x3xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %r = arith.divf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<1x2x3xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x3xi8>
  return %q : tensor<1x2x3xi8>
}
