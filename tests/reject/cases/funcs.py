# Funcs: their arguments, their results, who may call them; recursion; the call chain.

#-- a missing argument of a func
@ti.func
def g(a, b):
    return a + b

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return g(n)
f(1)
#! KernelCallError
#! File "program.py", line 7, in f
#!     return g(n)
#!            ^^^^
#! g(): Missing argument 'b'

#-- too many arguments of a func
@ti.func
def g(a, b=1):
    return a + b

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return g(n, 2, 3)
f(1)
#! KernelCallError
#! File "program.py", line 7, in f
#!     return g(n, 2, 3)
#!            ^^^^^^^^^^
#! g(): Too many arguments: expected 2, found 3

#-- an unknown keyword of a func
@ti.func
def g(a):
    return a

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return g(n, c=2)
f(1)
#! KernelCallError
#! File "program.py", line 7, in f
#!     return g(n, c=2)
#!            ^^^^^^^^^
#! g(): Unexpected argument 'c'

#-- an argument of a func given twice
@ti.func
def g(a):
    return a

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return g(n, a=2)
f(1)
#! KernelCallError
#! File "program.py", line 7, in f
#!     return g(n, a=2)
#!            ^^^^^^^^^
#! g(): Multiple values for argument 'a'

#-- a keyword given twice
@ti.func
def g(a):
    return a

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return g(a=n, **{"a": 2})
f(1)
#! KernelCallError
#! File "program.py", line 7, in f
#!     return g(a=n, **{"a": 2})
#!            ^^^^^^^^^^^^^^^^^^
#! g(): Multiple values for argument 'a'

#-- a positional-only argument by name
@ti.func
def g(a, /):
    return a

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return g(a=n)
f(1)
#! KernelCallError
#! File "program.py", line 7, in f
#!     return g(a=n)
#!            ^^^^^^
#! g(): Missing argument 'a'

#-- a misspelt keyword, and so a missing argument
@ti.func
def g(a, size):
    return a + size

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return g(n, sise=2)
f(1)
#! KernelCallError
#! File "program.py", line 7, in f
#!     return g(n, sise=2)
#!            ^^^^^^^^^^^^
#! g(): Unexpected argument 'sise'

#-- a missing keyword-only argument
@ti.func
def g(a, *, b):
    return a + b

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return g(n)
f(1)
#! KernelCallError
#! File "program.py", line 7, in f
#!     return g(n)
#!            ^^^^
#! g(): Missing argument 'b'

#-- a string for a number
@ti.func
def g(a: ti.f32):
    return a

@ti.kernel
def f(n: ti.i32) -> ti.f32:
    return g("a")
f(1)
#! KernelCallError
#! File "program.py", line 7, in f
#!     return g("a")
#!            ^^^^^^
#! argument a: expected f32, found str 'a'

#-- an array for a number
@ti.func
def g(a: ti.f32):
    return a

@ti.kernel
def f(x: F1) -> ti.f32:
    return g(x)
f(np.zeros(1, np.float32))
#! KernelCallError
#! File "program.py", line 7, in f
#!     return g(x)
#!            ^^^^
#! argument a: expected f32, found f32 array of 1 axis

#-- a number for an array
@ti.func
def g(a: ti.types.ndarray()):
    return a[0]

@ti.kernel
def f(n: ti.i32) -> ti.f32:
    return g(n)
f(1)
#! KernelTypeError
#! File "program.py", line 7, in f
#!     return g(n)
#!            ^^^^
#! Expected ndarray for argument a, found i32

#-- an array of another dtype for an array
@ti.func
def g(a: I1):
    return a[0]

@ti.kernel
def f(x: F1) -> ti.f32:
    return g(x)
f(np.zeros(1, np.float32))
#! KernelTypeError
#! File "program.py", line 7, in f
#!     return g(x)
#!            ^^^^
#! argument a: expected types.ndarray(dtype=i32, ndim=1), found an f32 array of 1 axis

#-- an array of another rank for an array
@ti.func
def g(a: I2):
    return a[0, 0]

@ti.kernel
def f(x: I1) -> ti.i32:
    return g(x)
f(np.zeros(1, np.int32))
#! KernelTypeError
#! File "program.py", line 7, in f
#!     return g(x)
#!            ^^^^
#! argument a: expected types.ndarray(dtype=i32, ndim=2), found an i32 array of 1 axis

