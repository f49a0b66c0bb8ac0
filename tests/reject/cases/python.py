# Python that runs while a kernel is compiled: helpers, lambdas, containers, and the exceptions they raise.

#-- division by zero
y = 1 // 0
#! KernelValueError
#! File "program.py", line 3, in f
#!     y = 1 // 0
#!         ^^^^^^
#! ZeroDivisionError while compiling: integer division or modulo by zero
#! from ZeroDivisionError: integer division or modulo by zero

#-- division by zero in an expression
x[0] = n + 1 / 0
#! KernelValueError
#! File "program.py", line 3, in f
#!     x[0] = n + 1 / 0
#!                ^^^^^
#! ZeroDivisionError while compiling: division by zero
#! from ZeroDivisionError: division by zero

#-- modulo zero
y = 5 % 0
#! KernelValueError
#! File "program.py", line 3, in f
#!     y = 5 % 0
#!         ^^^^^
#! ZeroDivisionError while compiling: integer modulo by zero
#! from ZeroDivisionError: integer modulo by zero

#-- zero to a negative power
y = 0 ** -1
#! KernelValueError
#! File "program.py", line 3, in f
#!     y = 0 ** -1
#!         ^^^^^^^
#! ZeroDivisionError while compiling: 0.0 cannot be raised to a negative power
#! from ZeroDivisionError: 0.0 cannot be raised to a negative power

#-- a negative shift
y = 1 << -1
#! KernelValueError
#! File "program.py", line 3, in f
#!     y = 1 << -1
#!         ^^^^^^^
#! ValueError while compiling: negative shift count
#! from ValueError: negative shift count

#-- a very large shift
y = 1 << 10**10
#! KernelValueError
#! File "program.py", line 3, in f
#!     y = 1 << 10**10
#!         ^^^^^^^^^^^
#! the result of '<<' on these Python values is too large to compute while compiling

#-- a very large power
y = 10 ** 10**9
#! KernelValueError
#! File "program.py", line 3, in f
#!     y = 10 ** 10**9
#!         ^^^^^^^^^^^
#! the result of '**' on these Python values is too large to compute while compiling

#-- a very long string
y = "a" * 10**10
#! KernelValueError
#! File "program.py", line 3, in f
#!     y = "a" * 10**10
#!         ^^^^^^^^^^^^
#! the result of '*' on these Python values is too large to compute while compiling

#-- a very long list
y = [0] * 10**10
#! KernelValueError
#! File "program.py", line 3, in f
#!     y = [0] * 10**10
#!         ^^^^^^^^^^^^
#! the result of '*' on these Python values is too large to compute while compiling

#-- a list of a very long list
y = [0] * 100000
z = y * 100000
#! KernelValueError
#! File "program.py", line 4, in f
#!     z = y * 100000
#!         ^^^^^^^^^^
#! the result of '*' on these Python values is too large to compute while compiling

#-- powers of powers
y = 9 ** 9999
z = y ** 9999
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = 9 ** 9999
#!         ^^^^^^^^^
#! Integer literal (a very large number) exceeded the range of default_ip: i32, which goes from -2147483648 to 2147483647

#-- a float power too large
y = 10.0 ** 400
#! KernelValueError
#! File "program.py", line 3, in f
#!     y = 10.0 ** 400
#!         ^^^^^^^^^^^
#! OverflowError while compiling: (34, 'Numerical result out of range')
#! from OverflowError: (34, 'Numerical result out of range')

#-- adding a number to a string
y = "a" + 1
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = "a" + 1
#!         ^^^^^^^
#! TypeError while compiling: can only concatenate str (not "int") to str
#! from TypeError: can only concatenate str (not "int") to str

#-- comparing a number with a string
y = 1 < "a"
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = 1 < "a"
#!         ^^^^^^^
#! TypeError while compiling: '<' not supported between instances of 'int' and 'str'
#! from TypeError: '<' not supported between instances of 'int' and 'str'

#-- the negative of a string
y = -"a"
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = -"a"
#!         ^^^^
#! TypeError while compiling: bad operand type for unary -: 'str'
#! from TypeError: bad operand type for unary -: 'str'

