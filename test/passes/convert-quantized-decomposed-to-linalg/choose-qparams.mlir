// RUN: torq-opt --split-input-file --convert-quantized-decomposed-to-linalg %s | FileCheck %s

// Least and greatest value in f32; difference and quotient round to f16, the type of the input.

// CHECK-DAG: #[[ALL:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[NONE:.*]] = affine_map<(d0, d1) -> ()>
// CHECK-LABEL: func.func @per_tensor
// CHECK: %[[FIRST:.*]] = arith.constant 0x7F800000 : f32
// CHECK: linalg.fill ins(%[[FIRST]] : f32)
// CHECK: %[[MIN:.*]] = linalg.generic {indexing_maps = [#[[ALL]], #[[NONE]]], iterator_types = ["reduction", "reduction"]} ins(%arg0 : tensor<4x8xf16>)
// CHECK-NEXT: ^bb0(%[[IN:.*]]: f16, %[[OUT:.*]]: f32):
// CHECK-NEXT: %[[WIDE:.*]] = arith.extf %[[IN]] : f16 to f32
// CHECK-NEXT: arith.minimumf %[[WIDE]], %[[OUT]]
// CHECK: %[[MAX:.*]] = linalg.generic
// CHECK: arith.maximumf
// CHECK-DAG: %[[M:.*]] = tensor.extract %[[MIN]][] : tensor<f32>
// CHECK-DAG: %[[N:.*]] = tensor.extract %[[MAX]][] : tensor<f32>
// CHECK: %[[LOW:.*]] = arith.minimumf %[[M]], %{{.*}}
// CHECK-NEXT: %[[HIGH:.*]] = arith.maximumf %[[N]], %{{.*}}
// CHECK-NEXT: %[[D:.*]] = arith.subf %[[HIGH]], %[[LOW]]
// CHECK-NEXT: %[[DH:.*]] = arith.truncf %[[D]] : f32 to f16
// CHECK-NEXT: %[[DIFFERENCE:.*]] = arith.extf %[[DH]] : f16 to f32
// CHECK-NEXT: %[[RANGE:.*]] = arith.constant 2.550000e+02 : f32
// CHECK-NEXT: %[[Q:.*]] = arith.divf %[[DIFFERENCE]], %[[RANGE]]
// CHECK-NEXT: %[[QH:.*]] = arith.truncf %[[Q]] : f32 to f16
// CHECK-NEXT: %[[QUOTIENT:.*]] = arith.extf %[[QH]] : f16 to f32
// CHECK-NEXT: %[[EPS:.*]] = arith.constant 9.99999974E-6 : f32
// CHECK-NEXT: %[[SCALE:.*]] = arith.maximumf %[[QUOTIENT]], %[[EPS]]
// CHECK-NEXT: %[[O:.*]] = arith.divf %[[LOW]], %[[SCALE]]
// CHECK-NEXT: math.roundeven %[[O]]
// What i32 does not hold is its least value.
// CHECK: %[[INT:.*]] = arith.fptosi %{{.*}} : f32 to i32
// CHECK: %[[OFFSET:.*]] = arith.select %{{.*}}, %[[INT]], %{{.*}} : i32
// CHECK: %[[ZP:.*]] = arith.subi %{{.*}}, %[[OFFSET]] : i32
// CHECK-NEXT: arith.maxsi
// CHECK-NEXT: arith.minsi
// CHECK-NEXT: arith.extf %[[SCALE]] : f32 to f64
// CHECK: tensor.from_elements %{{.*}} : tensor<1xi64>
func.func @per_tensor(%x: tensor<4x8xf16>) -> (tensor<1xf64>, tensor<1xi64>) {
  %0:2 = "quantized_decomposed.choose_qparams"(%x) {quant_min = 0 : i64, quant_max = 255 : i64, eps = 1.0e-5 : f64, dtype = ui8} : (tensor<4x8xf16>) -> (tensor<1xf64>, tensor<1xi64>)
  return %0#0, %0#1 : tensor<1xf64>, tensor<1xi64>
}

// -----

// CHECK-LABEL: func.func @symmetric
// CHECK: math.absf
// CHECK-NEXT: arith.maximumf
// CHECK: %[[HALF:.*]] = arith.constant 1.275000e+02 : f32
// CHECK-NEXT: arith.divf %{{.*}}, %[[HALF]]
// CHECK: %[[ZP:.*]] = arith.constant dense<128> : tensor<1xi64>
// CHECK: return %{{.*}}, %[[ZP]]
func.func @symmetric(%x: tensor<?x?xf32>) -> (tensor<1xf64>, tensor<1xi64>) {
  %0:2 = "quantized_decomposed.choose_qparams_symmetric"(%x) {quant_min = 0 : i64, quant_max = 255 : i64, eps = 1.0e-5 : f64, dtype = ui8} : (tensor<?x?xf32>) -> (tensor<1xf64>, tensor<1xi64>)
  return %0#0, %0#1 : tensor<1xf64>, tensor<1xi64>
}

