# Scalar arguments and results, and the way kernels are called.

#-- a float for an integer
@ti.kernel
def f(n: ti.i32):
    pass
f(1.5)
#! KernelArgumentError
#! argument 'n' of kernel 'f': expected an integer (i32), found float

#-- a whole float for an integer
@ti.kernel
def f(n: ti.i64):
    pass
f(2.0)
#! KernelArgumentError
#! argument 'n' of kernel 'f': expected an integer (i64), found float

#-- a numpy float for an integer
@ti.kernel
def f(n: ti.i32):
    pass
f(np.float32(2))
#! KernelArgumentError
#! argument 'n' of kernel 'f': expected an integer (i32), found numpy.float32

#-- None for an integer
@ti.kernel
def f(n: ti.i32):
    pass
f(None)
#! KernelArgumentError
#! argument 'n' of kernel 'f': expected an integer (i32), found NoneType

#-- a string for an integer
@ti.kernel
def f(n: ti.i32):
    pass
f("1")
#! KernelArgumentError
#! argument 'n' of kernel 'f': expected an integer (i32), found str

#-- a string for a float
@ti.kernel
def f(t: ti.f32):
    pass
f("1.5")
#! KernelArgumentError
#! argument 't' of kernel 'f': expected a number (f32), found str

#-- None for a float
@ti.kernel
def f(t: ti.f64):
    pass
f(None)
#! KernelArgumentError
#! argument 't' of kernel 'f': expected a number (f64), found NoneType

#-- a complex number for a float
@ti.kernel
def f(t: ti.f32):
    pass
f(1j)
#! KernelArgumentError
#! argument 't' of kernel 'f': expected a number (f32), found complex

#-- a list for a float
@ti.kernel
def f(t: ti.f32):
    pass
f([1.0])
#! KernelArgumentError
#! argument 't' of kernel 'f': expected a number (f32), found list

#-- an integer beyond i32
@ti.kernel
def f(n: ti.i32):
    pass
f(2**31)
#! KernelArgumentError
#! argument 'n' of kernel 'f': 2147483648 is out of range for i32, which goes from -2147483648 to 2147483647

#-- an integer below i32
@ti.kernel
def f(n: ti.i32):
    pass
f(-(2**31) - 1)
#! KernelArgumentError
#! argument 'n' of kernel 'f': -2147483649 is out of range for i32, which goes from -2147483648 to 2147483647

#-- an integer beyond i64
@ti.kernel
def f(n: ti.i64):
    pass
f(2**63)
#! KernelArgumentError
#! argument 'n' of kernel 'f': 9223372036854775808 is out of range for i64, which goes from -9223372036854775808 to 9223372036854775807

#-- a numpy integer beyond i32
@ti.kernel
def f(n: ti.i32):
    pass
f(np.int64(2**40))
#! KernelArgumentError
#! argument 'n' of kernel 'f': 1099511627776 is out of range for i32, which goes from -2147483648 to 2147483647

#-- a negative integer for u64
@ti.kernel
def f(n: ti.u64):
    pass
f(-1)
#! KernelArgumentError
#! argument 'n' of kernel 'f': -1 is out of range for u64, which goes from 0 to 18446744073709551615

#-- an integer beyond u64
@ti.kernel
def f(n: ti.u64):
    pass
f(2**64)
#! KernelArgumentError
#! argument 'n' of kernel 'f': 18446744073709551616 is out of range for u64, which goes from 0 to 18446744073709551615

#-- an integer beyond i8
@ti.kernel
def f(n: ti.i8):
    pass
f(128)
#! KernelArgumentError
#! argument 'n' of kernel 'f': 128 is out of range for i8, which goes from -128 to 127

#-- two for a bool
@ti.kernel
def f(b: ti.u1):
    pass
f(2)
#! KernelArgumentError
#! argument 'b' of kernel 'f': 2 is out of range for u1, which goes from 0 to 1

#-- a float for a bool
@ti.kernel
def f(b: bool):
    pass
f(1.0)
#! KernelArgumentError
#! argument 'b' of kernel 'f': expected a bool (u1), found float

#-- an integer with very many digits
@ti.kernel
def f(n: ti.i32):
    pass
