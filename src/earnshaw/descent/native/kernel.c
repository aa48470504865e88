/* Gradient descent on the exact loss of ReLU students of a coordinate teacher, many runs at once: see __init__.py.
 *
 * A lane is one run, and a vector holds one number of several lanes. Every operation is an addition, multiplication,
 * division, square root or explicit fused multiplication and addition of IEEE 754, in an order that depends on the sizes
 * alone (compile with -ffp-contract=off): the bits of a lane depend neither on its neighbours nor on the vector's width.
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* What is to be computed, and when a lane needs a look: the fields of Task in __init__.py, in this order. */
typedef struct {
    int64_t students, teachers, dimension; /* n, k, d */
    int64_t stride, every, max_steps, creep;
    int64_t budget; /* steps of one group of lanes, after which the call returns */
    double constant, low, dead, slow, still, steep;
} Task;

/* Of each lane, in arrays over all of them: as the fields of Book in __init__.py, in this order. */
typedef struct {
    double *points;          /* (n, d) each */
    int64_t *steps;          /* taken so far */
    const int64_t *due;      /* no Newton test before this step */
    const double *length;    /* of a step */
    double *report;          /* value, steepest, gradient norm, shortest neuron */
    uint8_t *woken;          /* whether the report is to be looked at */
} Book;

/* How Newton's method works: the fields of Search in __init__.py, in this order. */
typedef struct {
    int64_t newton_steps, spare, lanczos_steps;
    double residual, floor, contraction, ball, long_wait;
    const double *probe; /* (n, d): where Lanczos' method begins */
} Search;
#define FOUND 9 /* the numbers of Polished, without the point */

#define DEGREE 18
/* asin(x) / x as a polynomial in x^2 <= 1/2, relative error below 4e-17 (tests/descent/test_native.py computes them). */
static const double ARC[DEGREE + 1] = {
    0x1.0000000000000p+0,
    0x1.55555555552f8p-3,
    0x1.3333333379e36p-4,
    0x1.6db6db397446bp-5,
    0x1.f1c730cb592e5p-6,
    0x1.6e893a3f28ea7p-6,
    0x1.1c7f1339913c4p-6,
    0x1.c44fb258f47f6p-7,
    0x1.b03e2652d5511p-7,
    -0x1.54fd1ff49c16fp-9,
    0x1.426bd3d739317p-4,
    -0x1.2ffed4e682168p-2,
    0x1.0219811b2d5bap+0,
    -0x1.3ed52eb63958cp+1,
    0x1.2917a8328b8c8p+2,
    -0x1.8eacd96273eb1p+2,
    0x1.70821a42b32e0p+2,
    -0x1.a3b414e8fbd83p+1,
    0x1.c751137d17be2p-1,
};
#define PI 0x1.921fb54442d18p+1

#define INLINE static inline __attribute__((always_inline))
#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)

#define SET portable
#define WIDTH 2
#include "set.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define HAS_X86 1

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif
#define SET avx2
#define WIDTH 4
#define FMA(a, b, c) ((vec)_mm256_fmadd_pd((__m256d)(a), (__m256d)(b), (__m256d)(c)))
#define ROOT(a) ((vec)_mm256_sqrt_pd((__m256d)(a)))
#define LEAST(a, b) ((vec)_mm256_min_pd((__m256d)(a), (__m256d)(b)))
#define CHOOSE(m, a, b) ((vec)_mm256_blendv_pd((__m256d)(b), (__m256d)(a), (__m256d)(m)))
#include "set.h"
#if defined(__clang__)
#pragma clang attribute pop
#pragma clang attribute push(__attribute__((target("avx512f,avx512dq"))), apply_to = function)
#else
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx512f,avx512dq")
#endif
#define SET avx512
#define WIDTH 8
#define FMA(a, b, c) ((vec)_mm512_fmadd_pd((__m512d)(a), (__m512d)(b), (__m512d)(c)))
#define ROOT(a) ((vec)_mm512_sqrt_pd((__m512d)(a)))
#define LEAST(a, b) ((vec)_mm512_min_pd((__m512d)(a), (__m512d)(b)))
#define CHOOSE(m, a, b) \
    ((vec)_mm512_mask_blend_pd(_mm512_movepi64_mask((__m512i)(m)), (__m512d)(b), (__m512d)(a)))
#include "set.h"
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif

typedef int64_t (*Run)(const Task *, const Book *, int64_t, const int64_t *);
typedef int64_t (*Polish)(const Task *, const Search *, int64_t, double *, const double *, double *);
typedef struct {
    const char *name;
    Run run;
    Polish polish;
} Set;
static const Set SETS[] = {
#ifdef HAS_X86
    {"avx512", run_avx512, polish_avx512},
    {"avx2", run_avx2, polish_avx2},
#endif
    {"portable", run_portable, polish_portable},
};

static int usable(const char *name) {
#ifdef HAS_X86
    __builtin_cpu_init();
    if (!strcmp(name, "avx512")) return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
    if (!strcmp(name, "avx2")) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
    (void)name;
    return 1;
}

/* Whether fused multiplications are instructions here: in software they would take longer than XLA does. */
int earnshaw_fused(void) {
#ifdef HAS_X86
    return usable("avx2");
#elif defined(__aarch64__) || defined(FP_FAST_FMA)
    return 1;
#else
    return 0;
#endif
}

/* Return the digest of the sources, by which setup.py calls the library. */
const char *earnshaw_source(void) { return SOURCE; }

/* Return the name of the instruction set of this index that can be used here, the widest first; NULL after the last. */
const char *earnshaw_set(int index) {
    for (size_t i = 0; i < sizeof SETS / sizeof *SETS; i++)
        if (usable(SETS[i].name) && index-- == 0) return SETS[i].name;
    return NULL;
}

static const Set *named(const char *name) {
    for (size_t i = 0; i < sizeof SETS / sizeof *SETS; i++)
        if (usable(SETS[i].name) && !strcmp(SETS[i].name, name)) return SETS + i;
    return NULL;
}

/* Move the listed lanes until each has woken or the budget is spent; return the steps taken by all, -1 without memory. */
int64_t earnshaw_run(const char *name, const Task *task, const Book *book, int64_t count, const int64_t *lanes) {
    const Set *set = named(name);
    return set ? set->run(task, book, count, lanes) : -1;
}

/* Follow Newton's method from points (count, n, d) of runs with steps of these lengths, replace them by where it ends, and say
 * what is found there, (count, FOUND); return the count, -1 without memory. */
int64_t earnshaw_polish(const char *name, const Task *task, const Search *search, int64_t count, double *points, const double *lengths, double *found) {
    const Set *set = named(name);
    return set ? set->polish(task, search, count, points, lengths, found) : -1;
}
