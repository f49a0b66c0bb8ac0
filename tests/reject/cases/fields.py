# Fields: how they are made, used in kernels and from Python.

#-- no shape [module]
ti.field(ti.f32)
#! KernelArgumentError
#! field: a shape is needed; fields that are placed in a layout tree later do not exist yet

#-- a negative length [module]
ti.field(ti.f32, (3, -1))
#! KernelArgumentError
#! (3, -1) is not a valid shape for field: expected at most 12 axes, each an int from 1 to 2130706431

#-- a length of zero [module]
ti.field(ti.f32, 0)
#! KernelArgumentError
#! 0 is not a valid shape for field: expected at most 12 axes, each an int from 1 to 2130706431

#-- a float as shape [module]
ti.field(ti.f32, 2.5)
#! KernelArgumentError
#! 2.5 is not a valid shape for field: expected at most 12 axes, each an int from 1 to 2130706431

#-- too many axes [module]
ti.field(ti.f32, (1,) * 13)
#! KernelArgumentError
#! (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1) is not a valid shape for field: expected at most 12 axes, each an int from 1 to 2130706431

#-- more than can be addressed [module]
ti.field(ti.f64, (2**30, 2**30, 4))
#! KernelArgumentError
#! field: the shape (1073741824, 1073741824, 4) takes more memory than can be addressed

#-- no dtype [module]
ti.field("f32", 3)
#! KernelTypeError
#! field: expected a dtype such as pestle.f32, found str

#-- an order of other letters [module]
ti.field(ti.f32, (3, 4), order="ik")
#! KernelValueError
#! field: Invalid axis 'k' in order: there are those from 'i' to 'j'

#-- an order of one letter twice [module]
ti.field(ti.f32, (3, 4), order="ii")
#! KernelValueError
#! field: The axes in order must be different, found 'ii'

#-- an offset of a float [module]
ti.field(ti.f32, 3, offset=-1.5)
#! KernelValueError
#! field: offset must be an int for each axis, so that all indices are from -2130706431 to 2130706431, found -1.5

#-- an offset beyond what indices can be [module]
ti.field(ti.f32, 3, offset=2130706429)
#! KernelValueError
#! field: offset must be an int for each axis, so that all indices are from -2130706431 to 2130706431, found 2130706429

#-- an offset of fewer axes [module]
ti.Vector.field(2, ti.f32, (3, 4), offset=1)
#! KernelValueError
#! Vector.field: The dimensionality of shape and offset must be the same (2 != 1)

#-- an offset without a shape [module]
ti.Struct.field({"a": ti.f32}, offset=1)
#! KernelSyntaxError
#! Struct.field: shape cannot be None when offset is set

#-- an element before the offset [module]
ti.field(ti.i32, (3, 4), offset=(1, -2))[0, 0]
#! KernelIndexError
#! Field: index 0 is out of bounds for axis 0, whose indices are 1 to 3

#-- a negative index counts from no end where there is an offset [module]
ti.field(ti.i32, (3, 4), offset=(1, -2))[2, -3]
#! KernelIndexError
#! Field: index -3 is out of bounds for axis 1, whose indices are -2 to 1

#-- a gradient of integers [module]
ti.field(ti.i32, 3, needs_grad=True)
#! KernelTypeError
#! field: needs_grad is for floating-point elements, found i32

#-- pickling [module]
import pickle
pickle.dumps(ti.field(ti.i32, 3))
#! KernelTypeError
#! a field cannot be pickled: it is memory that kernels of this process use; pickle its to_numpy()

#-- an element outside [module]
ti.field(ti.i32, (3, 4))[3, 0]
#! KernelIndexError
#! Field: index 3 is out of bounds for axis 0 with length 3

#-- too few indices from Python [module]
ti.field(ti.i32, (3, 4))[3]
#! KernelIndexError
#! Field: 2d field indexed with 1d indices

#-- a slice [module]
ti.field(ti.i32, 3)[:2]
#! KernelTypeError
#! Field: expected 1 integer indices, found slice; slices: numpy.asarray(array)[...]