#-- an annotation of a func's parameter that is none
@ti.func
def g(a: 3):
    return a

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return g(n)
f(1)
#! KernelSyntaxError
#! File "program.py", line 7, in f
#!     return g(n)
#!            ^^^^
#! File "program.py", line 2, in g
#!     def g(a: 3):
#!              ^
#! parameter 'a' of a func has an annotation that is no dtype, types.ndarray(...), dataclass or template(): int 3

#-- a return annotation of a func that is none
@ti.func
def g(a) -> str:
    return a

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return g(n)
f(1)
#! KernelTypeError
#! File "program.py", line 7, in f
#!     return g(n)
#!            ^^^^
#! File "program.py", line 2, in g
#!     def g(a) -> str:
#!                 ^^^
#! the return annotation must be a dtype, int, float or bool, found class str

#-- an annotation of a func that cannot be evaluated
from __future__ import annotations
@ti.func
def g(a: no_such_type):
    return a

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return g(n)
f(1)
#! KernelNameError
#! File "program.py", line 8, in f
#!     return g(n)
#!            ^^^^
#! File "program.py", line 3, in g
#!     def g(a: no_such_type):
#!              ^^^^^^^^^^^^
#! Name "no_such_type" is not defined

#-- a func that returns nothing, assigned
@ti.func
def g(a):
    a + 1

@ti.kernel
def f(n: ti.i32):
    y = g(n)
f(1)
#! KernelTypeError
#! File "program.py", line 7, in f
#!     y = g(n)
#!         ^^^^
#! this call gives no value that could be assigned

#-- a func that returns nothing, in arithmetic
@ti.func
def g(a):
    pass

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return g(n) + 1
f(1)
#! KernelTypeError
#! File "program.py", line 7, in f
#!     return g(n) + 1
#!            ^^^^^^^^
#! TypeError while compiling: unsupported operand type(s) for +: 'NoneType' and 'int'
#! from TypeError: unsupported operand type(s) for +: 'NoneType' and 'int'

#-- a func that returns nothing, returned
@ti.func
def g(a):
    pass

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return g(n)
f(1)
#! KernelSyntaxError
#! File "program.py", line 7, in f
#!     return g(n)
#!            ^^^^
#! this return gives no value, but the function is annotated with a return type

#-- a func that can end without its result
@ti.func
def g(a) -> ti.i32:
    if a > 1:
        return 1

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return g(n)
f(1)
#! KernelSyntaxError
#! File "program.py", line 8, in f
#!     return g(n)
#!            ^^^^
#! File "program.py", line 2, in g
#!     def g(a) -> ti.i32:
#!     ^^^^^^^^^^^^^^^^^^^
#! function 'g' can end without returning a value

#-- a func that returns on some paths only
@ti.func
def g(a):
    for i in range(a):
        if i == 3:
            return i

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    y = 0
    for i in range(n):
        y += g(i)
    return y
f(5)
#! KernelSyntaxError
#! File "program.py", line 11, in f
#!     y += g(i)
#!          ^^^^
#! File "program.py", line 2, in g
#!     def g(a):
#!     ^^^^^^^^^
#! function 'g' can end without returning a value

#-- a func that returns a value here and none there
@ti.func
def g(a):
    if a > 1:
        return
    return a

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return g(n)
f(1)
#! KernelSyntaxError
#! File "program.py", line 9, in f
#!     return g(n)
#!            ^^^^
#! File "program.py", line 5, in g
#!     return a
#!            ^
#! this function returns a value in one place and none in another

#-- a func that returns none here and a value there
@ti.func
def g(a):
    if a > 1:
        return a
    return

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return g(n)
f(1)
#! KernelSyntaxError
#! File "program.py", line 9, in f
#!     return g(n)
#!            ^^^^
#! File "program.py", line 5, in g
#!     return
#!     ^^^^^^
#! this function returns a value in one place and none in another

#-- a func annotated with a result that it does not have
@ti.func
def g(a) -> ti.i32:
    a + 1

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return g(n)
f(1)
#! KernelSyntaxError
#! File "program.py", line 7, in f
#!     return g(n)
#!            ^^^^
#! File "program.py", line 2, in g
#!     def g(a) -> ti.i32:
#!     ^^^^^^^^^^^^^^^^^^^
#! Function has a return type but does not have a return statement

