/* SPDX-License-Identifier: Apache-2.0
 *
 * Proxies: a runtime value as Python code sees it while a kernel is being built: an undecorated helper, a lambda, the
 * elements of a list. Operators on it add ops to the kernel at the place that called. A proxy knows when its build has
 * ended and when the block that computed its value has; using it then raises.
 *
 * Not here: what the operators mean. That is the language's table of rules.
 */
#include "front/eval/build.h"

#include "front/eval/eval_objects.h"

typedef struct ProxyObject {
    PyObject_HEAD PsFrontToken *token;
    PsFunc *ir; /* the function its value belongs to */
    PsValue value;
} ProxyObject;

/* Proxies are recognised by their deallocator: their type is per module. */
static void Proxy_dealloc(PyObject *object);
static bool is_proxy(PyObject *object) { return Py_TYPE(object)->tp_dealloc == Proxy_dealloc; }

bool ps_proxy_check(const PsFront *front, PyObject *object) { return Py_IS_TYPE(object, front->types->proxy); }

PyObject *ps_proxy_new(PsFront *front, const PsValue *value) {
    PyTypeObject *type = front->types->proxy;
    ProxyObject *self = (ProxyObject *)type->tp_alloc(type, 0);
    if (!self) return NULL;
    self->token = front->token;
    self->token->refs++;
    self->ir = front->b.func;
    self->value = *value;
    return (PyObject *)self;
}

static void Proxy_dealloc(PyObject *object) {
    ProxyObject *self = (ProxyObject *)object;
    PyTypeObject *type = Py_TYPE(object);
    if (self->token && --self->token->refs == 0) ps_free(self->token);
    type->tp_free(object);
    Py_DECREF(type);
}

/* -- validity -- */

static PsRegion region_of(const PsFunc *f, PsRef ref) {
    const PsOp *op = ps_op(f, ref);
    return op->code == PS_OP_PARAM ? op->region0 : op->region;
}

/* Whether what region `inner` computes may use a value of region `outer`. */
static bool region_sees(const PsFunc *f, PsRegion inner, PsRegion outer) {
    while (inner != outer) {
        PsRef owner = ps_region(f, inner)->owner;
        if (!owner) return false;
        inner = ps_op(f, owner)->region;
    }
    return true;
}

static bool in_reach(const PsFront *front, const PsValue *value) {
    switch ((PsValueKind)value->kind) {
    case PS_VALUE_PARTS:
    case PS_VALUE_STRUCT:
    case PS_VALUE_STRUCTS:
    case PS_VALUE_TEXT:
        for (uint32_t i = 0; i < value->count; i++)
            if (!in_reach(front, &value->items[i])) return false;
        return true;
    case PS_VALUE_METHOD: return in_reach(front, &value->items[0]);
    default:
        if (!ps_value_is_runtime(value)) return true;
    }
    return region_sees(front->b.func, front->b.region, region_of(front->b.func, value->ref));
}

PsStatus ps_proxy_value(PsFront *front, PyObject *object, PsValue *out) {
    ProxyObject *self = (ProxyObject *)object;
    if (self->token->front != front) return PS_FRONT_FAIL(front, FRONT_PROXY_DEAD);
    if (self->ir != front->b.func) return PS_FRONT_FAIL(front, FRONT_PROXY_FUNC);
    if (!in_reach(front, &self->value)) return PS_FRONT_FAIL(front, FRONT_PROXY_BLOCK);
    *out = self->value;
    return PS_OK;
}

/* -- from Python code -- */

static PyObject *raise_dead(void) {
    PyErr_SetString(PyExc_RuntimeError, ps_message_text(PS_MSG_FRONT_PROXY_DEAD));
    return NULL;
}

/* A message of ours as a Python exception, so that the Python code between unwinds. The builder finds the message
 * in the diag again. */
static PyObject *raise_diag(PsFront *front, PsStatus status) {
    if (status == PS_NOMEM) return PyErr_NoMemory();
    if (status == PS_PYERR) return NULL;
    const PsMessage *message = &front->diag->message;
    PyObject *class = front->types->errors[message->kind];
    PyErr_SetString(class ? class : PyExc_TypeError, message->text ? message->text : "compilation failed");
    return NULL;
}

