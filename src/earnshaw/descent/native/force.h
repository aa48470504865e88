/* Points of a group of WIDTH lanes, and the gradient there, for one instruction set; set.h includes this.
 *
 * With r_i = |w_i|, c = cos t, s = sin t and p = pi - t of each pair, the gradient of the loss is
 *
 *     2 pi dF/dw_i = sum_j p_ij w_j + (sum_j s_ij r_j - sum_c s'_ic) w_i / r_i - sum_c p'_ic e_c ,
 *
 * p_ii = pi, s_ii = 0, with primes for pairs with the teacher's neurons e_c.
 */
#define FN(name) JOIN(name, SET)
#define vec FN(vec)
#define bits FN(bits)
typedef double vec __attribute__((vector_size(8 * WIDTH)));
typedef int64_t bits __attribute__((vector_size(8 * WIDTH)));

#ifndef FMA
#define FMA FN(fma)
#define ROOT FN(root)
#define LEAST FN(least)
#define CHOOSE FN(choose)
INLINE vec FMA(vec a, vec b, vec c) {
    vec r;
    for (int l = 0; l < WIDTH; l++) r[l] = __builtin_fma(a[l], b[l], c[l]);
    return r;
}
INLINE vec ROOT(vec a) {
    vec r;
    for (int l = 0; l < WIDTH; l++) r[l] = __builtin_sqrt(a[l]);
    return r;
}
INLINE vec LEAST(vec a, vec b) { /* b where one is no number */
    bits m = a < b;
    return (vec)(((bits)a & m) | ((bits)b & ~m));
}
INLINE vec CHOOSE(bits m, vec a, vec b) { return (vec)(((bits)a & m) | ((bits)b & ~m)); }
#endif

INLINE vec FN(all)(double x) {
    vec r;
    for (int l = 0; l < WIDTH; l++) r[l] = x;
    return r;
}
#define ALL FN(all)

/* Replace cosines by p = pi - t, and return s = sin t, for count pairs, a multiple of TOGETHER. By
 *
 *     t = arccos|c|:  asin|c| = pi/2 - t,  asin s = t,  whichever argument x is smaller: x^2 <= 1/2.
 *
 * Both come from one c: what rounding does to t next to a parallel pair cancels in the gradient.
 */
#define TOGETHER WIDTH
INLINE void FN(arcs)(vec *restrict p, vec *restrict s, ptrdiff_t count) {
    const vec one = ALL(1.0), right = ALL(0.5 * PI);
    const bits sign = (bits)ALL(-0.0);
    for (ptrdiff_t q = 0; q < count; q += TOGETHER) {
        vec c[TOGETHER], x[TOGETHER], z[TOGETHER], even[TOGETHER], odd[TOGETHER];
        for (int u = 0; u < TOGETHER; u++) {
            c[u] = p[q + u];
            vec size = LEAST(one, (vec)((bits)c[u] & ~sign));
            vec sine = ROOT((one - size) * (one + size));
            s[q + u] = sine;
            x[u] = LEAST(size, sine);
            z[u] = x[u] * x[u];
            even[u] = ALL(ARC[DEGREE]);
            odd[u] = ALL(ARC[DEGREE - 1]);
        }
        for (int a = DEGREE - 2; a >= 0; a -= 2)
            for (int u = 0; u < TOGETHER; u++) {
                vec square = z[u] * z[u];
                even[u] = FMA(even[u], square, ALL(ARC[a]));
                if (a) odd[u] = FMA(odd[u], square, ALL(ARC[a - 1]));
            }
        for (int u = 0; u < TOGETHER; u++) {
            vec arc = x[u] * FMA(odd[u], z[u], even[u]);
            vec turn = CHOOSE(s[q + u] == x[u], right - arc, arc);
            p[q + u] = right + (vec)((bits)turn | ((bits)c[u] & sign));
        }
    }
}

#define BY_COLUMNS(call, rows, left)            \
    switch ((left) < 4 ? (left) : 4) {          \
    case 1: call(rows, 1); break;               \
    case 2: call(rows, 2); break;               \
    case 3: call(rows, 3); break;               \
    default: call(rows, 4);                     \
    }

/* Products of rows i.. of x and j.. of y, both (n, d), over lengths unless these are NULL, into p: row i has its pairs
 * (i, j > i) one after the other. */