#-- a func annotated with a result that returns nothing
@ti.func
def g(a) -> ti.i32:
    if a > 3:
        return
    return a

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return g(n)
f(1)
#! KernelSyntaxError
#! File "program.py", line 9, in f
#!     return g(n)
#!            ^^^^
#! File "program.py", line 4, in g
#!     return
#!     ^^^^^^
#! this return gives no value, but the function is annotated with a return type

#-- a func annotated with a number that returns a tuple
@ti.func
def g(a) -> ti.i32:
    return a, a

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return g(n)
f(1)
#! KernelTypeError
#! File "program.py", line 7, in f
#!     return g(n)
#!            ^^^^
#! File "program.py", line 3, in g
#!     return a, a
#!            ^^^^
#! only a number can be returned here, found tuple

#-- a return in a branch of a func by reference
@ti.func
def g(a: ti.template()):
    if a > 1:
        return 2
    return 1

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    y = n
    return g(y)
f(1)
#! KernelSyntaxError
#! File "program.py", line 10, in f
#!     return g(y)
#!            ^^^^
#! File "program.py", line 4, in g
#!     return 2
#!     ^^^^^^^^
#! Return inside non-static if/for is not supported in a func expanded in place; assign to a variable and return it at the end

#-- a func that returns lists in branches
@ti.func
def g(a):
    if a > 1:
        return [a, 1]
    return [a, 2]

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    y, z = g(n)
    return y + z
f(1)
#! KernelSyntaxError
#! File "program.py", line 9, in f
#!     y, z = g(n)
#!            ^^^^
#! File "program.py", line 4, in g
#!     return [a, 1]
#!     ^^^^^^^^^^^^^
#! Return inside non-static if/for is not supported in a func expanded in place; assign to a variable and return it at the end

#-- a func that returns a tuple here and a number there
@ti.func
def g(a):
    if a > 1:
        return a, 1
    return a

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    y, z = g(n)
    return y + z
f(1)
#! KernelTypeError
#! File "program.py", line 9, in f
#!     y, z = g(n)
#!            ^^^^
#! File "program.py", line 5, in g
#!     return a
#!            ^
#! all results of a func must be of one kind; i32 is returned here, something else before

#-- a func that returns tuples of different lengths
@ti.func
def g(a):
    if a > 1:
        return a, 1
    return a, 1, 2

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return g(n)[0]
f(1)
#! KernelTypeError
#! File "program.py", line 9, in f
#!     return g(n)[0]
#!            ^^^^
#! File "program.py", line 5, in g
#!     return a, 1, 2
#!            ^^^^^^^
#! all results of a func must be of one kind; tuple is returned here, something else before

#-- a template parameter that is no variable, assigned
@ti.func
def g(a: ti.template()):
    a = 3

@ti.kernel
def f(n: ti.i32):
    g(n)
f(1)
#! KernelSyntaxError
#! File "program.py", line 7, in f
#!     g(n)
#!     ^^^^
#! File "program.py", line 3, in g
#!     a = 3
#!     ^
#! template parameter "a" stands for i32, which is not a variable of the caller; it cannot be assigned

#-- a template parameter that is an expression, added to
@ti.func
def g(a: ti.template()):
    a += 3

@ti.kernel
def f(n: ti.i32):
    g(n + 1)
f(1)
#! KernelSyntaxError
#! File "program.py", line 7, in f
#!     g(n + 1)
#!     ^^^^^^^^
#! File "program.py", line 3, in g
#!     a += 3
#!     ^^^^^^
#! template parameter "a" stands for i32, which is not a variable of the caller; it cannot be assigned

#-- a template parameter that is an array, assigned
@ti.func
def g(a: ti.template()):
    a = 3

@ti.kernel
def f(x: F1):
    g(x)
f(np.zeros(1, np.float32))
#! KernelSyntaxError
#! File "program.py", line 7, in f
#!     g(x)
#!     ^^^^
#! File "program.py", line 3, in g
#!     a = 3
#!     ^
#! template parameter "a" stands for f32 array of 1 axis, which is not a variable of the caller; it cannot be assigned

#-- a template parameter that is a loop variable, assigned
@ti.func
def g(a: ti.template()):
    a = 3

@ti.kernel
def f(n: ti.i32):
    for i in range(n):
        g(i)
f(1)
#! KernelSyntaxError
#! File "program.py", line 8, in f
#!     g(i)
#!     ^^^^
#! File "program.py", line 3, in g
#!     a = 3
#!     ^
#! template parameter "a" stands for i32, which is not a variable of the caller; it cannot be assigned