#-- a helper that raises
def helper(a):
    raise ValueError("no such luck")

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return helper(n)
f(1)
#! KernelValueError
#! File "program.py", line 6, in f
#!     return helper(n)
#!            ^^^^^^^^^
#! ValueError while compiling: no such luck
#! from ValueError: no such luck

#-- a helper that raises, called by a func
def helper(a):
    return {}["key"]

@ti.func
def g(a):
    return helper(a) + 1

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return g(n)
f(1)
#! KernelIndexError
#! File "program.py", line 10, in f
#!     return g(n)
#!            ^^^^
#! File "program.py", line 6, in g
#!     return helper(a) + 1
#!            ^^^^^^^^^
#! KeyError while compiling: 'key'
#! from KeyError: 'key'

#-- a helper that raises an exception of its own
class Mine(Exception):
    pass

def helper(a):
    raise Mine(1, 2)

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return helper(n)
f(1)
#! CompilationError
#! File "program.py", line 9, in f
#!     return helper(n)
#!            ^^^^^^^^^
#! Mine while compiling: (1, 2)
#! from Mine: (1, 2)

#-- a helper without an end
def helper(a):
    return helper(a)

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return helper(n)
f(1)
#! CompilationError
#! File "program.py", line 6, in f
#!     return helper(n)
#!            ^^^^^^^^^
#! RecursionError while compiling: maximum recursion depth exceeded
#! from RecursionError: maximum recursion depth exceeded

#-- a helper called with too many arguments
def helper(a):
    return a

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return helper(n, n)
f(1)
#! KernelTypeError
#! File "program.py", line 6, in f
#!     return helper(n, n)
#!            ^^^^^^^^^^^^
#! TypeError while compiling: helper() takes 1 positional argument but 2 were given
#! from TypeError: helper() takes 1 positional argument but 2 were given

#-- an if on a runtime value in a helper
def helper(a):
    if a > 1:
        return 1
    return 2

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return helper(n)
f(1)
#! KernelTypeError
#! File "program.py", line 8, in f
#!     return helper(n)
#!            ^^^^^^^^^
#! TypeError while compiling: a truth test (if, while, and, or, not) needs a value that is known only when the kernel runs; in Python code called at compile time it is not there yet (decorate the function with @func to compile it)
#! from TypeError: a truth test (if, while, and, or, not) needs a value that is known only when the kernel runs; in Python code called at compile time it is not there yet (decorate the function with @func to compile it)

#-- a range over a runtime value in a helper
def helper(a):
    return sum(i for i in range(a))

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return helper(n)
f(1)
#! KernelTypeError
#! File "program.py", line 6, in f
#!     return helper(n)
#!            ^^^^^^^^^
#! TypeError while compiling: a Python index or range needs a value that is known only when the kernel runs; in Python code called at compile time it is not there yet (decorate the function with @func to compile it)
#! from TypeError: a Python index or range needs a value that is known only when the kernel runs; in Python code called at compile time it is not there yet (decorate the function with @func to compile it)

#-- int() of a runtime value in a helper
def helper(a):
    return int(a)

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return helper(n)
f(1)
#! KernelTypeError
#! File "program.py", line 6, in f
#!     return helper(n)
#!            ^^^^^^^^^
#! TypeError while compiling: int() needs a value that is known only when the kernel runs; in Python code called at compile time it is not there yet (decorate the function with @func to compile it)
#! from TypeError: int() needs a value that is known only when the kernel runs; in Python code called at compile time it is not there yet (decorate the function with @func to compile it)

#-- float() of a runtime value in a helper
def helper(a):
    return float(a)

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return helper(n)
f(1)
#! KernelTypeError
#! File "program.py", line 6, in f
#!     return helper(n)
#!            ^^^^^^^^^
#! TypeError while compiling: float() needs a value that is known only when the kernel runs; in Python code called at compile time it is not there yet (decorate the function with @func to compile it)
#! from TypeError: float() needs a value that is known only when the kernel runs; in Python code called at compile time it is not there yet (decorate the function with @func to compile it)

#-- math of a runtime value in a helper
import math

def helper(a):
    return math.sin(a)

@ti.kernel
def f(t: ti.f32) -> ti.f32:
    return helper(t)
