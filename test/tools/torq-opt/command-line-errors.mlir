// Wrong command lines: the reason on stderr, exit code 1.

// RUN: not torq-opt %s --torq-signed-storge 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN:      torq-opt: Unknown command line argument '--torq-signed-storge'.  Try: 'torq-opt --help'
// UNKNOWN-NEXT: torq-opt: Did you mean '--torq-signed-storage'?

// RUN: not torq-opt %s --verify-each=maybe 2>&1 | FileCheck %s --check-prefix=BOOLEAN
// BOOLEAN: torq-opt: for the --verify-each option: 'maybe' is invalid value for boolean argument! Try 0 or 1

// RUN: not torq-opt %s -o 2>&1 | FileCheck %s --check-prefix=VALUE
// VALUE: torq-opt: for the -o option: requires a value!

// RUN: not torq-opt %s %s 2>&1 | FileCheck %s --check-prefix=POSITIONAL
// POSITIONAL: torq-opt: Too many positional arguments specified!

// RUN: not torq-opt %s --mlir-print-ir-after=cse,nope 2>&1 | FileCheck %s --check-prefix=PASS
// PASS: torq-opt: for the --mlir-print-ir-after option: Cannot find option named 'nope'!

// RUN: not torq-opt %t.missing 2>&1 | FileCheck %s --check-prefix=INPUT
// INPUT: cannot open input file '{{.*}}.missing': No such file or directory

// RUN: echo 'module {}' | not torq-opt -o %t.missing/out.mlir 2>&1 | FileCheck %s --check-prefix=OUTPUT
// OUTPUT: cannot open output file '{{.*}}.missing/out.mlir': No such file or directory
