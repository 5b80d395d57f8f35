/* What the processor and the operating system can do. */
#ifndef SPARSEMAPS_CPU_H
#define SPARSEMAPS_CPU_H

/* The widest level whose objects were built. */
int widest_built_level(void);

/* The widest level that this machine runs: it must have every extension that meson.build names for
 * the level, and its system must save the level's registers. */
int machine_level(void);

/* Whether a machine of the level AVX512 counts the bits of vectors by one instruction. */
int machine_has_vpopcntdq(void);

#endif
