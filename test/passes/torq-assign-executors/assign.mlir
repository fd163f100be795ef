// RUN: torq-opt --torq-assign-executors='map=19:8=host,21:8=css' %s | FileCheck %s
// RUN: torq-opt --torq-assign-executors='map=19:8=host,*=css' %s | FileCheck %s --check-prefix=OTHERS
// RUN: echo '{"op_assignments": {"21:8": "nss"}}' > %t.json
// RUN: torq-opt --torq-assign-executors=map=%t.json %s | FileCheck %s --check-prefix=FILE

// The key is the line and column of an operation in this file.

// CHECK-LABEL: @positions
// CHECK: "torq_hl.identity"{{.*}}"torq-executor" = "host"
// CHECK: "torq_hl.transpose"{{.*}}"torq-executor" = "css"
// CHECK: tensor.cast
// CHECK-NOT: torq-executor
// OTHERS-LABEL: @positions
// OTHERS: "torq_hl.identity"{{.*}}"torq-executor" = "host"
// OTHERS: "torq_hl.transpose"{{.*}}"torq-executor" = "css"
// FILE-NOT: "torq_hl.identity"{{.*}}"torq-executor"
// FILE: "torq_hl.transpose"{{.*}}"torq-executor" = "nss"
func.func @positions(%x: tensor<2x2xi8>) -> tensor<?x2xi8> {
  %0 = "torq_hl.identity"(%x, %x) : (tensor<2x2xi8>, tensor<2x2xi8>) -> tensor<2x2xi8>
  // An assignment that is there is replaced.
  %1 = "torq_hl.transpose"(%x, %0) {perm = array<i64: 1, 0>, "torq-executor" = "host"} : (tensor<2x2xi8>, tensor<2x2xi8>) -> tensor<2x2xi8>
  %2 = tensor.cast %1 : tensor<2x2xi8> to tensor<?x2xi8>
  return %2 : tensor<?x2xi8>
}
