# Statements and expressions that the loop language does not have.

#-- try
try:
    pass
finally:
    pass
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     try:
#!     ^^^^
#! Unsupported node "Try": there are no exceptions in kernels; use if, or assert in checked mode

#-- raise
raise ValueError("no")
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     raise ValueError("no")
#!     ^^^^^^^^^^^^^^^^^^^^^^
#! Unsupported node "Raise": there are no exceptions in kernels; use assert, in checked mode

#-- import
import math
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     import math
#!     ^^^^^^^^^^^
#! Unsupported node "Import": import outside the kernel

#-- import from
from math import sin
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     from math import sin
#!     ^^^^^^^^^^^^^^^^^^^^
#! Unsupported node "ImportFrom": import outside the kernel

#-- a class
class A:
    pass
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     class A:
#!     ^^^^^^^^
#! Unsupported node "ClassDef": define the class outside the kernel

#-- a function inside a kernel
def g(a):
    return a
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     def g(a):
#!     ^^^^^^^^^
#! Function definition is not allowed in 'ti.kernel'; define it outside

#-- an async function inside a kernel
async def g(a):
    return a
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     async def g(a):
#!     ^^^^^^^^^^^^^^^
#! Unsupported node "AsyncFunctionDef": define the function outside the kernel

#-- a function inside a func
@ti.func
def g(a):
    def h(b):
        return b
    return h(a)

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return g(n)
f(1)
#! KernelSyntaxError
#! File "program.py", line 9, in f
#!     return g(n)
#!            ^^^^
#! File "program.py", line 3, in g
#!     def h(b):
#!     ^^^^^^^^^
#! Function definition is not allowed in 'ti.func'; define it outside

#-- a lambda inside a kernel
g = lambda a: a + 1
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     g = lambda a: a + 1
#!         ^^^^^^^^^^^^^^^
#! Unsupported node "Lambda": define the function outside the kernel

#-- a lambda as an argument
y = max(n, key=lambda a: a)
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     y = max(n, key=lambda a: a)
#!                    ^^^^^^^^^^^
#! Unsupported node "Lambda": define the function outside the kernel

#-- with
with open("file") as g:
    pass
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     with open("file") as g:
#!     ^^^^^^^^^^^^^^^^^^^^^^^
#! Unsupported node "With": there are no context managers in kernels

#-- del
y = 1
del y
#! KernelSyntaxError
#! File "program.py", line 4, in f
#!     del y
#!     ^^^^^
#! Unsupported node "Delete": names end with their block

#-- global
global counter
counter = n
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     global counter
#!     ^^^^^^^^^^^^^^
#! Unsupported node "Global": a kernel cannot assign to variables outside it; return a value or write to an array

#-- nonlocal
@ti.kernel
def outer():
    pass

def make():
    count = 0

    @ti.kernel
    def f(n: ti.i32):
        nonlocal count
        count = n
    return f
f = make()
f(1)
#! KernelSyntaxError
#! File "program.py", line 10, in f
#!     nonlocal count
#!     ^^^^^^^^^^^^^^
#! Unsupported node "Nonlocal": a kernel cannot assign to variables outside it; return a value or write to an array

#-- yield
@ti.kernel
def f(n: ti.i32):
    yield n
f(1)
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     yield n
#!     ^^^^^^^
#! Unsupported node "Yield": kernels run to their end; write to an array

#-- yield in a func
@ti.func
def g(a):
    yield a

@ti.kernel
def f(n: ti.i32):
    y = g(n)
f(1)
#! KernelSyntaxError
#! File "program.py", line 7, in f
#!     y = g(n)
#!         ^^^^
#! File "program.py", line 3, in g
#!     yield a
#!     ^^^^^^^
#! Unsupported node "Yield": kernels run to their end; write to an array

#-- await
@ti.kernel
async def f(n: ti.i32):
    await n
f(1)
#! KernelSyntaxError
#! File "program.py", line 1, in f
#! kernel 'f' is written with async def; kernels are plain functions

#-- match
match n:
    case 1:
        pass
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     match n:
#!     ^^^^^^^^
#! Unsupported node "Match": use if and elif

#-- a set
y = {n, 1}
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     y = {n, 1}
#!         ^^^^^^
#! Unsupported node "Set": use a tuple or a list

#-- a set comprehension
y = {i for i in ti.static(range(3))}
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     y = {i for i in ti.static(range(3))}
#!         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#! Unsupported node "SetComp": use a list comprehension

#-- a generator expression
y = sum(i for i in ti.static(range(3)))
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     y = sum(i for i in ti.static(range(3)))
#!            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#! Unsupported node "GeneratorExp": use a list comprehension

#-- is between runtime values
y = n is 1
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     y = n is 1
#!         ^^^^^^
#! Operator "is" on values known only when the kernel runs is not supported; use == or !=

#-- is not between runtime values
if n is not n:
    x[0] = 1
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     if n is not n:
#!        ^^^^^^^^^^
#! Operator "is not" on values known only when the kernel runs is not supported; use == or !=

