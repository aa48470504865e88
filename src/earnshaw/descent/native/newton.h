/* Newton's method on a group of WIDTH lanes, for one instruction set; set.h includes this. What it does, and why, stands in
 * descent/newton/polish.py, whose twin it is: conjugate gradients take the steps, Lanczos' method finds the curvature.
 *
 * Along v, with u_i = w_i / r_i, a length changes by e_i = u_i . v_i, a direction by y_i = (v_i - e_i u_i) / r_i, a cosine by
 * b_ij = y_i . u_j + u_i . y_j, p by q = b / s (0 where s is), and s by -c q. With R_i = sum_j s_ij r_j - sum_c s'_ic,
 *
 *     2 pi (H v)_i = sum_j (p_ij v_j + q_ij w_j) + R_i y_i + (sum_j (s_ij e_j - c_ij q_ij r_j) + sum_c c'_ic q'_ic) u_i - sum_c q'_ic e_c .
 */
#define TAU (1.0 / (2.0 * PI))

typedef struct {
    FN(Group) g;
    vec *cosine, *over;                           /* of all pairs, as in g: c and 1 / s */
    vec *ahead, *behind;                          /* (n, 2 d): (y_i, u_i) and (u_i, y_i) */
    vec *bend, *turn, *taught, *stretch, *radial; /* b_ij, q_ij, q'_ic, e_i, and what w_i is multiplied with */
    vec *start, *point, *slope, *step, *rest, *way, *image;
    vec *diagonal, *beside; /* of Lanczos' matrix */
} FN(Newton);

static size_t FN(newton_layout)(const Task *task, const Search *search, FN(Newton) *m, vec *at) {
    size_t n = task->students, k = task->teachers, d = task->dimension, size = n * d, pairs = n * (n - 1) / 2;
    size_t total = FN(layout)(task, &m->g, at);
    vec **parts[] = {&m->cosine, &m->over, &m->ahead, &m->behind, &m->bend, &m->turn, &m->taught, &m->stretch, &m->radial,
                     &m->start,  &m->point, &m->slope, &m->step,  &m->rest, &m->way,  &m->image,  &m->diagonal, &m->beside};
    size_t sizes[] = {pairs, pairs + n * k, 2 * size, 2 * size, pairs, n * n, n * k, n, n,
                      size,  size,          size,     size,     size,  size,  size,  search->lanczos_steps, search->lanczos_steps};
    for (int a = 0; a < 18; a++) {
        *parts[a] = at + total;
        total += sizes[a];
    }
    return total;
}

INLINE int FN(any)(bits some) {
    int found = 0;
    for (int l = 0; l < WIDTH; l++) found |= some[l] != 0;
    return found;
}

