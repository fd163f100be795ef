// RUN: torq-opt --split-input-file --convert-quantized-decomposed-to-linalg %s | FileCheck %s

// Everything is f32: the scale before its reciprocal is taken, the zero point by way of i32.

// CHECK-DAG: #[[ALL:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[CHANNEL:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func.func @fake_quant
// CHECK: %[[S:.*]] = linalg.generic {{.*}} ins(%arg1 : tensor<8xf64>)
// CHECK: arith.truncf %{{.*}} : f64 to f32
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%[[S]] : tensor<8xf32>)
// CHECK: arith.divf
// CHECK: %[[Z:.*]] = linalg.generic {{.*}} ins(%arg2 : tensor<8xi64>)
// CHECK: %[[I:.*]] = arith.trunci %{{.*}} : i64 to i32
// CHECK-NEXT: arith.sitofp %[[I]] : i32 to f32
// CHECK: linalg.generic {indexing_maps = [#[[ALL]], #[[CHANNEL]], #[[CHANNEL]], #[[CHANNEL]], #[[ALL]]]
// CHECK-SAME: ins(%arg0, %[[S]], %[[R]], %[[Z]] :
// CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %[[SCALE:.*]]: f32, %[[FACTOR:.*]]: f32, %[[ZERO:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: %[[SCALED:.*]] = arith.mulf %[[X]], %[[FACTOR]]
// CHECK-NEXT: %[[ROUNDED:.*]] = math.roundeven %[[SCALED]]
// CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[ROUNDED]], %[[ZERO]]
// CHECK-NEXT: %[[MAX:.*]] = arith.maximumf %[[SUM]], %{{.*}}
// CHECK-NEXT: %[[MIN:.*]] = arith.minimumf %[[MAX]], %{{.*}}
// CHECK-NEXT: %[[DIFFERENCE:.*]] = arith.subf %[[MIN]], %[[ZERO]]
// CHECK-NEXT: %[[Y:.*]] = arith.mulf %[[DIFFERENCE]], %[[SCALE]]
// CHECK-NEXT: linalg.yield %[[Y]]
func.func @fake_quant(%x: tensor<4x8xf32>, %s: tensor<8xf64>, %z: tensor<8xi64>) -> tensor<4x8xf32> {
  %0 = "quantized_decomposed.fake_quant_per_channel"(%x, %s, %z) {axis = -1 : i64, quant_min = -100 : i64, quant_max = 100 : i64} : (tensor<4x8xf32>, tensor<8xf64>, tensor<8xi64>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// Towards zero, and never undefined: what i32 does not hold is its least value.

// CHECK-LABEL: func.func @to_integers
// CHECK: %[[LIMIT:.*]] = arith.constant 2.14748365E+9 : f32
// CHECK-NEXT: %[[T:.*]] = math.trunc %{{.*}} : f32
// CHECK-NEXT: %[[LEAST:.*]] = arith.negf %[[LIMIT]]
// CHECK-NEXT: %[[GE:.*]] = arith.cmpf oge, %[[T]], %[[LEAST]]
// CHECK-NEXT: %[[LT:.*]] = arith.cmpf olt, %[[T]], %[[LIMIT]]
// CHECK-NEXT: %[[FITS:.*]] = arith.andi %[[GE]], %[[LT]]
// CHECK: %[[SAFE:.*]] = arith.select %[[FITS]], %[[T]], %{{.*}} : f32
// CHECK-NEXT: %[[I:.*]] = arith.fptosi %[[SAFE]] : f32 to i32
// CHECK: %[[R:.*]] = arith.select %[[FITS]], %[[I]], %{{.*}} : i32
// CHECK-NEXT: arith.trunci %[[R]] : i32 to i16
func.func @to_integers(%x: tensor<8xf16>) -> tensor<8xi16> {
  %0 = "quantized_decomposed.convert_element_type"(%x) {input_dtype = f16, dtype = si16} : (tensor<8xf16>) -> tensor<8xi16>
  return %0 : tensor<8xi16>
}

// -----

// The signs of integers are those of the attributes. Half precision by way of f32; NaN is true.

// CHECK-LABEL: func.func @others
// CHECK: %[[A:.*]] = arith.uitofp %{{.*}} : i8 to f32
// CHECK-NEXT: arith.truncf %[[A]] : f32 to bf16
// CHECK: arith.sitofp %{{.*}} : i8 to f64
// CHECK: arith.extui %{{.*}} : i8 to i32
// CHECK: arith.cmpf une, %{{.*}}, %{{.*}} : bf16
// CHECK: %[[D:.*]] = arith.truncf %{{.*}} : f64 to f32
// CHECK-NEXT: arith.truncf %[[D]] : f32 to f16
func.func @others(%x: tensor<8xi8>) -> (tensor<8xf16>, tensor<8xi32>, tensor<8xi1>) {
  %0 = "quantized_decomposed.convert_element_type"(%x) {input_dtype = ui8, dtype = bf16} : (tensor<8xi8>) -> tensor<8xbf16>
  %1 = "quantized_decomposed.convert_element_type"(%x) {input_dtype = si8, dtype = f64} : (tensor<8xi8>) -> tensor<8xf64>
  %2 = "quantized_decomposed.convert_element_type"(%x) {input_dtype = ui8, dtype = si32} : (tensor<8xi8>) -> tensor<8xi32>
  %3 = "quantized_decomposed.convert_element_type"(%0) {input_dtype = bf16, dtype = i1} : (tensor<8xbf16>) -> tensor<8xi1>
  %4 = "quantized_decomposed.convert_element_type"(%1) {input_dtype = f64, dtype = f16} : (tensor<8xf64>) -> tensor<8xf16>
  return %4, %2, %3 : tensor<8xf16>, tensor<8xi32>, tensor<8xi1>
}

// -----

// The same type: nothing.

// CHECK-LABEL: func.func @same
// CHECK-NEXT: return %arg0
func.func @same(%x: tensor<8xf16>) -> tensor<8xf16> {
  %0 = "quantized_decomposed.convert_element_type"(%x) {input_dtype = f16, dtype = f16} : (tensor<8xf16>) -> tensor<8xf16>
  return %0 : tensor<8xf16>
}