#-- a kernel called in a kernel
@ti.kernel
def g(n: ti.i32) -> ti.i32:
    return n

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return g(n)
f(1)
#! CompilationError
#! File "program.py", line 7, in f
#!     return g(n)
#!            ^^^^
#! Kernels cannot call other kernels; make the called one a @func

#-- a kernel called in a func
@ti.kernel
def h(n: ti.i32) -> ti.i32:
    return n

@ti.func
def g(n):
    return h(n)

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return g(n)
f(1)
#! CompilationError
#! File "program.py", line 11, in f
#!     return g(n)
#!            ^^^^
#! File "program.py", line 7, in g
#!     return h(n)
#!            ^^^^
#! Kernels cannot call other kernels; make the called one a @func

#-- a kernel called with values known while compiling
@ti.kernel
def g(n: ti.i32) -> ti.i32:
    return n

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return n + ti.static(g(3))
f(1)
#! CompilationError
#! File "program.py", line 7, in f
#!     return n + ti.static(g(3))
#!                          ^^^^
#! Kernels cannot call other kernels; make the called one a @func

#-- a kernel called by a helper
@ti.kernel
def g(n: ti.i32) -> ti.i32:
    return n

def helper(n):
    return g(n)

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return helper(n)
f(1)
#! CompilationError
#! File "program.py", line 10, in f
#!     return helper(n)
#!            ^^^^^^^^^
#! Kernels cannot call other kernels; make the called one a @func
#! from CompilationError: Kernels cannot call other kernels; make the called one a @func

#-- a kernel that calls itself
@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return f(n)
f(1)
#! CompilationError
#! File "program.py", line 3, in f
#!     return f(n)
#!            ^^^^
#! Kernels cannot call other kernels; make the called one a @func

#-- a func called from Python [module]
@ti.func
def g(n):
    return n
g(1)
#! TypeError
#! g is a func: it can be called from kernels and other funcs, not from Python (use @pyfunc for both)

#-- a builtin called from Python [module]
ti.atomic_add(3, 1)
#! TypeError
#! atomic_add() can be called in kernels and funcs only

#-- a builtin called from Python with a string [module]
ti.sqrt("a")
#! TypeError
#! must be real number, not str

#-- a builtin called from Python with too few [module]
ti.atan2(1)
#! TypeError
#! atan2() takes 2 arguments, found 1

#-- recursion without an end
@ti.func
def g(a):
    return g(a - 1)

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return g(n)
f(1)
#! CompilationError
#! File "program.py", line 7, in f
#!     return g(n)
#!            ^^^^
#! File "program.py", line 3, in g
#!     return g(a - 1)
#!            ^^^^^^^^
#! File "program.py", line 3, in g
#!     return g(a - 1)
#!            ^^^^^^^^
#! func 'g' calls itself before its result type is known; annotate its return type

#-- recursion that ends when the kernel runs, without an annotation
@ti.func
def g(a):
    y = 1
    if a > 1:
        y = a * g(a - 1)
    return y

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return g(n)
f(5)
#! CompilationError
#! File "program.py", line 10, in f
#!     return g(n)
#!            ^^^^
#! File "program.py", line 5, in g
#!     y = a * g(a - 1)
#!             ^^^^^^^^
#! func 'g' calls itself before its result type is known; annotate its return type

#-- recursion by reference
@ti.func
def g(a: ti.template()):
    if a > 0:
        a -= 1
        g(a)

@ti.kernel
def f(n: ti.i32):
    y = n
    g(y)
f(5)
#! CompilationError
#! File "program.py", line 10, in f
#!     g(y)
#!     ^^^^
#! File "program.py", line 5, in g
#!     g(a)
#!     ^^^^
#! File "program.py", line 5, in g
#!     g(a)
#!     ^^^^
#! File "program.py", line 5, in g
#!     g(a)
#!     ^^^^
#! File "program.py", line 5, in g
#!     g(a)
#!     ^^^^
#! File "program.py", line 5, in g
#!     g(a)
#!     ^^^^
#! (52 more calls)
#! File "program.py", line 5, in g
#!     g(a)
#!     ^^^^
#! File "program.py", line 5, in g
#!     g(a)
#!     ^^^^
#! File "program.py", line 5, in g
#!     g(a)
#!     ^^^^
#! File "program.py", line 5, in g
#!     g(a)
#!     ^^^^
#! File "program.py", line 5, in g
#!     g(a)
#!     ^^^^
#! File "program.py", line 5, in g
#!     g(a)
#!     ^^^^
#! File "program.py", line 5, in g
#!     g(a)
#!     ^^^^
#! func 'g' is expanded inside itself more than 64 times; a recursion that ends only when the kernel runs needs arguments by value and a return type annotation

