// Diagnostics that are all expected: exit code 0 and no output on stderr.

// RUN: torq-opt %s --split-input-file --verify-diagnostics -o /dev/null 2>&1 | count 0
// RUN: torq-opt %s -split-input-file -verify-diagnostics=only-expected -o /dev/null

func.func @next_line() -> i32 {
  // expected-error@+1 {{'func.return' op has 0 operands, but enclosing function (@next_line) returns 1}}
  return
}

// -----

func.func @same_line() -> i32 {
  return // expected-error {{has 0 operands}}
}

// -----

func.func @above() -> i32 {
  return
  // expected-error@above {{has 0 operands}}
}

// -----

func.func @two_lines_before() -> i32 {
  return

  // expected-error@-2 {{has 0 operands}}
}

// -----

// `below` is the next line without such a comment.
func.func @below() {
  // expected-error@below {{Dialect `nowhere' not found for custom op 'nowhere.op'}}
  // expected-note@below {{Available dialects}}
  nowhere.op
}

// -----

func.func @regex() -> i32 {
  // expected-error-re@+1 {{has {{[0-9]+}} operands, but enclosing function (@regex) returns {{.}}}}
  return
}

// -----

// expected-error@unknown {{has 0 operands}}
func.func @unknown() -> i32 {
  return loc(unknown)
}

// -----

// A name is no place, either; a place inside is.
// expected-error@unknown {{has 0 operands}}
func.func @name() -> i32 {
  return loc("conv1")
}

// -----

func.func @no_diagnostic() {
  return
}