#-- a float into integers [module]
ti.field(ti.i32, 3)[0] = 1.5
#! KernelArgumentError
#! Field element: expected an integer (i32), found float

#-- filling integers with a text [module]
ti.field(ti.i32, 3).fill("1")
#! KernelArgumentError
#! Field.fill: expected an integer (i32), found str

#-- from_numpy of another shape [module]
ti.field(ti.i32, 3).from_numpy(np.zeros(4, np.int32))
#! KernelValueError
#! from_numpy: the shapes differ: (3,) and (4,)

#-- copy_from of another shape [module]
ti.field(ti.i32, 3).copy_from(ti.field(ti.i32, (3, 1)))
#! KernelValueError
#! copy_from: the shapes differ: (3,) and (3, 1)

#-- copy_from of a list [module]
ti.field(ti.i32, 3).copy_from([1, 2, 3])
#! KernelTypeError
#! copy_from: expected a field, an Ndarray or a numpy array, found list

#-- a field in arithmetic
@ti.kernel
def f() -> ti.f32:
    return a + 1
a = ti.field(ti.f32, 3)
f()
#! KernelTypeError
#! File "program.py", line 3, in f
#!     return a + 1
#!            ^^^^^
#! unsupported operand type(s) for '+': f32 field of 1 axis and int 1; operators work on elements, so index the array

#-- a field compared with a number
@ti.kernel
def f() -> ti.i32:
    return a == 1
a = ti.field(ti.f32, 3)
f()
#! KernelTypeError
#! File "program.py", line 3, in f
#!     return a == 1
#!            ^^^^^^
#! unsupported operand type(s) for '==': f32 field of 1 axis and int 1; operators work on elements, so index the array

#-- a field negated
@ti.kernel
def f() -> ti.f32:
    return -a
a = ti.field(ti.f32, 3)
f()
#! KernelTypeError
#! File "program.py", line 3, in f
#!     return -a
#!            ^^
#! unsupported operand type for '-': f32 field of 1 axis; expected a number

#-- a field as a number
@ti.kernel
def f() -> ti.f32:
    return a
a = ti.field(ti.f32, 3)
f()
#! KernelTypeError
#! File "program.py", line 3, in f
#!     return a
#!            ^
#! only a number can be returned here, found f32 field of 1 axis

#-- a field as an index
@ti.kernel
def f() -> ti.f32:
    return a[a]
a = ti.field(ti.i32, 3)
f()
#! KernelTypeError
#! File "program.py", line 3, in f
#!     return a[a]
#!            ^^^^
#! indices must be integers, however 'i32 field of 1 axis' is provided as index 0

#-- too few indices in a kernel
@ti.kernel
def f() -> ti.f32:
    return a[1]
a = ti.field(ti.f32, (3, 4))
f()
#! KernelIndexError
#! File "program.py", line 3, in f
#!     return a[1]
#!            ^^^^
#! 2d array indexed with 1d indices

#-- an index of a field without axes
@ti.kernel
def f() -> ti.f32:
    return a[0]
a = ti.field(ti.f32, ())
f()
#! KernelIndexError
#! File "program.py", line 3, in f
#!     return a[0]
#!            ^^^^
#! 0d array indexed with 1d indices

#-- a loop with too few names over a field
@ti.kernel
def f():
    for i in a:
        pass
a = ti.field(ti.f32, (3, 4))
f()
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     for i in a:
#!         ^
#! the number of loop variables is not equal to the dimension of the domain: 1 names for 2 axes

#-- a loop over a field without axes
@ti.kernel
def f():
    for i in a:
        pass
a = ti.field(ti.f32, ())
f()
#! KernelTypeError
#! File "program.py", line 3, in f
#!     for i in a:
#!              ^
#! an array or ndrange() without axes cannot be looped over

#-- assigning a template argument that is a field
@ti.kernel
def f(a: ti.template()):
    a = 1
f(ti.field(ti.f32, 3))
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     a = 1
#!     ^
#! array "a" cannot be assigned, only its elements; index it