f(1.0)
#! KernelTypeError
#! File "program.py", line 8, in f
#!     return helper(t)
#!            ^^^^^^^^^
#! TypeError while compiling: float() needs a value that is known only when the kernel runs; in Python code called at compile time it is not there yet (decorate the function with @func to compile it)
#! from TypeError: float() needs a value that is known only when the kernel runs; in Python code called at compile time it is not there yet (decorate the function with @func to compile it)

#-- numpy of a runtime value
@ti.kernel
def f(t: ti.f32) -> ti.f32:
    return np.linalg.norm(t)
f(1.0)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     return np.linalg.norm(t)
#!            ^^^^^^^^^^^^^^^^^
#! numpy.linalg.norm() is not available in kernels, on values known only when the kernel runs; use the vector's norm()

#-- a list index by a runtime value in a helper
def helper(a):
    return [1, 2, 3][a]

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return helper(n)
f(1)
#! KernelTypeError
#! File "program.py", line 6, in f
#!     return helper(n)
#!            ^^^^^^^^^
#! TypeError while compiling: a Python index or range needs a value that is known only when the kernel runs; in Python code called at compile time it is not there yet (decorate the function with @func to compile it)
#! from TypeError: a Python index or range needs a value that is known only when the kernel runs; in Python code called at compile time it is not there yet (decorate the function with @func to compile it)

#-- iterating over a runtime value in a helper
def helper(a):
    return [i for i in a]

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return helper(n)[0]
f(1)
#! KernelTypeError
#! File "program.py", line 6, in f
#!     return helper(n)[0]
#!            ^^^^^^^^^
#! TypeError while compiling: iteration needs a value that is known only when the kernel runs; in Python code called at compile time it is not there yet (decorate the function with @func to compile it)
#! from TypeError: iteration needs a value that is known only when the kernel runs; in Python code called at compile time it is not there yet (decorate the function with @func to compile it)

#-- a runtime value as key in a helper
def helper(a):
    return {a: 1}

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return helper(n)[n]
f(1)
#! KernelTypeError
#! File "program.py", line 6, in f
#!     return helper(n)[n]
#!            ^^^^^^^^^
#! TypeError while compiling: a hash, as for a key of a dict, needs a value that is known only when the kernel runs; in Python code called at compile time it is not there yet (decorate the function with @func to compile it)
#! from TypeError: a hash, as for a key of a dict, needs a value that is known only when the kernel runs; in Python code called at compile time it is not there yet (decorate the function with @func to compile it)

#-- len of a runtime value in a helper
def helper(a):
    return len(a)

@ti.kernel
def f(x: F1) -> ti.i32:
    return helper(x[0])
f(np.zeros(1, np.float32))
#! KernelTypeError
#! File "program.py", line 6, in f
#!     return helper(x[0])
#!            ^^^^^^^^^^^^
#! TypeError while compiling: len() needs a value that is known only when the kernel runs; in Python code called at compile time it is not there yet (decorate the function with @func to compile it)
#! from TypeError: len() needs a value that is known only when the kernel runs; in Python code called at compile time it is not there yet (decorate the function with @func to compile it)

#-- a wrong operator in a helper
def helper(a):
    return a << 1.5

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return helper(n)
f(1)
#! KernelTypeError
#! File "program.py", line 6, in f
#!     return helper(n)
#!            ^^^^^^^^^
#! unsupported operand type(s) for '<<': i32 and float 1.5; expected integers

#-- a wrong operator caught by a helper
def helper(a):
    try:
        return a << 1.5
    except TypeError:
        return 3

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return helper(n)
f(1)
#! KernelTypeError
#! File "program.py", line 9, in f
#!     return helper(n)
#!            ^^^^^^^^^
#! unsupported operand type(s) for '<<': i32 and float 1.5; expected integers

#-- an attribute that a runtime value does not have, in a helper
def helper(a):
    return a.real

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return helper(n)
f(1)
#! KernelNameError
#! File "program.py", line 6, in f
#!     return helper(n)
#!            ^^^^^^^^^
#! i32 has no attribute 'real'

#-- pow with a modulus in a helper
def helper(a):
    return pow(a, 2, 3)

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return helper(n)
f(1)
#! KernelTypeError
#! File "program.py", line 6, in f
#!     return helper(n)
#!            ^^^^^^^^^
#! TypeError while compiling: pow() with a modulus is not supported in kernels
#! from TypeError: pow() with a modulus is not supported in kernels

