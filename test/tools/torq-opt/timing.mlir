// Wall time of each pass on stderr; passes on functions inside their pipeline.

// RUN: torq-opt %s --pass-pipeline='builtin.module(cse,func.func(torq-signed-storage,canonicalize))' --mlir-timing \
// RUN:   -o /dev/null 2>&1 | FileCheck %s --strict-whitespace --match-full-lines

//      CHECK:===-------------------------------------------------------------------------===
// CHECK-NEXT:                         ... Execution time report ...
// CHECK-NEXT:===-------------------------------------------------------------------------===
// CHECK-NEXT:  Total Execution Time: {{[0-9.]+}} seconds
// CHECK-EMPTY:
// CHECK-NEXT:  ----Wall Time----  ----Name----
// CHECK-NEXT:{{ +[0-9.]+ \( *[0-9.]+%\)  }}Parser
// CHECK-NEXT:{{ +[0-9.]+ \( *[0-9.]+%\)  }}cse
// CHECK-NEXT:{{ +[0-9.]+ \( *[0-9.]+%\)  }}'func.func' Pipeline
// CHECK-NEXT:{{ +[0-9.]+ \( *[0-9.]+%\)  }}  torq-signed-storage
// CHECK-NEXT:{{ +[0-9.]+ \( *[0-9.]+%\)  }}  canonicalize
// CHECK-NEXT:{{ +[0-9.]+ \( *[0-9.]+%\)  }}Output
// CHECK-NEXT:{{ +[0-9.]+ \( *[0-9.]+%\)  }}Rest
// CHECK-NEXT:{{ +[0-9.]+ \(100.0%\)  }}Total

func.func private @f()
func.func private @g()
