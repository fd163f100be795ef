/* Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
   See LICENSE for license information.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef ${PREFIX}_H
#define ${PREFIX}_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An input or output: a contiguous array, the last dimension innermost. */
typedef struct {
  const char *name;
  const char *dtype; /* as numpy spells it: int8, uint8, int32, int64, float32, ... */
  int32_t rank;
  const int64_t *shape;
  size_t bytes;
  int32_t quantized; /* whether scale and zero point have a meaning: value = scale * (element - zero_point) */
  double scale;
  int64_t zero_point;
} ${prefix}_tensor;

enum {
  ${PREFIX}_OK = 0,
  ${PREFIX}_OUT_OF_MEMORY = 1, /* there was no memory for the scratch buffer */
  ${PREFIX}_WRONG_CPU = 2,     /* the processor lacks instructions that the code uses: ${cpu} */
  ${PREFIX}_BAD_ARGUMENT = 3   /* a null pointer, or fewer than one thread */
};

int32_t ${prefix}_input_count(void);
int32_t ${prefix}_output_count(void);
const ${prefix}_tensor *${prefix}_input(int32_t position);  /* NULL if there is none */
const ${prefix}_tensor *${prefix}_output(int32_t position); /* NULL if there is none */

/* Bytes of memory that a run needs besides inputs and outputs. */
size_t ${prefix}_scratch_bytes(void);

/* Computes the outputs from the inputs, in the order of the model. It may be called from several threads at once, each
   with its own scratch. The result does not depend on the number of threads.

   scratch: of ${prefix}_scratch_bytes(), or NULL to allocate it for this call.
   threads: that compute; fewer where the system starts no more. */
int32_t ${prefix}_run(const void *const *inputs, void *const *outputs, void *scratch, int32_t threads);

#ifdef __cplusplus
}
#endif

#endif
