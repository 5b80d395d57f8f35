/* Instruction sets, and the choice among them when a module is loaded.
 *
 * A package is built for the oldest x86-64, whose 128-bit vectors lose most of the speed of the
 * loops in this folder. Therefore every NAME.c here is compiled once for each instruction set
 * (meson.build), with LEVEL set to its name, and ends with one table of its functions,
 *
 *     const NAME_loops TABLE(NAME) = {...};
 *
 * declared in NAME.h by DECLARE_TABLES(NAME). `NAME_at(level)` is the table for a level. Every
 * object does the same IEEE operations in the same order (no contraction, no reassociation), so all
 * tables give the same bits. */
#ifndef SPARSEMAPS_LEVELS_H
#define SPARSEMAPS_LEVELS_H

enum { BASELINE, AVX2, AVX512 };

#define TABLE_JOINED(NAME, LEVEL) NAME##_##LEVEL
#define TABLE_EXPANDED(NAME, LEVEL) TABLE_JOINED(NAME, LEVEL)
#define TABLE(NAME) TABLE_EXPANDED(NAME, LEVEL)

#if defined(SPARSEMAPS_X86_LEVELS)
#define DECLARE_TABLES(NAME)                                                                       \
    extern const NAME##_loops NAME##_baseline, NAME##_avx2, NAME##_avx512;                         \
    static inline const NAME##_loops *NAME##_at(int level)                                         \
    {                                                                                              \
        return level == AVX512 ? &NAME##_avx512 : level == AVX2 ? &NAME##_avx2 : &NAME##_baseline; \
    }
#else
#define DECLARE_TABLES(NAME)                                                                       \
    extern const NAME##_loops NAME##_baseline;                                                     \
    static inline const NAME##_loops *NAME##_at(int level)                                         \
    {                                                                                              \
        (void)level;                                                                               \
        return &NAME##_baseline;                                                                   \
    }
#endif

#endif
