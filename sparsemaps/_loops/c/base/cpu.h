/* CPU features at run time. */
#ifndef SPARSEMAPS_CPU_H
#define SPARSEMAPS_CPU_H

/* Return the widest level that was built. */
int widest_built_level(void);

/* Return the widest level that this machine can run: the processor supports every extension that
 * meson.build names for the level, and the operating system saves the level's registers. */
int machine_level(void);

/* Return 1 if the machine runs at level AVX512 and has VPOPCNTDQ, which counts bits per vector
 * lane. */
int machine_has_vpopcntdq(void);

#endif
