# Arrays: indices, arguments that are no such arrays, arrays from outside.

#-- too few indices
y = m[0]
#! KernelIndexError
#! File "program.py", line 3, in f
#!     y = m[0]
#!         ^^^^
#! 2d array indexed with 1d indices

#-- too many indices
y = x[0, 1]
#! KernelIndexError
#! File "program.py", line 3, in f
#!     y = x[0, 1]
#!         ^^^^^^^
#! 1d array indexed with 2d indices

#-- an index of no axes
y = x[()]
#! KernelIndexError
#! File "program.py", line 3, in f
#!     y = x[()]
#!         ^^^^^
#! 1d array indexed with 0d indices

#-- None as index
y = x[None]
#! KernelIndexError
#! File "program.py", line 3, in f
#!     y = x[None]
#!         ^^^^^^^
#! 1d array indexed with 0d indices

#-- too few values in a vector index
for I in ti.grouped(x):
    y = m[I]
#! KernelIndexError
#! File "program.py", line 4, in f
#!     y = m[I]
#!         ^^^^
#! 2d array indexed with 1d indices

#-- a float index
y = x[t]
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = x[t]
#!         ^^^^
#! indices must be integers, however 'f32' is provided as index 0

#-- a float literal as index
y = x[1.0]
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = x[1.0]
#!         ^^^^^^
#! indices must be integers, however 'float 1.0' is provided as index 0

#-- a float among indices
y = m[0, t]
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = m[0, t]
#!         ^^^^^^^
#! indices must be integers, however 'f32' is provided as index 1

#-- a string as index
y = x["a"]
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = x["a"]
#!         ^^^^^^
#! indices must be integers, however 'str 'a'' is provided as index 0

#-- a list as index
y = m[[0, "b"]]
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = m[[0, "b"]]
#!         ^^^^^^^^^^^
#! indices must be integers, however 'str 'b'' is provided as index 1

#-- an array as index
y = m[0, x]
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = m[0, x]
#!         ^^^^^^^
#! indices must be integers, however 'f32 array of 1 axis' is provided as index 1

#-- a function as index
y = x[ti.sin]
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = x[ti.sin]
#!         ^^^^^^^^^
#! indices must be integers, however 'function sin' is provided as index 0

#-- a negative index
y = x[-1]
#! KernelIndexError
#! File "program.py", line 3, in f
#!     y = x[-1]
#!         ^^^^^
#! Negative indices are not supported in kernels: found -1

#-- a negative index among others
m[0, -2] = 1
#! KernelIndexError
#! File "program.py", line 3, in f
#!     m[0, -2] = 1
#!     ^^^^^^^^
#! Negative indices are not supported in kernels: found -2

#-- an index beyond 64 bits
y = x[2**70]
#! KernelIndexError
#! File "program.py", line 3, in f
#!     y = x[2**70]
#!         ^^^^^^^^
#! an index is too large: int 1180591620717411303424

