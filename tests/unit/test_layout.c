/* SPDX-License-Identifier: Apache-2.0
 *
 * layout: strides of dense arrays; the cut of domains into leaves: every iteration in exactly one, in order.
 */
#include "../unit/unit.h"
#include "layout/layout.h"

static void test_dense(void) {
    int64_t strides[PS_MAX_AXES], bytes;
    REQUIRE(ps_layout_dense(3, (int64_t[]){2, 3, 5}, 4, strides, &bytes));
    CHECK_INT(strides[0], 60);
    CHECK_INT(strides[1], 20);
    CHECK_INT(strides[2], 4);
    CHECK_INT(bytes, 120);
    CHECK(ps_layout_dense(0, NULL, 8, strides, &bytes));
    CHECK_INT(bytes, 8);
    CHECK(ps_layout_dense(2, (int64_t[]){3, 0}, 8, strides, &bytes));
    CHECK_INT(bytes, 0);
    CHECK(!ps_layout_dense(1, (int64_t[]){-1}, 8, strides, &bytes));
    CHECK(!ps_layout_dense(2, (int64_t[]){(int64_t)1 << 40, (int64_t)1 << 30}, 1, strides, &bytes));
    CHECK(!ps_layout_dense(PS_MAX_AXES + 1, NULL, 8, strides, &bytes));
}

static PsParfor domain(int64_t rows, int64_t row_len, int64_t grain) {
    return (PsParfor){.ndim = 2, .grain = grain, .lo = {-5, 7}, .hi = {rows - 5, row_len + 7}};
}

/* Each leaf follows the one before: rows whole, or one row piece by piece. */
static bool leaves_cover(const PsParfor *p) {
    int64_t row = 0, col = 0;
    for (int64_t i = 0; i < p->leaves; i++) {
        PsLeaf leaf = ps_layout_leaf(p, i);
        if (leaf.row_lo != row || leaf.col_lo != col || leaf.row_hi <= row || leaf.col_hi <= col) return false;
        if (leaf.col_lo % PS_STRIPES) return false;
        bool whole = leaf.col_lo == 0 && leaf.col_hi == p->row_len;
        if (!whole && leaf.row_hi != leaf.row_lo + 1) return false;
        col = leaf.col_hi == p->row_len ? 0 : leaf.col_hi;
        row = leaf.col_hi == p->row_len ? leaf.row_hi : row;
    }
    return col == 0 && row == p->rows;
}

static void test_cut(void) {
    static const int64_t sizes[] = {1,    2,    3,    63,   64,   65,    100,    1000,
                                    2047, 2048, 2049, 4095, 4097, 65536, 1000003};
    static const int64_t grains[] = {INT64_MIN, 0, 1, 64, 1000, 100000, INT64_MAX};
    int32_t axis;
    bool good = true;
    for (size_t i = 0; i < PS_COUNT(sizes); i++) {
        for (size_t k = 0; k < PS_COUNT(sizes); k++) {
            for (size_t g = 0; g < PS_COUNT(grains); g++) {
                PsParfor p = domain(sizes[i], sizes[k], grains[g]);
                good &= ps_layout_cut(&p, &axis) && p.leaves >= 1 && p.leaves <= PS_MAX_LEAVES;
                good &= p.rows == sizes[i] && p.row_len == sizes[k] && leaves_cover(&p);
            }
        }
    }
    CHECK(good);
}

/* The cut is part of what a float sum means: these figures do not change. */
static void test_cut_is_fixed(void) {
    int32_t axis;
    PsParfor p = domain(1, 1000000, 0);
    REQUIRE(ps_layout_cut(&p, &axis));
    CHECK_INT(p.piece_len, 512);
    CHECK_INT(p.pieces, 1954);
    CHECK_INT(p.leaves, 1954);
    p = domain(1080, 1920, 10000);
    REQUIRE(ps_layout_cut(&p, &axis));
    CHECK_INT(p.rows_per_leaf, 6);
    CHECK_INT(p.pieces, 1);
    CHECK_INT(p.piece_len, 1920);
    CHECK_INT(p.leaves, 180);
    p = domain(3, 50, 20);
    REQUIRE(ps_layout_cut(&p, &axis));
    CHECK_INT(p.piece_len, 50);
    CHECK_INT(p.leaves, 3);
}

static void test_limits(void) {
    int32_t axis;
    PsParfor p = {.ndim = 2, .lo = {0, 0}, .hi = {4, PS_INDEX_LIMIT + 1}};
    CHECK(!ps_layout_cut(&p, &axis));
    CHECK_INT(axis, 1);
    p = (PsParfor){.ndim = 2, .lo = {-PS_INDEX_LIMIT - 1, 0}, .hi = {4, 4}};
    CHECK(!ps_layout_cut(&p, &axis));
    CHECK_INT(axis, 0);
    p = (PsParfor){.ndim = 2, .lo = {-PS_INDEX_LIMIT, 0}, .hi = {PS_INDEX_LIMIT, 4}};
    CHECK(ps_layout_cut(&p, &axis));
    CHECK(p.leaves > 0 && p.leaves <= PS_MAX_LEAVES && leaves_cover(&p));
    p = (PsParfor){.ndim = 2, .lo = {INT64_MAX, 0}, .hi = {INT64_MIN, 4}};
    CHECK(ps_layout_cut(&p, &axis));
    CHECK_INT(p.leaves, 0);
    p = (PsParfor){.ndim = 3, .hi = {4, 0, 4}};
    CHECK(ps_layout_cut(&p, &axis));
    CHECK_INT(p.leaves, 0);
    p = (PsParfor){.ndim = 3, .hi = {1 << 30, 1 << 30, 1 << 30}};
    CHECK(!ps_layout_cut(&p, &axis));
    p = (PsParfor){.ndim = 0};
    CHECK(!ps_layout_cut(&p, &axis));
}

int main(void) {
    RUN(test_dense);
    RUN(test_cut);
    RUN(test_cut_is_fixed);
    RUN(test_limits);
    return unit_result();
}
