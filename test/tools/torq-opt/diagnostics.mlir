// Diagnostics are printed with their source line, one run for each kind of location.

// RUN: not torq-opt %s --split-input-file > %t.out 2> %t.err
// RUN: FileCheck %s < %t.err
// RUN: not torq-opt --split-input-file < %s 2>&1 | FileCheck %s --check-prefix=STDIN

// CHECK:      {{^}}/{{.*}}/diagnostics.mlir:[[@LINE+7]]:2: error: 'func.return' op has 0 operands, but enclosing function (@line) returns 1
// CHECK-NEXT:         return
// CHECK-NEXT: {{^        \^$}}
// CHECK-NEXT: {{^}}/{{.*}}/diagnostics.mlir:[[@LINE+4]]:2: note: see current operation: "func.return"() : () -> ()
// STDIN:      <stdin>:[[@LINE+3]]:2: error: 'func.return' op has 0 operands{{.*}}
// STDIN-NEXT:         return
func.func @line() -> i32 {
	return
}

// -----

// CHECK: <unknown>:0: error: loc("conv1"): 'func.return' op has 0 operands
func.func @name() -> i32 {
  return loc("conv1")
}

// -----

// CHECK: <unknown>:0: error: 'func.return' op has 0 operands
func.func @unknown() -> i32 {
  return loc(unknown)
}

// -----

// CHECK: model.py:3:4: error: 'func.return' op has 0 operands
func.func @place_in_fused_names() -> i32 {
  return loc(fused["conv1"("model.py":3:4), "relu1"])
}

// -----

// CHECK:      inner.py:1:2: error: 'func.return' op has 0 operands
// CHECK-NEXT: outer.py:3:4: note: called from
// CHECK-NEXT: main.py:5:6: note: called from
// CHECK-NEXT: inner.py:1:2: note: see current operation
func.func @calls() -> i32 {
  return loc(callsite("inner.py":1:2 at callsite("outer.py":3:4 at "main.py":5:6)))
}

// -----

// A column counts bytes, the caret characters.
// CHECK:      diagnostics.mlir:[[@LINE+3]]:21: error: Dialect `nowhere' not found{{.*}}
// CHECK-NEXT: func.func @"é"() { nowhere.op }
// CHECK-NEXT: {{^                   \^$}}
func.func @"é"() { nowhere.op }
