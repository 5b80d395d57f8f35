/* Normal variates from random words, by a piecewise polynomial for the quantile function.
 *
 * The highest of 32 random bits is the sign. The others, with the second lowest set, form a number
 * r, the rank: a fraction r / 2^31 of all normal variates is larger in absolute value. For r in
 * [2^e, 2^(e + 1)) the quantile is a polynomial in r / 2^e - 3/2, by Chebyshev interpolation of
 * degree NORMAL_DEGREE, within 5e-6. tests/_oracles/reference.py recomputes the coefficients.
 *
 * Coefficients for ranks from 2^17 on are looked up in registers. Variates of lower ranks, 6 in
 * 100,000, are computed one by one. */
#ifndef SPARSEMAPS_NORMALS_H
#define SPARSEMAPS_NORMALS_H

#include "random.h"
#include "simd.h"

enum { NORMAL_DEGREE = 5 };

#define COMMON_RANKS 0x1p17f

/* Coefficients of x^0, x^1, ... for e = 1 to 16 and for e = 17 to 31. For e = 31 the only rank is
 * 2^31, to which the largest ranks are rounded. Its quantile is 0. */
_Alignas(64) static const float normal_pieces[2][NORMAL_DEGREE + 1][16] = {
    {{6.05582809f, 5.9432683f, 5.82864571f, 5.71184492f, 5.59273863f, 5.47118711f, 5.34703588f,
      5.22011423f, 5.09023237f, 4.95717621f, 4.82070732f, 4.68055439f, 4.53640938f, 4.38791943f,
      4.23467731f, 4.07620811f},
     {-0.107302934f, -0.109234437f, -0.111272402f, -0.113426894f, -0.11570935f, -0.118132815f,
      -0.120712288f, -0.123465054f, -0.126411214f, -0.129574224f, -0.132981762f, -0.136666581f,
      -0.140667945f, -0.14503324f, -0.149820343f, -0.155100748f},
     {0.034774024f, 0.0353674591f, 0.0359917693f, 0.0366497003f, 0.0373443365f, 0.0380791686f,
      0.038858179f, 0.0396859013f, 0.0405675508f, 0.0415091328f, 0.0425176397f, 0.0436012149f,
      0.0447694547f, 0.0460337065f, 0.0474075302f, 0.048907239f},
     {-0.0152577963f, -0.0155118555f, -0.0157787986f, -0.0160597432f, -0.0163559355f,
      -0.0166687891f, -0.0169999022f, -0.0173510928f, -0.0177244432f, -0.0181223378f,
      -0.0185475405f, -0.019003259f, -0.019493239f, -0.0200218949f, -0.0205944609f, -0.0212171916f},
     {0.00851501618f, 0.0086542191f, 0.00880035013f, 0.00895399693f, 0.00911581796f, 0.0092865536f,
      0.00946704112f, 0.00965823047f, 0.00986120477f, 0.0100772046f, 0.0103076575f, 0.0105542187f,
      0.0108188139f, 0.0111036999f, 0.011411543f, 0.0117455116f},
     {-0.00455302f, -0.00462661358f, -0.00470382767f, -0.00478496542f, -0.00487036677f,
      -0.00496041263f, -0.00505553372f, -0.00515621807f, -0.00526301982f, -0.00537657458f,
      -0.00549761066f, -0.00562697044f, -0.00576563366f, -0.00591474446f, -0.00607565045f,
      -0.00624994887f}},
    {{3.91195464f, 3.74125433f, 3.56330967f, 3.37714791f, 3.18156171f, 2.97502279f, 2.7555511f,
      2.52050447f, 2.26622915f, 1.98743045f, 1.67594242f, 1.31801379f, 0.887149692f, 0.318642616f,
      0.0f, 0.0f},
     {-0.160963938f, -0.167523623f, -0.174926788f, -0.183367223f, -0.193106428f, -0.204506949f,
      -0.218088225f, -0.234624788f, -0.255331039f, -0.282237977f, -0.31905058f, -0.373413295f,
      -0.464411288f, -0.659292936f, 0.0f, 0.0f},
     {0.0505526587f, 0.052368097f, 0.0543836877f, 0.0566371866f, 0.0591763929f, 0.062062405f,
      0.0653737858f, 0.0692111403f, 0.0736992583f, 0.0789746046f, 0.0851049721f, 0.091681391f,
      0.095443666f, 0.069017224f, 0.0f, 0.0f},
     {-0.0218976233f, -0.0226449203f, -0.023470344f, -0.02438787f, -0.0254150331f, -0.0265740901f,
      -0.0278935917f, -0.0294105224f, -0.0311731212f, -0.0332445949f, -0.0357097983f, -0.038710095f,
      -0.0428440459f, -0.0573190376f, 0.0f, 0.0f},
     {0.0121094063f, 0.0125078224f, 0.0129463691f, 0.0134319626f, 0.0139732249f, 0.0145810219f,
      0.0152691994f, 0.0160556026f, 0.0169634204f, 0.0180229302f, 0.0192733929f, 0.0207625255f,
      0.02248873f, 0.0215103179f, 0.0f, 0.0f},
     {-0.00643954985f, -0.00664675422f, -0.00687436108f, -0.00712580746f, -0.00740536069f,
      -0.00771837356f, -0.00807164051f, -0.00847388059f, -0.00893639494f, -0.00947393663f,
      -0.0101057729f, -0.0108569078f, -0.0117662661f, -0.0138383452f, 0.0f, 0.0f}}};