// -----

// The least magnitude is one of bf16.

// CHECK-DAG: #[[ALL:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0, d1) -> (d0, 0)>
// CHECK-LABEL: func.func @per_token
// CHECK: linalg.generic {indexing_maps = [#[[ALL]], #[[ROW]]], iterator_types = ["parallel", "reduction"]} ins(%arg0 : tensor<?x8xbf16>) outs(%{{.*}} : tensor<?x1xf32>)
// CHECK: %[[S:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<?x1xbf16>)
// CHECK: %[[LEAST:.*]] = arith.constant 1.00135803E-5 : f32
// CHECK-NEXT: %[[M:.*]] = arith.maximumf %{{.*}}, %[[LEAST]]
// CHECK-NEXT: %[[MAX:.*]] = arith.constant 1.270000e+02 : f32
// CHECK-NEXT: arith.divf %[[M]], %[[MAX]]
// CHECK: %[[Z:.*]] = linalg.fill ins(%{{.*}} : bf16)
// CHECK: return %[[S]], %[[Z]]
func.func @per_token(%x: tensor<?x8xbf16>) -> (tensor<?x1xbf16>, tensor<?x1xbf16>) {
  %0:2 = "quantized_decomposed.choose_qparams_per_token"(%x) {dtype = si8} : (tensor<?x8xbf16>) -> (tensor<?x1xbf16>, tensor<?x1xbf16>)
  return %0#0, %0#1 : tensor<?x1xbf16>, tensor<?x1xbf16>
}

// -----

// The end of the range with the smaller error gives the zero point.

// CHECK-LABEL: func.func @asymmetric
// CHECK: %[[MIN:.*]] = linalg.generic
// CHECK: arith.minimumf
// CHECK: %[[MAX:.*]] = linalg.generic
// CHECK: arith.maximumf
// CHECK: %[[S:.*]] = linalg.generic {{.*}} ins(%[[MIN]], %[[MAX]] : tensor<4x1xf32>, tensor<4x1xf32>) outs(%{{.*}} : tensor<4x1xf64>)
// CHECK: %[[Z:.*]] = linalg.generic {{.*}} ins(%[[MIN]], %[[MAX]] : tensor<4x1xf32>, tensor<4x1xf32>) outs(%{{.*}} : tensor<4x1xi64>)
// CHECK: %[[EPS:.*]] = arith.constant 1.1920929E-7 : f32
// CHECK: %[[SCALE:.*]] = arith.maximumf %{{.*}}, %[[EPS]]
// CHECK-NEXT: %[[FIRST:.*]] = arith.divf %{{.*}}, %[[SCALE]]
// CHECK-NEXT: %[[LAST:.*]] = arith.divf %{{.*}}, %[[SCALE]]
// CHECK-NEXT: %[[QMIN:.*]] = arith.constant -1.280000e+02 : f32
// CHECK-NEXT: %[[QMAX:.*]] = arith.constant 1.270000e+02 : f32
// CHECK-NEXT: %[[A:.*]] = arith.addf %[[QMIN]], %[[FIRST]]
// CHECK-NEXT: %[[B:.*]] = arith.addf %[[QMAX]], %[[LAST]]
// CHECK-NEXT: %[[ERROR:.*]] = arith.addf %[[A]], %[[B]]
// CHECK: %[[POSITIVE:.*]] = arith.cmpf ogt, %[[ERROR]], %{{.*}}
// CHECK-NEXT: %[[C:.*]] = arith.subf %[[QMIN]], %[[FIRST]]
// CHECK-NEXT: %[[D:.*]] = arith.subf %[[QMAX]], %[[LAST]]
// CHECK-NEXT: arith.select %[[POSITIVE]], %[[C]], %[[D]]
// CHECK: math.roundeven
// CHECK: return %[[S]], %[[Z]]
func.func @asymmetric(%x: tensor<4x8xf32>) -> (tensor<4x1xf64>, tensor<4x1xi64>) {
  %0:2 = "quantized_decomposed._choose_qparams_per_token_asymmetric_impl"(%x) {dtype = si8} : (tensor<4x8xf32>) -> (tensor<4x1xf64>, tensor<4x1xi64>)
  return %0#0, %0#1 : tensor<4x1xf64>, tensor<4x1xi64>
}