INLINE void FN(products)(const vec *x, const vec *y, const vec *inverse, vec *p, ptrdiff_t n, ptrdiff_t d, ptrdiff_t i, ptrdiff_t j, int rows, int columns) {
    vec sum[2][4];
    for (int a = 0; a < rows; a++)
        for (int b = 0; b < columns; b++) sum[a][b] = x[(i + a) * d] * y[(j + b) * d];
    for (ptrdiff_t c = 1; c < d; c++)
        for (int a = 0; a < rows; a++)
            for (int b = 0; b < columns; b++) sum[a][b] = FMA(x[(i + a) * d + c], y[(j + b) * d + c], sum[a][b]);
    for (int a = 0; a < rows; a++) {
        vec *row = p + (i + a) * (2 * n - i - a - 1) / 2 - (i + a) - 1;
        for (int b = 0; b < columns; b++) row[j + b] = inverse ? sum[a][b] * (inverse[i + a] * inverse[j + b]) : sum[a][b];
    }
}

/* Those of all pairs. */
INLINE void FN(all_products)(const vec *x, const vec *y, const vec *inverse, vec *p, ptrdiff_t n, ptrdiff_t d) {
    for (ptrdiff_t i = 0; i + 1 < n; i += 2) {
        FN(products)(x, y, inverse, p, n, d, i, i + 1, 1, 1);
        for (ptrdiff_t j = i + 2; j < n; j += 4) {
#define CALL(rows, columns) FN(products)(x, y, inverse, p, n, d, i, j, rows, columns)
            BY_COLUMNS(CALL, 2, n - j)
#undef CALL
        }
    }
}

/* Neurons i.. and coordinates c.. of  sum_j full_ij w_j + radial_i w_i - sum_c taught_ic e_c ; to a base, if there is
 * one, -rate times that is added. */
INLINE void FN(tile)(const vec *w, const vec *full, const vec *taught, const vec *radial, vec *to, const vec *base, vec rate,
                     ptrdiff_t n, ptrdiff_t k, ptrdiff_t d, ptrdiff_t i, ptrdiff_t c, int rows, int columns) {
    vec sum[2][4];
    for (int a = 0; a < rows; a++)
        for (int b = 0; b < columns; b++) {
            sum[a][b] = radial[i + a] * w[(i + a) * d + c + b];
            if (c + b < k) sum[a][b] -= taught[(i + a) * k + c + b];
        }
    for (ptrdiff_t j = 0; j < n; j++)
        for (int a = 0; a < rows; a++)
            for (int b = 0; b < columns; b++) sum[a][b] = FMA(full[(i + a) * n + j], w[j * d + c + b], sum[a][b]);
    for (int a = 0; a < rows; a++)
        for (int b = 0; b < columns; b++) {
            ptrdiff_t at = (i + a) * d + c + b;
            to[at] = base ? FMA(-rate, sum[a][b], base[at]) : sum[a][b];
        }
}

/* That of all neurons and coordinates. */
INLINE void FN(tiles)(const vec *w, const vec *full, const vec *taught, const vec *radial, vec *to, const vec *base, vec rate,
                      ptrdiff_t n, ptrdiff_t k, ptrdiff_t d) {
    for (ptrdiff_t i = 0; i < n; i += 2)
        for (ptrdiff_t c = 0; c < d; c += 4) {
#define CALL(rows, columns) FN(tile)(w, full, taught, radial, to, base, rate, n, k, d, i, c, rows, columns)
            if (i + 1 < n) {
                BY_COLUMNS(CALL, 2, d - c)
            } else {
                BY_COLUMNS(CALL, 1, d - c)
            }
#undef CALL
        }
}

/* Memory of a group; `arc` and `sine` hold the pairs of students, then those with the teacher. */
typedef struct {
    vec *w, *to, *arc, *sine, *full, *norm, *inverse, *radial;
} FN(Group);

static size_t FN(layout)(const Task *task, FN(Group) *g, vec *at) {
    size_t n = task->students, k = task->teachers, d = task->dimension;
    size_t pairs = (n * (n - 1) / 2 + n * k + TOGETHER - 1) / TOGETHER * TOGETHER;
    size_t sizes[] = {n * d, n * d, pairs, pairs, n * n, n, n, n};
    vec **parts[] = {&g->w, &g->to, &g->arc, &g->sine, &g->full, &g->norm, &g->inverse, &g->radial};
    size_t total = 0;
    for (int a = 0; a < 8; a++) {
        *parts[a] = at + total;
        total += sizes[a];
    }
    return total;
}