INLINE float normal_rank(uint32_t half)
{
    return (float)(int32_t)((half & UINT32_C(0x7fffffff)) | 2);
}

INLINE float normal(uint32_t half)
{
    const float rank = normal_rank(half);
    const uint32_t bits = float_to_bits(rank), piece = bits >> 23 & 15; /* exponent: e + 127 */
    const float (*pieces)[16] = normal_pieces[rank >= COMMON_RANKS];
    const float x = bits_to_float((bits & UINT32_C(0x007fffff)) | UINT32_C(0x3f800000)) - 1.5f;
    float p = pieces[NORMAL_DEGREE][piece];
    for (int d = NORMAL_DEGREE - 1; d >= 0; d--)
        p = p * x + pieces[d][piece];
    return bits_to_float(float_to_bits(p) ^ (half & UINT32_C(0x80000000)));
}

/* Convert each of n words, a multiple of 8, to two normal variates, from its halves in memory
 * order. Both arrays must be aligned to a vector. */
INLINE void normals(const uint64_t *restrict words, int n, float *restrict out)
{
    enum { LANES = sizeof(register_f32) / sizeof(float) };
    const register_u32 sign = (register_u32){0} + UINT32_C(0x80000000);
    const register_f32 common = (register_f32){0} + COMMON_RANKS;
    register_u32 all = ~(register_u32){0};
    for (int i = 0; i < 2 * n; i += LANES) {
        const register_u32 half = *(const register_u32 *)(words + i / 2);
        const register_f32 rank = LANES_CONVERT(register_f32, (register_i32)((half & ~sign) | 2));
        const register_u32 bits = (register_u32)rank, piece = bits >> 23;
        const register_f32 x =
            (register_f32)((bits & UINT32_C(0x007fffff)) | UINT32_C(0x3f800000)) - 1.5f;
        register_f32 p = register_of_16_f32(normal_pieces[1][NORMAL_DEGREE], piece);
        for (int d = NORMAL_DEGREE - 1; d >= 0; d--)
            p = p * x + register_of_16_f32(normal_pieces[1][d], piece);
        *(register_f32 *)(out + i) = (register_f32)((register_u32)p ^ (half & sign));
        all &= bits;
    }
    /* Biased exponents of common ranks are 144 to 158 and have bit 4 set, so the conjunction of all
     * ranks has it only if every rank is common. */
    if (register_any(register_less_f32((register_f32)all, common))) {
        for (int i = 0; i < 2 * n; i++) {
            uint32_t half;
            memcpy(&half, (const char *)words + i * sizeof half, sizeof half);
            if (normal_rank(half) < COMMON_RANKS)
                out[i] = normal(half);
        }
    }
}

#endif
