// Pipelines that cannot be run: the place and the reason on stderr, nothing on stdout, exit code 1.

// RUN: not torq-opt %s --pass-pipeline='builtin.module(cse,func.func(nope))' > %t.out 2> %t.err
// RUN: count 0 < %t.out
// RUN: FileCheck %s --check-prefix=UNKNOWN < %t.err
// UNKNOWN:      pass pipeline:1:30: error: 'nope' does not refer to a registered pass or pass pipeline
// UNKNOWN-NEXT: builtin.module(cse,func.func(nope))
// UNKNOWN-NEXT: {{^                             \^$}}

// RUN: not torq-opt %s --pass-pipeline='builtin.module(cse' 2>&1 | FileCheck %s --check-prefix=UNBALANCED
// UNBALANCED:      pass pipeline:1:15: error: missing the ')' that closes this pipeline

// RUN: not torq-opt %s --pass-pipeline='builtin.module(torch-decompose-complex-ops)' 2>&1 | FileCheck %s --check-prefix=ANCHOR
// ANCHOR: error: Can't add pass 'DecomposeComplexOps' restricted to 'func.func' on a PassManager intended to run on 'builtin.module', did you intend to nest?

// RUN: not torq-opt %s --pass-pipeline= --cse 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: <unknown>:0: error: '-pass-pipeline' option can't be used with individual pass options

// RUN: not torq-opt %s --torq-fuse-quantized-ops='loud=1' 2>&1 | FileCheck %s --check-prefix=PYTHON
// PYTHON: error: no such option loud; torq-fuse-quantized-ops has explain

// RUN: not torq-opt %s --torq-fuse-quantized-ops=explain=maybe 2>&1 | FileCheck %s --check-prefix=VALUE
// VALUE: error: 'maybe' is no value of option explain, which takes bool

// RUN: not torq-opt %s --canonicalize='loud=1' 2>&1 | FileCheck %s --check-prefix=CPP
// CPP: <unknown>:0: error: failed to add `canonicalize` with options `loud=1`: no such option loud

// RUN: echo 'func.func private @f()' | not torq-opt --pass-pipeline='func.func(cse)' 2>&1 | FileCheck %s --check-prefix=MODULE
// MODULE: <stdin>:0:0: error: can't run 'func.func' pass manager on 'builtin.module' op