#-- in an array
if n in x:
    x[0] = 1
#! KernelTypeError
#! File "program.py", line 3, in f
#!     if n in x:
#!        ^^^^^^
#! "in" expects a tuple or list on the right, found f32 array of 1 axis

#-- in a number
if n in 3:
    x[0] = 1
#! KernelTypeError
#! File "program.py", line 3, in f
#!     if n in 3:
#!        ^^^^^^
#! "in" expects a tuple or list on the right, found int 3

#-- not in a range of runtime bounds
if 1 not in range(n):
    x[0] = 1
#! KernelTypeError
#! File "program.py", line 3, in f
#!     if 1 not in range(n):
#!        ^^^^^^^^^^^^^^^^^
#! "in" expects a tuple or list on the right, found range() or ndrange()

#-- matrix multiplication
y = n @ n
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = n @ n
#!         ^^^^^
#! unsupported operand type(s) for '@': i32 and i32; expected matrices

#-- matrix multiplication of arrays
y = x @ m
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = x @ m
#!         ^^^^^
#! unsupported operand type(s) for '@': f32 array of 1 axis and i32 array of 2 axes; operators work on elements, so index the array

#-- matrix multiplication in place
y = n
y @= n
#! KernelTypeError
#! File "program.py", line 4, in f
#!     y @= n
#!     ^^^^^^
#! unsupported operand type(s) for '@=': i32 and i32; expected matrices

#-- a slice of an array
y = x[1:3:2]
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     y = x[1:3:2]
#!           ^^^^^
#! a slice of an array is a view of neighbouring elements: it has no explicit step

#-- a slice among indices
y = m[0, :]
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     y = m[0, :]
#!              ^
#! slices are not supported in kernels; pass a slice of an array as an argument

#-- assigning to a slice
x[:] = 0
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     x[:] = 0
#!     ^^^^
#! a slice of an array cannot be assigned, only its elements; use fill(), or a loop

#-- an ellipsis as index
y = x[...]
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = x[...]
#!         ^^^^^^
#! indices must be integers, however 'ellipsis' is provided as index 0

#-- a starred target
a, *b = (1, 2, 3)
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     a, *b = (1, 2, 3)
#!        ^^
#! starred assignment targets are not supported in kernels; name each value

#-- a starred target in a list
[a, *b] = 1, 2, 3
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     [a, *b] = 1, 2, 3
#!         ^^
#! starred assignment targets are not supported in kernels; name each value

#-- a starred runtime number
y = max(*n)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = max(*n)
#!             ^^
#! expected a tuple, list or vector, found i32

#-- ** of something that is no dict
y = max(1, **n)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = max(1, **n)
#!                  ^
#! ** expects a dict with strings as keys, found i32

#-- ** with keys that are no strings
y = max(1, **{1: 2})
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = max(1, **{1: 2})
#!                   ^
#! ** expects a dict with strings as keys, found a dict with keys that are no strings

#-- for else
for i in range(n):
    pass
else:
    x[0] = 1
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     for i in range(n):
#!     ^^^^^^^^^^^^^^^^^^
#! 'else' clause for 'for' is not supported in kernels

#-- while else
while n > 3:
    pass
else:
    x[0] = 1
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     while n > 3:
#!     ^^^^^^^^^^^^
#! 'else' clause for 'while' is not supported in kernels

#-- annotating an element
x[0]: ti.f32 = 1.0
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     x[0]: ti.f32 = 1.0
#!     ^^^^^^^^^^^^^^^^^^
#! only variables can be annotated

#-- an annotation without a value
y: ti.i32
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     y: ti.i32
#!        ^^^^^^
#! annotated variable "y" needs a value

#-- an annotation that is no dtype
y: "a string" = 1
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y: "a string" = 1
#!        ^^^^^^^^^^
#! the annotation of variable "y" must be a dtype, int, float or bool, found str 'a string'

#-- an annotation that is a list
y: list = [1]
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y: list = [1]
#!        ^^^^
#! the annotation of variable "y" must be a dtype, int, float or bool, found class list

#-- annotating a variable twice
y: ti.i32 = 1
y: ti.i32 = 2
#! KernelSyntaxError
#! File "program.py", line 4, in f
#!     y: ti.i32 = 2
#!     ^
#! Recreating variables is not allowed: "y" exists already

#-- annotating an argument
n: ti.i32 = 1
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     n: ti.i32 = 1
#!     ^
#! Kernel argument "n" is immutable in the kernel. If you want to change its value, please create a new variable.

#-- a named expression at an argument
if (n := 3) > 2:
    x[0] = 1
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     if (n := 3) > 2:
#!         ^^^^^^
#! Kernel argument "n" is immutable in the kernel. If you want to change its value, please create a new variable.

#-- a format specification that integers do not have
print(f"{n:.2c}")
#! KernelValueError
#! File "program.py", line 3, in f
#!     print(f"{n:.2c}")
#!           ^^^^^^^^^^
#! '.2c' is no format specification of i32: expected [[fill]align][sign][#][0][width][,][.precision][type]