f(10**10000)
#! KernelArgumentError
#! argument 'n' of kernel 'f': a very large number is out of range for i32, which goes from -2147483648 to 2147483647

#-- an integer too large for a float
@ti.kernel
def f(t: ti.f64):
    pass
f(10**400)
#! KernelArgumentError
#! argument 't' of kernel 'f': the integer is too large for f64

#-- a class whose __index__ raises
class Bad:
    def __index__(self):
        raise KeyError("no index")
@ti.kernel
def f(n: ti.i32):
    pass
f(Bad())
#! KeyError
#! 'no index'

#-- a class whose __float__ raises
class Bad:
    def __float__(self):
        raise KeyError("no float")
@ti.kernel
def f(t: ti.f32):
    pass
f(Bad())
#! KeyError
#! 'no float'

#-- a missing argument
@ti.kernel
def f(n: ti.i32, m: ti.i32):
    pass
f(1)
#! KernelCallError
#! kernel 'f': Missing argument 'm'

#-- no arguments
@ti.kernel
def f(n: ti.i32, m: ti.i32):
    pass
f()
#! KernelCallError
#! kernel 'f': Missing argument 'n'

#-- too many arguments
@ti.kernel
def f(n: ti.i32):
    pass
f(1, 2)
#! KernelCallError
#! kernel 'f': Too many arguments: expected 1, found 2

#-- an unknown keyword
@ti.kernel
def f(n: ti.i32):
    pass
f(m=1)
#! KernelCallError
#! kernel 'f': Unexpected argument 'm'

#-- an argument by position and keyword
@ti.kernel
def f(n: ti.i32):
    pass
f(1, n=1)
#! KernelCallError
#! kernel 'f': Multiple values for argument 'n'

#-- a parameter without an annotation
@ti.kernel
def f(n):
    pass
f(1)
#! KernelSyntaxError
#! File "program.py", line 2, in f
#!     def f(n):
#!           ^
#! parameter 'n' of kernel 'f' must be type annotated, for example with ti.i32 or ti.types.ndarray()

#-- one parameter of several without an annotation
@ti.kernel
def f(
    n: ti.i32,
    m,
):
    pass
f(1, 2)
#! KernelSyntaxError
#! File "program.py", line 4, in f
#!     m,
#!     ^
#! parameter 'm' of kernel 'f' must be type annotated, for example with ti.i32 or ti.types.ndarray()

#-- self in another place
@ti.kernel
def f(n: ti.i32, self):
    pass
f(1, 2)
#! KernelSyntaxError
#! File "program.py", line 2, in f
#!     def f(n: ti.i32, self):
#!                      ^^^^
#! parameter 'self' of kernel 'f' must be type annotated, for example with ti.i32 or ti.types.ndarray()

#-- *args
@ti.kernel
def f(*args):
    pass
f(1)
#! KernelSyntaxError
#! File "program.py", line 2, in f
#!     def f(*args):
#!            ^^^^
#! kernel 'f' has *args; kernels have plain parameters only

#-- **kwargs
@ti.kernel
def f(n: ti.i32, **kwargs):
    pass
f(1)
#! KernelSyntaxError
#! File "program.py", line 2, in f
#!     def f(n: ti.i32, **kwargs):
#!                        ^^^^^^
#! kernel 'f' has **kwargs; kernels have plain parameters only

#-- a keyword-only parameter
@ti.kernel
def f(*, n: ti.i32):
    pass
f(n=1)
#! KernelSyntaxError
#! File "program.py", line 2, in f
#!     def f(*, n: ti.i32):
#!                 ^^^^^^
#! kernel 'f' has a keyword-only parameter; kernels have plain parameters only

#-- an annotation that is a string
@ti.kernel
def f(n: "no such type"):
    pass
f(1)
#! KernelNameError
#! File "program.py", line 2, in f
#!     def f(n: "no such type"):
#!              ^^^^^^^^^^^^^^
#! the annotation no such type of kernel 'f' cannot be evaluated: invalid syntax (<annotation>, line 1)

#-- an annotation that names nothing
@ti.kernel
def f(n: "ti.no_such_type"):
    pass
