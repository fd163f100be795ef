// RUN: torq-opt --split-input-file --convert-quantized-decomposed-to-linalg %s | FileCheck %s

// The reciprocal of a constant scale is rounded at compile time: in f64, then to f32.

// CHECK-LABEL: func.func @per_tensor
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
// CHECK-DAG: %[[R:.*]] = arith.constant 1.000000e-03 : f32
// CHECK-DAG: %[[Z:.*]] = arith.constant -3.000000e+00 : f32
// CHECK-DAG: %[[LOW:.*]] = arith.constant -1.280000e+02 : f32
// CHECK-DAG: %[[HIGH:.*]] = arith.constant 1.270000e+02 : f32
// CHECK-DAG: %[[NAN:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[INIT:.*]] = tensor.empty() : tensor<2x3xi8>
// CHECK: %[[Q:.*]] = linalg.generic {indexing_maps = [#[[MAP:.*]], #[[MAP]]], iterator_types = ["parallel", "parallel"]}
// CHECK-SAME: ins(%[[X]] : tensor<2x3xf32>) outs(%[[INIT]] : tensor<2x3xi8>)
// CHECK-NEXT: ^bb0(%[[IN:.*]]: f32, %{{.*}}: i8):
// CHECK-NEXT: %[[SCALED:.*]] = arith.mulf %[[IN]], %[[R]]
// CHECK-NEXT: %[[ROUNDED:.*]] = math.roundeven %[[SCALED]]
// CHECK-NEXT: %[[SHIFTED:.*]] = arith.addf %[[ROUNDED]], %[[Z]]
// CHECK-NEXT: %[[MAX:.*]] = arith.maximumf %[[SHIFTED]], %[[LOW]]
// CHECK-NEXT: %[[MIN:.*]] = arith.minimumf %[[MAX]], %[[HIGH]]
// CHECK-NEXT: %[[UNO:.*]] = arith.cmpf uno, %[[MIN]], %[[MIN]]
// CHECK-NEXT: %[[DEFINED:.*]] = arith.select %[[UNO]], %[[NAN]], %[[MIN]]
// CHECK-NEXT: %[[INT:.*]] = arith.fptosi %[[DEFINED]] : f32 to i8
// CHECK-NEXT: linalg.yield %[[INT]]
// CHECK: return %[[Q]]
func.func @per_tensor(%x: tensor<2x3xf32>) -> tensor<2x3xi8> {
  %scale = arith.constant dense<1000.0> : tensor<f32>
  %zp = arith.constant dense<-3> : tensor<i8>
  %q = "quantized_decomposed.quantize_per_tensor"(%x, %scale, %zp) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<2x3xi8>
  return %q : tensor<2x3xi8>
}

// -----

// A zero point of zero adds nothing; NaN is the lower bound in ONNX; the range can be narrower than the type.

// CHECK-LABEL: func.func @divide
// CHECK-DAG: %[[S:.*]] = arith.constant 1.000000e+03 : f32
// CHECK-DAG: %[[LOW:.*]] = arith.constant -1.270000e+02 : f32
// CHECK: arith.divf %{{.*}}, %[[S]]
// CHECK-NEXT: math.roundeven
// CHECK-NOT: arith.addf
// CHECK: arith.select %{{.*}}, %[[LOW]], %{{.*}}
func.func @divide(%x: tensor<2x3xf32>) -> tensor<2x3xi8> {
  %scale = arith.constant dense<1000.0> : tensor<1xf32>
  %zp = arith.constant dense<0> : tensor<i8>
  %q = "quantized_decomposed.quantize_per_tensor"(%x, %scale, %zp) {divide, dtype = si8, quant_max = 127 : i64, quant_min = -127 : i64} : (tensor<2x3xf32>, tensor<1xf32>, tensor<i8>) -> tensor<2x3xi8>
  return %q : tensor<2x3xi8>
}

// -----

// The zero point of unsigned storage is 253 in the bits of -3.