#-- updating a template argument that is a field
@ti.kernel
def f(a: ti.template()):
    a += 1
f(ti.field(ti.f32, 3))
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     a += 1
#!     ^^^^^^
#! array "a" cannot be assigned, only its elements; index it

#-- assigning an attribute that is a field
class State:
    pass
state = State()
state.a = ti.field(ti.f32, 3)
@ti.kernel
def f():
    state.a = 1
f()
#! KernelSyntaxError
#! File "program.py", line 7, in f
#!     state.a = 1
#!     ^^^^^^^
#! attributes of State cannot be assigned in a kernel

#-- updating a field as a whole
class State:
    pass
state = State()
state.a = ti.field(ti.f32, 3)
@ti.kernel
def f():
    state.a += 1
f()
#! KernelTypeError
#! File "program.py", line 7, in f
#!     state.a += 1
#!     ^^^^^^^^^^^^
#! unsupported operand type(s) for '+': f32 field of 1 axis and int 1; operators work on elements, so index the array

#-- an atomic on a whole field
@ti.kernel
def f():
    ti.atomic_add(a, 1)
a = ti.field(ti.f32, 3)
f()
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     ti.atomic_add(a, 1)
#!     ^^^^^^^^^^^^^^^^^^^
#! cannot use a non-writable target as the first operand of 'atomic_add': found f32 field of 1 axis

#-- the elements of a field while compiling
@ti.kernel
def f():
    for v in ti.static(a):
        print(v)
a = ti.field(ti.f32, 3)
f()
#! KernelTypeError
#! File "program.py", line 3, in f
#!     for v in ti.static(a):
#!              ^^^^^^^^^^^^
#! an unrolled loop runs over something known while compiling that can be iterated over, found f32 field of 1 axis

#-- a field for an ndarray parameter of another type
@ti.kernel
def f(x: F1):
    pass
f(ti.field(ti.i32, 3))
#! KernelArgumentError
#! argument 'x' of kernel 'f': expected an array of f32, found an array of i32

#-- a field for a number
@ti.kernel
def f(x: ti.f32):
    pass
f(ti.field(ti.f32, ()))
#! KernelArgumentError
#! argument 'x' of kernel 'f': expected a number (f32), found pestle.Field

#-- an index outside a field [checked]
@ti.kernel
def f(n: ti.i32):
    for i in range(n):
        a[i] = 1
a = ti.field(ti.f32, 3)
f(5)
#! KernelAssertionError
#! File "program.py", line 4, in f
#!     a[i] = 1
#!     ^^^^
#! Out of bound access: index 3 is out of bounds for axis 0 with length 3

#-- an index outside a field in a func [checked]
@ti.func
def put(i):
    a[i, 2] = 1
@ti.kernel
def f(n: ti.i32):
    for i in range(n):
        put(i)
a = ti.field(ti.f32, (3, 4))
f(5)
#! KernelAssertionError
#! File "program.py", line 7, in f
#!     put(i)
#!     ^^^^^^
#! File "program.py", line 3, in put
#!     a[i, 2] = 1
#!     ^^^^^^^
#! Out of bound access: index 3 is out of bounds for axis 0 with length 3

#-- an unknown layout [module]
ti.field(ti.f32, 3, layout="columns")
#! KernelValueError
#! field: layout must be Layout.AOS or Layout.SOA, found 'columns'

#-- a vector of no elements [module]
ti.Vector.field(0, ti.f32, 3)
#! KernelValueError
#! Vector.field: expected elements of 1 to 1048576 scalars, found 0 by 1

#-- a matrix too large [module]
ti.Matrix.field(2000, 2000, ti.f32, 3)
#! KernelValueError
#! Matrix.field: expected elements of 1 to 1048576 scalars, found 2000 by 2000

#-- a vector of half an element [module]
ti.Vector.field(1.5, ti.f32, 3)
#! TypeError
#! Vector.field: the lengths of an element must be ints, found float

#-- an element of another length [module]
ti.Vector.field(3, ti.f32, 4)[0] = [1, 2]
#! KernelValueError
#! Field element: expected 3 values, found 2