f(1)
#! KernelNameError
#! File "program.py", line 2, in f
#!     def f(n: "ti.no_such_type"):
#!              ^^^^^^^^^^^^^^^^^
#! the annotation ti.no_such_type of kernel 'f' cannot be evaluated: module 'pestle' has no attribute 'no_such_type'

#-- an annotation that is a number
@ti.kernel
def f(n: 3):
    pass
f(1)
#! KernelSyntaxError
#! File "program.py", line 2, in f
#!     def f(n: 3):
#!              ^
#! parameter 'n' of kernel 'f' has the annotation 3; expected a dtype, int, float, bool, types.ndarray(...), a dataclass or template()

#-- an annotation that is None
@ti.kernel
def f(n: None):
    pass
f(1)
#! KernelSyntaxError
#! File "program.py", line 2, in f
#!     def f(n: None):
#!              ^^^^
#! parameter 'n' of kernel 'f' has the annotation None; expected a dtype, int, float, bool, types.ndarray(...), a dataclass or template()

#-- an annotation that is a list of types
@ti.kernel
def f(n: [ti.i32]):
    pass
f(1)
#! KernelSyntaxError
#! File "program.py", line 2, in f
#!     def f(n: [ti.i32]):
#!              ^^^^^^^^
#! parameter 'n' of kernel 'f' has the annotation [i32]; expected a dtype, int, float, bool, types.ndarray(...), a dataclass or template()

#-- an annotation that is str
@ti.kernel
def f(n: str):
    pass
f("a")
#! KernelSyntaxError
#! File "program.py", line 2, in f
#!     def f(n: str):
#!              ^^^
#! parameter 'n' of kernel 'f' has the annotation <class 'str'>; expected a dtype, int, float, bool, types.ndarray(...), a dataclass or template()

#-- an annotation that is numpy's array class
@ti.kernel
def f(x: np.ndarray):
    pass
f(np.zeros(3))
#! KernelSyntaxError
#! File "program.py", line 2, in f
#!     def f(x: np.ndarray):
#!              ^^^^^^^^^^
#! parameter 'x' of kernel 'f' has the annotation <class 'numpy.ndarray'>; expected a dtype, int, float, bool, types.ndarray(...), a dataclass or template() (an array parameter is annotated with types.ndarray())

#-- an annotation that is the function ndarray
@ti.kernel
def f(x: ti.ndarray):
    pass
f(np.zeros(3))
#! KernelSyntaxError
#! File "program.py", line 2, in f
#!     def f(x: ti.ndarray):
#!              ^^^^^^^^^^
#! parameter 'x' of kernel 'f' has the annotation <built-in function ndarray>; expected a dtype, int, float, bool, types.ndarray(...), a dataclass or template() (not the function ndarray(), which makes an array)

#-- an annotation with no dtype of elements
@ti.kernel
def f(x: ti.types.ndarray(dtype="float")):
    pass
f(np.zeros(3))
#! KernelSyntaxError
#! File "program.py", line 2, in f
#!     def f(x: ti.types.ndarray(dtype="float")):
#!              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#! parameter 'x' of kernel 'f': 'float' is not a dtype of array elements

#-- an annotation that is an array
@ti.kernel
def f(x: np.zeros(3)):
    pass
f(np.zeros(3))
#! KernelSyntaxError
#! File "program.py", line 2, in f
#!     def f(x: np.zeros(3)):
#!              ^^^^^^^^^^^
#! parameter 'x' of kernel 'f' has the annotation array([0., 0., 0.]); expected a dtype, int, float, bool, types.ndarray(...), a dataclass or template()

#-- an annotation with too many axes
@ti.kernel
def f(x: ti.types.ndarray(ndim=100)):
    pass
#! ValueError
#! types.ndarray: ndim must be from 0 to 12, found 100

#-- an annotation with axes that are no number
@ti.kernel
def f(x: ti.types.ndarray(ndim="two")):
    pass
#! TypeError
#! 'str' object cannot be interpreted as an integer

#-- a template with arguments
@ti.kernel
def f(x: ti.template(3)):
    pass
#! TypeError
#! template() takes no arguments

#-- a return annotation that is a string
@ti.kernel
def f() -> "no such type":
    return 1
