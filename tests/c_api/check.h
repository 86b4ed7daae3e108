/* Assertions of a program in C. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trine/compute/c.h"

#define CHECK(condition)                                                                                  \
  do {                                                                                                    \
    if (!(condition)) {                                                                                   \
      fprintf(stderr, "%s:%d: %s; last error: %s\n", __FILE__, __LINE__, #condition, trine_last_error()); \
      exit(1);                                                                                            \
    }                                                                                                     \
  } while (0)
#define OK(call) CHECK((call) == TRINE_OK)
/* The call fails with this status, and says so. */
#define FAILS(status, call, words)                      \
  do {                                                  \
    CHECK((call) == (status));                          \
    CHECK(strstr(trine_last_error(), (words)) != NULL); \
  } while (0)
#define REFUSES_NULL(call, words) FAILS(TRINE_INVALID_ARGUMENT, call, words " is null")

void test_versions(void);
void test_devices(const char* id);
void test_memory(trine_device* device);
void test_streams(trine_device* device);
void test_kernels(trine_device* device);
void test_graphs(trine_device* device);

#endif
