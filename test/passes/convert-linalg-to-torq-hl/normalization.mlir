// RUN: torq-opt --split-input-file --convert-linalg-to-torq-hl='approximate=normalization explain=true' %s | FileCheck %s
// RUN: torq-opt --split-input-file --convert-linalg-to-torq-hl=explain=true %s | FileCheck %s --check-prefix=FLOAT

#m = affine_map<(a, b) -> (a, b)>
#k = affine_map<(a, b) -> (a, 0)>
#c = affine_map<(a, b) -> (b)>

// The deviation from the mean in steps of 2^-7; the sum of its squares and of epsilon; a power of two that brings that,
// times its square, to between 2^29 and 2^31; 2^15 / sqrt of it by a table with lines between its entries. The last
// operation multiplies by the weight of each column and adds its bias.

// FLOAT-LABEL: func.func @layer_norm
// FLOAT-NOT: "torq_hl.
// FLOAT: torq_hl.refusal = "normalization is computed in float; approximate=normalization has it on the NPU, up to an error
// FLOAT: return

// CHECK-LABEL: func.func @layer_norm
// CHECK-DAG: %[[MEAN:.*]] = arith.constant dense<[0, 134217728]> : tensor<2xi32>
// CHECK-DAG: %[[W:.*]] = arith.constant dense<[128, -1]> : tensor<2xi16>
// CHECK-DAG: %[[EPS:.*]] = arith.constant dense<[524, 1]> : tensor<2xi32>
// CHECK-DAG: %[[GAMMA:.*]] = arith.constant dense<{{.*}}> : tensor<16xi16>
// CHECK-DAG: %[[PAIRS:.*]] = arith.constant dense<{{.*}}> : tensor<32xi32>
// CHECK: %[[U:.*]] = "torq_hl.reduce_mean"(%{{.*}}, %{{.*}}, %[[MEAN]], %arg0) {{{.*}}shift_factor = 24 : i32} {{.*}} -> tensor<2x1xi16>
// CHECK: %[[D:.*]] = "torq_hl.add"(%{{.*}}, %[[W]], %{{.*}}, %arg0, %[[U]]) {{.*}} -> tensor<2x16xi16>
// CHECK: %[[DD:.*]] = "torq_hl.mul"(%{{.*}}, %{{.*}}, %[[D]], %[[D]]) {{{.*}}shift = 1 : i8} {{.*}} -> tensor<2x16xi32>
// CHECK: %[[SUM:.*]] = "torq_hl.reduce"(%{{.*}}, %{{.*}}, %[[EPS]], %[[DD]]) {axis = 1 : i32, name = "reduce_sum"
// CHECK: %[[A:.*]] = tensor.expand_shape %[[SUM]]
// CHECK-COUNT-3: "torq_hl.fma"(%{{.*}}, %{{.*}}, %{{.*}}, %[[A]])
// CHECK: %[[Q1:.*]] = "torq_hl.elementwisebinary"(%{{.*}}) {op_type = 4 : i32}
// CHECK: %[[Q:.*]] = "torq_hl.elementwisebinary"(%{{.*}}, %[[Q1]], %{{.*}}) {op_type = 4 : i32}
// CHECK: %[[AQ:.*]] = "torq_hl.mul"(%{{.*}}, %{{.*}}, %[[A]], %[[Q]]) {{.*}} -> tensor<2x1xi32>
// CHECK: %[[V:.*]] = "torq_hl.mul"(%{{.*}}, %{{.*}}, %[[AQ]], %[[Q]]) {{{.*}}shift = 15 : i8} {{.*}} -> tensor<2x1xi16>
// CHECK: %[[R:.*]] = "torq_hl.table"(%{{.*}}, %{{.*}}, %[[V]])
// CHECK: %[[T:.*]] = "torq_hl.mul"(%{{.*}}, %{{.*}}, %[[D]], %[[Q]]) {{{.*}}shift = 1 : i8}
// CHECK: %[[Z:.*]] = "torq_hl.mul"(%{{.*}}, %{{.*}}, %[[T]], %[[R]]) {{{.*}}shift = 15 : i8} {{.*}} -> tensor<2x16xi16>
// CHECK: %[[Y:.*]] = "torq_hl.fma"(%{{.*}}, %[[GAMMA]], %[[PAIRS]], %[[Z]]) {{{.*}}output_zp = 3 : i32, {{.*}}torq_hl.approximation = "normalization"}
// CHECK: return %[[Y]]
func.func @layer_norm(%x: tensor<2x16xi8>) -> tensor<2x16xi8> {
  %gamma = arith.constant dense<[1.0, 0.5, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0]> : tensor<16xf32>
  %beta = arith.constant dense<[0.1, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -0.1]> : tensor<16xf32>
  %s = arith.constant dense<0.05> : tensor<f32>
  %z = arith.constant dense<5> : tensor<i8>
  %sy = arith.constant dense<0.03> : tensor<f32>
  %zy = arith.constant dense<3> : tensor<i8>
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 16.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %f = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<2x16xi8>, tensor<f32>, tensor<i8>) -> tensor<2x16xf32>
  %e1 = tensor.empty() : tensor<2x1xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<2x1xf32>) -> tensor<2x1xf32>
  %t = linalg.generic {indexing_maps = [#m, #k], iterator_types = ["parallel", "reduction"]} ins(%f : tensor<2x16xf32>) outs(%z1 : tensor<2x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %a = arith.addf %in, %out : f32
    linalg.yield %a : f32
  } -> tensor<2x1xf32>
  %u = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel", "parallel"]} ins(%t : tensor<2x1xf32>) outs(%e1 : tensor<2x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %a = arith.divf %in, %n : f32
    linalg.yield %a : f32
  } -> tensor<2x1xf32>
  %e = tensor.empty() : tensor<2x16xf32>
  %d = linalg.generic {indexing_maps = [#m, #k, #m], iterator_types = ["parallel", "parallel"]} ins(%f, %u : tensor<2x16xf32>, tensor<2x1xf32>) outs(%e : tensor<2x16xf32>) {
  ^bb0(%in: f32, %v: f32, %out: f32):
    %a = arith.subf %in, %v : f32
    linalg.yield %a : f32
  } -> tensor<2x16xf32>
  %dd = linalg.generic {indexing_maps = [#m, #m, #m], iterator_types = ["parallel", "parallel"]} ins(%d, %d : tensor<2x16xf32>, tensor<2x16xf32>) outs(%e : tensor<2x16xf32>) {
  ^bb0(%in: f32, %v: f32, %out: f32):
    %a = arith.mulf %in, %v : f32
    linalg.yield %a : f32
  } -> tensor<2x16xf32>
  %tt = linalg.generic {indexing_maps = [#m, #k], iterator_types = ["parallel", "reduction"]} ins(%dd : tensor<2x16xf32>) outs(%z1 : tensor<2x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %a = arith.addf %in, %out : f32
    linalg.yield %a : f32
  } -> tensor<2x1xf32>
  %r = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel", "parallel"]} ins(%tt : tensor<2x1xf32>) outs(%e1 : tensor<2x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %a = arith.divf %in, %n : f32
    %b = arith.addf %a, %eps : f32
    %c = math.rsqrt %b : f32
    linalg.yield %c : f32
  } -> tensor<2x1xf32>
  %w = linalg.generic {indexing_maps = [#m, #k, #m], iterator_types = ["parallel", "parallel"]} ins(%d, %r : tensor<2x16xf32>, tensor<2x1xf32>) outs(%e : tensor<2x16xf32>) {
  ^bb0(%in: f32, %v: f32, %out: f32):
    %a = arith.mulf %in, %v : f32
    linalg.yield %a : f32
  } -> tensor<2x16xf32>
  %y = linalg.generic {indexing_maps = [#m, #c, #c, #m], iterator_types = ["parallel", "parallel"]} ins(%w, %gamma, %beta : tensor<2x16xf32>, tensor<16xf32>, tensor<16xf32>) outs(%e : tensor<2x16xf32>) {
  ^bb0(%in: f32, %g: f32, %b: f32, %out: f32):
    %a = arith.mulf %in, %g : f32
    %c = arith.addf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<2x16xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %sy, %zy) {divide, dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<2x16xf32>, tensor<f32>, tensor<i8>) -> tensor<2x16xi8>
  return %q : tensor<2x16xi8>
}

// -----

#m = affine_map<(a, b) -> (a, b)>
#k = affine_map<(a, b) -> (a, 0)>
#v = affine_map<(a, b) -> (b, 0)>

// RMSNorm along the first dimension, by a square root and a division: rows are made of columns and back. The deviation
// is from the zero point. Without weights the last operation has one.

// CHECK-LABEL: func.func @rms_norm
// CHECK-DAG: %[[CENTER:.*]] = arith.constant dense<[-5, 128]> : tensor<2xi32>
// CHECK-DAG: %[[ONE:.*]] = arith.constant dense<32767> : tensor<1xi16>
// CHECK: %[[X:.*]] = "torq_hl.transpose"(%{{.*}}, %arg0) {perm = array<i64: 1, 0>}
// CHECK: %[[D:.*]] = "torq_hl.fma"(%{{.*}}, %{{.*}}, %[[CENTER]], %[[X]]) {{.*}} -> tensor<16x2xi16>
// CHECK: "torq_hl.mul"(%{{.*}}, %{{.*}}, %[[D]], %[[D]])
// CHECK: %[[Y:.*]] = "torq_hl.fma"(%{{.*}}, %[[ONE]], %{{.*}}, %{{.*}}) {{{.*}}torq_hl.approximation = "normalization"}
// CHECK: %[[B:.*]] = "torq_hl.transpose"(%{{.*}}, %[[Y]]) {perm = array<i64: 1, 0>}
// CHECK: return %[[B]]
func.func @rms_norm(%x: tensor<2x16xi8>) -> tensor<2x16xi8> {
  %s = arith.constant dense<0.05> : tensor<f32>
  %z = arith.constant dense<5> : tensor<i8>
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 0.5 : f32
  %eps = arith.constant 1.0e-5 : f32
  %two = arith.constant 2 : i64
  %f = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<2x16xi8>, tensor<f32>, tensor<i8>) -> tensor<2x16xf32>
  %e1 = tensor.empty() : tensor<16xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<16xf32>) -> tensor<16xf32>
  %e = tensor.empty() : tensor<2x16xf32>
  %dd = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel", "parallel"]} ins(%f : tensor<2x16xf32>) outs(%e : tensor<2x16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %a = math.fpowi %in, %two : f32, i64
    linalg.yield %a : f32
  } -> tensor<2x16xf32>
  %t = linalg.generic {indexing_maps = [#m, affine_map<(a, b) -> (b)>], iterator_types = ["reduction", "parallel"]} ins(%dd : tensor<2x16xf32>) outs(%z1 : tensor<16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %a = arith.addf %in, %out : f32
    linalg.yield %a : f32
  } -> tensor<16xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>], iterator_types = ["parallel"]} ins(%t : tensor<16xf32>) outs(%e1 : tensor<16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %a = arith.mulf %in, %n : f32
    %b = arith.addf %a, %eps : f32
    %c = math.sqrt %b : f32
    linalg.yield %c : f32
  } -> tensor<16xf32>
  %y = linalg.generic {indexing_maps = [#m, affine_map<(a, b) -> (b)>, #m], iterator_types = ["parallel", "parallel"]} ins(%f, %r : tensor<2x16xf32>, tensor<16xf32>) outs(%e : tensor<2x16xf32>) {
  ^bb0(%in: f32, %v: f32, %out: f32):
    %a = arith.divf %in, %v : f32
    linalg.yield %a : f32
  } -> tensor<2x16xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %s, %z) {divide, dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<2x16xf32>, tensor<f32>, tensor<i8>) -> tensor<2x16xi8>
  return %q : tensor<2x16xi8>
}

