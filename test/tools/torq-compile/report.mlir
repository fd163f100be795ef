// What became of each operator.

// RUN: torq-compile %S/../../data/oracle/cnn_residual.onnx --report | FileCheck %s --match-full-lines
// CHECK:      node operator executor operations remark
// CHECK-NEXT: conv_{{.*}} Conv nss torq_hl.conv2d
// CHECK-NEXT: conv_{{.*}} Conv nss torq_hl.conv2d
// CHECK-NEXT: add_{{.*}} Add nss torq_hl.add
// CHECK-NEXT: conv_{{.*}} Conv nss torq_hl.conv2d
// CHECK-EMPTY:
// CHECK-NEXT: {{[0-9]+}} quantizations are part of these operations
// CHECK-NEXT: operations: 4 torq_hl
// CHECK-NEXT: executors: 4 nss

// In a narrow terminal, a paragraph for each.

// RUN: env COLUMNS=40 torq-compile %S/../../data/oracle/cnn_residual.onnx --report | FileCheck %s --check-prefix=NARROW
// NARROW:      conv_{{.*}} (Conv): nss
// NARROW-NEXT: {{^}}  torq_hl.conv2d{{$}}
// NARROW:      {{^}}14 quantizations are part of these{{$}}
// NARROW-NEXT: {{^}}  operations{{$}}

// RUN: torq-compile %S/../../data/oracle/cnn_residual.onnx --report-json - | FileCheck %s --check-prefix=JSON
// JSON:      "rows": [
// JSON:        "name": "conv_{{.*}}",
// JSON-NEXT:   "op_type": "Conv",
// JSON-NEXT:   "operations": [
// JSON-NEXT:    "torq_hl.conv2d"
// JSON-NEXT:   ],
// JSON-NEXT:   "executor": "nss",
// JSON-NEXT:   "reason": "",
// JSON-NEXT:   "pattern": "",
// JSON-NEXT:   "note": ""
