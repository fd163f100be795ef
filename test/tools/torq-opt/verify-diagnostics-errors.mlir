// What does not match the comments is reported at its place or at that of the comment.

// RUN: not torq-opt %s --split-input-file --verify-diagnostics -o %t 2> %t.err
// RUN: FileCheck %s < %t.err
// RUN: not torq-opt %s --split-input-file --verify-diagnostics=only-expected -o %t 2>&1 | FileCheck %s --check-prefix=ONLY

func.func @unexpected() -> i32 {
  // CHECK:      verify-diagnostics-errors.mlir:[[@LINE+4]]:3: error: unexpected error: 'func.return' op has 0 operands{{.*}}
  // CHECK-NEXT:   return
  // CHECK-NEXT: {{^  \^}}
  // ONLY-NOT:   unexpected
  return
}

// -----

// CHECK:      verify-diagnostics-errors.mlir:[[@LINE+5]]:6: error: expected error "not there" was not produced
// CHECK-NEXT: // expected-{{error ..not there..$}}
// CHECK-NEXT: {{^     \^~~~~~~~~$}}
// ONLY:       verify-diagnostics-errors.mlir:[[@LINE+2]]:6: error: expected error "not there" was not produced
func.func @missing() {
  // expected-error {{not there}}
  return
}

// -----

// CHECK: verify-diagnostics-errors.mlir:[[@LINE+3]]:6: error: 'error' diagnostic emitted when expecting a 'warning'
// CHECK: verify-diagnostics-errors.mlir:[[@LINE+2]]:6: error: expected warning "has 0 operands" was not produced
func.func @another_kind() -> i32 {
  // expected-warning@+1 {{has 0 operands}}
  return
}

// -----

// CHECK: <unknown>:0: error: expected error "has 1 operands" was not produced
// expected-error@unknown {{has 1 operands}}

// -----

// Each comment stands for one diagnostic.
func.func @twice() -> i32 {
  // CHECK: verify-diagnostics-errors.mlir:[[@LINE+2]]:6: error: expected error "has 0 operands" was not produced
  // expected-error@+2 {{has 0 operands}}
  // expected-error@+1 {{has 0 operands}}
  return
}

// -----

// CHECK: verify-diagnostics-errors.mlir:[[@LINE+1]]:4: error: invalid regex
// expected-error-re@unknown {{a{{(}}b}}

// -----

// CHECK: verify-diagnostics-errors.mlir:[[@LINE+1]]:4: error: found start of regex with no end '}}'
// expected-error-re@unknown {{a{{b}}
