/* SPDX-License-Identifier: Apache-2.0
 *
 * The benchmark's loops by hand: the limit on this machine. measure.py builds it with
 *     gcc -O3 -march=native -ffast-math -fopenmp -shared -fPIC native.c -o native.so -lm
 */
#include <math.h>
#include <stddef.h>

#define PAR   _Pragma("omp parallel for schedule(static)")
#define LANES 16
typedef float vfloat __attribute__((vector_size(4 * LANES)));
typedef int vint __attribute__((vector_size(4 * LANES)));

void saxpy(const float *restrict x, float *restrict y, float a, long n) {
    PAR for (long i = 0; i < n; i++) y[i] += a * x[i];
}

void triad(const float *restrict x, const float *restrict y, float *restrict z, float a, long n) {
    PAR for (long i = 0; i < n; i++) z[i] = x[i] + a * y[i];
}

float total(const float *x, long n) {
    float s = 0;
#pragma omp parallel for reduction(+ : s)
    for (long i = 0; i < n; i++) s += x[i];
    return s;
}

void expmap(const float *restrict x, float *restrict y, long n) {
    PAR for (long i = 0; i < n; i++) y[i] = expf(x[i]) * sinf(x[i]) + sqrtf(fabsf(x[i]));
}

void jacobi(const float *restrict u, float *restrict v, long h, long w) {
    PAR for (long i = 1; i < h - 1; i++) {
        for (long j = 1; j < w - 1; j++)
            v[i * w + j] =
                0.25f * (u[(i - 1) * w + j] + u[(i + 1) * w + j] + u[i * w + j - 1] + u[i * w + j + 1]);
    }
}

void stencil(const float *restrict u, float *restrict v, float dt, long h, long w) {
    PAR for (long i = 1; i < h - 1; i++) {
        for (long j = 1; j < w - 1; j++) {
            float c = u[i * w + j];
            float lap =
                u[(i - 1) * w + j] + u[(i + 1) * w + j] + u[i * w + j - 1] + u[i * w + j + 1] - 4.0f * c;
            float g = expf(-lap * lap);
            v[i * w + j] = c > 0.5f ? c + dt * g * lap : c + dt * lap / (1.0f + fabsf(lap));
        }
    }
}

static int any(vint mask) {
    int found = 0;
    for (int l = 0; l < LANES; l++) found |= mask[l];
    return found;
}

void mandel(float *out, int iters, long h, long w) {
#pragma omp parallel for schedule(dynamic, 8)
    for (long i = 0; i < h; i++) {
        for (long j = 0; j < w; j += LANES) {
            vfloat lane, x = {0}, y = {0};
            for (int l = 0; l < LANES; l++) lane[l] = (float)(j + l);
            vfloat cx = -2.0f + 3.0f * lane / (float)w;
            float cy = -1.5f + 3.0f * (float)i / (float)h;
            vint n = {0};
            for (int k = 0; k < iters; k++) {
                vint live = x * x + y * y < 4.0f;
                if (!any(live)) break;
                vfloat t = x * x - y * y + cx;
                y = 2.0f * x * y + cy;
                x = t;
                n -= live;
            }
            for (int l = 0; l < LANES; l++) out[i * w + j + l] = (float)n[l];
        }
    }
}

void nbody(const float *restrict p, float *restrict a, long n) {
    static float X[1 << 16], Y[1 << 16], Z[1 << 16];
    for (long i = 0; i < n; i++) X[i] = p[3 * i], Y[i] = p[3 * i + 1], Z[i] = p[3 * i + 2];
    PAR for (long i = 0; i < n; i++) {
        float ax = 0, ay = 0, az = 0, xi = X[i], yi = Y[i], zi = Z[i];
        for (long j = 0; j < n; j++) {
            float dx = X[j] - xi, dy = Y[j] - yi, dz = Z[j] - zi;
            float r2 = dx * dx + dy * dy + dz * dz + 1e-4f, inv = 1.0f / (r2 * sqrtf(r2));
            ax += dx * inv, ay += dy * inv, az += dz * inv;
        }
        a[3 * i] = ax, a[3 * i + 1] = ay, a[3 * i + 2] = az;
    }
}