#-- round with digits in a helper
def helper(a):
    return round(a, 2)

@ti.kernel
def f(t: ti.f32) -> ti.f32:
    return helper(t)
f(1.0)
#! KernelTypeError
#! File "program.py", line 6, in f
#!     return helper(t)
#!            ^^^^^^^^^
#! TypeError while compiling: round() with a number of digits is not supported in kernels
#! from TypeError: round() with a number of digits is not supported in kernels

#-- an assignment to a runtime array in a helper
def helper(a):
    a[0] = 1

@ti.kernel
def f(x: F1):
    helper(x)
f(np.zeros(1, np.float32))
#! KernelTypeError
#! File "program.py", line 6, in f
#!     helper(x)
#!     ^^^^^^^^^
#! TypeError while compiling: Python code called at compile time cannot assign elements of a kernel's array (decorate the function with @func to compile it)
#! from TypeError: Python code called at compile time cannot assign elements of a kernel's array (decorate the function with @func to compile it)

#-- a helper that gives a list where a number is needed
def helper(a):
    return [a]

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return n + helper(n)
f(1)
#! KernelTypeError
#! File "program.py", line 6, in f
#!     return n + helper(n)
#!            ^^^^^^^^^^^^^
#! unsupported operand type(s) for '+': i32 and list; expected numbers

#-- a helper that gives nothing
def helper(a):
    a + 1

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    y = helper(n)
    return n
f(1)
#! KernelTypeError
#! File "program.py", line 6, in f
#!     y = helper(n)
#!         ^^^^^^^^^
#! this call gives no value that could be assigned

#-- a lambda that raises
helper = lambda a: a.missing

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return helper(n)
f(1)
#! KernelNameError
#! File "program.py", line 5, in f
#!     return helper(n)
#!            ^^^^^^^^^
#! i32 has no attribute 'missing'

#-- a value kept from an earlier compilation
kept = []

def helper(a):
    kept.append(a)
    return a

@ti.kernel
def g(n: ti.i32) -> ti.i32:
    return helper(n)

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return kept[0] + n
g(1)
f(1)
#! KernelRuntimeError
#! File "program.py", line 13, in f
#!     return kept[0] + n
#!            ^^^^^^^
#! this value belongs to a kernel whose compilation has ended; it cannot be used any more

#-- a value kept from an earlier compilation, in Python [module]
kept = []

def helper(a):
    kept.append(a)
    return a

@ti.kernel
def g(n: ti.i32) -> ti.i32:
    return helper(n)
g(1)
kept[0] + 1
#! RuntimeError
#! this value belongs to a kernel whose compilation has ended; it cannot be used any more

#-- a value kept from another func
kept = []

def helper(a):
    kept[:] = [a]

@ti.func
def g(a):
    helper(a)
    y = 0
    for i in range(a):
        y += i
    return y

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    y = 0
    for i in range(n):
        y += g(i)
    return kept[0] + y
f(1)
#! CompilationError
#! File "program.py", line 19, in f
#!     return kept[0] + y
#!            ^^^^^^^
#! this value belongs to another function of the kernel; pass it as an argument

#-- a value kept from a block that has ended
kept = []

def helper(a):
    kept[:] = [a]

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    for i in range(n):
        helper(i + 1)
    return kept[0]
f(1)
#! CompilationError
#! File "program.py", line 10, in f
#!     return kept[0]
#!            ^^^^^^^
#! this value was computed inside a block that has ended; assign it to a variable made before the block

#-- an object whose attribute raises
class A:
    @property
    def k(self):
        raise RuntimeError("not ready")

a = A()
@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return n + a.k
f(1)
#! CompilationError
#! File "program.py", line 9, in f
#!     return n + a.k
#!                ^^^
#! RuntimeError while compiling: not ready
#! from RuntimeError: not ready

#-- an object whose truth raises
class A:
    def __bool__(self):
        raise RuntimeError("neither")

a = A()
@ti.kernel
def f(n: ti.i32):
    if a:
        pass
f(1)
#! CompilationError
#! File "program.py", line 8, in f
#!     if a:
#!        ^
#! RuntimeError while compiling: neither
#! from RuntimeError: neither