f()
#! KernelNameError
#! File "program.py", line 2, in f
#!     def f() -> "no such type":
#!                ^^^^^^^^^^^^^^
#! the annotation no such type of kernel 'f' cannot be evaluated: invalid syntax (<annotation>, line 1)

#-- a return annotation that is no dtype
@ti.kernel
def f() -> str:
    return 1
f()
#! KernelTypeError
#! File "program.py", line 2, in f
#!     def f() -> str:
#!                ^^^
#! the return annotation must be a dtype, int, float or bool, found class str

#-- a return annotation with a number in it
@ti.kernel
def f() -> (ti.i32, 3):
    return 1, 2
f()
#! KernelTypeError
#! File "program.py", line 2, in f
#!     def f() -> (ti.i32, 3):
#!                ^^^^^^^^^^^
#! the return annotation must be a dtype, int, float or bool, found tuple

#-- a return annotation of an array
@ti.kernel
def f() -> ti.types.ndarray():
    return 1
f()
#! KernelTypeError
#! File "program.py", line 2, in f
#!     def f() -> ti.types.ndarray():
#!                ^^^^^^^^^^^^^^^^^^
#! the return annotation must be a dtype, int, float or bool, found pestle.types.ndarray

#-- a returned value without an annotation
@ti.kernel
def f():
    return 1
f()
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     return 1
#!            ^
#! A kernel with a return value must be annotated with a return type, e.g. def kernel() -> ti.f32

#-- a return annotation without a return
@ti.kernel
def f() -> ti.i32:
    pass
f()
#! KernelSyntaxError
#! File "program.py", line 2, in f
#!     def f() -> ti.i32:
#!     ^^^^^^^^^^^^^^^^^^
#! Kernel has a return type but does not have a return statement

#-- a return without a value
@ti.kernel
def f() -> ti.i32:
    return
f()
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     return
#!     ^^^^^^
#! this return gives no value, but the function is annotated with a return type

#-- returning None
@ti.kernel
def f() -> ti.i32:
    return None
f()
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     return None
#!            ^^^^
#! this return gives no value, but the function is annotated with a return type

#-- returning a tuple
@ti.kernel
def f() -> ti.i32:
    return 1, 2
f()
#! KernelTypeError
#! File "program.py", line 3, in f
#!     return 1, 2
#!            ^^^^
#! only a number can be returned here, found tuple

#-- returning a string
@ti.kernel
def f() -> ti.i32:
    return "a"
f()
#! KernelTypeError
#! File "program.py", line 3, in f
#!     return "a"
#!            ^^^
#! only a number can be returned here, found str 'a'

#-- returning an array
@ti.kernel
def f(x: F1) -> ti.f32:
    return x
f(np.zeros(3, np.float32))
#! KernelTypeError
#! File "program.py", line 3, in f
#!     return x
#!            ^
#! only a number can be returned here, found f32 array of 1 axis

#-- returning a dtype
@ti.kernel
def f() -> ti.i32:
    return ti.i32
f()
#! KernelTypeError
#! File "program.py", line 3, in f
#!     return ti.i32
#!            ^^^^^^
#! only a number can be returned here, found dtype i32

#-- returning an int out of range
@ti.kernel
def f() -> ti.i32:
    return 2**40
f()
#! KernelTypeError
#! File "program.py", line 3, in f
#!     return 2**40
#!            ^^^^^
#! Integer literal 1099511627776 exceeded the range of default_ip: i32, which goes from -2147483648 to 2147483647

#-- a template argument that cannot be indexed
@ti.kernel
def f(x: ti.template()) -> ti.i32:
    return x[0]
f(3)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     return x[0]
#!            ^^^^
#! TypeError while compiling: 'int' object is not subscriptable
#! from TypeError: 'int' object is not subscriptable

#-- a template argument assigned
@ti.kernel
def f(x: ti.template()):
    x = 3
f(3)
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     x = 3
#!     ^
#! Kernel argument "x" is immutable in the kernel. If you want to change its value, please create a new variable.

#-- a template argument of the wrong kind
@ti.kernel
def f(x: ti.template()) -> ti.i32:
    return x + 1
f("a")
#! KernelTypeError
#! File "program.py", line 3, in f
#!     return x + 1
#!            ^^^^^
#! TypeError while compiling: can only concatenate str (not "int") to str
#! from TypeError: can only concatenate str (not "int") to str