/* Put lengths into g->norm, and the cosines of all pairs into g->arc. */
INLINE void FN(measure)(const FN(Group) *g, ptrdiff_t n, ptrdiff_t k, ptrdiff_t d) {
    const vec *w = g->w;
    ptrdiff_t pairs = n * (n - 1) / 2;
    for (ptrdiff_t i = 0; i < n; i++) {
        vec square = w[i * d] * w[i * d];
        for (ptrdiff_t c = 1; c < d; c++) square = FMA(w[i * d + c], w[i * d + c], square);
        g->norm[i] = ROOT(square);
        g->inverse[i] = ALL(1.0) / g->norm[i];
        for (ptrdiff_t c = 0; c < k; c++) g->arc[pairs + i * k + c] = w[i * d + c] * g->inverse[i];
    }
    FN(all_products)(w, w, g->inverse, g->arc, n, d);
}

/* Put 2 pi times the gradient, or the points after a step, into g->to. */
static __attribute__((noinline)) void FN(force)(const FN(Group) *g, vec rate, int step, ptrdiff_t n, ptrdiff_t k, ptrdiff_t d) {
    ptrdiff_t pairs = n * (n - 1) / 2, all = pairs + n * k;
    FN(measure)(g, n, k, d);
    for (ptrdiff_t q = all; q % TOGETHER; q++) g->arc[q] = ALL(0.0);
    FN(arcs)(g->arc, g->sine, (all + TOGETHER - 1) / TOGETHER * TOGETHER);

    const vec *sine = g->sine, *arc = g->arc;
    for (ptrdiff_t i = 0; i < n; i++) g->radial[i] = ALL(0.0);
    for (ptrdiff_t i = 0; i < n; i++) {
        g->full[i * n + i] = ALL(PI);
        vec own = g->norm[i], sum = g->radial[i];
        for (ptrdiff_t j = i + 1; j < n; j++, sine++, arc++) {
            g->full[i * n + j] = g->full[j * n + i] = *arc;
            sum = FMA(*sine, g->norm[j], sum);
            g->radial[j] = FMA(*sine, own, g->radial[j]);
        }
        for (ptrdiff_t c = 0; c < k; c++) sum -= g->sine[pairs + i * k + c];
        g->radial[i] = sum * g->inverse[i];
    }
    const vec *taught = g->arc + pairs;
    if (step) {
        FN(tiles)(g->w, g->full, taught, g->radial, g->to, g->w, rate, n, k, d);
    } else {
        FN(tiles)(g->w, g->full, taught, g->radial, g->to, NULL, rate, n, k, d);
    }
}

/* Report on the lanes from their gradient, which is in g->to: by homogeneity sum w . dF is twice the energy of the
 * students, less B, that between students and teacher; the loss is half of it, less B / 2, and the teacher's energy. */
static void FN(look)(const FN(Group) *g, const Task *task, double report[4][WIDTH]) {
    ptrdiff_t n = task->students, k = task->teachers, d = task->dimension, pairs = n * (n - 1) / 2;
    const double tau = 1.0 / (2.0 * PI);
    vec energy = ALL(0.0), between = ALL(0.0), steepest = ALL(0.0), total = ALL(0.0), shortest = g->norm[0];
    for (ptrdiff_t i = 0; i < n; i++) {
        vec square = ALL(0.0);
        for (ptrdiff_t c = 0; c < d; c++) {
            vec slope = g->to[i * d + c];
            square = FMA(slope, slope, square);
            energy = FMA(slope, g->w[i * d + c], energy);
        }
        for (ptrdiff_t c = 0; c < k; c++) {
            between = FMA(g->sine[pairs + i * k + c], g->norm[i], between);
            between = FMA(g->arc[pairs + i * k + c], g->w[i * d + c], between);
        }
        total += square;
        steepest = -LEAST(-steepest, -square);
        shortest = LEAST(shortest, g->norm[i]);
    }
    vec value = FMA(ALL(0.5 * tau), energy - between, ALL(task->constant));
    vec largest = ALL(tau) * ROOT(steepest), norm = ALL(tau) * ROOT(total);
    for (int l = 0; l < WIDTH; l++) {
        report[0][l] = value[l];
        report[1][l] = largest[l];
        report[2][l] = norm[l];
        report[3][l] = shortest[l];
    }
}