#-- the truth of a numpy array
a = np.zeros(3)
@ti.kernel
def f(n: ti.i32):
    if a:
        pass
f(1)
#! KernelValueError
#! File "program.py", line 4, in f
#!     if a:
#!        ^
#! ValueError while compiling: The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()
#! from ValueError: The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()

#-- an object whose operator raises
class A:
    def __add__(self, other):
        raise RuntimeError("no sums")

a = A()
@ti.kernel
def f():
    y = a + 1
f()
#! CompilationError
#! File "program.py", line 8, in f
#!     y = a + 1
#!         ^^^^^
#! RuntimeError while compiling: no sums
#! from RuntimeError: no sums

#-- an object whose index raises
class A:
    def __getitem__(self, key):
        raise KeyError(key)

a = A()
@ti.kernel
def f():
    y = a[3]
f()
#! KernelIndexError
#! File "program.py", line 8, in f
#!     y = a[3]
#!         ^^^^
#! KeyError while compiling: 3
#! from KeyError: 3

#-- an iterator that raises
def numbers():
    yield 1
    raise RuntimeError("no more numbers")

@ti.kernel
def f():
    for i in ti.static(numbers()):
        pass
f()
#! CompilationError
#! File "program.py", line 7, in f
#!     for i in ti.static(numbers()):
#!              ^^^^^^^^^^^^^^^^^^^^
#! RuntimeError while compiling: no more numbers
#! from RuntimeError: no more numbers

#-- an object whose repr raises
class A:
    def __repr__(self):
        raise RuntimeError("no text")

a = A()
@ti.kernel
def f():
    print(a)
f()
#! CompilationError
#! File "program.py", line 8, in f
#!     print(a)
#!     ^^^^^^^^
#! RuntimeError while compiling: no text
#! from RuntimeError: no text

#-- an object whose repr raises, in a message
class A:
    def __repr__(self):
        raise RuntimeError("no text")

a = A()
@ti.kernel
def f(n: ti.i32):
    y = n + a
f(1)
#! KernelTypeError
#! File "program.py", line 8, in f
#!     y = n + a
#!         ^^^^^
#! unsupported operand type(s) for '+': i32 and A; expected numbers

#-- an assertion in a helper
def helper(a, k):
    assert k > 2, "k must be more than 2"
    return a

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return helper(n, 1)
f(1)
#! StaticAssertionError
#! File "program.py", line 7, in f
#!     return helper(n, 1)
#!            ^^^^^^^^^^^^
#! AssertionError while compiling: k must be more than 2
#! from AssertionError: k must be more than 2

#-- open() of a file that is not there
@ti.kernel
def f():
    y = open("/no/such/file")
f()
#! CompilationError
#! File "program.py", line 3, in f
#!     y = open("/no/such/file")
#!         ^^^^^^^^^^^^^^^^^^^^^
#! FileNotFoundError while compiling: [Errno 2] No such file or directory: '/no/such/file'
#! from FileNotFoundError: [Errno 2] No such file or directory: '/no/such/file'

#-- print with an object whose str raises
class A:
    def __str__(self):
        raise RuntimeError("no text")

a = A()
@ti.kernel
def f(n: ti.i32):
    print(f"{a} {n}")
f(1)
#! CompilationError
#! File "program.py", line 8, in f
#!     print(f"{a} {n}")
#!           ^^^^^^^^^^
#! RuntimeError while compiling: no text
#! from RuntimeError: no text

#-- eval in a kernel
@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return eval("n + 1")
f(1)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     return eval("n + 1")
#!            ^^^^^^^^^^^^^
#! eval() sees the Python frame that launched the kernel, not the kernel's; write the expression itself

#-- exec in a func
@ti.func
def g(n):
    exec("n = 2")
    return n
@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return g(n)
f(1)
#! KernelTypeError
#! File "program.py", line 7, in f
#!     return g(n)
#!            ^^^^
#! File "program.py", line 3, in g
#!     exec("n = 2")
#!     ^^^^^^^^^^^^^
#! exec() sees the Python frame that launched the kernel, not the kernel's; write the statements themselves

#-- locals in a kernel
@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return len(locals())
f(1)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     return len(locals())
#!                ^^^^^^^^
#! locals() sees the Python frame that launched the kernel, not the kernel's; use the variables by their names

