/* Lines of LIBSVM text to arrays.
 *
 *     label[,label ...] [qid:number] [index:value ...] [# comment]
 *
 * Tokens are separated by blanks; a line without tokens is ignored. The indices of a line
 * ascend. Nothing is written outside the arrays, whose sizes the caller bounds by the numbers of
 * line ends, colons and commas; on the first error the parser stops and says where. */
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

/* Any other way to write a number ("inf", "nan", 30 digits): 1 if it is one, 0 if not; -1 if an
 * exception is set, which ends the reading. With `to_float` it is a number that lies between two of
 * float32 as a double, and *value becomes the nearer one. */
typedef int (*slow_number)(const char *text, const char *end, int to_float, double *value);

typedef struct {
    int multilabel, to_float; /* to_float: values are rounded to float32 */
    slow_number slow;
    /* Arrays to fill. Row i has labels label_ends[i - 1] to label_ends[i], entries likewise. */
    double *labels, *values;
    int64_t *label_ends, *entry_ends, *indices, *qids;
    /* What there was. */
    int64_t n_rows, n_labels, n_entries, n_qids;
    int64_t smallest, largest; /* of the indices, and of what stands here at first */
    int error;
    const char *wrong, *wrong_end; /* the token at fault */
} svm_text;

typedef struct {
    /* How often `c` occurs. */
    int64_t (*count_char)(const char *p, int64_t n, char c);
    /* Read all lines of [p, end); 1, or 0 at an error. */
    int (*read_lines)(svm_text *text, const char *p, const char *end);
} libsvm_read_loops;

DECLARE_TABLES(libsvm_read)

#endif
