/* SPDX-License-Identifier: Apache-2.0
 *
 * The loops of hard.py by hand, each as an expert of its kind would write it; measure.py builds it as native.c.
 *     search     without branches, 8 queries in step, so that their cache misses overlap
 *     histogram  four tables a thread, added up in the end
 *     rows       a row at a time, the compiler's vectors along it
 *     heat       the compiler's vectors along the last axis
 *     svd        one-sided Jacobi, LANES matrices in step, a fixed number of sweeps, no branch
 */
#include <math.h>
#include <string.h>

#define PAR   _Pragma("omp parallel for schedule(static)")
#define STEP  8
#define BINS  256
#define LANES 8
typedef float vf __attribute__((vector_size(4 * LANES)));
typedef int vi __attribute__((vector_size(4 * LANES)));

void search(const float *restrict table, const float *restrict queries, int *restrict out, long size, long n) {
    PAR for (long i = 0; i < n; i += STEP) {
        int low[STEP] = {0};
        long left = size;
        while (left > 1) {
            long half = left / 2;
            for (int l = 0; l < STEP; l++) low[l] += table[low[l] + half - 1] < queries[i + l] ? (int)half : 0;
            left -= half;
        }
        for (int l = 0; l < STEP; l++) out[i + l] = low[l] + (table[low[l]] < queries[i + l]);
    }
}

void histogram(const int *restrict values, int *restrict bins, long n) {
#pragma omp parallel
    {
        int own[4][BINS] = {0};
#pragma omp for schedule(static) nowait
        for (long i = 0; i < n; i += 4)
            for (int l = 0; l < 4; l++) own[l][values[i + l]]++;
#pragma omp critical
        for (int b = 0; b < BINS; b++) bins[b] += own[0][b] + own[1][b] + own[2][b] + own[3][b];
    }
}

void rows(const int *restrict start, const int *restrict column, const float *restrict value,
          const float *restrict x, float *restrict y, long n) {
    PAR for (long r = 0; r < n; r++) {
        float s = 0;
        for (int k = start[r]; k < start[r + 1]; k++) s += value[k] * x[column[k]];
        y[r] = s;
    }
}

void heat(const double *restrict u, double *restrict v, double c, long n) {
    PAR for (long i = 1; i < n - 1; i++) for (long j = 1; j < n - 1; j++) {
        const double *at = u + (i * n + j) * n;
        for (long k = 1; k < n - 1; k++)
            v[(i * n + j) * n + k] = at[k] + c * (at[k - n * n] + at[k + n * n] + at[k - n] + at[k + n] +
                                                  at[k - 1] + at[k + 1] - 6.0 * at[k]);
    }
}

/* -- svd -- */

static vf root(vf x) {
    for (int l = 0; l < LANES; l++) x[l] = sqrtf(x[l]);
    return x;
}

static vf choose(vi mask, vf a, vf b) { return (vf)(((vi)a & mask) | ((vi)b & ~mask)); }

static vf magnitude(vf x) { return choose(x < 0, -x, x); }

static void turn(vf *x, vf *y, vf c, vf s) {
    for (int k = 0; k < 3; k++) {
        vf a = x[k], b = y[k];
        x[k] = c * a - s * b;
        y[k] = s * a + c * b;
    }
}

static vf dot(const vf *x, const vf *y) { return x[0] * y[0] + x[1] * y[1] + x[2] * y[2]; }

static void make_perpendicular(vf *x, vf *y, vf *vx, vf *vy) {
    vf a = dot(x, x), b = dot(y, y), c = dot(x, y), zero = {0};
    vi done = magnitude(c) <= 6e-8f * root(a * b);
    vf zeta = (b - a) / (2.0f * choose(done, zero + 1.0f, c));
    vf t = 1.0f / (magnitude(zeta) + root(1.0f + zeta * zeta));
    t = choose(done, zero, choose(zeta < 0, -t, t));
    vf cosine = 1.0f / root(1.0f + t * t);
    turn(x, y, cosine, cosine * t);
    turn(vx, vy, cosine, cosine * t);
}

static void order(vf *x, vf *y, vf *vx, vf *vy) {
    vi wrong = dot(x, x) < dot(y, y);
    for (int k = 0; k < 3; k++) {
        vf a = x[k], b = y[k];
        x[k] = choose(wrong, b, a), y[k] = choose(wrong, -a, b);
        a = vx[k], b = vy[k];
        vx[k] = choose(wrong, b, a), vy[k] = choose(wrong, -a, b);
    }
}

static void decompose(vf w[3][3], vf v[3][3], vf u[3][3], vf s[3]) {
    for (int sweep = 0; sweep < 4; sweep++) {
        make_perpendicular(w[0], w[1], v[0], v[1]);
        make_perpendicular(w[0], w[2], v[0], v[2]);
        make_perpendicular(w[1], w[2], v[1], v[2]);
    }
    order(w[0], w[1], v[0], v[1]);
    order(w[1], w[2], v[1], v[2]);
    order(w[0], w[1], v[0], v[1]);
    for (int r = 0; r < 2; r++) {
        s[r] = root(dot(w[r], w[r]));
        for (int k = 0; k < 3; k++) u[r][k] = w[r][k] / s[r];
    }
    for (int k = 0; k < 3; k++)
        u[2][k] = u[0][(k + 1) % 3] * u[1][(k + 2) % 3] - u[0][(k + 2) % 3] * u[1][(k + 1) % 3];
    s[2] = dot(w[2], u[2]);
}

void svd(const float *restrict a, float *restrict u, float *restrict s, float *restrict v, long n) {
    PAR for (long i = 0; i < n; i += LANES) {
        vf w[3][3], right[3][3], left[3][3], values[3];
        memset(right, 0, sizeof right);
        for (int k = 0; k < 3; k++) right[k][k] = right[k][k] + 1.0f;
        for (int r = 0; r < 3; r++)
            for (int k = 0; k < 3; k++)
                for (int l = 0; l < LANES; l++) w[r][k][l] = a[9 * (i + l) + 3 * k + r];
        decompose(w, right, left, values);
        for (int r = 0; r < 3; r++)
            for (int l = 0; l < LANES; l++) {
                s[3 * (i + l) + r] = values[r][l];
                for (int k = 0; k < 3; k++) {
                    u[9 * (i + l) + 3 * k + r] = left[r][k][l];
                    v[9 * (i + l) + 3 * k + r] = right[r][k][l];
                }
            }
    }
}
