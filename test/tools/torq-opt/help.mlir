// The help teaches: usage, options, and our passes and pipelines with their documentation.

// RUN: torq-opt --help | FileCheck %s
// RUN: torq-opt -version | FileCheck %s --check-prefix=VERSION

// CHECK:      USAGE: torq-opt [options] <input file>
// CHECK:      --pass='name=value name=value'
// CHECK:      General options:
// CHECK:        -o=<filename>
// CHECK:        --pass-pipeline=<string>
// CHECK:      Testing:
// CHECK:        --split-input-file[=<marker>]
// CHECK:      Passes:
// CHECK:        --torq-fuse-quantized-ops - Fuse dequantizations
// CHECK:          --explain=<bool> - Record on each operation
// CHECK:            becomes
// CHECK:            linalg.quantized_matmul
// CHECK:      Pass Pipelines:
// CHECK:        --torq-linalg-to-torq-hl -
// CHECK:            torq-signed-storage, quantized-decomposed-simplify, torq-fuse-quantized-ops,
// CHECK-NEXT:       convert-linalg-to-torq-hl

// VERSION: torq-opt (torq-mlir {{[0-9.]+}}, torch-mlir {{[0-9.]+}})