static PyObject *result(PsFront *front, PsStatus status, const PsValue *value) {
    return status ? raise_diag(front, status) : ps_value_object(front, value);
}

static PsFront *front_of(PyObject *a, PyObject *b) {
    PyObject *proxy = is_proxy(a) ? a : b;
    return ((ProxyObject *)proxy)->token->front;
}

static PsStatus operand(PsFront *front, PyObject *object, PsValue *out) {
    return ps_value_take(front, Py_NewRef(object), out);
}

static PyObject *binary(PsAstOp op, PyObject *a, PyObject *b) {
    PsFront *front = front_of(a, b);
    PsValue left, right, value = {0};
    if (!front) return raise_dead();
    PsStatus status = operand(front, a, &left);
    if (!status) status = operand(front, b, &right);
    if (!status) status = front->rules->binary(front, op, &left, &right, &value);
    return result(front, status, &value);
}

static PyObject *unary(PsAstOp op, PyObject *a) {
    PsFront *front = front_of(a, a);
    PsValue operand_value, value = {0};
    if (!front) return raise_dead();
    PsStatus status = operand(front, a, &operand_value);
    if (!status) status = front->rules->unary(front, op, &operand_value, &value);
    return result(front, status, &value);
}

#define PROXY_BINARY(name, op)                                                                                 \
    static PyObject *Proxy_##name(PyObject *a, PyObject *b) { return binary(PS_AST_##op, a, b); }
#define PROXY_UNARY(name, op)                                                                                  \
    static PyObject *Proxy_##name(PyObject *a) { return unary(PS_AST_##op, a); }
PROXY_BINARY(add, ADD)
PROXY_BINARY(subtract, SUB)
PROXY_BINARY(multiply, MULT)
PROXY_BINARY(divide, DIV)
PROXY_BINARY(floor_divide, FLOORDIV)
PROXY_BINARY(remainder, MOD)
PROXY_BINARY(matrix_multiply, MATMULT)
PROXY_BINARY(lshift, LSHIFT)
PROXY_BINARY(rshift, RSHIFT)
PROXY_BINARY(and, BITAND)
PROXY_BINARY(or, BITOR)
PROXY_BINARY(xor, BITXOR)
PROXY_UNARY(negative, USUB)
PROXY_UNARY(positive, UADD)
PROXY_UNARY(invert, INVERT)

static PyObject *Proxy_power(PyObject *a, PyObject *b, PyObject *modulus) {
    if (modulus != Py_None) {
        PyErr_SetString(PyExc_TypeError, "pow() with a modulus is not supported in kernels");
        return NULL;
    }
    return binary(PS_AST_POW, a, b);
}

static PyObject *Proxy_richcompare(PyObject *a, PyObject *b, int how) {
    static const PsAstOp ops[] = {[Py_LT] = PS_AST_LT,    [Py_LE] = PS_AST_LTE, [Py_EQ] = PS_AST_EQ,
                                  [Py_NE] = PS_AST_NOTEQ, [Py_GT] = PS_AST_GT,  [Py_GE] = PS_AST_GTE};
    PsFront *front = front_of(a, b);
    PsValue left, right, value = {0};
    if (!front) return raise_dead();
    PsStatus status = operand(front, a, &left);
    if (!status) status = operand(front, b, &right);
    if (!status) status = front->rules->compare(front, ops[how], &left, &right, &value);
    return result(front, status, &value);
}

/* -- what Python may not know -- */

static PyObject *unknown(const char *what) {
    PyErr_Format(
        PyExc_TypeError,
        "%s needs a value that is known only when the kernel runs; in Python code called at compile time "
        "it is not there yet (decorate the function with @func to compile it)",
        what);
    return NULL;
}

static int Proxy_bool(PyObject *self) {
    (void)self;
    unknown("a truth test (if, while, and, or, not)");
    return -1;
}
static Py_hash_t Proxy_hash(PyObject *self) {
    (void)self;
    unknown("a hash, as for a key of a dict,");
    return -1;
}
static PyObject *Proxy_int(PyObject *self) { return (void)self, unknown("int()"); }
static PyObject *Proxy_float(PyObject *self) { return (void)self, unknown("float()"); }
static PyObject *Proxy_index(PyObject *self) { return (void)self, unknown("a Python index or range"); }

