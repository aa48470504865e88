/* Lanes on their way, for one instruction set; set.h includes this. */

/* Move the listed lanes, as many at a time as a vector holds; a lane that wakes makes room for the next. */
static int64_t FN(run)(const Task *task, const Book *book, int64_t count, const int64_t *lanes) {
    const ptrdiff_t n = task->students, k = task->teachers, d = task->dimension, size = n * d;
    FN(Group) g;
    void *memory;
    if (posix_memalign(&memory, 64, sizeof(vec) * FN(layout)(task, &g, NULL))) return -1;
    FN(layout)(task, &g, memory);
    int64_t lane[WIDTH], next = 0, taken = 0, left = task->budget;
    int active = 0, waked = 0, fresh = 1;
    vec rate = ALL(0.0);
    for (int l = 0; l < WIDTH; l++) lane[l] = -1;
    for (ptrdiff_t e = 0; e < size; e++) g.w[e] = ALL(1.0); /* in slots that stay empty */
    for (;;) {
        if (!fresh) { /* look at those whose steps are due */
            double report[4][WIDTH];
            FN(force)(&g, rate, 0, n, k, d);
            FN(look)(&g, task, report);
            for (int l = 0; l < WIDTH; l++) {
                if (lane[l] < 0) continue;
                int64_t steps = book->steps[lane[l]];
                double value = report[0][l], steepest = report[1][l];
                int slow = steepest <= task->slow;
                int lost = !isfinite(value) || !isfinite(report[2][l]) || steepest > task->steep;
                int wakes = lost || value < task->low || report[3][l] < task->dead || steepest <= task->still ||
                            steps >= task->max_steps || (slow && (steps >= book->due[lane[l]] || steps % task->creep == 0));
                if ((steps % task->every && steps < task->max_steps) || !wakes) continue;
                for (int a = 0; a < 4; a++) book->report[4 * lane[l] + a] = report[a][l];
                book->woken[lane[l]] = 1;
                waked = 1;
                fresh = 1;
            }
        }
        for (int l = 0; l < WIDTH; l++) { /* write back who woke, take in who waits */
            if (lane[l] >= 0 && book->woken[lane[l]]) {
                for (ptrdiff_t e = 0; e < size; e++) book->points[lane[l] * size + e] = g.w[e][l];
                lane[l] = -1;
                active--;
            }
            if (lane[l] < 0 && next < count) {
                lane[l] = lanes[next++];
                active++;
                for (ptrdiff_t e = 0; e < size; e++) g.w[e][l] = book->points[lane[l] * size + e];
                rate[l] = book->length[lane[l]] * (1.0 / (2.0 * PI));
            }
        }
        if (!active || left <= 0 || (waked && active < WIDTH)) break;
        if (fresh) FN(force)(&g, rate, 0, n, k, d);
        fresh = 0;
        for (ptrdiff_t e = 0; e < size; e++) g.w[e] = FMA(-rate, g.to[e], g.w[e]);
        for (int64_t t = 1; t < task->stride; t++) {
            FN(force)(&g, rate, 1, n, k, d);
            vec *after = g.to;
            g.to = g.w;
            g.w = after;
        }
        for (int l = 0; l < WIDTH; l++)
            if (lane[l] >= 0) book->steps[lane[l]] += task->stride;
        taken += active * task->stride;
        left -= task->stride;
    }
    for (int l = 0; l < WIDTH; l++)
        if (lane[l] >= 0)
            for (ptrdiff_t e = 0; e < size; e++) book->points[lane[l] * size + e] = g.w[e][l];
    free(memory);
    return taken;
}
