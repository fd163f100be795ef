// RUN: torq-opt --split-input-file --raise-torch-quantized-decomposed --canonicalize %s | FileCheck %s

// torch.export records f64 scales and i64 zero points, but eager mode computes f32: quantization reads what is computed.

// CHECK-LABEL: func.func @quantized
// CHECK: %[[R:.*]]:2 = "quantized_decomposed.choose_qparams_per_token"(%arg0) {dtype = si8}
// CHECK-SAME: -> (!torch.vtensor<[2,1],f32>, !torch.vtensor<[2,1],f32>)
// CHECK: "quantized_decomposed.quantize_per_token"(%arg0, %[[R]]#0, %[[R]]#1)
func.func @quantized(%x: !torch.vtensor<[2,4],f32>) -> !torch.vtensor<[2,4],si8> {
  %lo = torch.constant.int -128
  %hi = torch.constant.int 127
  %dtype = torch.constant.int 1
  %p:2 = torch.operator "torch.quantized_decomposed.choose_qparams_per_token"(%x, %dtype) : (!torch.vtensor<[2,4],f32>, !torch.int) -> (!torch.vtensor<[2,1],f64>, !torch.vtensor<[2,1],si64>)
  %q = torch.operator "torch.quantized_decomposed.quantize_per_token"(%x, %p#0, %p#1, %lo, %hi, %dtype) : (!torch.vtensor<[2,4],f32>, !torch.vtensor<[2,1],f64>, !torch.vtensor<[2,1],si64>, !torch.int, !torch.int, !torch.int) -> !torch.vtensor<[2,4],si8>
  return %q : !torch.vtensor<[2,4],si8>
}

// -----

// Others read what is recorded.

// CHECK-LABEL: func.func @returned
// CHECK: %[[R:.*]]:2 = "quantized_decomposed.choose_qparams_per_token"(%arg0) {dtype = si8}
// CHECK-DAG: %[[S:.*]] = torch.aten.to.dtype %[[R]]#0, %int7{{.*}} -> !torch.vtensor<[2,1],f64>
// CHECK-DAG: %[[Z:.*]] = torch.aten.to.dtype %[[R]]#1, %int4{{.*}} -> !torch.vtensor<[2,1],si64>
// CHECK: return %[[S]], %[[Z]]
func.func @returned(%x: !torch.vtensor<[2,4],f32>) -> (!torch.vtensor<[2,1],f64>, !torch.vtensor<[2,1],si64>) {
  %dtype = torch.constant.int 1
  %p:2 = torch.operator "torch.quantized_decomposed.choose_qparams_per_token"(%x, %dtype) : (!torch.vtensor<[2,4],f32>, !torch.int) -> (!torch.vtensor<[2,1],f64>, !torch.vtensor<[2,1],si64>)
  return %p#0, %p#1 : !torch.vtensor<[2,1],f64>, !torch.vtensor<[2,1],si64>
}