#-- a template argument that is no condition
@ti.kernel
def f(x: ti.template()) -> ti.i32:
    y = 0
    if x.flag:
        y = 1
    return y
f(None)
#! KernelNameError
#! File "program.py", line 4, in f
#!     if x.flag:
#!        ^^^^^^
#! None has no attribute 'flag'

#-- init with an unknown keyword [module]
ti.init(optimise=True)
#! KernelTypeError
#! init() got an unexpected keyword argument 'optimise'; it knows arch, debug, checked, overflow, default_fp, default_ip, fast_math, deterministic, random_seed, threads

#-- init with a wrong arch [module]
ti.init(arch=ti.cuda)
#! KernelValueError
#! init(arch=cuda): this build of Pestle runs on the CPU only; use arch=pestle.cpu or leave it out

#-- init with an arch that is none [module]
ti.init(arch="abacus")
#! KernelValueError
#! init(arch=abacus): this build of Pestle runs on the CPU only; use arch=pestle.cpu or leave it out

#-- init with a wrong flag [module]
ti.init(debug="yes")
#! KernelValueError
#! init(debug=...): expected True or False, found 'yes'

#-- init with a wrong default_fp [module]
ti.init(default_fp=ti.i32)
#! KernelValueError
#! init(default_fp=...): expected f16, f32 or f64, found i32

#-- init with a wrong default_ip [module]
ti.init(default_ip=ti.f32)
#! KernelValueError
#! init(default_ip=...): expected i32 or i64, found f32

#-- init with a wrong number of threads [module]
ti.init(cpu_max_num_threads=-3)
#! KernelValueError
#! init(cpu_max_num_threads=...): expected a number of threads from 1 to 4096 (0: as many as there are CPUs), found -3

#-- init with a seed that is no int [module]
ti.init(random_seed=1.5)
#! KernelValueError
#! init(random_seed=...): expected an int, found 1.5

#-- init with too many positions [module]
ti.init(ti.cpu, True)
#! TypeError
#! init() takes arch and keywords, found 2 arguments

#-- an array of a dtype that is none [module]
ti.ndarray("f32", 3)
#! KernelTypeError
#! ndarray: expected a dtype such as pestle.f32, found str

#-- an array of a negative length [module]
ti.ndarray(ti.f32, (3, -1))
#! KernelArgumentError
#! (3, -1) is not a valid shape for ndarray: expected at most 12 axes, each an int from 0 to 2130706431

#-- an array of a float length [module]
ti.ndarray(ti.f32, 3.0)
#! KernelArgumentError
#! 3.0 is not a valid shape for ndarray: expected at most 12 axes, each an int from 0 to 2130706431

#-- an array of too many axes [module]
ti.ndarray(ti.f32, (1,) * 20)
#! KernelArgumentError
#! (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1) is not a valid shape for ndarray: expected at most 12 axes, each an int from 0 to 2130706431

#-- an array beyond memory [module]
ti.ndarray(ti.f64, (2**31 - 1, 2**31 - 1, 2**10))
#! KernelArgumentError
#! (2147483647, 2147483647, 1024) is not a valid shape for ndarray: expected at most 12 axes, each an int from 0 to 2130706431

#-- an index beyond an array [module]
ti.ndarray(ti.f32, 3)[3]
#! KernelIndexError
#! Ndarray: index 3 is out of bounds for axis 0 with length 3

#-- a negative index beyond an array [module]
ti.ndarray(ti.f32, 3)[-4]
#! KernelIndexError
#! Ndarray: index -4 is out of bounds for axis 0 with length 3

#-- too many indices of an array [module]
ti.ndarray(ti.f32, 3)[0, 1]
#! KernelIndexError
#! Ndarray: 1d ndarray indexed with 2d indices

#-- a float index of an array [module]
ti.ndarray(ti.f32, 3)[1.0]
#! KernelTypeError
#! Ndarray: expected 1 integer indices, found float

#-- a slice of an array with two axes [module]
ti.ndarray(ti.f32, (3, 2))[0:2]
#! KernelTypeError
#! a BufferView is a range of a 1D ndarray, found one with 2 axes; other slices: numpy.asarray(array)[...]