#-- a format specification that floats do not have
print(f"{t:5d}")
#! KernelValueError
#! File "program.py", line 3, in f
#!     print(f"{t:5d}")
#!           ^^^^^^^^^
#! '5d' is no format specification of f32: expected [[fill]align][sign][#][0][width][,][.precision][type]

#-- a width beyond all reason
print(f"{n:99999d}")
#! KernelValueError
#! File "program.py", line 3, in f
#!     print(f"{n:99999d}")
#!           ^^^^^^^^^^^^^
#! '99999d' is no format specification of i32: expected [[fill]align][sign][#][0][width][,][.precision][type]

#-- a nested format specification of a runtime value
print(f"{3:{n}}")
#! KernelTypeError
#! File "program.py", line 3, in f
#!     print(f"{3:{n}}")
#!           ^^^^^^^^^^
#! a format specification needs a value known while compiling, found text with runtime values

#-- the ascii conversion of a runtime value
print(f"{n!a}")
#! KernelTypeError
#! File "program.py", line 3, in f
#!     print(f"{n!a}")
#!           ^^^^^^^^
#! the conversion !a needs a value known while compiling, found i32

#-- a wrong format specification of a known value
print(f"{3:zz}")
#! KernelValueError
#! File "program.py", line 3, in f
#!     print(f"{3:zz}")
#!           ^^^^^^^^^
#! ValueError while compiling: Unknown format code 'z' for object of type 'int'
#! from ValueError: Unknown format code 'z' for object of type 'int'

#-- too many arguments of str.format
print("{} {}".format(n, n, n))
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     print("{} {}".format(n, n, n))
#!           ^^^^^^^^^^^^^^^^^^^^^^^
#! Expected 2 positional argument(s), but received 3 instead.

#-- too few arguments of str.format
print("{} {}".format(n))
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     print("{} {}".format(n))
#!           ^^^^^^^^^^^^^^^^^
#! no argument for the format field {}

#-- an unknown keyword of str.format
print("{k}".format(j=n))
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     print("{k}".format(j=n))
#!           ^^^^^^^^^^^^^^^^^
#! no argument for the format field {k}

#-- a format specification in str.format
print("{:.3q}".format(t))
#! KernelValueError
#! File "program.py", line 3, in f
#!     print("{:.3q}".format(t))
#!           ^^^^^^^^^^^^^^^^^^
#! '.3q' is no format specification of f32: expected [[fill]align][sign][#][0][width][,][.precision][type]

#-- a single brace in str.format
print("{".format(n))
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     print("{".format(n))
#!           ^^^^^^^^^^^^^
#! a single brace in the format string

#-- text with runtime values as a value
y = f"{n}" + "a"
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = f"{n}" + "a"
#!         ^^^^^^^^^^^^
#! unsupported operand type(s) for '+': text with runtime values and str 'a'; expected numbers

#-- text with runtime values as a number
y = 1 + f"{n}"
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = 1 + f"{n}"
#!         ^^^^^^^^^^
#! unsupported operand type(s) for '+': int 1 and text with runtime values; expected numbers

#-- text with runtime values as an argument
y = ord(f"{n}")
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = ord(f"{n}")
#!         ^^^^^^^^^^^
#! TypeError while compiling: ord() expected string of length 1, but pestle.Value found
#! from TypeError: ord() expected string of length 1, but pestle.Value found

#-- printing an array
print(x)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     print(x)
#!     ^^^^^^^^
#! f32 array of 1 axis cannot be printed from a kernel; expected numbers, strings, tuples or lists

#-- printing a range of runtime bounds
print(range(n))
#! KernelTypeError
#! File "program.py", line 3, in f
#!     print(range(n))
#!     ^^^^^^^^^^^^^^^
#! range() or ndrange() cannot be printed from a kernel; expected numbers, strings, tuples or lists

#-- printing with a separator that is no string
print(1, 2, sep=n)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     print(1, 2, sep=n)
#!     ^^^^^^^^^^^^^^^^^^
#! print(): sep must be a string, found i32

#-- printing to a file
print(1, file=None)
#! KernelCallError
#! File "program.py", line 3, in f
#!     print(1, file=None)
#!     ^^^^^^^^^^^^^^^^^^^
#! print(): Unexpected argument 'file'

#-- printing a NUL character
print("a\0b", n)
#! KernelValueError
#! File "program.py", line 3, in f
#!     print("a\0b", n)
#!     ^^^^^^^^^^^^^^^^
#! text with the characters 0 or 1 cannot be printed from a kernel

#-- a decorated inner kernel
@ti.kernel
def f(n: ti.i32):
    @ti.func
    def g(a):
        return a
    x = g(n)
f(1)
#! KernelSyntaxError
#! File "program.py", line 4, in f
#!     def g(a):
#!     ^^^^^^^^^
#! Function definition is not allowed in 'ti.kernel'; define it outside