#-- globals in a kernel
@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return globals()["n"]
f(1)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     return globals()["n"]
#!            ^^^^^^^^^
#! globals() sees the Python frame that launched the kernel, not the kernel's; use the globals by their names

#-- vars in a kernel
@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return len(vars())
f(1)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     return len(vars())
#!                ^^^^^^
#! vars() sees the Python frame that launched the kernel, not the kernel's; use the variables by their names

#-- dir in a kernel
@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return len(dir())
f(1)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     return len(dir())
#!                ^^^^^
#! dir() sees the Python frame that launched the kernel, not the kernel's; use the variables by their names

#-- super() in a kernel
@ti.data_oriented
class A:
    @ti.func
    def g(self, n):
        return n

class B(A):
    @ti.kernel
    def f(self, n: ti.i32) -> ti.i32:
        return super().g(n)
B().f(1)
#! KernelTypeError
#! File "program.py", line 10, in f
#!     return super().g(n)
#!            ^^^^^^^
#! super() sees the Python frame that launched the kernel, not the kernel's; name the class, as in Base.method(self, ...)

#-- type() of a runtime value
@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return 1 if ti.static(type(n) is int) else 2
f(1)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     return 1 if ti.static(type(n) is int) else 2
#!                           ^^^^^^^
#! type() of a value that is known only when the kernel runs: found i32; ask isinstance(x, int), float, bool or ti.Vector, or x.dtype

#-- callable() of a runtime value
@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return 1 if callable(n) else 2
f(1)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     return 1 if callable(n) else 2
#!                 ^^^^^^^^^^^
#! callable() of a value that is known only when the kernel runs: found i32; ask isinstance(x, int), float, bool or ti.Vector, or x.dtype

#-- a function of math without a counterpart
import math
@ti.kernel
def f(x: ti.f32) -> ti.f32:
    return math.gamma(x)
f(1.0)
#! KernelTypeError
#! File "program.py", line 4, in f
#!     return math.gamma(x)
#!            ^^^^^^^^^^^^^
#! math.gamma() is not available in kernels, on values known only when the kernel runs

#-- math.isfinite
import math
@ti.kernel
def f(x: ti.f32) -> ti.f32:
    return math.isfinite(x)
f(1.0)
#! KernelTypeError
#! File "program.py", line 4, in f
#!     return math.isfinite(x)
#!            ^^^^^^^^^^^^^^^^
#! math.isfinite() is not available in kernels, on values known only when the kernel runs; use `not (ti.isnan(x) or ti.isinf(x))`

#-- a ufunc without a counterpart
import numpy as np
@ti.kernel
def f(x: ti.f32) -> ti.f32:
    return np.square(x)
f(1.0)
#! KernelTypeError
#! File "program.py", line 4, in f
#!     return np.square(x)
#!            ^^^^^^^^^^^^
#! numpy.square() is not available in kernels, on values known only when the kernel runs; use `x * x`

#-- numpy.where
import numpy as np
@ti.kernel
def f(x: ti.f32) -> ti.f32:
    return np.where(x > 0, x, 1.0)
f(1.0)
#! KernelTypeError
#! File "program.py", line 4, in f
#!     return np.where(x > 0, x, 1.0)
#!            ^^^^^^^^^^^^^^^^^^^^^^^
#! numpy.where() is not available in kernels, on values known only when the kernel runs; use ti.select(condition, a, b)

#-- numpy.clip
import numpy as np
@ti.kernel
def f(x: ti.f32) -> ti.f32:
    return np.clip(x, 0, 1)
f(1.0)
#! KernelTypeError
#! File "program.py", line 4, in f
#!     return np.clip(x, 0, 1)
#!            ^^^^^^^^^^^^^^^^
#! numpy.clip() is not available in kernels, on values known only when the kernel runs; use ti.math.clamp(x, low, high)

#-- a sum of a list with runtime values
import math
@ti.kernel
def f(x: ti.f32) -> ti.f32:
    return math.fsum([x, x])
f(1.0)
#! KernelTypeError
#! File "program.py", line 4, in f
#!     return math.fsum([x, x])
#!            ^^^^^^^^^^^^^^^^^
#! math.fsum() is not available in kernels, on values known only when the kernel runs; add in a loop
