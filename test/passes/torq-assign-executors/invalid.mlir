// RUN: not torq-opt --torq-assign-executors=map=4=host %s 2>&1 | FileCheck %s --check-prefix=POSITION
// RUN: not torq-opt --torq-assign-executors=map=4:5=gpu %s 2>&1 | FileCheck %s --check-prefix=EXECUTOR
// RUN: not torq-opt --torq-assign-executors=map=4:5 %s 2>&1 | FileCheck %s --check-prefix=ENTRY
// RUN: not torq-opt --torq-assign-executors=map=%t.missing.json %s 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: echo '{}' > %t.json
// RUN: not torq-opt --torq-assign-executors=map=%t.json %s 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: echo 'no' > %t.text.json
// RUN: not torq-opt --torq-assign-executors=map=%t.text.json %s 2>&1 | FileCheck %s --check-prefix=TEXT

// POSITION: error: torq-assign-executors: '4' is not line:col
// EXECUTOR: error: torq-assign-executors: 'gpu' is no executor; they are nss, css, host
// ENTRY: error: torq-assign-executors: '4:5' is not line:col=executor
// MISSING: error: torq-assign-executors: {{.*}}missing.json: No such file or directory
// EMPTY: error: torq-assign-executors: {{.*}}.json: it has no op_assignments
// TEXT: error: torq-assign-executors: {{.*}}.json: not JSON
func.func @main() {
  return
}
