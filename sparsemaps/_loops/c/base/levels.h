/* Instruction set levels, and how a module chooses one when it loads.
 *
 * Packages are built for baseline x86-64, whose 128-bit vectors would lose most of the speed of the
 * loops in c/. Every NAME.c that c/meson.build lists in `sources` is therefore compiled once per
 * instruction set, with LEVEL set to its name, and ends with a table of its functions,
 *
 *     const NAME_loops TABLE(NAME)[] = {{...}};
 *
 * declared in NAME.h by DECLARE_TABLES(NAME). `NAME_at(level)` returns the table for a level. Every
 * level performs the same IEEE operations in the same order (no contraction, no reassociation), so
 * all tables return the same bits.
 *
 * A loop over either value type is written once, in a template that each_value.h or each_entry.h
 * instantiates for each type. Such loops take arrays as void pointers, so that all instances have
 * the same signature, and there is one table per type: NAME_at(level, sizeof value) after
 * DECLARE_TABLES_OF_VALUES(NAME), NAME_at(level, sizeof value, sizeof index) after
 * DECLARE_TABLES_OF_ENTRIES(NAME). */
#ifndef SPARSEMAPS_LEVELS_H
#define SPARSEMAPS_LEVELS_H

#include <stddef.h>

enum { BASELINE, AVX2, AVX512 };

#define TABLE_JOINED(NAME, LEVEL) NAME##_##LEVEL
#define TABLE_EXPANDED(NAME, LEVEL) TABLE_JOINED(NAME, LEVEL)
#define TABLE(NAME) TABLE_EXPANDED(NAME, LEVEL)

#if defined(SPARSEMAPS_X86_LEVELS)
#define DECLARE_LEVELS(NAME)                                                                       \
    extern const NAME##_loops NAME##_baseline[], NAME##_avx2[], NAME##_avx512[];                   \
    static inline const NAME##_loops *NAME##_of_level(int level)                                   \
    {                                                                                              \
        return level == AVX512 ? NAME##_avx512 : level == AVX2 ? NAME##_avx2 : NAME##_baseline;    \
    }
#else
#define DECLARE_LEVELS(NAME)                                                                       \
    extern const NAME##_loops NAME##_baseline[];                                                   \
    static inline const NAME##_loops *NAME##_of_level(int level)                                   \
    {                                                                                              \
        (void)level;                                                                               \
        return NAME##_baseline;                                                                    \
    }
#endif

#define DECLARE_TABLES(NAME)                                                                       \
    DECLARE_LEVELS(NAME)                                                                           \
    static inline const NAME##_loops *NAME##_at(int level)                                         \
    {                                                                                              \
        return NAME##_of_level(level);                                                             \
    }

#define DECLARE_TABLES_OF_VALUES(NAME)                                                             \
    DECLARE_LEVELS(NAME)                                                                           \
    static inline const NAME##_loops *NAME##_at(int level, size_t value_size)                      \
    {                                                                                              \
        return NAME##_of_level(level) + (value_size == sizeof(double));                            \
    }

#define DECLARE_TABLES_OF_ENTRIES(NAME)                                                            \
    DECLARE_LEVELS(NAME)                                                                           \
    static inline const NAME##_loops *NAME##_at(int level, size_t value_size, size_t index_size)   \
    {                                                                                              \
        return NAME##_of_level(level) + 2 * (value_size == sizeof(double)) + (index_size == 8);    \
    }

/* Expand F(type) for each type, as the elements of such a table. */
#define OF_EACH_VALUE(F) {F(f32), F(f64)}
#define OF_EACH_ENTRY(F) {F(f32_i32), F(f32_i64), F(f64_i32), F(f64_i64)}

#endif