#-- recursion through another func
@ti.func
def g(a):
    y = 0
    if a > 0:
        y = h(a - 1)
    return y

@ti.func
def h(a):
    return g(a) + 1

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return g(n)
f(5)
#! CompilationError
#! File "program.py", line 14, in f
#!     return g(n)
#!            ^^^^
#! File "program.py", line 5, in g
#!     y = h(a - 1)
#!         ^^^^^^^^
#! File "program.py", line 10, in h
#!     return g(a) + 1
#!            ^^^^
#! func 'g' calls itself before its result type is known; annotate its return type

#-- recursion with values known while compiling, without an end
@ti.func
def g(a: ti.template()):
    return g(a + 1)

@ti.kernel
def f() -> ti.i32:
    return g(0)
f()
#! CompilationError
#! File "program.py", line 7, in f
#!     return g(0)
#!            ^^^^
#! File "program.py", line 3, in g
#!     return g(a + 1)
#!            ^^^^^^^^
#! File "program.py", line 3, in g
#!     return g(a + 1)
#!            ^^^^^^^^
#! File "program.py", line 3, in g
#!     return g(a + 1)
#!            ^^^^^^^^
#! File "program.py", line 3, in g
#!     return g(a + 1)
#!            ^^^^^^^^
#! File "program.py", line 3, in g
#!     return g(a + 1)
#!            ^^^^^^^^
#! (387 more calls)
#! File "program.py", line 3, in g
#!     return g(a + 1)
#!            ^^^^^^^^
#! File "program.py", line 3, in g
#!     return g(a + 1)
#!            ^^^^^^^^
#! File "program.py", line 3, in g
#!     return g(a + 1)
#!            ^^^^^^^^
#! File "program.py", line 3, in g
#!     return g(a + 1)
#!            ^^^^^^^^
#! File "program.py", line 3, in g
#!     return g(a + 1)
#!            ^^^^^^^^
#! File "program.py", line 3, in g
#!     return g(a + 1)
#!            ^^^^^^^^
#! File "program.py", line 3, in g
#!     return g(a + 1)
#!              ^^^^^
#! statements, expressions and calls are nested too deeply to compile

#-- an error four calls deep
@ti.func
def g4(a):
    y = a
    y += "text"
    return y

@ti.func
def g3(a):
    return g4(a) * 2

@ti.func
def g2(a):
    y = 0
    for i in range(3):
        y += g3(a + i)
    return y

def helper(a):
    return g2(a)

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return helper(n) if n > 1 else 0
f(1)
#! KernelTypeError
#! File "program.py", line 23, in f
#!     return helper(n) if n > 1 else 0
#!            ^^^^^^^^^
#! File "program.py", line 15, in g2
#!     y += g3(a + i)
#!          ^^^^^^^^^
#! File "program.py", line 9, in g3
#!     return g4(a) * 2
#!            ^^^^^
#! File "program.py", line 4, in g4
#!     y += "text"
#!     ^^^^^^^^^^^
#! expected a number, found str 'text'

#-- an error in a method [module]
class A:
    def __init__(self, k):
        self.k = k

    @ti.func
    def g(self, a):
        return a + self.q

    @ti.kernel
    def f(self, n: ti.i32) -> ti.i32:
        return self.g(n)
A(1).f(2)
#! KernelNameError
#! File "program.py", line 11, in f
#!     return self.g(n)
#!            ^^^^^^^^^
#! File "program.py", line 7, in g
#!     return a + self.q
#!                ^^^^^^
#! A has no attribute 'q'

#-- a method that does not exist [module]
class A:
    @ti.kernel
    def f(self, n: ti.i32) -> ti.i32:
        return self.g(n)
A().f(2)
#! KernelNameError
#! File "program.py", line 4, in f
#!     return self.g(n)
#!            ^^^^^^
#! A has no attribute 'g'

#-- a list given to a func and changed there in a loop
@ti.func
def g(a, n):
    for i in range(n):
        a.append(i)

@ti.kernel
def f(n: ti.i32):
    y = [1]
    g(y, n)
