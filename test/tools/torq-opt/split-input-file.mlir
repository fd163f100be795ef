// Each chunk is a module of its own; its places are those in the file, and one bad chunk does not stop the others.

// RUN: not torq-opt %s --split-input-file --output-split-marker=// --mlir-print-debuginfo > %t.out 2> %t.err
// RUN: FileCheck %s < %t.out
// RUN: FileCheck %s --check-prefix=ERR < %t.err
// RUN: printf 'func.func private @f() // == \nfunc.func private @g()' | torq-opt -split-input-file='// ==' -output-split-marker=SPLIT \
// RUN:   | FileCheck %s --check-prefix=MARKER

// ERR: split-input-file.mlir:[[@LINE+3]]:7: warning: near miss with file split marker
// ERR-NEXT: {{^// }}----
// ERR-NEXT: {{^      \^}}
// ----

// CHECK: func.func private @first() loc(#[[FIRST:.*]])
// CHECK: #[[FIRST]] = loc("{{.*}}split-input-file.mlir":[[@LINE+1]]:1)
func.func private @first()

// -----
// CHECK: {{^//$}}
// CHECK-NEXT: {{^//$}}

func.func @second() -> i32 {
  // ERR: split-input-file.mlir:[[@LINE+3]]:3: error: 'func.return' op has 0 operands{{.*}}
  // ERR-NEXT:   return
  // ERR-NEXT: {{^  \^}}
  return
}

// -----

// CHECK: func.func @third(%{{.*}}: i32 loc("{{.*}}split-input-file.mlir":[[@LINE+1]]:18))
func.func @third(%a: i32) {
  return
}

// MARKER: @f
// MARKER: SPLIT
// MARKER: @g
