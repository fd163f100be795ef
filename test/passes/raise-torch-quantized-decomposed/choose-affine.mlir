// RUN: torq-opt --split-input-file --raise-torch-quantized-decomposed --canonicalize %s | FileCheck %s

// Parameters of a whole tensor, in the shape and the types that the call asks for.

// CHECK-LABEL: func.func @per_tensor
// CHECK: %[[R:.*]]:2 = "quantized_decomposed.choose_qparams"(%arg0) {dtype = si8, eps = 1.250000e-01 : f64, quant_max = 127 : i64, quant_min = -128 : i64}
// CHECK-DAG: %[[S:.*]] = torch.aten.to.dtype %[[R]]#0, {{.*}} -> !torch.vtensor<[1],f32>
// CHECK-DAG: torch.aten.view %[[S]], {{.*}} -> !torch.vtensor<[],f32>
// CHECK-DAG: %[[Z:.*]] = torch.aten.to.dtype %[[R]]#1, {{.*}} -> !torch.vtensor<[1],si32>
// CHECK-DAG: torch.aten.view %[[Z]], {{.*}} -> !torch.vtensor<[],si32>
func.func @per_tensor(%x: !torch.vtensor<[2,4],f32>) -> (!torch.vtensor<[],f32>, !torch.vtensor<[],si32>) {
  %mapping = torch.constant.str "ASYMMETRIC"
  %b0 = torch.constant.int 2
  %b1 = torch.constant.int 4
  %block = torch.prim.ListConstruct %b0, %b1 : (!torch.int, !torch.int) -> !torch.list<int>
  %dtype = torch.constant.int 1
  %eps = torch.constant.float 1.250000e-01
  %none = torch.constant.none
  %keep = torch.constant.bool false
  %r:2 = torch.operator "torch.torchao.choose_qparams_affine"(%x, %mapping, %block, %dtype, %none, %none, %eps, %none, %none, %keep) : (!torch.vtensor<[2,4],f32>, !torch.str, !torch.list<int>, !torch.int, !torch.none, !torch.none, !torch.float, !torch.none, !torch.none, !torch.bool) -> (!torch.vtensor<[],f32>, !torch.vtensor<[],si32>)
  return %r#0, %r#1 : !torch.vtensor<[],f32>, !torch.vtensor<[],si32>
}

// -----

// CHECK-LABEL: func.func @symmetric_per_tensor
// CHECK: "quantized_decomposed.choose_qparams_symmetric"(%arg0) {dtype = si8, eps = 1.1754943508222875E-38 : f64, quant_max = 127 : i64, quant_min = -127 : i64}
func.func @symmetric_per_tensor(%x: !torch.vtensor<[2,4],f32>) -> !torch.vtensor<[1,1],f32> {
  %mapping = torch.constant.str "SYMMETRIC"
  %b0 = torch.constant.int 2
  %b1 = torch.constant.int 4
  %block = torch.prim.ListConstruct %b0, %b1 : (!torch.int, !torch.int) -> !torch.list<int>
  %dtype = torch.constant.int 1
  %lo = torch.constant.int -127
  %hi = torch.constant.int 127
  %none = torch.constant.none
  %keep = torch.constant.bool true
  %r:2 = torch.operator "torch.torchao.choose_qparams_affine"(%x, %mapping, %block, %dtype, %lo, %hi, %none, %none, %none, %keep) : (!torch.vtensor<[2,4],f32>, !torch.str, !torch.list<int>, !torch.int, !torch.int, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool) -> (!torch.vtensor<[1,1],f32>, !torch.vtensor<[1,1],f32>)
  return %r#0 : !torch.vtensor<[1,1],f32>
}

// -----

// Those of groups are computed by arithmetic: the operations per token have other rounding and other limits.

