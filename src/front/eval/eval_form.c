/* SPDX-License-Identifier: Apache-2.0
 *
 * Forms: what an annotation says of values that pass between a kernel and its caller as words of the frame.
 */
#include "front/eval/build.h"

typedef PsVec(PsForm) Nodes;

typedef struct Reader {
    PsArena *arena;
    const PsFrontTypes *types;
    const PsFrontOptions *options;
    Nodes nodes;
    int depth;
    bool too_large;
} Reader;

#define MAX_DEPTH 32

static bool read_node(Reader *r, PyObject *annotation);

/* The parts of a node that was added last but one. */
static bool read_parts(Reader *r, PyObject *tuple, PsForm node) {
    uint32_t at = r->nodes.len, words = 0;
    node.parts = (uint32_t)PyTuple_GET_SIZE(tuple);
    if (++r->depth > MAX_DEPTH || !ps_vec_push(r->arena, &r->nodes, node)) return false;
    for (uint32_t i = 0; i < node.parts; i++) {
        uint32_t part = r->nodes.len;
        if (!read_node(r, PyTuple_GET_ITEM(tuple, i))) return false;
        words += r->nodes.data[part].words;
        if (words > PS_FORM_WORDS) return r->too_large = true, false;
    }
    r->depth--;
    r->nodes.data[at].words = words;
    r->nodes.data[at].nodes = r->nodes.len - at;
    return true;
}

/* tuple[f32, vec3], typing.Tuple[...]: its arguments, a new reference; NULL: it is none. */
static PyObject *tuple_arguments(PyObject *annotation) {
    if (PyTuple_Check(annotation)) return Py_NewRef(annotation);
    PyObject *origin = PyObject_GetAttrString(annotation, "__origin__");
    PyObject *args =
        origin == (PyObject *)&PyTuple_Type ? PyObject_GetAttrString(annotation, "__args__") : NULL;
    if (args && !PyTuple_Check(args)) Py_CLEAR(args);
    Py_XDECREF(origin);
    PyErr_Clear();
    return args;
}

static bool read_matrix(Reader *r, const PsMatrixTypeObject *type) {
    PsForm node = {.kind = PS_FORM_MATRIX, .ndim = type->ndim, .n = type->n, .m = type->m, .nodes = 1};
    node.elem = ps_front_dtype(r->types, r->options, type->dtype);
    node.words = (uint32_t)type->n * (uint32_t)type->m;
    if (node.words > PS_FORM_WORDS) return r->too_large = true, false;
    return node.elem && ps_vec_push(r->arena, &r->nodes, node);
}

static bool read_node(Reader *r, PyObject *annotation) {
    annotation = ps_front_annotation(r->types, annotation);
    PsForm node = {.kind = PS_FORM_SCALAR, .nodes = 1, .words = 1};
    if (Py_IS_TYPE(annotation, r->types->matrix_type)) return read_matrix(r, (PsMatrixTypeObject *)annotation);
    if (Py_IS_TYPE(annotation, r->types->struct_type)) {
        node = (PsForm){.kind = PS_FORM_STRUCT, .type = annotation};
        return read_parts(r, ((PsStructTypeObject *)annotation)->types, node);
    }
    node.elem = ps_front_dtype(r->types, r->options, annotation);
    if (node.elem) return ps_vec_push(r->arena, &r->nodes, node);
    PyObject *parts = tuple_arguments(annotation);
    node = (PsForm){.kind = PS_FORM_TUPLE};
    bool known = parts && PyTuple_GET_SIZE(parts) && read_parts(r, parts, node);
    Py_XDECREF(parts);
    return known;
}

PsForm *ps_form_read(PsArena *arena, const PsFrontTypes *types, const PsFrontOptions *options,
                     PyObject *annotation, bool *too_large) {
    Reader r = {.arena = arena, .types = types, .options = options};
    bool known = read_node(&r, annotation);
    *too_large = r.too_large;
    return known ? r.nodes.data : NULL;
}

bool ps_form_known(const PsFrontTypes *types, PyObject *annotation) {
    return Py_IS_TYPE(annotation, types->matrix_type) || Py_IS_TYPE(annotation, types->struct_type);
}

/* -- types made by C -- */

PyObject *ps_matrix_type_new(const PsFrontTypes *types, int ndim, int64_t n, int64_t m, PyObject *dtype) {
    PsMatrixTypeObject *self = (PsMatrixTypeObject *)types->matrix_type->tp_alloc(types->matrix_type, 0);
    if (!self) return NULL;
    self->dtype = Py_NewRef(dtype);
    self->ndim = ndim;
    self->n = (int32_t)n;
    self->m = (int32_t)m;
    return (PyObject *)self;
}

PyObject *ps_struct_type_new(const PsFrontTypes *types, PyObject *name, PyObject *members,
                             PyObject *member_types, PyObject *methods) {
    PsStructTypeObject *self = (PsStructTypeObject *)types->struct_type->tp_alloc(types->struct_type, 0);
    if (!self) return NULL;
    self->name = Py_XNewRef(name);
    self->members = Py_NewRef(members);
    self->types = Py_NewRef(member_types);
    self->methods = Py_XNewRef(methods);
    return (PyObject *)self;
}

bool ps_struct_stands_for(const PsFrontTypes *types, const PsStructTypeObject *type,
                          const PsStructTypeObject *found) {
    PyObject *first = PyTuple_GET_SIZE(type->types) ? PyTuple_GET_ITEM(type->types, 0) : NULL;
    if (!first || !Py_IS_TYPE(first, types->struct_type) || found == type) return true;
    if (found == (PsStructTypeObject *)first) return false;
    int same = PyObject_RichCompareBool(found->members, type->members, Py_EQ);
    return same == 1;
}