static vec FN(dots)(const vec *a, const vec *b, ptrdiff_t size) {
    vec sum[4] = {ALL(0.0), ALL(0.0), ALL(0.0), ALL(0.0)};
    for (ptrdiff_t e = 0; e < size; e += 4)
        for (int c = 0; c < 4 && e + c < size; c++) sum[c] = FMA(a[e + c], b[e + c], sum[c]);
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* Take the point in m->g.w as that where H is. */
static void FN(linearize)(const FN(Newton) *m, ptrdiff_t n, ptrdiff_t k, ptrdiff_t d) {
    const FN(Group) *g = &m->g;
    ptrdiff_t pairs = n * (n - 1) / 2;
    FN(measure)(g, n, k, d);
    for (ptrdiff_t q = 0; q < pairs; q++) m->cosine[q] = g->arc[q];
    FN(force)(g, ALL(0.0), 0, n, k, d);
    for (ptrdiff_t q = 0; q < pairs + n * k; q++) m->over[q] = CHOOSE(g->sine[q] > ALL(0.0), ALL(1.0) / g->sine[q], ALL(0.0));
    for (ptrdiff_t i = 0; i < n; i++) {
        m->turn[i * n + i] = ALL(0.0);
        for (ptrdiff_t c = 0; c < d; c++) m->behind[2 * i * d + c] = m->ahead[(2 * i + 1) * d + c] = g->w[i * d + c] * g->inverse[i];
    }
}

/* Put 2 pi H v into z. */
static __attribute__((noinline)) void FN(product)(const FN(Newton) *m, const vec *v, vec *z, ptrdiff_t n, ptrdiff_t k, ptrdiff_t d) {
    const FN(Group) *g = &m->g;
    const vec *cosine = m->cosine, *sine = g->sine, *over = m->over, *bend = m->bend, *taught = over + n * (n - 1) / 2;
    for (ptrdiff_t i = 0; i < n; i++) {
        const vec *unit = m->behind + 2 * i * d;
        vec along = v[i * d] * unit[0], sum = ALL(0.0);
        for (ptrdiff_t c = 1; c < d; c++) along = FMA(v[i * d + c], unit[c], along);
        for (ptrdiff_t c = 0; c < d; c++) {
            vec y = FMA(-along, unit[c], v[i * d + c]) * g->inverse[i];
            m->ahead[2 * i * d + c] = m->behind[(2 * i + 1) * d + c] = y;
            if (c >= k) continue;
            vec q = y * taught[i * k + c];
            m->taught[i * k + c] = q;
            sum = FMA(unit[c], q, sum);
        }
        m->stretch[i] = along;
        m->radial[i] = FMA(-g->radial[i], along, sum);
    }
    FN(all_products)(m->ahead, m->behind, NULL, m->bend, n, 2 * d);
    for (ptrdiff_t i = 0; i < n; i++) {
        vec sum = m->radial[i];
        for (ptrdiff_t j = i + 1; j < n; j++, cosine++, sine++, over++, bend++) {
            vec q = *bend * *over, bent = *cosine * q;
            m->turn[i * n + j] = m->turn[j * n + i] = q;
            sum = FMA(*sine, m->stretch[j], FMA(-bent, g->norm[j], sum));
            m->radial[j] = FMA(*sine, m->stretch[i], FMA(-bent, g->norm[i], m->radial[j]));
        }
        m->radial[i] = sum * g->inverse[i];
    }
    FN(tiles)(v, g->full, NULL, g->radial, z, NULL, ALL(0.0), n, 0, d);
    FN(tiles)(g->w, m->turn, m->taught, m->radial, z, z, ALL(-1.0), n, k, d);
}

/* Solve H s = -slope for the active lanes, to this square of the residual; say in which all curvature met was positive. */
static bits FN(solve)(const FN(Newton) *m, const Search *search, vec goal, bits active, ptrdiff_t n, ptrdiff_t k, ptrdiff_t d) {
    const ptrdiff_t size = n * d;
    vec square = FN(dots)(m->slope, m->slope, size);
    bits convex = ALL(0.0) == ALL(0.0);
    for (ptrdiff_t e = 0; e < size; e++) {
        m->step[e] = ALL(0.0);
        m->rest[e] = m->way[e] = -m->slope[e];
    }
    active &= square > ALL(0.0);
    for (int64_t count = 0; count < size + search->spare && FN(any)(active); count++) {
        FN(product)(m, m->way, m->image, n, k, d);
        vec curvature = FN(dots)(m->way, m->image, size);
        convex &= (curvature > ALL(0.0)) | ~active;
        bits going = active & convex;
        vec rate = CHOOSE(going, square / CHOOSE(convex, curvature, ALL(1.0)), ALL(0.0));
        for (ptrdiff_t e = 0; e < size; e++) {
            m->step[e] = FMA(rate, m->way[e], m->step[e]);
            m->rest[e] = FMA(-rate, m->image[e], m->rest[e]);
        }
        vec after = FN(dots)(m->rest, m->rest, size), turn = after / CHOOSE(square > ALL(0.0), square, ALL(1.0));
        for (ptrdiff_t e = 0; e < size; e++) m->way[e] = FMA(turn, m->way[e], m->rest[e]);
        square = after;
        active = going & (after > goal);
    }
    return convex;
}

/* Put into ends[0] and ends[1] the smallest and the largest eigenvalue of Lanczos' matrix, by counting signs (Sturm): some
 * rounds with as many shifts at a time as keep the divisions busy. */
static void FN(extremes)(const FN(Newton) *m, ptrdiff_t length, vec *ends) {
    enum { SHIFTS = 4, ROUNDS = 17 }; /* to 5^-17 = 1e-12 of Gershgorin's interval */
    vec low = ALL(INFINITY), high = ALL(-INFINITY), least[2], width[2];
    for (ptrdiff_t t = 0; t < length; t++) {
        vec beside = m->beside[t], before = t ? m->beside[t - 1] : ALL(0.0);
        vec reach = (t + 1 < length ? beside : ALL(0.0)) + before;
        low = LEAST(low, m->diagonal[t] - reach);
        high = -LEAST(-high, -(m->diagonal[t] + reach));
    }
    for (int a = 0; a < 2; a++) {
        least[a] = low;
        width[a] = high - low;
    }
    for (int round = 0; round < ROUNDS; round++) {
        vec shift[2 * SHIFTS], last[2 * SHIFTS], below[2 * SHIFTS];
        for (int a = 0; a < 2; a++) {
            width[a] *= ALL(1.0 / (SHIFTS + 1));
            for (int b = 0; b < SHIFTS; b++) {
                shift[a * SHIFTS + b] = FMA(width[a], ALL(b + 1.0), least[a]);
                last[a * SHIFTS + b] = ALL(1.0);
                below[a * SHIFTS + b] = ALL(0.0);
            }
        }
        for (ptrdiff_t t = 0; t < length; t++) {
            vec square = t ? m->beside[t - 1] * m->beside[t - 1] : ALL(0.0);
            for (int c = 0; c < 2 * SHIFTS; c++) {
                vec now = (m->diagonal[t] - shift[c]) - square / last[c];
                now = CHOOSE(LEAST(now, -now) > ALL(-1e-300), ALL(-1e-300), now);
                below[c] += CHOOSE(now < ALL(0.0), ALL(1.0), ALL(0.0));
                last[c] = now;
            }
        }
        for (int a = 0; a < 2; a++) {
            vec rank = ALL(a ? (double)length : 1.0), steps = ALL(0.0);
            for (int b = 0; b < SHIFTS; b++) steps += CHOOSE(below[a * SHIFTS + b] < rank, ALL(1.0), ALL(0.0));
            least[a] = FMA(width[a], steps, least[a]);
        }
    }
    for (int a = 0; a < 2; a++) ends[a] = FMA(ALL(0.5), width[a], least[a]);
}

/* Put into ends[0] and ends[1] the extreme Ritz values of H in the point in m->g.w. */
static void FN(lanczos)(const FN(Newton) *m, const Search *search, vec *ends, ptrdiff_t n, ptrdiff_t k, ptrdiff_t d) {
    const ptrdiff_t size = n * d, length = search->lanczos_steps < 2 * size ? search->lanczos_steps : 2 * size;
    vec *before = m->step, *vector = m->rest, *image = m->way, beta = ALL(0.0), initial = ALL(0.0);
    bits alive = beta == beta;
    FN(linearize)(m, n, k, d);
    for (ptrdiff_t e = 0; e < size; e++) {
        before[e] = ALL(0.0);
        vector[e] = ALL(search->probe[e]);
    }
    vec inverse = ALL(1.0) / ROOT(FN(dots)(vector, vector, size));
    for (ptrdiff_t e = 0; e < size; e++) vector[e] *= inverse;
    for (ptrdiff_t t = 0; t < length; t++) {
        FN(product)(m, vector, image, n, k, d);
        for (ptrdiff_t e = 0; e < size; e++) image[e] = FMA(-beta, before[e], ALL(TAU) * image[e]);
        vec alpha = FN(dots)(image, vector, size);
        for (ptrdiff_t e = 0; e < size; e++) image[e] = FMA(-alpha, vector[e], image[e]);
        vec after = ROOT(FN(dots)(image, image, size));
        if (!t) initial = alpha;
        m->diagonal[t] = CHOOSE(alive, alpha, initial); /* an invariant subspace is exhausted: a value that is already there */
        alive &= after > ALL(1e-10);
        m->beside[t] = beta = CHOOSE(alive, after, ALL(0.0));
        inverse = CHOOSE(alive, ALL(1.0) / after, ALL(0.0));
        for (ptrdiff_t e = 0; e < size; e++) image[e] *= inverse;
        vec *spare = before;
        before = vector;
        vector = image;
        image = spare;
    }
    FN(extremes)(m, length, ends);
}

/* Return the radius R with R L(R) = smallest about the point in m->g.w, 0 where smallest is not positive; its neurons are as
 * long as g.norm says. L is TwoLayerLandscape.hessian_lipschitz. */
static vec FN(unique_radius)(const FN(Newton) *m, vec smallest, ptrdiff_t n, ptrdiff_t k) {
    const double first = 3 * sqrt(3.0) / (4 * PI), second = 3 * sqrt(n - 1.0) / PI;
    vec radius = ALL(0.0), total = ALL((double)k);
    smallest = CHOOSE(smallest > ALL(0.0), smallest, ALL(0.0));
    for (ptrdiff_t i = 0; i < n; i++) total += m->g.norm[i];
    for (int round = 0; round < 40; round++) {
        vec steepest = ALL(0.0);
        for (ptrdiff_t i = 0; i < n; i++) {
            vec room = m->g.norm[i] - radius, others = FMA(ALL(n - 1.0), radius, total) - m->g.norm[i];
            vec a = ALL(first) * others / (room * room), b = ALL(second) / room;
            vec square = CHOOSE(room > ALL(0.0), FMA(a, a, b * b), ALL(INFINITY));
            steepest = -LEAST(-steepest, -square);
        }
        radius = ALL(0.5) * (radius + smallest / ROOT(steepest));
    }
    return radius;
}

/* Follow Newton's method from the start in m->start; the point where it ends is in m->point, the rest of Polished in found. */
static void FN(descend)(const FN(Newton) *m, const Task *task, const Search *search, const double *length, double found[][WIDTH]) {
    const ptrdiff_t n = task->students, k = task->teachers, d = task->dimension, size = n * d;
    const FN(Group) *g = &m->g;
    for (ptrdiff_t e = 0; e < size; e++) g->w[e] = m->point[e] = m->start[e];
    FN(force)(g, ALL(0.0), 0, n, k, d);
    for (ptrdiff_t e = 0; e < size; e++) m->slope[e] = g->to[e];
    vec norm = ROOT(FN(dots)(m->slope, m->slope, size)), damping = ALL(1.0);
    vec floor = ALL(search->floor / TAU) * (ALL(1.0) + ROOT(FN(dots)(m->start, m->start, size)));
    bits active = norm < ALL(INFINITY), convex = ALL(0.0) == ALL(0.0);
    for (int64_t count = 0; count < search->newton_steps && FN(any)(active); count++) {
        for (ptrdiff_t e = 0; e < size; e++) g->w[e] = m->point[e];
        FN(linearize)(m, n, k, d);
        vec goal = ALL(search->residual * search->residual) * FN(dots)(m->slope, m->slope, size);
        bits solved = FN(solve)(m, search, goal, active, n, k, d);
        for (ptrdiff_t e = 0; e < size; e++) g->w[e] = FMA(damping, m->step[e], m->point[e]);
        FN(force)(g, ALL(0.0), 0, n, k, d);
        vec trial = ROOT(FN(dots)(g->to, g->to, size));
        convex &= solved | ~active;
        bits better = active & convex & (trial < norm);
        active &= ((better & (trial < ALL(0.9) * norm)) | (norm > floor)) & convex;
        for (ptrdiff_t e = 0; e < size; e++) {
            m->point[e] = CHOOSE(better, g->w[e], m->point[e]);
            m->slope[e] = CHOOSE(better, g->to[e], m->slope[e]);
        }
        damping = CHOOSE(better, LEAST(ALL(1.0), ALL(4.0) * damping), ALL(0.25) * damping);
        norm = CHOOSE(better, trial, norm);
    }
    convex &= norm <= floor;
    for (ptrdiff_t e = 0; e < size; e++) {
        g->w[e] = m->point[e];
        m->step[e] = m->point[e] - m->start[e];
    }
    vec distance = ROOT(FN(dots)(m->step, m->step, size)), none = ALL(NAN), ends[2] = {none, none};
    double report[4][WIDTH];
    FN(force)(g, ALL(0.0), 0, n, k, d);
    FN(look)(g, task, report);
    if (FN(any)(convex)) FN(lanczos)(m, search, ends, n, k, d);
    vec smallest = CHOOSE(convex, ends[0], none), largest = CHOOSE(convex, ends[1], none);
    vec radius = FN(unique_radius)(m, ALL(search->contraction) * smallest, n, k), wait, reach = distance / (ALL(search->ball) * radius);
    for (int l = 0; l < WIDTH; l++) wait[l] = log(reach[l]) / (length[l] * smallest[l]);
    bits far = convex & (smallest > ALL(0.0)) & ~(wait <= ALL(search->long_wait));
    ends[0] = none;
    if (FN(any)(far)) {
        for (ptrdiff_t e = 0; e < size; e++) g->w[e] = m->start[e];
        FN(lanczos)(m, search, ends, n, k, d);
    }
    vec at_start = CHOOSE(far, ends[0], none);
    for (int l = 0; l < WIDTH; l++) {
        double some[] = {report[0][l], TAU * norm[l], convex[l] ? 1.0 : 0.0, smallest[l], largest[l], at_start[l], radius[l], distance[l], wait[l]};
        for (int a = 0; a < FOUND; a++) found[a][l] = some[a];
    }
}

/* Replace points by where Newton's method leads from them, and say of each what Polished holds. */
static int64_t FN(polish)(const Task *task, const Search *search, int64_t count, double *points, const double *lengths, double *found) {
    const ptrdiff_t size = task->students * task->dimension;
    FN(Newton) m;
    void *memory;
    if (posix_memalign(&memory, 64, sizeof(vec) * FN(newton_layout)(task, search, &m, NULL))) return -1;
    FN(newton_layout)(task, search, &m, memory);
    for (int64_t first = 0; first < count; first += WIDTH) {
        double length[WIDTH], ends[FOUND][WIDTH];
        for (int l = 0; l < WIDTH; l++) { /* the first again, where there are no more */
            int64_t lane = first + l < count ? first + l : first;
            length[l] = lengths[lane];
            for (ptrdiff_t e = 0; e < size; e++) m.start[e][l] = points[lane * size + e];
        }
        FN(descend)(&m, task, search, length, ends);
        for (int64_t l = 0; l < WIDTH && first + l < count; l++) {
            for (int a = 0; a < FOUND; a++) found[(first + l) * FOUND + a] = ends[a][l];
            for (ptrdiff_t e = 0; e < size; e++) points[(first + l) * size + e] = m.point[e][l];
        }
    }
    free(memory);
    return count;
}
#undef TAU