// CHECK-LABEL: func.func @per_group
// CHECK-NOT: quantized_decomposed
// CHECK: %[[X:.*]] = torch.aten.view %arg0, {{.*}} -> !torch.vtensor<[2,2,2],f32>
// CHECK: %[[LEAST:.*]] = torch.aten.amin %[[X]], {{.*}} -> !torch.vtensor<[2,2],f32>
// CHECK: %[[MOST:.*]] = torch.aten.amax %[[X]], {{.*}} -> !torch.vtensor<[2,2],f32>
// CHECK: %[[LOW:.*]] = torch.aten.clamp %[[LEAST]], %none, %float0.000000e00
// CHECK: %[[HIGH:.*]] = torch.aten.clamp %[[MOST]], %float0.000000e00, %none
// CHECK: %[[EXTENT:.*]] = torch.aten.sub.Tensor %[[HIGH]], %[[LOW]], %int1
// CHECK: %[[QUOTIENT:.*]] = torch.aten.div.Scalar %[[EXTENT]], %float2.550000e02
// CHECK: %[[SCALE:.*]] = torch.aten.clamp %[[QUOTIENT]], {{.*}}, %none
// CHECK: %[[STEPS:.*]] = torch.aten.div.Tensor %[[LOW]], %[[SCALE]]
// CHECK: %[[ROUNDED:.*]] = torch.aten.round %[[STEPS]]
// CHECK: %[[ZERO:.*]] = torch.aten.rsub.Scalar %[[ROUNDED]], %int-128, %int1
// CHECK: %[[CLAMPED:.*]] = torch.aten.clamp %[[ZERO]], %int-128, %int127
// CHECK: %[[POINTS:.*]] = torch.aten.to.dtype %[[CLAMPED]], {{.*}} -> !torch.vtensor<[2,2],si8>
// CHECK: return %[[SCALE]], %[[POINTS]]
func.func @per_group(%x: !torch.vtensor<[2,4],f32>) -> (!torch.vtensor<[2,2],f32>, !torch.vtensor<[2,2],si8>) {
  %mapping = torch.constant.str "ASYMMETRIC"
  %b0 = torch.constant.int 1
  %b1 = torch.constant.int 2
  %block = torch.prim.ListConstruct %b0, %b1 : (!torch.int, !torch.int) -> !torch.list<int>
  %dtype = torch.constant.int 1
  %none = torch.constant.none
  %keep = torch.constant.bool false
  %r:2 = torch.operator "torch.torchao.choose_qparams_affine"(%x, %mapping, %block, %dtype, %none, %none, %none, %none, %dtype, %keep) : (!torch.vtensor<[2,4],f32>, !torch.str, !torch.list<int>, !torch.int, !torch.none, !torch.none, !torch.none, !torch.none, !torch.int, !torch.bool) -> (!torch.vtensor<[2,2],f32>, !torch.vtensor<[2,2],si8>)
  return %r#0, %r#1 : !torch.vtensor<[2,2],f32>, !torch.vtensor<[2,2],si8>
}

// -----

// CHECK-LABEL: func.func @symmetric_per_token
// CHECK: %[[MAGNITUDE:.*]] = torch.aten.maximum
// CHECK: %[[QUOTIENT:.*]] = torch.aten.div.Scalar %[[MAGNITUDE]], %float1.275000e02
// CHECK: torch.aten.full
func.func @symmetric_per_token(%x: !torch.vtensor<[2,4],f32>) -> (!torch.vtensor<[2,1],f32>, !torch.vtensor<[2,1],f32>) {
  %mapping = torch.constant.str "SYMMETRIC"
  %b0 = torch.constant.int 1
  %b1 = torch.constant.int 4
  %block = torch.prim.ListConstruct %b0, %b1 : (!torch.int, !torch.int) -> !torch.list<int>
  %dtype = torch.constant.int 1
  %none = torch.constant.none
  %keep = torch.constant.bool true
  %r:2 = torch.operator "torch.torchao.choose_qparams_affine"(%x, %mapping, %block, %dtype, %none, %none, %none, %none, %none, %keep) : (!torch.vtensor<[2,4],f32>, !torch.str, !torch.list<int>, !torch.int, !torch.none, !torch.none, !torch.none, !torch.none, !torch.none, !torch.bool) -> (!torch.vtensor<[2,1],f32>, !torch.vtensor<[2,1],f32>)
  return %r#0, %r#1 : !torch.vtensor<[2,1],f32>, !torch.vtensor<[2,1],f32>
}