/* -- parts -- */

static Py_ssize_t Proxy_length(PyObject *object) {
    ProxyObject *self = (ProxyObject *)object;
    const PsFront *front = self->token->front;
    if (front && self->value.kind == PS_VALUE_TILE)
        return (Py_ssize_t)ps_type_info(front->module, self->value.type)->shape[0];
    unknown("len()");
    return -1;
}

static PyObject *Proxy_subscript(PyObject *self, PyObject *key) {
    PsFront *front = front_of(self, self);
    PsValue base, index, value = {0};
    if (!front) return raise_dead();
    PsStatus status = operand(front, self, &base);
    if (!status) status = operand(front, key, &index);
    if (!status) status = front->rules->index(front, &base, &index, &value);
    return result(front, status, &value);
}

static int Proxy_assign(PyObject *self, PyObject *key, PyObject *value) {
    (void)self, (void)key, (void)value;
    PyErr_SetString(PyExc_TypeError,
                    "Python code called at compile time cannot assign elements of a kernel's array "
                    "(decorate the function with @func to compile it)");
    return -1;
}

/* For iteration: only what has a length. */
static PyObject *Proxy_item(PyObject *self, Py_ssize_t i) {
    if (((ProxyObject *)self)->value.kind != PS_VALUE_TILE) return unknown("iteration");
    if (i >= Proxy_length(self)) {
        PyErr_SetNone(PyExc_IndexError);
        return NULL;
    }
    PyObject *key = PyLong_FromSsize_t(i), *item = key ? Proxy_subscript(self, key) : NULL;
    Py_XDECREF(key);
    return item;
}

/* An attribute that is not there: hasattr(), getattr() with a default and `except AttributeError` ask in this way. If
 * nobody catches it, the message, kept here, comes back (ps_front_python_failed). */
static PyObject *no_attribute(PsFront *front) {
    PyObject *type, *value, *traceback;
    PyErr_SetString(PyExc_AttributeError,
                    front->diag->message.text ? front->diag->message.text : "no such attribute");
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    Py_XINCREF(value);
    Py_XSETREF(front->raised, value);
    front->raised_message = front->diag->message;
    front->diag->set = false;
    PyErr_Restore(type, value, traceback);
    return NULL;
}

static PyObject *Proxy_getattro(PyObject *self, PyObject *name) {
    PyObject *own = PyObject_GenericGetAttr(self, name);
    if (own || !PyErr_ExceptionMatches(PyExc_AttributeError)) return own;
    const char *text = PyUnicode_AsUTF8(name);
    if (!text || text[0] == '_') return NULL; /* protocols ask for many of these */
    PsFront *front = front_of(self, self);
    PsValue base, value = {0};
    PyErr_Clear();
    if (!front) return raise_dead();
    PsFunc *func = front->b.func;
    PsRegion region = front->b.region;
    uint32_t calls = front->diag->calls.len;
    bool failed_before = front->diag->set;
    PsStatus status = operand(front, self, &base);
    if (!status) status = front->rules->attribute(front, &base, name, &value);
    bool half_done = front->b.func != func || front->b.region != region || front->diag->calls.len != calls;
    if (status == PS_FAIL && front->diag->message.kind == PS_ERR_NAME && !half_done && !failed_before)
        return no_attribute(front);
    return result(front, status, &value);
}

static PyObject *Proxy_repr(PyObject *object) {
    ProxyObject *self = (ProxyObject *)object;
    if (!self->token->front) return PyUnicode_FromString("<value of a kernel whose compilation has ended>");
    return PyUnicode_FromFormat("<%s of a kernel>", ps_value_describe(self->token->front, &self->value));
}

/* Text of a value that is not there yet would be wrong text. */
static PyObject *Proxy_str(PyObject *self) {
    PyErr_Format(
        PyExc_TypeError,
        "%R has no text while the kernel is compiled; print() in the kernel shows its value at run time", self);
    return NULL;
}