// CHECK-LABEL: func.func @unsigned
// CHECK-DAG: %[[Z:.*]] = arith.constant 2.530000e+02 : f32
// CHECK-DAG: %[[HIGH:.*]] = arith.constant 2.550000e+02 : f32
// CHECK: arith.addf %{{.*}}, %[[Z]]
// CHECK: arith.minimumf %{{.*}}, %[[HIGH]]
// CHECK: arith.fptoui %{{.*}} : f32 to i8
func.func @unsigned(%x: tensor<2x3xf32>) -> tensor<2x3xi8> {
  %scale = arith.constant dense<0.5> : tensor<f32>
  %zp = arith.constant dense<-3> : tensor<i8>
  %q = "quantized_decomposed.quantize_per_tensor"(%x, %scale, %zp) {dtype = ui8, quant_max = 255 : i64, quant_min = 0 : i64} : (tensor<2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<2x3xi8>
  return %q : tensor<2x3xi8>
}

// -----

// 2^31 - 1 is not an f32: what is beyond the last one below becomes it by selection.

// CHECK-LABEL: func.func @int32
// CHECK-DAG: %[[HIGH:.*]] = arith.constant 2.14748352E+9 : f32
// CHECK-DAG: %[[GREATEST:.*]] = arith.constant 2147483647 : i32
// CHECK: %[[MAX:.*]] = arith.maximumf
// CHECK: arith.minimumf %[[MAX]], %[[HIGH]]
// CHECK: %[[INT:.*]] = arith.fptosi
// CHECK: %[[BEYOND:.*]] = arith.cmpf ogt, %{{.*}}, %[[HIGH]]
// CHECK: arith.select %[[BEYOND]], %[[GREATEST]], %[[INT]] : i32
func.func @int32(%x: tensor<4xf32>) -> tensor<4xi32> {
  %scale = arith.constant dense<0.5> : tensor<f32>
  %zp = arith.constant dense<0> : tensor<i32>
  %q = "quantized_decomposed.quantize_per_tensor"(%x, %scale, %zp) {dtype = si32, quant_max = 2147483647 : i64, quant_min = -2147483648 : i64} : (tensor<4xf32>, tensor<f32>, tensor<i32>) -> tensor<4xi32>
  return %q : tensor<4xi32>
}

// -----

// CHECK-DAG: #[[ALL:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-DAG: #[[AXIS:.*]] = affine_map<(d0, d1, d2) -> (d2)>
// CHECK-LABEL: func.func @per_channel
// CHECK-DAG: %[[R:.*]] = arith.constant dense<[2.000000e+00, 4.000000e+00]> : tensor<2xf32>
// CHECK-DAG: %[[Z:.*]] = arith.constant dense<[1.000000e+00, -2.000000e+00]> : tensor<2xf32>
// CHECK: linalg.generic {indexing_maps = [#[[ALL]], #[[AXIS]], #[[AXIS]], #[[ALL]]]
// CHECK-SAME: ins(%arg0, %[[R]], %[[Z]] : tensor<3x4x2xf32>, tensor<2xf32>, tensor<2xf32>)
// CHECK: ^bb0(%[[IN:.*]]: f32, %[[RC:.*]]: f32, %[[ZC:.*]]: f32, %{{.*}}: i8):
// CHECK: %[[SCALED:.*]] = arith.mulf %[[IN]], %[[RC]]
// CHECK: %[[ROUNDED:.*]] = math.roundeven %[[SCALED]]
// CHECK: arith.addf %[[ROUNDED]], %[[ZC]]
func.func @per_channel(%x: tensor<3x4x2xf32>) -> tensor<3x4x2xi8> {
  %scales = arith.constant dense<[0.5, 0.25]> : tensor<2xf32>
  %zps = arith.constant dense<[1, -2]> : tensor<2xi64>
  %q = "quantized_decomposed.quantize_per_channel"(%x, %scales, %zps) {axis = -1 : i64, dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<3x4x2xf32>, tensor<2xf32>, tensor<2xi64>) -> tensor<3x4x2xi8>
  return %q : tensor<3x4x2xi8>
}

// -----

// Run-time parameters are converted ahead of the loop. A scalar reciprocal is one of f64, as Python's.

// CHECK-LABEL: func.func @run_time
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[S:.*]]: tensor<f32>, %[[Z:.*]]: tensor<1xi8>
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1.000000e+00 : f64
// CHECK-DAG: %[[SCALE:.*]] = tensor.extract %[[S]][] : tensor<f32>
// CHECK-DAG: %[[WIDE:.*]] = arith.extf %[[SCALE]] : f32 to f64
// CHECK-DAG: %[[QUOTIENT:.*]] = arith.divf %[[ONE]], %[[WIDE]] : f64
// CHECK-DAG: %[[R:.*]] = arith.truncf %[[QUOTIENT]] : f64 to f32
// CHECK-DAG: %[[ZP:.*]] = tensor.extract %[[Z]][%{{.*}}] : tensor<1xi8>
// CHECK-DAG: %[[ZF:.*]] = arith.uitofp %[[ZP]] : i8 to f32
// CHECK: linalg.generic
// CHECK: arith.mulf %{{.*}}, %[[R]]
// CHECK: arith.addf %{{.*}}, %[[ZF]]
func.func @run_time(%x: tensor<4xf32>, %scale: tensor<f32>, %zp: tensor<1xi8>) -> tensor<4xi8> {
  %q = "quantized_decomposed.quantize_per_tensor"(%x, %scale, %zp) {dtype = ui8, quant_max = 255 : i64, quant_min = 0 : i64} : (tensor<4xf32>, tensor<f32>, tensor<1xi8>) -> tensor<4xi8>
  return %q : tensor<4xi8>
}

