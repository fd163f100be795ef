// RUN: torq-opt --split-input-file --convert-linalg-to-torq-hl='approximate=softmax explain=true' %s | FileCheck %s
// RUN: torq-opt --split-input-file --convert-linalg-to-torq-hl=explain=true %s | FileCheck %s --check-prefix=FLOAT
// RUN: not torq-opt --split-input-file --convert-linalg-to-torq-hl=approximate=gelu %s 2>&1 | FileCheck %s --check-prefix=ERROR

// ERROR: error: convert-linalg-to-torq-hl: approximate takes softmax, normalization, not 'gelu'

#m = affine_map<(a, b) -> (a, b)>
#r = affine_map<(a, b) -> (a)>
#k = affine_map<(a, b) -> (a, 0)>

// The distance to the maximum of a row, less than 256, indexes a table of exponentials. Their sum times a power of two
// is from 2^28 to 2^29, from which 2^15 / sum is a table with lines between its entries. The last product has the scale
// of the output: 2^-29 * 256 as 2^27 / 2^48.

// FLOAT-LABEL: func.func @softmax
// FLOAT-NOT: "torq_hl.
// FLOAT: torq_hl.refusal = "softmax is computed in float; approximate=softmax has it on the NPU, up to an error
// FLOAT: return

// CHECK-LABEL: func.func @softmax
// CHECK-DAG: %[[ONE:.*]] = arith.constant dense<1> : tensor<1xi8>
// CHECK-DAG: %[[ID:.*]] = arith.constant dense<[0, 1]> : tensor<2xi32>
// CHECK-DAG: %[[W:.*]] = arith.constant dense<[1, -1]> : tensor<2xi16>
// CHECK-DAG: %[[D:.*]] = arith.constant dense<[127, 1]> : tensor<2xi32>
// CHECK-DAG: %[[I8:.*]] = arith.constant dense<[-128, 128]> : tensor<2xi32>
// CHECK-DAG: %[[I16:.*]] = arith.constant dense<[-32768, 1]> : tensor<2xi32>
// CHECK-DAG: %[[FLOOR:.*]] = arith.constant dense<[-8192, 1]> : tensor<2xi32>
// CHECK-DAG: %[[LEAST:.*]] = arith.constant dense<[-268435456, 1]> : tensor<2xi32>
// CHECK-DAG: %[[OUT:.*]] = arith.constant dense<[0, 134217728]> : tensor<2xi32>
// CHECK: %[[MAX:.*]] = "torq_hl.reduce"(%{{.*}}, %[[ONE]], %[[ID]], %arg0) {axis = 1 : i32, name = "reduce_max"
// CHECK: %[[M:.*]] = tensor.expand_shape %[[MAX]]
// CHECK: %[[X:.*]] = "torq_hl.add"(%{{.*}}, %[[W]], %[[D]], %arg0, %[[M]]) {{.*}} -> tensor<2x16xi8>
// CHECK: %[[E:.*]] = "torq_hl.table"(%{{.*}}, %[[I8]], %[[X]]) {static_table = array<i32: 0, {{.*}}, 13414, 14825, 16384>} {{.*}} -> tensor<2x16xi16>
// CHECK: %[[SUM:.*]] = "torq_hl.reduce"(%{{.*}}, %{{.*}}, %{{.*}}, %[[E]]) {axis = 1 : i32, name = "reduce_sum", {{.*}} -> tensor<2xi32>
// CHECK: %[[S:.*]] = tensor.expand_shape %[[SUM]]
// CHECK: %[[B:.*]] = "torq_hl.fma"(%{{.*}}, %{{.*}}, %[[FLOOR]], %[[S]]) {output_max = 127 : i32, output_min = -128 : i32, output_zp = -128 : i32, shift_factor = 14 : i32}
// CHECK: %[[Q:.*]] = "torq_hl.table"(%{{.*}}, %[[I8]], %[[B]]) {static_table = array<i32: 16384, 16384, 8192, 8192, 4096, 4096, 4096, 4096, 2048,
// CHECK: %[[V:.*]] = "torq_hl.mul"(%{{.*}}, %[[LEAST]], %[[S]], %[[Q]]) {output_max = 32767 : i32, output_min = -32768 : i32, output_zp = -32768 : i32, shift = 12 : i8}
// CHECK: %[[R:.*]] = "torq_hl.table"(%{{.*}}, %[[I16]], %[[V]])
// CHECK: %[[P:.*]] = "torq_hl.mul"(%{{.*}}, %{{.*}}, %[[E]], %[[R]]) {{{.*}}shift = 14 : i8}
// CHECK: %[[Y:.*]] = "torq_hl.mul"(%{{.*}}, %[[OUT]], %[[P]], %[[Q]]) {output_max = 127 : i32, output_min = -128 : i32, output_zp = -128 : i32, shift = 48 : i8, torq_hl.approximation = "softmax"}
// CHECK: return %[[Y]]
func.func @softmax(%x: tensor<2x16xi8>) -> tensor<2x16xi8> {
  %s = arith.constant dense<0.1> : tensor<f32>
  %z = arith.constant dense<5> : tensor<i8>
  %sy = arith.constant dense<3.906250e-03> : tensor<f32>
  %zy = arith.constant dense<-128> : tensor<i8>
  %c0 = arith.constant 0 : i64
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %f = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<2x16xi8>, tensor<f32>, tensor<i8>) -> tensor<2x16xf32>
  %ei = tensor.empty() : tensor<2xi64>
  %fi = linalg.fill ins(%c0 : i64) outs(%ei : tensor<2xi64>) -> tensor<2xi64>
  %er = tensor.empty() : tensor<2xf32>
  %fr = linalg.fill ins(%low : f32) outs(%er : tensor<2xf32>) -> tensor<2xf32>
  %m:2 = linalg.generic {indexing_maps = [#m, #r, #r], iterator_types = ["parallel", "reduction"]} ins(%f : tensor<2x16xf32>) outs(%fr, %fi : tensor<2xf32>, tensor<2xi64>) {
  ^bb0(%in: f32, %out: f32, %at: i64):
    %i = linalg.index 1 : index
    %j = arith.index_cast %i : index to i64
    %a = arith.maximumf %in, %out : f32
    %b = arith.cmpf ogt, %in, %out : f32
    %c = arith.select %b, %j, %at : i64
    linalg.yield %a, %c : f32, i64
  } -> (tensor<2xf32>, tensor<2xi64>)
  %me = tensor.expand_shape %m#0 [[0, 1]] output_shape [2, 1] : tensor<2xf32> into tensor<2x1xf32>
  %e = tensor.empty() : tensor<2x16xf32>
  %d = linalg.generic {indexing_maps = [#m, #k, #m], iterator_types = ["parallel", "parallel"]} ins(%f, %me : tensor<2x16xf32>, tensor<2x1xf32>) outs(%e : tensor<2x16xf32>) {
  ^bb0(%in: f32, %v: f32, %out: f32):
    %a = arith.subf %in, %v : f32
    linalg.yield %a : f32
  } -> tensor<2x16xf32>
  %p = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel", "parallel"]} ins(%d : tensor<2x16xf32>) outs(%e : tensor<2x16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %a = math.exp %in : f32
    linalg.yield %a : f32
  } -> tensor<2x16xf32>
  %es = tensor.empty() : tensor<2x1xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<2x1xf32>) -> tensor<2x1xf32>
  %t = linalg.generic {indexing_maps = [#m, #k], iterator_types = ["parallel", "reduction"]} ins(%p : tensor<2x16xf32>) outs(%fs : tensor<2x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %a = arith.addf %in, %out : f32
    linalg.yield %a : f32
  } -> tensor<2x1xf32>
  %y = linalg.generic {indexing_maps = [#m, #k, #m], iterator_types = ["parallel", "parallel"]} ins(%p, %t : tensor<2x16xf32>, tensor<2x1xf32>) outs(%e : tensor<2x16xf32>) {
  ^bb0(%in: f32, %v: f32, %out: f32):
    %a = arith.divf %in, %v : f32
    linalg.yield %a : f32
  } -> tensor<2x16xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %sy, %zy) {divide, dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<2x16xf32>, tensor<f32>, tensor<i8>) -> tensor<2x16xi8>
  return %q : tensor<2x16xi8>
}

