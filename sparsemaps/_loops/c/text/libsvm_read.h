/* LIBSVM text to arrays.
 *
 *     label[,label ...] [qid:number] [index:value ...] [# comment]
 *
 * Tokens are separated by blanks. A line without tokens is ignored. Indices within a line must
 * ascend. Nothing is written outside the arrays: the caller sizes them by the numbers of line ends,
 * colons and commas. The parser stops at the first error and reports its position. */
#ifndef SPARSEMAPS_LIBSVM_READ_H
#define SPARSEMAPS_LIBSVM_READ_H

#include <stdint.h>

#include "levels.h"
#include "powers_of_ten.h"

enum {
    NO_ERROR,
    BAD_LABEL,
    BAD_INDEX,
    BAD_VALUE,
    BAD_QID,
    NOT_ASCENDING,
    INDEX_TOO_LARGE,
};

/* Parse any other notation of a number ("inf", "nan", 30 digits). Return 1 if it is a number, 0 if
 * not, -1 if an exception is set, which stops the parser. With `to_float`, the text is a number
 * that as a double lies halfway between two float32; set *value to the nearer one. */
typedef int (*slow_number)(const char *text, const char *end, int to_float, double *value);

typedef struct {
    int multilabel, to_float; /* to_float: round values to float32 */
    slow_number slow;
    /* Arrays to fill. Row i has the labels from label_ends[i - 1] to label_ends[i], entries
     * likewise. */
    double *labels, *values;
    int64_t *label_ends, *entry_ends, *indices, *qids;
    /* Numbers of items read. */
    int64_t n_rows, n_labels, n_entries, n_qids;
    int64_t smallest, largest; /* of the indices and of the initial values here */
    int error;
    const char *wrong, *wrong_end; /* the invalid token */
} svm_text;

typedef struct {
    /* Count the occurrences of `c`. */
    int64_t (*count_char)(const char *p, int64_t n, char c);
    /* Read all lines of [p, end). Return 1, or 0 after an error. */
    int (*read_lines)(svm_text *text, const char *p, const char *end);
} libsvm_read_loops;

DECLARE_TABLES(libsvm_read)

#endif