#-- far too many indices
y = x[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
#! KernelIndexError
#! File "program.py", line 3, in f
#!     y = x[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
#!         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#! more than 12 indices

#-- indexing a number
y = n[0]
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = n[0]
#!         ^^^^
#! i32 cannot be indexed

#-- indexing a Python number
y = 3[0]
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = 3[0]
#!         ^^^^
#! TypeError while compiling: 'int' object is not subscriptable
#! from TypeError: 'int' object is not subscriptable

#-- indexing a function
y = ti.sin[0]
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = ti.sin[0]
#!         ^^^^^^^^^
#! TypeError while compiling: 'pestle.Builtin' object is not subscriptable
#! from TypeError: 'pestle.Builtin' object is not subscriptable

#-- indexing a range
y = range(n)[0]
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = range(n)[0]
#!         ^^^^^^^^^^^
#! range() or ndrange() cannot be indexed

#-- a runtime index into a tuple
y = (1, 2)[n]
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = (1, 2)[n]
#!         ^^^^^^^^^
#! tuple exists only while compiling, so its index must be known then; found i32

#-- a runtime index into a list
y = [1, 2]
x[0] = y[n]
#! KernelTypeError
#! File "program.py", line 4, in f
#!     x[0] = y[n]
#!            ^^^^
#! list exists only while compiling, so its index must be known then; found i32

#-- a runtime key of a dict
y = {0: 1}[n]
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = {0: 1}[n]
#!         ^^^^^^^^^
#! dict exists only while compiling, so its index must be known then; found i32

#-- an index beyond a tuple
y = (1, 2)[5]
#! KernelIndexError
#! File "program.py", line 3, in f
#!     y = (1, 2)[5]
#!         ^^^^^^^^^
#! IndexError while compiling: tuple index out of range
#! from IndexError: tuple index out of range

#-- an unknown key of a dict
y = {"a": 1}["b"]
#! KernelIndexError
#! File "program.py", line 3, in f
#!     y = {"a": 1}["b"]
#!         ^^^^^^^^^^^^^
#! KeyError while compiling: 'b'
#! from KeyError: 'b'

#-- a string as index of a list
y = [1, 2]["a"]
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = [1, 2]["a"]
#!         ^^^^^^^^^^^
#! TypeError while compiling: list indices must be integers or slices, not str
#! from TypeError: list indices must be integers or slices, not str

#-- an index beyond a vector
for I in ti.grouped(m):
    x[0] = I[2]
#! KernelIndexError
#! File "program.py", line 4, in f
#!     x[0] = I[2]
#!            ^^^^
#! index 2 is outside axis 0 of this vector of 2 i32

#-- a negative index of a vector
for I in ti.grouped(m):
    x[0] = I[-1]
#! KernelIndexError
#! File "program.py", line 4, in f
#!     x[0] = I[-1]
#!            ^^^^^
#! Negative indices are not supported in kernels: found -1

#-- a runtime index of a vector
for I in ti.grouped(m):
    x[0] = I[n]
#! (nothing)

#-- a float index of a vector
for I in ti.grouped(m):
    x[0] = I[1.0]
#! KernelTypeError
#! File "program.py", line 4, in f
#!     x[0] = I[1.0]
#!            ^^^^^^
#! indices must be integers, however 'float 1.0' is provided as index 0

#-- two indices of a vector
for I in ti.grouped(m):
    x[0] = I[0, 1]
#! KernelIndexError
#! File "program.py", line 4, in f
#!     x[0] = I[0, 1]
#!            ^^^^^^^
#! Expected 1 indices, got 2

#-- a slice of a vector
for I in ti.grouped(m):
    x[0] = I[0:1]
#! KernelTypeError
#! File "program.py", line 4, in f
#!     x[0] = I[0:1]
#!            ^^^^^^
#! Assign: expected a number for a place of type f32, found a vector of 1 i32; take an element of it

#-- an axis that the shape does not have
y = m.shape[2]
#! KernelIndexError
#! File "program.py", line 3, in f
#!     y = m.shape[2]
#!         ^^^^^^^^^^
#! shape has no axis 2: this is an i32 array of 2 axes

#-- an axis of shape that is a runtime value
y = m.shape[n]
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = m.shape[n]
#!         ^^^^^^^^^^
#! shape exists only while compiling, so its index must be known then; found i32

#-- an axis of shape that is a float
y = m.shape[1.0]
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = m.shape[1.0]
#!         ^^^^^^^^^^^^
#! shape exists only while compiling, so its index must be known then; found float 1.0

#-- a numpy array from outside
@ti.kernel
def f(n: ti.i32) -> ti.f32:
    return weights[n]
weights = np.zeros(3, np.float32)
f(1)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     return weights[n]
#!            ^^^^^^^^^^
#! a numpy array is used here from outside the kernel; pass it as an argument annotated with types.ndarray(), or use ti.static(...) for elements that never change

#-- an element of a numpy array from outside
@ti.kernel
def f() -> ti.f32:
    return weights[1]
weights = np.zeros(3, np.float32)
f()
#! KernelTypeError
#! File "program.py", line 3, in f
#!     return weights[1]
#!            ^^^^^^^^^^
#! a numpy array is used here from outside the kernel; pass it as an argument annotated with types.ndarray(), or use ti.static(...) for elements that never change

#-- storing into a numpy array from outside
@ti.kernel
def f():
    weights[0] = 1
weights = np.zeros(3, np.float32)
f()
#! KernelTypeError
#! File "program.py", line 3, in f
#!     weights[0] = 1
#!     ^^^^^^^^^^
#! a numpy array is used here from outside the kernel; pass it as an argument annotated with types.ndarray(), or use ti.static(...) for elements that never change

#-- a method of an array
y = x.sum()
#! KernelNameError
#! File "program.py", line 3, in f
#!     y = x.sum()
#!         ^^^^^
#! f32 array of 1 axis has no attribute 'sum'; it has shape, size, ndim, dtype and fill()

#-- assigning to the shape
m.shape[0] = 1
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     m.shape[0] = 1
#!     ^^^^^^^^^^
#! elements of tuple cannot be assigned in a kernel; those of arrays, lists and dicts can

#-- an array as a number of an annotated variable
y: ti.f32 = x
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y: ti.f32 = x
#!                 ^
#! expected a number, found an f32 array of 1 axis; index it to get an element

#-- None for an array
@ti.kernel
def f(x: F1):
    pass
f(None)
#! KernelArgumentError
#! argument 'x' of kernel 'f': expected an array (numpy.ndarray, torch.Tensor, pestle.Ndarray, ...), found NoneType

#-- a number for an array
@ti.kernel
def f(x: F1):
    pass
f(1.0)
#! KernelArgumentError
#! argument 'x' of kernel 'f': expected an array (numpy.ndarray, torch.Tensor, pestle.Ndarray, ...), found float

#-- a string for an array
@ti.kernel
def f(x: F1):
    pass
f("abc")
#! KernelArgumentError
#! argument 'x' of kernel 'f': expected an array (numpy.ndarray, torch.Tensor, pestle.Ndarray, ...), found str

#-- a list for an array
@ti.kernel
def f(x: F1):
    pass
f([1.0, 2.0])
#! KernelArgumentError
#! argument 'x' of kernel 'f': expected an array (numpy.ndarray, torch.Tensor, pestle.Ndarray, ...), found list; make it an array with numpy.array(...)

#-- bytes for an array
@ti.kernel
def f(x: F1):
    pass
f(b"abcd")
#! KernelArgumentError
#! argument 'x' of kernel 'f': expected an array of f32, found an array of u8

#-- bytes for an array that is written
@ti.kernel
def f(x: ti.types.ndarray()):
    x[0] = 1
f(b"abcd")
#! KernelArgumentError
#! argument 'x' of kernel 'f': the array is read-only, and the kernel writes to it

#-- a buffer with bytes in the other order
@ti.kernel
def f(x: F1):
    pass
f(memoryview(np.zeros(3, ">f4")))
#! KernelArgumentError
#! argument 'x' of kernel 'f': kernels have no arrays of buffer format '>f' (bytes in the other order; pass a copy in native order); expected bool, or integers or floats of at most 64 bits

#-- a buffer of records
@ti.kernel
def f(x: F1):
    pass
f(memoryview(np.zeros(3, "f4,i4")))
#! KernelArgumentError
#! argument 'x' of kernel 'f': kernels have no arrays of buffer format 'T{f:f0:i:f1:}'; expected bool, or integers or floats of at most 64 bits

#-- a buffer that is not aligned
@ti.kernel
def f(x: F1):
    pass
f(memoryview(bytearray(9))[1:].cast("f"))
#! KernelArgumentError
#! argument 'x' of kernel 'f': the array's elements are not aligned in memory; pass a copy

#-- a numpy scalar for an array
@ti.kernel
def f(x: F1):
    pass
f(np.float32(1))
#! KernelArgumentError
#! argument 'x' of kernel 'f': expected an array (numpy.ndarray, torch.Tensor, pestle.Ndarray, ...), found numpy.float32; pass numpy.asarray(...) of it

#-- the class of arrays for an array
@ti.kernel
def f(x: F1):
    pass
f(np.ndarray)
#! KernelArgumentError
#! argument 'x' of kernel 'f': expected an array (numpy.ndarray, torch.Tensor, pestle.Ndarray, ...), found type; pass numpy.asarray(...) of it

#-- an array of another dtype
@ti.kernel
def f(x: F1):
    pass
f(np.zeros(3))
#! KernelArgumentError
#! argument 'x' of kernel 'f': expected an array of f32, found an array of f64

#-- a pestle array of another dtype
@ti.kernel
def f(x: F1):
    pass
f(ti.ndarray(ti.i64, 3))
#! KernelArgumentError
#! argument 'x' of kernel 'f': expected an array of f32, found an array of i64

#-- an array with more axes
@ti.kernel
def f(x: F1):
    pass
f(np.zeros((3, 4), np.float32))
#! KernelArgumentError
#! argument 'x' of kernel 'f': expected an array with 1 axis, found one with 2

#-- a pestle array without axes
@ti.kernel
def f(x: F1):
    pass
f(ti.ndarray(ti.f32, ()))
#! KernelArgumentError
#! argument 'x' of kernel 'f': expected an array with 1 axis, found one with 0

#-- an array with very many axes
@ti.kernel
def f(x: ti.types.ndarray()):
    pass
f(np.zeros((1,) * 20, np.float32))
#! KernelArgumentError
#! argument 'x' of kernel 'f': the array has 20 axes; the most is 12

#-- an array in the other byte order
@ti.kernel
def f(x: ti.types.ndarray()):
    pass
f(np.zeros(3, np.dtype(np.float32).newbyteorder(">")))
#! KernelArgumentError
#! argument 'x' of kernel 'f': kernels have no arrays of numpy dtype >f4 (bytes in the other order; pass a copy in native order); expected bool, or integers or floats of at most 64 bits

#-- an array of objects
@ti.kernel
def f(x: ti.types.ndarray()):
    pass
f(np.array([None, 1]))
#! KernelArgumentError
#! argument 'x' of kernel 'f': kernels have no arrays of numpy dtype object; expected bool, or integers or floats of at most 64 bits

#-- an array of strings
@ti.kernel
def f(x: ti.types.ndarray()):
    pass
f(np.array(["a", "b"]))
#! KernelArgumentError
#! argument 'x' of kernel 'f': kernels have no arrays of numpy dtype <U1; expected bool, or integers or floats of at most 64 bits

#-- an array of complex numbers
@ti.kernel
def f(x: ti.types.ndarray()):
    pass
f(np.zeros(3, complex))
#! KernelArgumentError
#! argument 'x' of kernel 'f': kernels have no arrays of numpy dtype complex128 (pass its .real and .imag); expected bool, or integers or floats of at most 64 bits

#-- an array of records
@ti.kernel
def f(x: ti.types.ndarray()):
    pass
f(np.zeros(3, [("a", np.int32)]))
#! KernelArgumentError
#! argument 'x' of kernel 'f': kernels have no arrays of numpy dtype [('a', '<i4')]; expected bool, or integers or floats of at most 64 bits

#-- an array of dates
@ti.kernel
def f(x: ti.types.ndarray()):
    pass
f(np.zeros(3, "datetime64[s]"))
#! KernelArgumentError
#! argument 'x' of kernel 'f': kernels have no arrays of numpy dtype datetime64[s]; expected bool, or integers or floats of at most 64 bits

#-- an array of long doubles
@ti.kernel
def f(x: ti.types.ndarray()):
    pass
f(np.zeros(3, np.longdouble))
#! KernelArgumentError
#! argument 'x' of kernel 'f': kernels have no arrays of numpy dtype float128; expected bool, or integers or floats of at most 64 bits

#-- a masked array
@ti.kernel
def f(x: ti.types.ndarray()):
    pass
f(np.ma.masked_array([1, 2, 3], [0, 1, 0]))
#! KernelArgumentError
#! argument 'x' of kernel 'f': a masked array is refused, as its mask would be ignored; pass its .data

#-- a misaligned array
@ti.kernel
def f(x: F1):
    pass
f(np.zeros(17, np.uint8)[1:].view(np.float32))
#! KernelArgumentError
#! argument 'x' of kernel 'f': the array's elements are not aligned in memory; pass a copy

#-- a misaligned array after an aligned one
@ti.kernel
def f(x: F1):
    pass
f(np.zeros(3, np.float32))
f(np.zeros(17, np.uint8)[1:].view(np.float32))
#! KernelArgumentError
#! argument 'x' of kernel 'f': the array's elements are not aligned in memory; pass a copy

#-- a read-only array that the kernel writes
@ti.kernel
def f(x: F1):
    x[0] = 1
x = np.zeros(3, np.float32)
x.flags.writeable = False
f(x)
#! KernelArgumentError
#! argument 'x' of kernel 'f': the array is read-only, and the kernel writes to it

#-- a read-only array that a func writes
@ti.func
def g(a):
    for i in range(3):
        if i == 1:
            ti.atomic_add(a[i], 1.0)

@ti.kernel
def f(n: ti.i32, x: F1):
    for i in range(n):
        g(x)
x = np.zeros(3, np.float32)
x.flags.writeable = False
f(1, x)
#! KernelArgumentError
#! argument 'x' of kernel 'f': the array is read-only, and the kernel writes to it

#-- a broadcast array that the kernel writes
@ti.kernel
def f(x: F1):
    x[0] = 1
f(np.broadcast_to(np.float32(1), (3,)))
#! KernelArgumentError
#! argument 'x' of kernel 'f': the array is read-only, and the kernel writes to it

#-- an axis that is too long
@ti.kernel
def f(x: ti.types.ndarray()):
    pass
f(np.broadcast_to(np.int8(1), (2**31,)))
#! KernelArgumentError
#! argument 'x' of kernel 'f': axis 0 has 2147483648 elements; the most is 2130706431

#-- an axis that is too long, of several
@ti.kernel
def f(x: ti.types.ndarray()):
    pass
f(np.broadcast_to(np.int8(1), (2, 2**40, 3)))
#! KernelArgumentError
#! argument 'x' of kernel 'f': axis 1 has 1099511627776 elements; the most is 2130706431

#-- an array for a scalar
@ti.kernel
def f(n: ti.i32):
    pass
f(np.arange(3))
#! KernelArgumentError
#! argument 'n' of kernel 'f': expected an integer (i32), found numpy.ndarray

#-- an array of one element for a scalar
@ti.kernel
def f(n: ti.f32):
    pass
f(np.zeros(1))
#! KernelArgumentError
#! argument 'n' of kernel 'f': expected a number (f32), found numpy.ndarray

#-- an array for a template
@ti.kernel
def f(x: ti.template()):
    x[0] = 1
f(np.zeros(3))
#! KernelArgumentError
#! argument 'x' of kernel 'f': an array cannot be a template argument; annotate the parameter with types.ndarray()

#-- a pestle array for a template
@ti.kernel
def f(x: ti.template()):
    x[0] = 1
f(ti.ndarray(ti.f32, 3))
#! KernelArgumentError
#! argument 'x' of kernel 'f': an array cannot be a template argument; annotate the parameter with types.ndarray()