// -----

#m = affine_map<(a, b) -> (a, b)>
#k = affine_map<(a, b) -> (a, 0)>

// An epsilon that is much greater than any square leaves no bits for the squares.

// CHECK-LABEL: func.func @great_epsilon
// CHECK-NOT: "torq_hl.
// CHECK: torq_hl.refusal = "the sum of 16 squares and epsilon 10000000000.0 does not fit in i32
// CHECK: return
func.func @great_epsilon(%x: tensor<2x16xi8>) -> tensor<2x16xi8> {
  %s = arith.constant dense<0.05> : tensor<f32>
  %z = arith.constant dense<5> : tensor<i8>
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 16.0 : f32
  %eps = arith.constant 1.0e+10 : f32
  %f = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<2x16xi8>, tensor<f32>, tensor<i8>) -> tensor<2x16xf32>
  %e1 = tensor.empty() : tensor<2x1xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<2x1xf32>) -> tensor<2x1xf32>
  %e = tensor.empty() : tensor<2x16xf32>
  %dd = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel", "parallel"]} ins(%f : tensor<2x16xf32>) outs(%e : tensor<2x16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %a = arith.mulf %in, %in : f32
    linalg.yield %a : f32
  } -> tensor<2x16xf32>
  %t = linalg.generic {indexing_maps = [#m, #k], iterator_types = ["parallel", "reduction"]} ins(%dd : tensor<2x16xf32>) outs(%z1 : tensor<2x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %a = arith.addf %in, %out : f32
    linalg.yield %a : f32
  } -> tensor<2x1xf32>
  %r = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel", "parallel"]} ins(%t : tensor<2x1xf32>) outs(%e1 : tensor<2x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %a = arith.divf %in, %n : f32
    %b = arith.addf %a, %eps : f32
    %c = math.rsqrt %b : f32
    linalg.yield %c : f32
  } -> tensor<2x1xf32>
  %y = linalg.generic {indexing_maps = [#m, #k, #m], iterator_types = ["parallel", "parallel"]} ins(%f, %r : tensor<2x16xf32>, tensor<2x1xf32>) outs(%e : tensor<2x16xf32>) {
  ^bb0(%in: f32, %v: f32, %out: f32):
    %a = arith.mulf %in, %v : f32
    linalg.yield %a : f32
  } -> tensor<2x16xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %s, %z) {divide, dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<2x16xf32>, tensor<f32>, tensor<i8>) -> tensor<2x16xi8>
  return %q : tensor<2x16xi8>
}
