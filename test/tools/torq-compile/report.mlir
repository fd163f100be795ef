// What became of each operator.

// RUN: torq-compile %S/../../data/oracle/cnn_residual.onnx --report | FileCheck %s --match-full-lines
// CHECK:      node operator executor operations why not on the NPU
// CHECK-NEXT: conv_{{.*}} Conv nss torq_hl.conv2d
// CHECK-NEXT: conv_{{.*}} Conv nss torq_hl.conv2d
// CHECK-NEXT: add_{{.*}} Add nss torq_hl.add
// CHECK-NEXT: conv_{{.*}} Conv nss torq_hl.conv2d
// CHECK-EMPTY:
// CHECK-NEXT: operations: 4 torq_hl
// CHECK-NEXT: executors: 4 nss
