// RUN: torq-opt --split-input-file --torch-integers-in-float %s | FileCheck %s --check-prefixes=CHECK,UNSIGNED
// RUN: torq-opt --split-input-file --torch-integers-in-float=signed-types %s | FileCheck %s --check-prefixes=CHECK,SIGNED

// CHECK-LABEL: func.func @unsigned_pool
// CHECK-SAME: %[[X:.*]]: !torch.vtensor<[1,3,4,4],ui8>
// CHECK-DAG: %[[ONE:.*]] = torch.constant.float 1.000000e+00
// CHECK: %[[F:.*]] = "quantized_decomposed.dequantize_per_tensor"(%[[X]], %[[ONE]], %{{.*}}) {dtype = ui8, quant_max = 255 : i64, quant_min = 0 : i64}
// CHECK: %[[P:.*]] = torch.aten.max_pool2d %[[F]], {{.*}} -> !torch.vtensor<[1,3,2,2],f32>
// CHECK: "quantized_decomposed.quantize_per_tensor"(%[[P]], %[[ONE]], %{{.*}}) {dtype = ui8, quant_max = 255 : i64, quant_min = 0 : i64}
func.func @unsigned_pool(%x: !torch.vtensor<[1,3,4,4],ui8>, %k: !torch.list<int>, %p: !torch.list<int>, %d: !torch.list<int>, %c: !torch.bool) -> !torch.vtensor<[1,3,2,2],ui8> {
  %y = torch.aten.max_pool2d %x, %k, %k, %p, %d, %c : !torch.vtensor<[1,3,4,4],ui8>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool -> !torch.vtensor<[1,3,2,2],ui8>
  return %y : !torch.vtensor<[1,3,2,2],ui8>
}

// -----

// CHECK-LABEL: func.func @signed_pool
// UNSIGNED-NEXT: torch.aten.max_pool1d %{{.*}} -> !torch.vtensor<[1,3,2],si8>
// SIGNED: torch.aten.max_pool1d %{{.*}} -> !torch.vtensor<[1,3,2],f32>
func.func @signed_pool(%x: !torch.vtensor<[1,3,4],si8>, %k: !torch.list<int>, %p: !torch.list<int>, %d: !torch.list<int>, %c: !torch.bool) -> !torch.vtensor<[1,3,2],si8> {
  %y = torch.aten.max_pool1d %x, %k, %k, %p, %d, %c : !torch.vtensor<[1,3,4],si8>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool -> !torch.vtensor<[1,3,2],si8>
  return %y : !torch.vtensor<[1,3,2],si8>
}

// -----

// CHECK-LABEL: func.func @mixed_product
// CHECK-DAG: %[[X:.*]] = "quantized_decomposed.dequantize_per_tensor"(%{{.*}}) {dtype = ui8,
// CHECK-DAG: %[[W:.*]] = "quantized_decomposed.dequantize_per_tensor"(%{{.*}}) {dtype = si8,
// CHECK: %[[Y:.*]] = torch.aten.mm %[[X]], %[[W]] : {{.*}} -> !torch.vtensor<[4,6],f32>
// CHECK: "quantized_decomposed.quantize_per_tensor"(%[[Y]], {{.*}}) {dtype = si32, quant_max = 2147483647 : i64, quant_min = -2147483648 : i64}
func.func @mixed_product(%x: !torch.vtensor<[4,8],ui8>, %w: !torch.vtensor<[8,6],si8>) -> !torch.vtensor<[4,6],si32> {
  %y = torch.aten.mm %x, %w : !torch.vtensor<[4,8],ui8>, !torch.vtensor<[8,6],si8> -> !torch.vtensor<[4,6],si32>
  return %y : !torch.vtensor<[4,6],si32>
}

// -----

// f32 does not hold all of these.

// CHECK-LABEL: func.func @wide
// CHECK-NOT: quantized_decomposed
func.func @wide(%x: !torch.vtensor<[4,8],si64>, %w: !torch.vtensor<[8,6],si64>) -> !torch.vtensor<[4,6],si64> {
  %y = torch.aten.mm %x, %w : !torch.vtensor<[4,8],si64>, !torch.vtensor<[8,6],si64> -> !torch.vtensor<[4,6],si64>
  return %y : !torch.vtensor<[4,6],si64>
}