#-- an element of numbers and lists [module]
ti.Vector.field(2, ti.f32, 4)[0] = [[1], 2]
#! KernelArgumentError
#! Field element: expected a number (f32), found list

#-- an array of vectors without their axis
@ti.kernel
def f(x: ti.types.ndarray(dtype=ti.f32, ndim=1, element_dim=1)):
    pass
f(np.zeros(3, np.float32))
#! KernelArgumentError
#! argument 'x' of kernel 'f': expected an array of vectors with 1 axis, which are 2 axes in all, found one with 1

#-- an array of vectors of another length
@ti.kernel
def f(x: ti.types.ndarray(dtype=ti.f32, ndim=1, element_shape=(3,))):
    pass
f(np.zeros((3, 2), np.float32))
#! KernelArgumentError
#! argument 'x' of kernel 'f': expected elements of length 3 along axis 1, found 2

#-- an array of matrices with too few axes
@ti.kernel
def f(x: ti.types.ndarray(element_dim=2)):
    pass
f(np.zeros(3, np.float32))
#! KernelArgumentError
#! argument 'x' of kernel 'f': expected an array of matrices, the last 2 axes being theirs, found one with 1

#-- field_dim in an annotation [module]
ti.types.ndarray(dtype=ti.f32, field_dim=1)
#! ValueError
#! types.ndarray: field_dim is already deprecated; use ndim

#-- an element_shape that is not element_dim long [module]
ti.types.ndarray(dtype=ti.f32, element_dim=1, element_shape=(2, 2))
#! ValueError
#! types.ndarray: element_shape must have at most 2 lengths from 1 on, as many as element_dim says, found (2, 2)

#-- an unknown boundary [module]
ti.types.ndarray(dtype=ti.f32, boundary="wrap")
#! ValueError
#! types.ndarray: boundary must be 'unsafe' or 'clamp', found 'wrap'

#-- the gradient of a kernel
@ti.kernel
def f():
    pass
f.grad()
#! KernelRuntimeError
#! kernel 'f' cannot be differentiated: differentiation is not there yet

#-- an array of other vectors
@ti.kernel
def f(x: ti.types.ndarray(dtype=ti.types.vector(3, ti.f32), ndim=1)):
    pass
f(ti.Vector.ndarray(2, ti.f32, 4))
#! KernelArgumentError
#! argument 'x' of kernel 'f': expected elements of length 3 along axis 1, found 2

#-- an array of matrices where vectors are expected
@ti.kernel
def f(x: ti.types.ndarray(dtype=ti.types.vector(3, ti.f32), ndim=1)):
    pass
f(ti.Matrix.field(3, 3, ti.f32, 4))
#! KernelArgumentError
#! argument 'x' of kernel 'f': expected an array of vectors of f32, found an array of matrices of f32

#-- an array of vectors where numbers are expected
@ti.kernel
def f(x: ti.types.ndarray(dtype=ti.f32)):
    pass
f(ti.Vector.ndarray(3, ti.f32, 4))
#! KernelArgumentError
#! argument 'x' of kernel 'f': expected an array of f32, found an array of vectors of f32

#-- a vector into the elements of a field of scalars
@ti.kernel
def f():
    a[0] = ti.Vector([1.0, 2.0])
a = ti.field(ti.f32, 3)
f()
#! KernelTypeError
#! File "program.py", line 3, in f
#!     a[0] = ti.Vector([1.0, 2.0])
#!            ^^^^^^^^^^^^^^^^^^^^^
#! Assign: expected a number for a place of type f32, found a vector of 2 f32; take an element of it

#-- a vector of another length into an element
@ti.kernel
def f():
    a[0] = ti.Vector([1.0, 2.0])
a = ti.Vector.field(3, ti.f32, 3)
f()
#! KernelTypeError
#! File "program.py", line 3, in f
#!     a[0] = ti.Vector([1.0, 2.0])
#!            ^^^^^^^^^^^^^^^^^^^^^
#! Assign: cannot assign a vector of 2 f32 to a vector of 3 f32: the shapes differ

