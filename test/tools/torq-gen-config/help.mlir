// RUN: torq-gen-config --help | FileCheck %s
// RUN: torq-gen-config discover --help | FileCheck %s --check-prefix=DISCOVER
// RUN: not torq-gen-config 2>&1 | FileCheck %s --check-prefix=NONE

// CHECK: quantize {{.*}}quantize a float model to int8
// CHECK: discover {{.*}}test each layer on each executor
// CHECK: run {{.*}}run the full model
// CHECK: view
// CHECK: edit
// CHECK: Exit status: 0 on success

// DISCOVER: --quant-format FORMAT
// DISCOVER: --skip-mode
// DISCOVER: --scheduler tcp://HOST:PORT
// DISCOVER: examples:

// NONE: usage: torq-gen-config
