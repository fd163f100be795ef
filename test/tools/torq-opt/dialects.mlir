// Dialects of this project, of torch-mlir and of MLIR; others on request.

// RUN: torq-opt --show-dialects | FileCheck %s --check-prefix=SHOW
// RUN: not torq-opt %s 2>&1 | FileCheck %s --check-prefix=ERROR
// RUN: torq-opt %s --allow-unregistered-dialect | FileCheck %s

// SHOW: Available Dialects: {{.*}}arith,{{.*}}builtin,{{.*}}linalg,{{.*}}quantized_decomposed,{{.*}}torch,torch_c,torq_hl,

// ERROR: error: operation being parsed with an unregistered dialect
// CHECK:       torch_c.from_builtin_tensor
// CHECK-NEXT:  "torq_hl.identity"
// CHECK-NEXT:  "nowhere.op"() : () -> ()
func.func @f(%x: tensor<2xi8>, %init: tensor<2xi8>) -> !torch.vtensor<[2],si8> {
  %0 = torch_c.from_builtin_tensor %x : tensor<2xi8> -> !torch.vtensor<[2],si8>
  %1 = "torq_hl.identity"(%init, %x) : (tensor<2xi8>, tensor<2xi8>) -> tensor<2xi8>
  "nowhere.op"() : () -> ()
  return %0 : !torch.vtensor<[2],si8>
}