#-- a dtype and a length that are both of vectors [module]
ti.Vector.field(3, ti.types.vector(3, ti.f32), 4)
#! TypeError
#! Vector.field: dtype must be of a scalar, such as pestle.f32

#-- an element of a field of vectors outside [checked]
@ti.kernel
def f(n: ti.i32):
    for i in range(n):
        a[i] = ti.Vector([1.0, 2.0])
a = ti.Vector.field(2, ti.f32, 3)
f(5)
#! KernelAssertionError
#! File "program.py", line 4, in f
#!     a[i] = ti.Vector([1.0, 2.0])
#!     ^^^^
#! Out of bound access: index 3 is out of bounds for axis 0 with length 3

#-- an element of a field of structs set to a number [module]
ti.Struct.field({"a": ti.i32}, shape=3)[0] = 1
#! TypeError
#! an element of an array of structs can be set to a struct or a dict, found int

#-- an element of a field of structs set to other members [module]
ti.Struct.field({"a": ti.i32, "b": ti.f32}, shape=3)[0] = {"a": 1}
#! ValueError
#! expected the members ('a', 'b')

#-- a member that a field of structs does not have [module]
ti.Struct.field({"a": ti.i32}, shape=3).get_member_field("b")
#! AttributeError
#! this array of structs has no member 'b'; it has ('a',)

#-- a field of structs without a shape [module]
ti.Struct.field({"a": ti.i32})
#! KernelArgumentError
#! Struct.field: a shape is needed; fields that are placed in a layout tree later do not exist yet

#-- a field of structs from a list [module]
ti.Struct.field([ti.i32], shape=3)
#! TypeError
#! Struct.field: expected a dict of names and types, found list

#-- a field of structs too large [module]
ti.Struct.field({"a": ti.f64, "b": ti.i8}, shape=(2**30, 2**30))
#! KernelArgumentError
#! Struct.field: the shape (1073741824, 1073741824) takes more memory than can be addressed

#-- from_numpy of a field of structs without a member [module]
ti.Struct.field({"a": ti.i32, "b": ti.f32}, shape=3).from_numpy({"a": np.zeros(3, np.int32)})
#! ValueError
#! expected the members ('a', 'b')

#-- an unknown member in a kernel
@ti.kernel
def f():
    a[0].y = 1
a = ti.Struct.field({"x": ti.i32}, shape=3)
f()
#! KernelNameError
#! File "program.py", line 3, in f
#!     a[0].y = 1
#!     ^^^^^^
#! struct(x) has no member 'y'; it has x

#-- an unknown attribute of a field of structs in a kernel
@ti.kernel
def f():
    for i in a.y:
        pass
a = ti.Struct.field({"x": ti.i32}, shape=3)
f()
#! KernelNameError
#! File "program.py", line 3, in f
#!     for i in a.y:
#!              ^^^
#! i32 field of 1 axis has no attribute 'y'; it has shape, size, ndim, dtype and fill()

#-- a field of structs in arithmetic
@ti.kernel
def f() -> ti.i32:
    return a + 1
a = ti.Struct.field({"x": ti.i32}, shape=3)
f()
#! KernelTypeError
#! File "program.py", line 3, in f
#!     return a + 1
#!            ^^^^^
#! unsupported operand type(s) for '+': pestle.StructField and int 1; operators work on elements, so index the array

#-- too few indices into a field of structs
@ti.kernel
def f():
    a[0].x = 1
a = ti.Struct.field({"x": ti.i32}, shape=(3, 4))
f()
#! KernelIndexError
#! File "program.py", line 3, in f
#!     a[0].x = 1
#!     ^^^^
#! 2d array indexed with 1d indices

#-- a known index before a field's offset
a = ti.field(ti.i32, (3, 4), offset=(1, -2))
@ti.kernel
def f():
    a[1, -3] = 1
f()
#! KernelIndexError
#! File "program.py", line 4, in f
#!     a[1, -3] = 1
#!     ^^^^^^^^
#! index -3 is out of bounds for axis 1, whose first index is -2

