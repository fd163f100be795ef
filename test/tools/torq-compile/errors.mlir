// Errors are one line on stderr, exit code 1, and no output file.

// RUN: rm -rf %t && mkdir -p %t && echo "no model" > %t/model.onnx

// RUN: not torq-compile %t/model.onnx -o %t/out.mlir 2>&1 | FileCheck %s --check-prefix=TEXT --match-full-lines --implicit-check-not="{{.}}"
// RUN: not ls %t/out.mlir
// TEXT: torq-compile: error: {{.*}}/model.onnx: not an ONNX model, or a truncated one

// RUN: head -c 2000 %S/../../data/oracle/cnn_residual.onnx > %t/truncated.onnx
// RUN: not torq-compile %t/truncated.onnx -o %t/out.mlir 2>&1 | FileCheck %s --check-prefix=TRUNCATED --match-full-lines --implicit-check-not="{{.}}"
// RUN: not ls %t/out.mlir
// TRUNCATED: torq-compile: error: {{.*}}/truncated.onnx: not an ONNX model, or a truncated one

// RUN: not torq-compile %t/missing.onnx 2>&1 | FileCheck %s --check-prefix=MISSING --match-full-lines --implicit-check-not="{{.}}"
// MISSING: torq-compile: error: {{.*}}/missing.onnx: No such file or directory

// RUN: not torq-compile %S/../../data/oracle/cnn_residual.onnx -o %t/missing/out.mlir 2>&1 | FileCheck %s --check-prefix=OUTPUT --match-full-lines
// OUTPUT: torq-compile: error: {{.*}}/missing/out.mlir: No such file or directory
