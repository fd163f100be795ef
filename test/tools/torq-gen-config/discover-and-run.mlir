// RUN: rm -rf %t && torq-gen-config discover --model %S/../../data/oracle/cnn_residual.onnx --output-dir %t --jobs 0 --skip-mode 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=PROGRESS --input-file=%t.err
// RUN: FileCheck %s --check-prefix=COMPILER --input-file=%t/torq_gen_config_cnn_residual_compiler.json
// RUN: torq-gen-config run --model %S/../../data/oracle/cnn_residual.onnx --output-dir %t 2>/dev/null | FileCheck %s --check-prefix=FULL
// RUN: not torq-gen-config run --model %S/../../data/oracle/cnn_residual.onnx --output-dir %t --batch 2 2>&1 | FileCheck %s --check-prefix=FLAGS

// A model that is quantized already needs no flags.

// CHECK: operator{{.*}}nss{{.*}}css{{.*}}host
// CHECK: Conv{{.*}}success{{.*}}nss
// CHECK: compiler file: {{.*}}torq_gen_config_cnn_residual_compiler.json

// PROGRESS: {{\[ *1/[0-9]+\]}} {{.*}} success

// COMPILER: "op_assignments": {
// COMPILER-NEXT: "{{[0-9]+:[0-9]+}}": "nss"

// FULL: output {{.*}}: success
// FULL: layers on the same inputs: {{[0-9]+}} compared, 0 outside of tolerance

// FLAGS: torq-gen-config: error: {{.*}} was made with other flags: --batch 2 (there not given); give the same, or discover again