// -----

#m = affine_map<(a, b) -> (a, b)>
#k = affine_map<(a, b) -> (a, 0)>

// Exponentials of the values themselves, and their share of the sum: without the maximum it is no softmax in integers,
// as the exponentials have no bound.

// CHECK-LABEL: func.func @without_maximum
// CHECK-NOT: "torq_hl.
// CHECK: return
func.func @without_maximum(%x: tensor<2x16xi8>) -> tensor<2x16xi8> {
  %s = arith.constant dense<0.1> : tensor<f32>
  %z = arith.constant dense<5> : tensor<i8>
  %zero = arith.constant 0.0 : f32
  %f = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<2x16xi8>, tensor<f32>, tensor<i8>) -> tensor<2x16xf32>
  %e = tensor.empty() : tensor<2x16xf32>
  %p = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel", "parallel"]} ins(%f : tensor<2x16xf32>) outs(%e : tensor<2x16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %a = math.exp %in : f32
    linalg.yield %a : f32
  } -> tensor<2x16xf32>
  %es = tensor.empty() : tensor<2x1xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<2x1xf32>) -> tensor<2x1xf32>
  %t = linalg.generic {indexing_maps = [#m, #k], iterator_types = ["parallel", "reduction"]} ins(%p : tensor<2x16xf32>) outs(%fs : tensor<2x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %a = arith.addf %in, %out : f32
    linalg.yield %a : f32
  } -> tensor<2x1xf32>
  %y = linalg.generic {indexing_maps = [#m, #k, #m], iterator_types = ["parallel", "parallel"]} ins(%p, %t : tensor<2x16xf32>, tensor<2x1xf32>) outs(%e : tensor<2x16xf32>) {
  ^bb0(%in: f32, %v: f32, %out: f32):
    %a = arith.divf %in, %v : f32
    linalg.yield %a : f32
  } -> tensor<2x16xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %s, %z) {divide, dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<2x16xf32>, tensor<f32>, tensor<i8>) -> tensor<2x16xi8>
  return %q : tensor<2x16xi8>
}