static PyObject *Proxy_absolute(PyObject *self);
static PyObject *Proxy_call(PyObject *self, PyObject *args, PyObject *names);
static PyObject *Proxy_round(PyObject *self, PyObject *args);

/* What isinstance() asks: the class of Python's numbers, or of the value as it is on the host. */
static PyObject *Proxy_class(PyObject *object, void *unused) {
    (void)unused;
    const ProxyObject *self = (ProxyObject *)object;
    const PsFront *front = self->token->front;
    const PsValue *value = &self->value;
    PsType type =
        value->kind == PS_VALUE_SCALAR || value->kind == PS_VALUE_PLACE || value->kind == PS_VALUE_TILE
            ? value->type
            : PS_KIND_NONE;
    PyTypeObject *class = Py_TYPE(object);
    if (front && type && ps_type_is_scalar(type))
        class = type == PS_U1                             ? &PyBool_Type
                : ps_scalar_class(type) == PS_CLASS_FLOAT ? &PyFloat_Type
                                                          : &PyLong_Type;
    else if (front && type)
        class = ps_type_info(front->module, type)->ndim == 1 ? front->types->vector : front->types->matrix;
    else if (front && value->kind == PS_VALUE_ARRAY && value->object)
        class = Py_TYPE(value->object);
    else if (front && value->kind == PS_VALUE_STRUCTS)
        class = (PyTypeObject *)front->types->struct_field_type;
    return Py_NewRef(class);
}

static PyGetSetDef proxy_getset[] = {
    {"__class__", Proxy_class, NULL, NULL, NULL},
    {0},
};
static PyMethodDef proxy_methods[] = {
    {"__round__", Proxy_round, METH_VARARGS, NULL},
    {0},
};
static PyType_Slot proxy_slots[] = {
    {Py_tp_dealloc, Proxy_dealloc},
    {Py_tp_repr, Proxy_repr},
    {Py_tp_str, Proxy_str},
    {Py_tp_hash, Proxy_hash},
    {Py_tp_getattro, Proxy_getattro},
    {Py_tp_call, Proxy_call},
    {Py_tp_richcompare, Proxy_richcompare},
    {Py_tp_methods, proxy_methods},
    {Py_tp_getset, proxy_getset},
    {Py_tp_doc, "A value of the kernel that is being compiled."},
    {Py_nb_add, Proxy_add},
    {Py_nb_subtract, Proxy_subtract},
    {Py_nb_multiply, Proxy_multiply},
    {Py_nb_true_divide, Proxy_divide},
    {Py_nb_floor_divide, Proxy_floor_divide},
    {Py_nb_remainder, Proxy_remainder},
    {Py_nb_matrix_multiply, Proxy_matrix_multiply},
    {Py_nb_power, Proxy_power},
    {Py_nb_lshift, Proxy_lshift},
    {Py_nb_rshift, Proxy_rshift},
    {Py_nb_and, Proxy_and},
    {Py_nb_or, Proxy_or},
    {Py_nb_xor, Proxy_xor},
    {Py_nb_negative, Proxy_negative},
    {Py_nb_positive, Proxy_positive},
    {Py_nb_invert, Proxy_invert},
    {Py_nb_absolute, Proxy_absolute},
    {Py_nb_bool, Proxy_bool},
    {Py_nb_int, Proxy_int},
    {Py_nb_float, Proxy_float},
    {Py_nb_index, Proxy_index},
    {Py_mp_length, Proxy_length},
    {Py_mp_subscript, Proxy_subscript},
    {Py_mp_ass_subscript, Proxy_assign},
    {Py_sq_item, Proxy_item},
    {0},
};
static PyType_Spec proxy_spec = {"pestle.Value", sizeof(ProxyObject), 0,
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, proxy_slots};

PyTypeObject *eval_proxy_type(PyObject *module) {
    PyObject *type = PyType_FromModuleAndSpec(module, &proxy_spec, NULL);
    /* numpy's operators step back for operands that say this. */
    if (type && PyObject_SetAttrString(type, "__array_ufunc__", Py_None)) Py_CLEAR(type);
    return (PyTypeObject *)type;
}

