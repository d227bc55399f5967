/* The whole of the test framework: a test is a function, a failed check is printed and counted. */
#ifndef ACP_TEST_CHECK_H
#define ACP_TEST_CHECK_H
#include <stdio.h>
#include <string.h>

static int check_failures;

#define CHECK(condition)                                                                  \
  do {                                                                                    \
    if (!(condition)) {                                                                   \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                     \
      check_failures++;                                                                   \
    }                                                                                     \
  } while (0)

#define CHECK_NUMBER(got, want)                                                           \
  do {                                                                                    \
    long long check_got = (long long)(got), check_want = (long long)(want);               \
    if (check_got != check_want) {                                                        \
      fprintf(stderr, "%s:%d: %s is %lld, not %lld\n", __FILE__, __LINE__, #got, check_got, check_want); \
      check_failures++;                                                                   \
    }                                                                                     \
  } while (0)

#define CHECK_TEXT(got, want)                                                             \
  do {                                                                                    \
    const char *check_got = (got), *check_want = (want);                                  \
    if (strcmp(check_got, check_want) != 0) {                                             \
      fprintf(stderr, "%s:%d: got\n%s\nwant\n%s\n", __FILE__, __LINE__, check_got, check_want); \
      check_failures++;                                                                   \
    }                                                                                     \
  } while (0)

#define CHECK_DONE() (check_failures ? (fprintf(stderr, "%d failed\n", check_failures), 1) : 0)
#endif
