/* Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
   See LICENSE for license information.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

/* Runs a model on files that have the bytes of its inputs, and writes the bytes of its outputs:

     run_model THREADS INPUT... OUTPUT... */
#include <stdio.h>
#include <stdlib.h>

#include "model.h"

static void describe(const char *kind, const torq_model_tensor *tensor) {
  printf("%s %s: %s [", kind, tensor->name, tensor->dtype);
  for (int32_t i = 0; i < tensor->rank; ++i) printf(i ? ", %lld" : "%lld", (long long)tensor->shape[i]);
  printf("]");
  if (tensor->quantized) printf(", %g * (element - %lld)", tensor->scale, (long long)tensor->zero_point);
  printf("\n");
}

static void *buffer_of(const torq_model_tensor *tensor) {
  void *buffer = malloc(tensor->bytes ? tensor->bytes : 1);
  if (!buffer) exit(EXIT_FAILURE);
  return buffer;
}

/* Reads or writes a file as a whole. */
static void transfer(const char *path, const char *mode, void *bytes, size_t size) {
  FILE *file = fopen(path, mode);
  size_t moved = 0;
  if (file) moved = *mode == 'r' ? fread(bytes, 1, size, file) : fwrite(bytes, 1, size, file);
  if (!file || fclose(file) || moved != size) {
    fprintf(stderr, "%s: not a file of %zu bytes\n", path, size);
    exit(EXIT_FAILURE);
  }
}

int main(int count, char **arguments) {
  const int32_t inputs = torq_model_input_count(), outputs = torq_model_output_count();
  if (count != 2 + inputs + outputs) {
    for (int32_t i = 0; i < inputs; ++i) describe("input", torq_model_input(i));
    for (int32_t i = 0; i < outputs; ++i) describe("output", torq_model_output(i));
    fprintf(stderr, "usage: %s THREADS INPUT... OUTPUT...\n", arguments[0]);
    return EXIT_FAILURE;
  }
  char **files = arguments + 2;
  void **buffers = calloc((size_t)(inputs + outputs), sizeof(void *));
  void *scratch = malloc(torq_model_scratch_bytes());
  if (!buffers || !scratch) return EXIT_FAILURE;
  for (int32_t i = 0; i < inputs; ++i) {
    buffers[i] = buffer_of(torq_model_input(i));
    transfer(files[i], "rb", buffers[i], torq_model_input(i)->bytes);
  }
  for (int32_t i = 0; i < outputs; ++i) buffers[inputs + i] = buffer_of(torq_model_output(i));
  const int32_t status =
      torq_model_run((const void *const *)buffers, buffers + inputs, scratch, (int32_t)atoi(arguments[1]));
  if (status != TORQ_MODEL_OK) {
    fprintf(stderr, "the model does not run: code %d, see model.h\n", (int)status);
    return EXIT_FAILURE;
  }
  for (int32_t i = 0; i < outputs; ++i)
    transfer(files[inputs + i], "wb", buffers[inputs + i], torq_model_output(i)->bytes);
  for (int32_t i = 0; i < inputs + outputs; ++i) free(buffers[i]);
  free(buffers);
  free(scratch);
  return EXIT_SUCCESS;
}
