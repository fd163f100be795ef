// RUN: torq-opt %s | torq-opt | FileCheck %s

// CHECK-LABEL: func.func @fake_quant
// CHECK: "quantized_decomposed.fake_quant_per_channel"(%{{.*}}, %{{.*}}, %{{.*}}) {axis = 1 : i64, quant_max = 127 : i64, quant_min = -127 : i64} : (tensor<?x3xf32>, tensor<3xf64>, tensor<3xi64>) -> tensor<?x3xf32>
// CHECK: "quantized_decomposed.fake_quant_per_channel"(%{{.*}}, %{{.*}}, %{{.*}}) {axis = -1 : i64, quant_max = 255 : i64, quant_min = 0 : i64} : (!torch.vtensor<[?,3],f32>, !torch.vtensor<[3],f32>, !torch.vtensor<[3],si32>) -> !torch.vtensor<[?,3],f32>
func.func @fake_quant(%x: tensor<?x3xf32>, %s: tensor<3xf64>, %z: tensor<3xi64>, %y: !torch.vtensor<[?,3],f32>, %t: !torch.vtensor<[3],f32>, %u: !torch.vtensor<[3],si32>) -> (tensor<?x3xf32>, !torch.vtensor<[?,3],f32>) {
  %0 = "quantized_decomposed.fake_quant_per_channel"(%x, %s, %z) {axis = 1 : i64, quant_min = -127 : i64, quant_max = 127 : i64} : (tensor<?x3xf32>, tensor<3xf64>, tensor<3xi64>) -> tensor<?x3xf32>
  %1 = "quantized_decomposed.fake_quant_per_channel"(%y, %t, %u) {axis = -1 : i64, quant_min = 0 : i64, quant_max = 255 : i64} : (!torch.vtensor<[?,3],f32>, !torch.vtensor<[3],f32>, !torch.vtensor<[3],si32>) -> !torch.vtensor<[?,3],f32>
  return %0, %1 : tensor<?x3xf32>, !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @convert
// CHECK: "quantized_decomposed.convert_element_type"(%{{.*}}) {dtype = ui8, input_dtype = f32} : (tensor<?xf32>) -> tensor<?xi8>
// CHECK: "quantized_decomposed.convert_element_type"(%{{.*}}) {dtype = i1, input_dtype = ui8} : (tensor<?xi8>) -> tensor<?xi1>
// CHECK: "quantized_decomposed.convert_element_type"(%{{.*}}) {dtype = bf16, input_dtype = i1} : (tensor<?xi1>) -> tensor<?xbf16>
// CHECK: "quantized_decomposed.convert_element_type"(%{{.*}}) {dtype = si64, input_dtype = f16} : (!torch.vtensor<[?],f16>) -> !torch.vtensor<[?],si64>
func.func @convert(%x: tensor<?xf32>, %y: !torch.vtensor<[?],f16>) -> (tensor<?xbf16>, !torch.vtensor<[?],si64>) {
  %0 = "quantized_decomposed.convert_element_type"(%x) {dtype = ui8, input_dtype = f32} : (tensor<?xf32>) -> tensor<?xi8>
  %1 = "quantized_decomposed.convert_element_type"(%0) {dtype = i1, input_dtype = ui8} : (tensor<?xi8>) -> tensor<?xi1>
  %2 = "quantized_decomposed.convert_element_type"(%1) {dtype = bf16, input_dtype = i1} : (tensor<?xi1>) -> tensor<?xbf16>
  %3 = "quantized_decomposed.convert_element_type"(%y) {dtype = si64, input_dtype = f16} : (!torch.vtensor<[?],f16>) -> !torch.vtensor<[?],si64>
  return %2, %3 : tensor<?xbf16>, !torch.vtensor<[?],si64>
}
