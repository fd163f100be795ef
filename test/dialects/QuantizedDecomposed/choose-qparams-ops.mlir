// RUN: torq-opt %s | torq-opt | FileCheck %s

// CHECK-LABEL: func.func @per_tensor
// CHECK: "quantized_decomposed.choose_qparams"(%{{.*}}) {dtype = ui8, eps = 1.1920928955078125E-7 : f64, quant_max = 255 : i64, quant_min = 0 : i64} : (tensor<?x8xf32>) -> (tensor<1xf64>, tensor<1xi64>)
// CHECK: "quantized_decomposed.choose_qparams_symmetric"(%{{.*}}) {dtype = si8, eps = 1.1920928955078125E-7 : f64, quant_max = 127 : i64, quant_min = -127 : i64} : (tensor<bf16>) -> (tensor<1xf64>, tensor<1xi64>)
func.func @per_tensor(%x: tensor<?x8xf32>, %y: tensor<bf16>) -> (tensor<1xf64>, tensor<1xi64>) {
  %0:2 = "quantized_decomposed.choose_qparams"(%x) {quant_min = 0 : i64, quant_max = 255 : i64, eps = 1.1920928955078125E-7 : f64, dtype = ui8} : (tensor<?x8xf32>) -> (tensor<1xf64>, tensor<1xi64>)
  %1:2 = "quantized_decomposed.choose_qparams_symmetric"(%y) {quant_min = -127 : i64, quant_max = 127 : i64, eps = 1.1920928955078125E-7 : f64, dtype = si8} : (tensor<bf16>) -> (tensor<1xf64>, tensor<1xi64>)
  return %0#0, %1#1 : tensor<1xf64>, tensor<1xi64>
}

// CHECK-LABEL: func.func @per_token
// CHECK: "quantized_decomposed.choose_qparams_per_token"(%{{.*}}) {dtype = si8} : (tensor<2x4x8xf16>) -> (tensor<2x4x1xf32>, tensor<2x4x1xf32>)
// CHECK: "quantized_decomposed.choose_qparams_per_token"(%{{.*}}) {dtype = si8} : (tensor<?xbf16>) -> (tensor<1xbf16>, tensor<1xbf16>)
// CHECK: "quantized_decomposed.choose_qparams_per_token_asymmetric"(%{{.*}}) {dtype = si8} : (tensor<2x4x8xf16>) -> (tensor<2x4x1xf64>, tensor<2x4x1xi64>)
// CHECK: "quantized_decomposed._choose_qparams_per_token_asymmetric_impl"(%{{.*}}) {dtype = si8} : (tensor<?xbf16>) -> (tensor<1xf64>, tensor<1xi64>)
func.func @per_token(%x: tensor<2x4x8xf16>, %y: tensor<?xbf16>) -> (tensor<2x4x1xf32>, tensor<1xbf16>, tensor<2x4x1xi64>, tensor<1xf64>) {
  %0:2 = "quantized_decomposed.choose_qparams_per_token"(%x) {dtype = si8} : (tensor<2x4x8xf16>) -> (tensor<2x4x1xf32>, tensor<2x4x1xf32>)
  %1:2 = "quantized_decomposed.choose_qparams_per_token"(%y) {dtype = si8} : (tensor<?xbf16>) -> (tensor<1xbf16>, tensor<1xbf16>)
  %2:2 = "quantized_decomposed.choose_qparams_per_token_asymmetric"(%x) {dtype = si8} : (tensor<2x4x8xf16>) -> (tensor<2x4x1xf64>, tensor<2x4x1xi64>)
  %3:2 = "quantized_decomposed._choose_qparams_per_token_asymmetric_impl"(%y) {dtype = si8} : (tensor<?xbf16>) -> (tensor<1xf64>, tensor<1xi64>)
  return %0#1, %1#0, %2#1, %3#0 : tensor<2x4x1xf32>, tensor<1xbf16>, tensor<2x4x1xi64>, tensor<1xf64>
}

// CHECK-LABEL: func.func @torch_tensors
// CHECK: "quantized_decomposed.choose_qparams"{{.*}} (!torch.vtensor<*,f32>) -> (!torch.vtensor<[1],f64>, !torch.vtensor<[1],si64>)
// CHECK: "quantized_decomposed.choose_qparams_per_token"{{.*}} (!torch.vtensor<[?,?],f32>) -> (!torch.vtensor<[?,1],f32>, !torch.vtensor)
// CHECK: "quantized_decomposed.choose_qparams_per_token_asymmetric"{{.*}} (!torch.vtensor<[?,?],f32>) -> (!torch.vtensor<[?,1],f64>, !torch.vtensor<[?,1],si64>)
func.func @torch_tensors(%x: !torch.vtensor<*,f32>, %y: !torch.vtensor<[?,?],f32>) -> (!torch.vtensor<[1],si64>, !torch.vtensor, !torch.vtensor<[?,1],f64>) {
  %0:2 = "quantized_decomposed.choose_qparams"(%x) {quant_min = 0 : i64, quant_max = 255 : i64, eps = 1.0e-5 : f64, dtype = ui8} : (!torch.vtensor<*,f32>) -> (!torch.vtensor<[1],f64>, !torch.vtensor<[1],si64>)
  %1:2 = "quantized_decomposed.choose_qparams_per_token"(%y) {dtype = si8} : (!torch.vtensor<[?,?],f32>) -> (!torch.vtensor<[?,1],f32>, !torch.vtensor)
  %2:2 = "quantized_decomposed.choose_qparams_per_token_asymmetric"(%y) {dtype = si8} : (!torch.vtensor<[?,?],f32>) -> (!torch.vtensor<[?,1],f64>, !torch.vtensor<[?,1],si64>)
  return %0#1, %1#1, %2#0 : !torch.vtensor<[1],si64>, !torch.vtensor, !torch.vtensor<[?,1],f64>
}