f(3)
#! KernelSyntaxError
#! File "program.py", line 9, in f
#!     g(y, n)
#!     ^^^^^^^
#! File "program.py", line 4, in g
#!     a.append(i)
#!     ^^^^^^^^^^^
#! this would change a Python container (list) while compiling, and not each time the kernel gets here; change containers in the block where they were made

#-- @func on a class [module]
@ti.func
class A:
    pass
#! KernelTypeError
#! @func expects a function written with def, found type

#-- @func on a lambda
g = ti.func(lambda a: a)
@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return g(n)
f(1)
#! CompilationError
#! File "program.py", line 4, in f
#!     return g(n)
#!            ^^^^
#! File "program.py", line 1, in <lambda>
#! a lambda cannot be a kernel or a func; write it with def

#-- @kernel on a number [module]
ti.kernel(3)
#! KernelTypeError
#! @kernel expects a function written with def, found int

#-- @kernel on a class [module]
@ti.kernel
class A:
    pass
#! KernelTypeError
#! @kernel expects a function written with def, found type

#-- @kernel on a kernel
@ti.kernel
@ti.kernel
def f(n: ti.i32):
    pass
#! KernelTypeError
#! @kernel expects a function written with def, found pestle.Kernel

#-- @func on a kernel
@ti.func
@ti.kernel
def f(n: ti.i32):
    pass
#! KernelTypeError
#! @func expects a function written with def, found pestle.Kernel

#-- @kernel on a static method [module]
class A:
    @ti.kernel
    @staticmethod
    def f(n: ti.i32):
        pass
#! KernelTypeError
#! @kernel expects a function written with def, found staticmethod

#-- @kernel on a lambda [module]
f = ti.kernel(lambda: 1)
f()
#! CompilationError
#! File "program.py", line 1, in <lambda>
#! a lambda cannot be a kernel or a func; write it with def

#-- @kernel on a builtin [module]
ti.kernel(len)
#! KernelTypeError
#! @kernel expects a function written with def, found builtin_function_or_method

#-- @kernel with an unknown keyword [module]
@ti.kernel(cache=True)
def f():
    pass
#! KernelTypeError
#! kernel() got an unexpected keyword argument 'cache'; it knows fastcache, pure, graph and checkpoints (all without effect)

#-- @func with a keyword [module]
@ti.func(inline=True)
def f():
    pass
#! KernelTypeError
#! func() got an unexpected keyword argument 'inline'; it knows is_real_function, requires_top_level

#-- @pyfunc on a number [module]
ti.pyfunc(3)
#! KernelTypeError
#! @pyfunc expects a function written with def, found int

#-- @kernel on two functions [module]
ti.kernel(len, abs)
#! TypeError
#! kernel() takes one function, found 2 arguments

#-- a real_func that returns a value without an annotation
@ti.real_func
def g(a: ti.i32):
    return a

@ti.kernel
def f(n: ti.i32):
    g(n)
f(1)
#! KernelSyntaxError
#! File "program.py", line 7, in f
#!     g(n)
#!     ^^^^
#! File "program.py", line 3, in g
#!     return a
#!            ^
#! the return value must be annotated: def g(...) -> dtype

#-- a reference to another type
@ti.real_func
def g(a: ti.ref(ti.f32)):
    a = 7.0

@ti.kernel
def f(n: ti.i32):
    b = n
    g(b)
f(1)
#! KernelTypeError
#! File "program.py", line 8, in f
#!     g(b)
#!     ^^^^
#! argument a: ref(f32) expects a variable or an element of this dtype, found i32

#-- a reference to an expression
@ti.func
def g(a: ti.ref(ti.i32)):
    a = 7

@ti.kernel
def f(n: ti.i32):
    g(n + 1)
f(1)
#! KernelTypeError
#! File "program.py", line 7, in f
#!     g(n + 1)
#!     ^^^^^^^^
#! argument a: ref(i32) expects a variable or an element of this dtype, found i32

#-- a func that requires the top level, in a loop
@ti.func(requires_top_level=True)
def g(n):
    for i in range(n):
        print(i)

@ti.func
def h(n):
    g(n)

@ti.kernel
def f(n: ti.i32):
    for i in range(n):
        h(n)
f(1)
#! KernelSyntaxError
#! File "program.py", line 13, in f
#!     h(n)
#!     ^^^^
#! File "program.py", line 8, in h
#!     g(n)
#!     ^^^^
#! g says requires_top_level=True: it can be called at the kernel's top level only, not inside a run-time if, for or while