#-- a field with an offset as an array argument
@ti.kernel
def f(x: F1):
    x[0] = 1
f(ti.field(ti.f32, 3, offset=1))
#! KernelArgumentError
#! argument 'x' of kernel 'f': the indices of an array start at 0, and this field has the offset (1,); annotate the parameter with template()

#-- a volatile load of a field
a = ti.field(ti.i32, 3)
@ti.kernel
def f() -> ti.i32:
    return ti.volatile_load(a)
f()
#! KernelSyntaxError
#! File "program.py", line 4, in f
#!     return ti.volatile_load(a)
#!            ^^^^^^^^^^^^^^^^^^^
#! volatile_load was given a Field directly, not an element of it: index it first, as in x[i] or x[None]; found i32 field of 1 axis

#-- a volatile load of a value
y = ti.volatile_load(n + 1)
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     y = ti.volatile_load(n + 1)
#!         ^^^^^^^^^^^^^^^^^^^^^^^
#! volatile_load reads an element of an array or field, a number (an lvalue), found i32

#-- a volatile load of a vector
a = ti.Vector.field(2, ti.i32, 3)
@ti.kernel
def f():
    y = ti.volatile_load(a[0])
f()
#! KernelSyntaxError
#! File "program.py", line 4, in f
#!     y = ti.volatile_load(a[0])
#!         ^^^^^^^^^^^^^^^^^^^^^^
#! volatile_load reads an element of an array or field, a number (an lvalue), found vector of 2 i32

#-- a volatile load of a variable
v = ti.Vector([1, 2])
y = ti.volatile_load(v[0])
#! KernelTypeError
#! File "program.py", line 4, in f
#!     y = ti.volatile_load(v[0])
#!         ^^^^^^^^^^^^^^^^^^^^^^
#! volatile_load reads an element of an array or field; no other thread sees a variable or local array of this one

#-- filling with a vector of another length
a = ti.Vector.field(2, ti.i32, 3)
@ti.kernel
def f():
    a.fill(ti.Vector([1, 2, 3]))
f()
#! KernelTypeError
#! File "program.py", line 4, in f
#!     a.fill(ti.Vector([1, 2, 3]))
#!     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#! fill: cannot assign a vector of 3 i32 to a vector of 2 i32: the shapes differ

#-- filling numbers with a vector
x.fill([1, 2])
#! KernelTypeError
#! File "program.py", line 3, in f
#!     x.fill([1, 2])
#!     ^^^^^^^^^^^^^^
#! expected a number, found list

#-- filling structs with something else
a = ti.Struct.field({"x": ti.i32}, 3)
@ti.kernel
def f():
    a.fill([1])
f()
#! KernelTypeError
#! File "program.py", line 4, in f
#!     a.fill([1])
#!     ^^^^^^^^^^^
#! expected a value of struct(x), found list

#-- filling with two values
x.fill(1, 2)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     x.fill(1, 2)
#!     ^^^^^^^^^^^^
#! fill() takes at most 1 argument, found 2

#-- filling by another name
x.fill(value=1)
#! KernelCallError
#! File "program.py", line 3, in f
#!     x.fill(value=1)
#!     ^^^^^^^^^^^^^^^
#! fill(): Unexpected argument 'value'

#-- an array of numbers for one of structs
S = ti.types.struct(a=ti.i32)
@ti.kernel
def f(x: ti.types.ndarray(dtype=S)):
    x[0].a = 1
f(ti.ndarray(ti.i32, 3))
#! KernelArgumentError
#! argument 'x' of kernel 'f': expected an array of <pestle struct of ('a',)>, found <pestle.ndarray shape=(3,) dtype=i32>

#-- an array of other structs
S = ti.types.struct(a=ti.i32)
@ti.kernel
def f(x: ti.types.ndarray(dtype=S)):
    x[0].a = 1
f(ti.types.struct(a=ti.f32).ndarray(3))
#! KernelArgumentError
#! argument 'x' of kernel 'f': expected an array of <pestle struct of ('a',)>, found one of another type with such members

