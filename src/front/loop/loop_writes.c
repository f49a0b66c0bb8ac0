/* SPDX-License-Identifier: Apache-2.0
 *
 * Which array parameters a kernel writes, found in the finished IR: a store or atomic whose place is of the parameter,
 * directly or in a func that got the array or the place as an argument. Funcs may call each other in circles, so the search repeats until
 * nothing changes.
 */
#include "front/loop/loop_int.h"

#include <string.h>

/* The parameter number behind a place or array of a function; -1: a local. */
static int64_t parameter_of(const PsFunc *f, PsRef ref) {
    const PsOp *op = ps_op(f, ps_place_root(f, ref));
    if (op->code == PS_OP_PLACE) op = ps_op(f, f->args.data[op->args]);
    return op->code == PS_OP_ARG ? (int64_t)op->imm : -1;
}

static bool mark(bool *writes, int64_t param) {
    if (param < 0 || writes[param]) return false;
    return writes[param] = true;
}

static bool scan(const PsModule *m, const PsFunc *f, bool *const *writes, bool *own) {
    bool changed = false;
    for (PsRef r = ps_walk_first(f); r; r = ps_walk_next(f, r)) {
        const PsOp *op = ps_op(f, r);
        if (ps_op_info[op->code].effect == PS_EFFECT_WRITE && op->nargs)
            changed |= mark(own, parameter_of(f, ps_op_arg(f, r, 0)));
        if (op->code != PS_OP_CALL || op->imm >= m->funcs.len) continue;
        for (uint32_t i = 0; i < op->nargs; i++)
            if (writes[op->imm][i]) changed |= mark(own, parameter_of(f, ps_op_arg(f, r, i)));
    }
    return changed;
}

/* Of a parameter whose first one in main is number *at, which goes on behind it. */
static bool writes_param(const PsFrontTypes *types, const PsParam *param, const bool *writes, uint32_t *at) {
    bool array = param->kind == PS_PARAM_ARRAY || param->kind == PS_PARAM_FIELD;
    if (param->kind == PS_PARAM_TEMPLATE || param->kind == PS_PARAM_OBJECT) return false;
    uint32_t first = *at;
    *at += param->kind == PS_PARAM_VALUE     ? param->form->words
           : param->kind == PS_PARAM_STRUCTS ? ps_structs_leaves(types, param->value)
                                             : 1;
    return array && writes[first];
}

PsStatus loop_find_writes(const PsFrontTypes *types, PsModule *m, const PsParam *params, uint32_t nparams,
                          PsBuild *out) {
    bool **writes = ps_arena_alloc(m->arena, sizeof *writes * (m->funcs.len + 1)), changed = true;
    if (!writes) return PS_NOMEM;
    for (uint32_t i = 0; i < m->funcs.len; i++)
        if (!(writes[i] = ps_arena_alloc(m->arena, m->funcs.data[i]->params.len + 1))) return PS_NOMEM;
    while (changed) {
        changed = false;
        for (uint32_t i = m->funcs.len; i-- > 0;) changed |= scan(m, m->funcs.data[i], writes, writes[i]);
    }
    uint32_t at = 0;
    for (uint32_t i = 0; i < nparams; i++) out->writes[i] = writes_param(types, &params[i], writes[0], &at);
    at += out->nfields;
    for (uint32_t i = 0; i < out->nmembers; i++) {
        PsMember *member = &out->members[i];
        member->writes = member->used && writes_param(types, &member->param, writes[0], &at);
    }
    return PS_OK;
}