/* -- calls of our callables by Python code -- */

static PyObject *call_rule(PsFront *front, PyObject *callee, PyObject *const *args, Py_ssize_t nargs) {
    PsValue *values = ps_arena_alloc(front->arena, sizeof *values * (size_t)(nargs + 1)), value = {0};
    PsStatus status = values ? PS_OK : PS_NOMEM;
    for (Py_ssize_t i = 0; !status && i < nargs; i++) status = operand(front, args[i], &values[i]);
    if (!status) status = front->rules->call(front, callee, values, (uint32_t)nargs, &value);
    return result(front, status, &value);
}

/* A method of a vector, matrix or struct. */
static PyObject *Proxy_call(PyObject *self, PyObject *args, PyObject *names) {
    PsFront *front = front_of(self, self);
    if (!front) return raise_dead();
    if (names && PyDict_GET_SIZE(names)) {
        PyErr_SetString(PyExc_TypeError,
                        "methods of a kernel's values take no keyword arguments in Python code "
                        "called at compile time");
        return NULL;
    }
    return call_rule(front, self, PySequence_Fast_ITEMS(args), PyTuple_GET_SIZE(args));
}

/* Values of a kernel that runs as plain Python have a method _rule(callee, *args) for the same purpose (py/mode_int.h). */
static bool is_of_python_mode(PyObject *object) {
    return strncmp(Py_TYPE(object)->tp_name, "pestle.", 7) == 0 &&
           PyObject_HasAttrString((PyObject *)Py_TYPE(object), "_rule");
}

static PyObject *call_rule_method(PyObject *value, const char *name, PyObject *callee, PyObject *const *args,
                                  Py_ssize_t nargs) {
    PyObject *rule = PyObject_GetAttrString(value, name), *all = PyTuple_New(nargs + 1), *result = NULL;
    for (Py_ssize_t i = 0; all && i <= nargs; i++)
        PyTuple_SET_ITEM(all, i, Py_NewRef(i ? args[i - 1] : callee));
    if (rule && all) result = PyObject_Call(rule, all, NULL);
    Py_XDECREF(rule);
    Py_XDECREF(all);
    return result;
}

/* Vectors and matrices of the host: a builtin is a function of each element (py/py_matrix_builtin.c). */
static bool is_host_matrix(PyObject *object) {
    const char *name = Py_TYPE(object)->tp_name;
    return !strcmp(name, "pestle.Vector") || !strcmp(name, "pestle.Matrix");
}

PyObject *ps_proxy_call(PyObject *callee, PyObject *const *args, Py_ssize_t nargs) {
    for (Py_ssize_t i = 0; i < nargs; i++) {
        if (is_of_python_mode(args[i])) return call_rule_method(args[i], "_rule", callee, args, nargs);
        if (!is_proxy(args[i])) continue;
        PsFront *front = ((ProxyObject *)args[i])->token->front;
        return front ? call_rule(front, callee, args, nargs) : raise_dead();
    }
    for (Py_ssize_t i = 0; i < nargs; i++)
        if (is_host_matrix(args[i])) return call_rule_method(args[i], "_elementwise", callee, args, nargs);
    return Py_NewRef(Py_NotImplemented);
}

/* abs() and round() are the builtins of these names. */
static PyObject *call_builtin(PyObject *self, const char *name) {
    PyObject *builtins = PyEval_GetBuiltins(), *callee = builtins ? ps_dict_find(builtins, name) : NULL;
    PsFront *front = front_of(self, self);
    if (!front) return raise_dead();
    if (!callee && PyErr_Occurred()) return NULL;
    if (!callee) return PyErr_Format(PyExc_NameError, "name '%s' is not defined", name);
    return call_rule(front, callee, &self, 1);
}

static PyObject *Proxy_absolute(PyObject *self) { return call_builtin(self, "abs"); }

static PyObject *Proxy_round(PyObject *self, PyObject *args) {
    if (PyTuple_GET_SIZE(args)) {
        PyErr_SetString(PyExc_TypeError, "round() with a number of digits is not supported in kernels");
        return NULL;
    }
    return call_builtin(self, "round");
}