#-- an array of structs for one of numbers
@ti.kernel
def f(x: ti.types.ndarray(dtype=ti.i32)):
    x[0] = 1
f(ti.types.struct(a=ti.i32).ndarray(3))
#! KernelArgumentError
#! argument 'x' of kernel 'f': expected an array of numbers or vectors, found <pestle struct of ('a',)>

#-- an array of structs with too many axes
S = ti.types.struct(a=ti.i32)
@ti.kernel
def f(x: ti.types.ndarray(dtype=S, ndim=1)):
    x[0].a = 1
f(S.ndarray((3, 4)))
#! KernelArgumentError
#! argument 'x' of kernel 'f': expected an array with 1 axis, found one with 2

#-- an ndarray of structs as a template argument
@ti.kernel
def f(x: ti.template()):
    x[0].a = 1
f(ti.types.struct(a=ti.i32).ndarray(3))
#! KernelArgumentError
#! argument 'x' of kernel 'f': an array cannot be a template argument; annotate the parameter with types.ndarray()

#-- a field of structs with an offset as an array
S = ti.types.struct(a=ti.i32)
@ti.kernel
def f(x: ti.types.ndarray(dtype=S)):
    x[0].a = 1
f(S.field(3, offset=4))
#! KernelArgumentError
#! argument 'x' of kernel 'f': the indices of an array start at 0, and this field has the offset (4,); annotate the parameter with template()

#-- structs for a func that wants numbers
@ti.func
def g(x: ti.types.ndarray(dtype=ti.i32)):
    x[0] = 1
@ti.kernel
def f(x: ti.types.ndarray()):
    g(x)
f(ti.types.struct(a=ti.i32).ndarray(3))
#! KernelTypeError
#! File "program.py", line 6, in f
#!     g(x)
#!     ^^^^
#! argument x: expected types.ndarray(dtype=i32), found an array of structs

#-- the gradient array of one without
@ti.kernel
def f(x: F1):
    x.grad[0] = 1
f(ti.ndarray(ti.f32, 3))
#! KernelValueError
#! File "program.py", line 3, in f
#!     x.grad[0] = 1
#!     ^^^^^^
#! f32 array of 1 axis has no gradient array; make it with needs_grad=True (a torch tensor with requires_grad=True)

#-- the gradient array of a numpy array
x.grad[0] = 1
#! KernelValueError
#! File "program.py", line 3, in f
#!     x.grad[0] = 1
#!     ^^^^^^
#! f32 array of 1 axis has no gradient array; make it with needs_grad=True (a torch tensor with requires_grad=True)

#-- the gradient array of an argument in a func that returns early
@ti.func
def g(x, i):
    if i < 0:
        return 0
    x.grad[i] = 1
    return 1
@ti.kernel
def f(x: F1) -> ti.i32:
    return g(x, 0)
f(ti.ndarray(ti.f32, 3, needs_grad=True))
#! KernelSyntaxError
#! File "program.py", line 9, in f
#!     return g(x, 0)
#!            ^^^^^^^
#! File "program.py", line 5, in g
#!     x.grad[i] = 1
#!     ^^^^^^
#! x.grad of an array argument is not known inside a func that is called, such as this one; pass x.grad as an argument of its own

#-- a layout that there is not [module]
ti.ndarray(ti.math.vec3, 3, layout="other")
#! KernelValueError
#! ndarray: layout must be Layout.AOS or Layout.SOA, found 'other'

#-- an order of fewer axes [module]
ti.Vector.field(2, ti.f32, (3, 4), order="i")
#! KernelValueError
#! Vector.field: The dimensionality of shape and order must be the same (2 != 1): one axis letter from 'i' on for each

#-- an order without a shape [module]
ti.field(ti.f32, order="ij")
#! KernelSyntaxError
#! field: shape cannot be None when order is set

#-- an order that is no text [module]
ti.field(ti.f32, 3, order=1)
#! KernelValueError
#! field: order must be a str of axis letters from 'i' on, such as 'ij', found 1