#-- a string stored into an array [module]
ti.ndarray(ti.f32, 3)[0] = "a"
#! KernelArgumentError
#! Ndarray element: expected a number (f32), found str

#-- a float stored into an integer array [module]
ti.ndarray(ti.i32, 3)[0] = 1.5
#! KernelArgumentError
#! Ndarray element: expected an integer (i32), found float

#-- an int out of range stored into an array [module]
ti.ndarray(ti.i32, 3)[0] = 2**31
#! KernelArgumentError
#! Ndarray element: 2147483648 is out of range for i32, which goes from -2147483648 to 2147483647

#-- filling with a string [module]
ti.ndarray(ti.f32, 3).fill("a")
#! KernelArgumentError
#! Ndarray.fill: expected a number (f32), found str

#-- copying an array of another shape [module]
ti.ndarray(ti.f32, 3).from_numpy(np.zeros(4, np.float32))
#! KernelValueError
#! from_numpy: the shapes differ: (3,) and (4,)

#-- making an array from nothing [module]
ti.ndarray()
#! TypeError
#! ndarray() needs dtype and shape; dtype is missing

#-- making an array with an unknown keyword [module]
ti.ndarray(ti.f32, 3, colour="red")
#! KernelTypeError
#! ndarray() got an unexpected keyword argument 'colour'; it knows dtype, shape, needs_grad, layout and order

#-- a positional-only argument by name
@ti.kernel
def f(n: ti.i32, /):
    pass
f(n=1)
#! KernelCallError
#! kernel 'f': Unexpected argument 'n'

#-- an array beyond what can be addressed [module]
ti.ndarray(ti.f64, (2**30, 2**30, 2**10))
#! KernelArgumentError
#! ndarray: the shape (1073741824, 1073741824, 1024) takes more memory than can be addressed

#-- a negative literal of an unsigned type
@ti.kernel
def f() -> ti.u16:
    return ti.u16(-1)
f()
#! KernelTypeError
#! File "program.py", line 3, in f
#!     return ti.u16(-1)
#!            ^^^^^^^^^^
#! Integer literal -1 exceeded the range of specified dtype: u16, which goes from 0 to 65535

#-- a literal beyond a narrow type
@ti.kernel
def f() -> ti.i8:
    return ti.i8(200)
f()
#! KernelTypeError
#! File "program.py", line 3, in f
#!     return ti.i8(200)
#!            ^^^^^^^^^^
#! Integer literal 200 exceeded the range of specified dtype: i8, which goes from -128 to 127

#-- a conversion that % does not have
@ti.kernel
def f(n: ti.i32):
    print("%q" % n)
f(1)
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     print("%q" % n)
#!           ^^^^^^^^
#! '%q' does not start with a conversion that kernels have: %[flags][width][.precision] and one of d i u x X o e E f F g G s r

#-- too few values for %
@ti.kernel
def f(n: ti.i32):
    print("%d %d" % n)
f(1)
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     print("%d %d" % n)
#!           ^^^^^^^^^^^
#! Expected 2 positional argument(s), but received 1 instead.

#-- too many values for %
@ti.kernel
def f(n: ti.i32):
    print("%d" % (n, n))
f(1)
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     print("%d" % (n, n))
#!           ^^^^^^^^^^^^^
#! Expected 1 positional argument(s), but received 2 instead.

#-- a kernel as a class method [module]
class C:
    @classmethod
    @ti.kernel
    def f(cls, n: ti.i32):
        pass
C.f(1)
#! KernelSyntaxError
#! File "program.py", line 4, in f
#!     def f(cls, n: ti.i32):
#!           ^^^
#! kernel 'f' takes cls: class methods are not supported; use a method (self) of a @data_oriented class, or a @staticmethod

#-- a return after a loop without end
@ti.kernel
def f() -> ti.i32:
    n = 0
    while True:
        n += 1
    return n
f()
#! KernelSyntaxError
#! File "program.py", line 2, in f
#!     def f() -> ti.i32:
#!     ^^^^^^^^^^^^^^^^^^
#! the result is never returned: a loop before the return has no break, so nothing after it is reached