// -----

// Reciprocals of scales along an axis are of their type; those of f64 make the computation one of f64.

// CHECK-LABEL: func.func @run_time_per_channel
// CHECK-SAME: %[[X:.*]]: tensor<4x2xbf16>, %[[S:.*]]: tensor<2xf64>, %[[Z:.*]]: tensor<2xi32>
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%[[S]] : tensor<2xf64>)
// CHECK: arith.divf %{{.*}}, %{{.*}} : f64
// CHECK: %[[ZF:.*]] = linalg.generic {{.*}} ins(%[[Z]] : tensor<2xi32>)
// CHECK: arith.sitofp %{{.*}} : i32 to f64
// CHECK: linalg.generic {{.*}} ins(%[[X]], %[[R]], %[[ZF]] : tensor<4x2xbf16>, tensor<2xf64>, tensor<2xf64>)
// CHECK: arith.extf %{{.*}} : bf16 to f64
// CHECK: arith.mulf %{{.*}} : f64
func.func @run_time_per_channel(%x: tensor<4x2xbf16>, %scales: tensor<2xf64>, %zps: tensor<2xi32>) -> tensor<4x2xi8> {
  %q = "quantized_decomposed.quantize_per_channel"(%x, %scales, %zps) {axis = 1 : i64, dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<4x2xbf16>, tensor<2xf64>, tensor<2xi32>) -> tensor<4x2xi8>
  return %q : tensor<4x2xi8>
}

// -----

// A range known at run time is clamped to that of the storage.

// CHECK-LABEL: func.func @range
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[L:.*]]: i64, %[[H:.*]]: i64
// CHECK-DAG: %[[LOW:.*]] = arith.sitofp %[[L]] : i64 to f32
// CHECK-DAG: %[[HIGH:.*]] = arith.sitofp %[[H]] : i64 to f32
// CHECK-DAG: %[[LEAST:.*]] = arith.constant -1.280000e+02 : f32
// CHECK-DAG: %[[GREATEST:.*]] = arith.constant 1.270000e+02 : f32
// CHECK: %[[V0:.*]] = arith.maximumf %{{.*}}, %[[LOW]]
// CHECK: %[[V1:.*]] = arith.minimumf %[[V0]], %[[HIGH]]
// CHECK: %[[V2:.*]] = arith.maximumf %[[V1]], %[[LEAST]]
// CHECK: arith.minimumf %[[V2]], %[[GREATEST]]
func.func @range(%x: tensor<4xf32>, %low: i64, %high: i64) -> tensor<4xi8> {
  %scale = arith.constant 0.5 : f64
  %zp = arith.constant 0 : i64
  %q = "quantized_decomposed.quantize_per_tensor"(%x, %scale, %zp, %low, %high) {dtype = si8} : (tensor<4xf32>, f64, i64, i64, i64) -> tensor<4xi8>
  return %q : tensor<4xi8>
}

// -----

// CHECK-LABEL: func.func @dynamic
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[D:.*]] = tensor.dim %arg0, %[[C0]] : tensor<?x3xf16>
// CHECK: tensor.empty(%[[D]]) : tensor<?x3xi8>
// CHECK: arith.extf %{{.*}} : f16 to f32
func.func @dynamic(%x: tensor<?x3xf16>) -> tensor<?x3xi8> {
  %scale = arith.constant dense<0.5> : tensor<f32>
  %zp = arith.constant dense<1> : tensor<i8>
  %q = "quantized_decomposed.quantize_per_tensor"(%x, %scale, %zp) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<?x3xf16>, tensor<f32>, tensor<i8>) -> tensor<?x3xi8>
  return %q : tensor<?x3xi8>
}
