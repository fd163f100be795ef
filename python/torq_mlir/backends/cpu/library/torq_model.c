/* Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
   See LICENSE for license information.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "${header}"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { INPUTS = ${inputs}, OUTPUTS = ${outputs}, BUFFERS = INPUTS + OUTPUTS + 4, SLOTS = BUFFERS + 3 };
static const size_t SCRATCH = ${scratch}, ALIGNMENT = 64, CLOCK = ${clock}, COUNTERS = ${counters};

/* All arguments of the generated function by pointer. */
extern void _mlir_${prefix}_entry(void **arguments);
extern char ${prefix}_constants[];

__asm__(".section .rodata\n"
        ".balign 64\n"
        ".globl ${prefix}_constants\n"
        ".type ${prefix}_constants, @object\n"
        "${prefix}_constants:\n"
        ".incbin \"${constants}\"\n"
        ".byte 0\n"
        ".previous\n");

${tensors}

int32_t ${prefix}_input_count(void) { return INPUTS; }
int32_t ${prefix}_output_count(void) { return OUTPUTS; }

const ${prefix}_tensor *${prefix}_input(int32_t position) {
  return position >= 0 && position < INPUTS ? &input_tensors[position] : NULL;
}

const ${prefix}_tensor *${prefix}_output(int32_t position) {
  return position >= 0 && position < OUTPUTS ? &output_tensors[position] : NULL;
}

size_t ${prefix}_scratch_bytes(void) { return SCRATCH + CLOCK + COUNTERS + 2 * ALIGNMENT; }

typedef struct {
  void *buffers[BUFFERS];
  int64_t threads;
} shared_state;

typedef struct {
  shared_state *shared;
  int64_t thread;
} worker_state;

static void compute(shared_state *shared, int64_t thread) {
  int64_t timed = 0, threads = shared->threads;
  void *arguments[SLOTS];
  for (int i = 0; i < BUFFERS; ++i) arguments[i] = &shared->buffers[i];
  arguments[BUFFERS] = &thread;
  arguments[BUFFERS + 1] = &threads;
  arguments[BUFFERS + 2] = &timed;
  _mlir_${prefix}_entry(arguments);
}

static void *work(void *argument) {
  worker_state *state = argument;
  compute(state->shared, state->thread);
  return NULL;
}

static void run_on_threads(shared_state *shared, int32_t threads) {
  pthread_t *handles = malloc((size_t)threads * sizeof(pthread_t));
  worker_state *states = malloc((size_t)threads * sizeof(worker_state));
  int32_t started = 1;
  for (; handles && states && started < threads; ++started) {
    states[started].shared = shared;
    states[started].thread = started;
    if (pthread_create(&handles[started], NULL, work, &states[started])) break;
  }
  compute(shared, 0);
  for (int32_t i = 1; i < started; ++i) pthread_join(handles[i], NULL);
  free(handles);
  free(states);
}

int32_t ${prefix}_run(const void *const *inputs, void *const *outputs, void *scratch, int32_t threads) {
  if (threads < 1 || (INPUTS && !inputs) || (OUTPUTS && !outputs)) return ${PREFIX}_BAD_ARGUMENT;
  for (int i = 0; i < INPUTS; ++i)
    if (!inputs[i]) return ${PREFIX}_BAD_ARGUMENT;
  for (int i = 0; i < OUTPUTS; ++i)
    if (!outputs[i]) return ${PREFIX}_BAD_ARGUMENT;
  if (!(${supported})) return ${PREFIX}_WRONG_CPU;
  void *own = scratch ? NULL : malloc(${prefix}_scratch_bytes());
  char *memory = scratch ? scratch : own;
  if (!memory) return ${PREFIX}_OUT_OF_MEMORY;
  memory += (ALIGNMENT - (uintptr_t)memory % ALIGNMENT) % ALIGNMENT;
  shared_state shared = {.threads = threads};
  for (int i = 0; i < INPUTS; ++i) shared.buffers[i] = (void *)inputs[i];
  for (int i = 0; i < OUTPUTS; ++i) shared.buffers[INPUTS + i] = outputs[i];
  shared.buffers[INPUTS + OUTPUTS] = memory;
  shared.buffers[INPUTS + OUTPUTS + 1] = ${prefix}_constants;
  shared.buffers[INPUTS + OUTPUTS + 2] = memory + SCRATCH;
  shared.buffers[INPUTS + OUTPUTS + 3] = memset(memory + SCRATCH + CLOCK, 0, COUNTERS);
  run_on_threads(&shared, threads);
  free(own);
  return ${PREFIX}_OK;
}
