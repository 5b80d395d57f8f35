#include "text.h"

#include "text_characters.h"
#include "text_counts.h"
#include "text_tokens.h"

const text_loops TABLE(text)[] = {{
    .prepare = prepare,
    .hash_text = hash_text,
    .hash_tokens = hash_tokens,
    .count = count,
    .distinct = distinct,
    .values = {values_f32, values_f64},
    .hash_ranges = hash_ranges,
}};
