# Loops: their domains, their variables, leaving them, unrolling them.

#-- range with a step
for i in range(0, n, 2):
    x[i] = 1
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     for i in range(0, n, 2):
#!              ^^^^^^^^^^^^^^
#! Range should have 1 or 2 arguments, found 3: an explicit step is not supported; use a while loop or compute the index

#-- range with a known step
for i in range(0, 4, 2):
    x[i] = 1
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     for i in range(0, 4, 2):
#!              ^^^^^^^^^^^^^^
#! Range should have 1 or 2 arguments, found 3: an explicit step is not supported; use a while loop or compute the index

#-- range without arguments
for i in range():
    x[i] = 1
#! KernelTypeError
#! File "program.py", line 3, in f
#!     for i in range():
#!              ^^^^^^^
#! TypeError while compiling: range expected at least 1 argument, got 0
#! from TypeError: range expected at least 1 argument, got 0

#-- range of four arguments
for i in range(1, 2, 3, n):
    x[i] = 1
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     for i in range(1, 2, 3, n):
#!              ^^^^^^^^^^^^^^^^^
#! Range should have 1 or 2 arguments, found 4

#-- range with a keyword
for i in range(stop=n):
    x[i] = 1
#! KernelTypeError
#! File "program.py", line 3, in f
#!     for i in range(stop=n):
#!              ^^^^^^^^^^^^^
#! range() takes no keyword arguments

#-- range to a float
for i in range(t):
    x[i] = 1
#! KernelTypeError
#! File "program.py", line 3, in f
#!     for i in range(t):
#!              ^^^^^^^^
#! the bounds of a range must be integers, found f32

#-- range to a float literal
for i in range(3.0):
    x[i] = 1
#! KernelTypeError
#! File "program.py", line 3, in f
#!     for i in range(3.0):
#!              ^^^^^^^^^^
#! the bounds of a range must be integers, found float 3.0

#-- range to a string
for i in range("a"):
    x[i] = 1
#! KernelTypeError
#! File "program.py", line 3, in f
#!     for i in range("a"):
#!              ^^^^^^^^^^
#! TypeError while compiling: 'str' object cannot be interpreted as an integer
#! from TypeError: 'str' object cannot be interpreted as an integer

#-- range to None
for i in range(n, None):
    x[i] = 1
#! KernelTypeError
#! File "program.py", line 3, in f
#!     for i in range(n, None):
#!              ^^^^^^^^^^^^^^
#! the bounds of a range must be integers, found None

#-- range to an array
for i in range(x):
    x[i] = 1
#! KernelTypeError
#! File "program.py", line 3, in f
#!     for i in range(x):
#!              ^^^^^^^^
#! the bounds of a range must be integers, found f32 array of 1 axis

#-- range beyond 64 bits
for i in range(2**70):
    x[0] = 1
#! KernelValueError
#! File "program.py", line 3, in f
#!     for i in range(2**70):
#!              ^^^^^^^^^^^^
#! the bound of a range is too large: int 1180591620717411303424; the most is 9223372036854775807

#-- range beyond 32 bits
for i in range(2**40):
    x[0] = 1
#! KernelValueError
#! File "program.py", line 3, in f
#!     for i in range(2**40):
#!     ^^^^^^^^^^^^^^^^^^^^^^
#! the bound of a range is too large: int 1099511627776; the most is 2130706431

#-- two names for range
for i, j in range(n):
    x[i] = 1
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     for i, j in range(n):
#!         ^^^^
#! the number of loop variables is not equal to the dimension of the domain: 2 names for 1 axes

#-- one name for two axes
for i in ti.ndrange(n, n):
    x[i] = 1
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     for i in ti.ndrange(n, n):
#!         ^
#! Ndrange for loop with number of the loop variables not equal to the dimension of the ndrange is not supported: 1 names for 2 axes

#-- three names for two axes
for i, j, k in ti.ndrange(n, n):
    x[i] = 1
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     for i, j, k in ti.ndrange(n, n):
#!         ^^^^^^^
#! Ndrange for loop with number of the loop variables not equal to the dimension of the ndrange is not supported: 3 names for 2 axes

#-- one name for an array of two axes
for i in m:
    m[i, 0] = 1
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     for i in m:
#!         ^
#! the number of loop variables is not equal to the dimension of the domain: 1 names for 2 axes

#-- two names for an array of one axis
for i, j in x:
    x[i] = 1
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     for i, j in x:
#!         ^^^^
#! the number of loop variables is not equal to the dimension of the domain: 2 names for 1 axes

#-- two names for a grouped array
for i, j in ti.grouped(m):
    x[i] = 1
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     for i, j in ti.grouped(m):
#!         ^^^^
#! Group for should have 1 loop target, found 2

#-- an element as loop variable
for x[0] in range(n):
    pass
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     for x[0] in range(n):
#!         ^^^^
#! loop variables must be plain names

#-- a nested target
for (i, j), k in ti.ndrange(n, n):
    x[i] = 1
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     for (i, j), k in ti.ndrange(n, n):
#!         ^^^^^^
#! loop variables must be plain names

#-- ndrange of nothing
for i in ti.ndrange():
    x[i] = 1
#! KernelTypeError
#! File "program.py", line 3, in f
#!     for i in ti.ndrange():
#!              ^^^^^^^^^^^^
#! an array or ndrange() without axes cannot be looped over

#-- ndrange of too many
for I in ti.grouped(ti.ndrange(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)):
    x[0] = 1
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     for I in ti.grouped(ti.ndrange(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)):
#!                         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#! ndrange takes 1 to 12 arguments, found 13

#-- ndrange to a float
for i, j in ti.ndrange(n, 2.5):
    x[i] = 1
#! KernelTypeError
#! File "program.py", line 3, in f
#!     for i, j in ti.ndrange(n, 2.5):
#!                 ^^^^^^^^^^^^^^^^^^
#! Every argument of ndrange should be an integer scalar or a tuple/list of (int, int), found float 2.5

#-- ndrange from a float
for i, j in ti.ndrange((t, n), 3):
    x[i] = 1
#! KernelTypeError
#! File "program.py", line 3, in f
#!     for i, j in ti.ndrange((t, n), 3):
#!                 ^^^^^^^^^^^^^^^^^^^^^
#! Every argument of ndrange should be an integer scalar or a tuple/list of (int, int), found f32

#-- ndrange of a triple
for i, j in ti.ndrange((0, n, 2), 3):
    x[i] = 1
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     for i, j in ti.ndrange((0, n, 2), 3):
#!                 ^^^^^^^^^^^^^^^^^^^^^^^^
#! Every argument of ndrange should be a scalar or a tuple/list like (begin, end), found tuple

#-- ndrange of a string
for i, j in ti.ndrange("ab", 3):
    x[i] = 1
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     for i, j in ti.ndrange("ab", 3):
#!                 ^^^^^^^^^^^^^^^^^^^
#! Every argument of ndrange should be a scalar or a tuple/list like (begin, end), found str 'ab'

#-- ndrange of None
for i, j in ti.ndrange(None, 3):
    x[i] = 1
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     for i, j in ti.ndrange(None, 3):
#!                 ^^^^^^^^^^^^^^^^^^^
#! Every argument of ndrange should be a scalar or a tuple/list like (begin, end), found None

#-- ndrange of an array
for i, j in ti.ndrange(x, 3):
    x[i] = 1
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     for i, j in ti.ndrange(x, 3):
#!                 ^^^^^^^^^^^^^^^^
#! Every argument of ndrange should be a scalar or a tuple/list like (begin, end), found f32 array of 1 axis

#-- ndrange with an unknown keyword
for i, j in ti.ndrange(n, 3, order=(1, 0)):
    x[i] = 1
#! KernelCallError
#! File "program.py", line 3, in f
#!     for i, j in ti.ndrange(n, 3, order=(1, 0)):
#!                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#! ndrange(): Unexpected argument 'order'

#-- ndrange with axes that are no permutation
for i, j in ti.ndrange(n, 3, axes=(1, 1)):
    x[i] = 1
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     for i, j in ti.ndrange(n, 3, axes=(1, 1)):
#!                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#! ti.ndrange(axes=...) is not a permutation of the numbers below 2

#-- ndrange with too few axes
for i, j in ti.ndrange(n, 3, axes=(0,)):
    x[i] = 1
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     for i, j in ti.ndrange(n, 3, axes=(0,)):
#!                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^
#! ti.ndrange(axes=...) has 1 entries but ndrange has 2 axes

#-- ndrange with axes that are no ints
for i, j in ti.ndrange(n, 3, axes=(0, 1.0)):
    x[i] = 1
#! KernelTypeError
#! File "program.py", line 3, in f
#!     for i, j in ti.ndrange(n, 3, axes=(0, 1.0)):
#!                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#! ti.ndrange(axes=...) entries must be Python ints, found float 1.0

#-- ndrange with axes that are no tuple
for i, j in ti.ndrange(n, 3, axes=1):
    x[i] = 1
#! KernelTypeError
#! File "program.py", line 3, in f
#!     for i, j in ti.ndrange(n, 3, axes=1):
#!                 ^^^^^^^^^^^^^^^^^^^^^^^^
#! expected a tuple, list or vector, found int 1

#-- grouped of a number
for I in ti.grouped(n):
    x[0] = 1
#! KernelTypeError
#! File "program.py", line 3, in f
#!     for I in ti.grouped(n):
#!              ^^^^^^^^^^^^^
#! ti.grouped expects an array or ti.ndrange(), found i32

#-- grouped of a list
for I in ti.grouped([1, 2]):
    x[0] = 1
#! KernelTypeError
#! File "program.py", line 3, in f
#!     for I in ti.grouped([1, 2]):
#!              ^^^^^^^^^^^^^^^^^^
#! ti.grouped expects an array or ti.ndrange(), found list

#-- grouped without an argument
for I in ti.grouped():
    x[0] = 1
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     for I in ti.grouped():
#!              ^^^^^^^^^^^^
#! grouped() takes 1 argument, found 0

#-- an array without axes
@ti.kernel
def f(x: ti.types.ndarray()):
    for i in x:
        pass
f(np.zeros((), np.float32))
#! KernelTypeError
#! File "program.py", line 3, in f
#!     for i in x:
#!              ^
#! an array or ndrange() without axes cannot be looped over

#-- len of an array without axes
@ti.kernel
def f(x: ti.types.ndarray()) -> ti.i32:
    return len(x)
f(np.zeros((), np.float32))
#! KernelTypeError
#! File "program.py", line 3, in f
#!     return len(x)
#!            ^^^^^^
#! len() of an array without axes

#-- a loop over a list
for i in [1, 2, 3]:
    x[i] = 1
#! KernelTypeError
#! File "program.py", line 3, in f
#!     for i in [1, 2, 3]:
#!              ^^^^^^^^^
#! a for loop cannot run over list; expected range(), ti.ndrange(), ti.grouped(), an array, or ti.static(...) of something known while compiling

#-- a loop over a tuple
for i in (1, 2, 3):
    x[i] = 1
#! KernelTypeError
#! File "program.py", line 3, in f
#!     for i in (1, 2, 3):
#!              ^^^^^^^^^
#! a for loop cannot run over tuple; expected range(), ti.ndrange(), ti.grouped(), an array, or ti.static(...) of something known while compiling

#-- a loop over a number
for i in n:
    x[i] = 1
#! KernelTypeError
#! File "program.py", line 3, in f
#!     for i in n:
#!              ^
#! a for loop cannot run over i32; expected range(), ti.ndrange(), ti.grouped(), an array, or ti.static(...) of something known while compiling

#-- a loop over None
for i in None:
    x[i] = 1
#! KernelTypeError
#! File "program.py", line 3, in f
#!     for i in None:
#!              ^^^^
#! a for loop cannot run over None; expected range(), ti.ndrange(), ti.grouped(), an array, or ti.static(...) of something known while compiling

#-- a loop over a string
for i in "abc":
    x[0] = 1
#! KernelTypeError
#! File "program.py", line 3, in f
#!     for i in "abc":
#!              ^^^^^
#! a for loop cannot run over str 'abc'; expected range(), ti.ndrange(), ti.grouped(), an array, or ti.static(...) of something known while compiling

#-- a loop over the shape
for i in m.shape:
    x[0] = 1
#! KernelTypeError
#! File "program.py", line 3, in f
#!     for i in m.shape:
#!              ^^^^^^^
#! a for loop cannot run over tuple; expected range(), ti.ndrange(), ti.grouped(), an array, or ti.static(...) of something known while compiling

#-- a loop over enumerate
for i, j in enumerate([1, 2]):
    x[0] = 1
#! KernelTypeError
#! File "program.py", line 3, in f
#!     for i, j in enumerate([1, 2]):
#!                 ^^^^^^^^^^^^^^^^^
#! a for loop cannot run over enumerate; expected range(), ti.ndrange(), ti.grouped(), an array, or ti.static(...) of something known while compiling

#-- a loop over zip
for i, j in zip([1], [2]):
    x[0] = 1
#! KernelTypeError
#! File "program.py", line 3, in f
#!     for i, j in zip([1], [2]):
#!                 ^^^^^^^^^^^^^
#! a for loop cannot run over zip; expected range(), ti.ndrange(), ti.grouped(), an array, or ti.static(...) of something known while compiling

#-- a loop over a numpy array from outside
@ti.kernel
def f():
    for i in weights:
        pass
weights = np.arange(3)
f()
#! KernelTypeError
#! File "program.py", line 3, in f
#!     for i in weights:
#!              ^^^^^^^
#! a numpy array is used here from outside the kernel; pass it as an argument annotated with types.ndarray(), or use ti.static(...) for elements that never change

#-- break in a parallel loop
for i in range(n):
    if i > 1:
        break
#! KernelSyntaxError
#! File "program.py", line 5, in f
#!     break
#!     ^^^^^
#! Cannot break in the outermost loop: it runs in parallel; ti.loop_config(serialize=True) before it makes it serial

#-- break in a parallel loop of a func
@ti.func
def g(n):
    for i in range(n):
        break

@ti.kernel
def f(n: ti.i32):
    g(n)
f(3)
#! KernelSyntaxError
#! File "program.py", line 8, in f
#!     g(n)
#!     ^^^^
#! File "program.py", line 4, in g
#!     break
#!     ^^^^^
#! Cannot break in the outermost loop: it runs in parallel; ti.loop_config(serialize=True) before it makes it serial

#-- break that depends on a runtime value in a static loop
for i in ti.static(range(3)):
    if n > i:
        break
#! KernelSyntaxError
#! File "program.py", line 5, in f
#!     break
#!     ^^^^^
#! You are trying to `break` a static `for` loop, but the `break` depends on a condition that is not known while compiling

#-- continue that depends on a runtime value in a static loop
for i in ti.static(range(3)):
    if n > i:
        continue
#! KernelSyntaxError
#! File "program.py", line 5, in f
#!     continue
#!     ^^^^^^^^
#! You are trying to `continue` a static `for` loop, but the `continue` depends on a condition that is not known while compiling

#-- return in a parallel loop
for i in range(n):
    return
#! KernelSyntaxError
#! File "program.py", line 4, in f
#!     return
#!     ^^^^^^
#! Return inside non-static if/for is not supported in a kernel; assign to a variable and return it at the end

#-- return of a value in a loop of a kernel
@ti.kernel
def f(n: ti.i32) -> ti.i32:
    for i in range(n):
        if i > 1:
            return i
    return 0
f(3)
#! KernelSyntaxError
#! File "program.py", line 5, in f
#!     return i
#!     ^^^^^^^^
#! Return inside non-static if/for is not supported in a kernel; assign to a variable and return it at the end

#-- return in a branch of a kernel
@ti.kernel
def f(n: ti.i32) -> ti.i32:
    if n > 1:
        return 1
    return 0
f(3)
#! KernelSyntaxError
#! File "program.py", line 4, in f
#!     return 1
#!     ^^^^^^^^
#! Return inside non-static if/for is not supported in a kernel; assign to a variable and return it at the end

#-- return in a while of a kernel
@ti.kernel
def f(n: ti.i32) -> ti.i32:
    while n > 1:
        return 1
    return 0
f(0)
#! KernelSyntaxError
#! File "program.py", line 4, in f
#!     return 1
#!     ^^^^^^^^
#! Return inside non-static if/for is not supported in a kernel; assign to a variable and return it at the end

#-- loop_config without a loop
ti.loop_config(serialize=True)
y = 1
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     ti.loop_config(serialize=True)
#!     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#! no for loop follows this ti.loop_config

#-- loop_config at the end
ti.loop_config(serialize=True)
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     ti.loop_config(serialize=True)
#!     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#! no for loop follows this ti.loop_config

#-- loop_config with a position
ti.loop_config(4)
for i in range(n):
    pass
#! KernelTypeError
#! File "program.py", line 3, in f
#!     ti.loop_config(4)
#!     ^^^^^^^^^^^^^^^^^
#! ti.loop_config takes keyword arguments only

#-- loop_config with an unknown keyword
ti.loop_config(threads=4)
for i in range(n):
    pass
#! KernelCallError
#! File "program.py", line 3, in f
#!     ti.loop_config(threads=4)
#!     ^^^^^^^^^^^^^^^^^^^^^^^^^
#! loop_config(): Unexpected argument 'threads'

#-- loop_config with a runtime value
ti.loop_config(serialize=n > 1)
for i in range(n):
    pass
#! KernelTypeError
#! File "program.py", line 3, in f
#!     ti.loop_config(serialize=n > 1)
#!     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#! ti.loop_config needs a value known while compiling, found u1

#-- a static loop over a runtime range
for i in ti.static(range(n)):
    pass
#! KernelTypeError
#! File "program.py", line 3, in f
#!     for i in ti.static(range(n)):
#!              ^^^^^^^^^^^^^^^^^^^
#! a static loop over a non static range: its bounds must be known while compiling, found i32

#-- a static loop over a runtime ndrange
for i, j in ti.static(ti.ndrange(n, 2)):
    pass
#! KernelTypeError
#! File "program.py", line 3, in f
#!     for i, j in ti.static(ti.ndrange(n, 2)):
#!                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^
#! a static loop over a non static range: its bounds must be known while compiling, found i32

#-- a static loop over a number
for i in ti.static(3):
    pass
#! KernelTypeError
#! File "program.py", line 3, in f
#!     for i in ti.static(3):
#!              ^^^^^^^^^^^^
#! an unrolled loop runs over something known while compiling that can be iterated over, found int 3

#-- a static loop over None
for i in ti.static(None):
    pass
#! KernelTypeError
#! File "program.py", line 3, in f
#!     for i in ti.static(None):
#!              ^^^^^^^^^^^^^^^
#! an unrolled loop runs over something known while compiling that can be iterated over, found None

#-- a static loop over an array
for i in ti.static(x):
    pass
#! KernelTypeError
#! File "program.py", line 3, in f
#!     for i in ti.static(x):
#!              ^^^^^^^^^^^^
#! an unrolled loop runs over something known while compiling that can be iterated over, found f32 array of 1 axis

#-- a static loop with the wrong number of names
for i, j in ti.static([(1, 2, 3)]):
    pass
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     for i, j in ti.static([(1, 2, 3)]):
#!         ^^^^
#! The number of targets is not equal to value length: 2 targets, 3 values

#-- two names for a static range
for i, j in ti.static(range(3)):
    pass
#! KernelTypeError
#! File "program.py", line 3, in f
#!     for i, j in ti.static(range(3)):
#!         ^^^^
#! expected a tuple, list or vector, found int 0

#-- a static loop over a runtime value
for i in ti.static(n):
    pass
#! KernelTypeError
#! File "program.py", line 3, in f
#!     for i in ti.static(n):
#!              ^^^^^^^^^^^^
#! ti.static needs a value known while compiling, found i32

#-- a static loop into an element
for x[0] in ti.static(range(3)):
    pass
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     for x[0] in ti.static(range(3)):
#!         ^^^^
#! loop variables must be plain names

#-- a static loop of very many iterations
for i in ti.static(range(10**9)):
    pass
#! CompilationError
#! File "program.py", line 3, in f
#!     for i in ti.static(range(10**9)):
#!              ^^^^^^^^^^^^^^^^^^^^^^^
#! static loops and comprehensions of this kernel run for more than 262144 iterations; use a loop that runs in the kernel

#-- nested static loops of very many iterations
for i in ti.static(range(1000)):
    for j in ti.static(range(1000)):
        pass
#! CompilationError
#! File "program.py", line 4, in f
#!     for j in ti.static(range(1000)):
#!              ^^^^^^^^^^^^^^^^^^^^^^
#! static loops and comprehensions of this kernel run for more than 262144 iterations; use a loop that runs in the kernel

#-- a static ndrange of very many iterations
for i, j in ti.static(ti.ndrange(100000, 100000)):
    pass
#! CompilationError
#! File "program.py", line 3, in f
#!     for i, j in ti.static(ti.ndrange(100000, 100000)):
#!                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#! static loops and comprehensions of this kernel run for more than 262144 iterations; use a loop that runs in the kernel

#-- a comprehension of very many iterations
y = [i for i in range(10**9)]
#! CompilationError
#! File "program.py", line 3, in f
#!     y = [i for i in range(10**9)]
#!                     ^^^^^^^^^^^^
#! static loops and comprehensions of this kernel run for more than 262144 iterations; use a loop that runs in the kernel

#-- a static loop without an end
@ti.kernel
def f():
    for i in ti.static(itertools.count()):
        pass
import itertools
f()
#! CompilationError
#! File "program.py", line 3, in f
#!     for i in ti.static(itertools.count()):
#!              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#! static loops and comprehensions of this kernel run for more than 262144 iterations; use a loop that runs in the kernel

#-- a comprehension over a runtime range
y = [i for i in range(n)]
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = [i for i in range(n)]
#!                     ^^^^^^^^
#! a static loop over a non static range: its bounds must be known while compiling, found i32

#-- a comprehension over a runtime number
y = [i for i in n]
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = [i for i in n]
#!                     ^
#! an unrolled loop runs over something known while compiling that can be iterated over, found i32

#-- a comprehension with a runtime condition
y = [i for i in ti.static(range(3)) if n > i]
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = [i for i in ti.static(range(3)) if n > i]
#!                                            ^^^^^
#! a comprehension's condition needs a value known while compiling, found u1

#-- a dict comprehension with keys that have no hash
y = {[i]: i for i in ti.static(range(3))}
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = {[i]: i for i in ti.static(range(3))}
#!          ^^^
#! TypeError while compiling: unhashable type: 'list'
#! from TypeError: unhashable type: 'list'

#-- a dict with keys that have no hash
y = {[n]: 1}
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = {[n]: 1}
#!          ^^^
#! TypeError while compiling: unhashable type: 'list'
#! from TypeError: unhashable type: 'list'

#-- a dict with runtime keys
y = {n: 1}
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = {n: 1}
#!          ^
#! TypeError while compiling: a hash, as for a key of a dict, needs a value that is known only when the kernel runs; in Python code called at compile time it is not there yet (decorate the function with @func to compile it)
#! from TypeError: a hash, as for a key of a dict, needs a value that is known only when the kernel runs; in Python code called at compile time it is not there yet (decorate the function with @func to compile it)

#-- ti.static without an argument
y = ti.static()
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     y = ti.static()
#!         ^^^^^^^^^^^
#! static() takes 1 or more arguments, found 0

#-- ti.static of a runtime value
y = ti.static(n)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = ti.static(n)
#!         ^^^^^^^^^^^^
#! ti.static needs a value known while compiling, found i32

#-- ti.static of a comparison of runtime values
if ti.static(n > 1):
    pass
#! KernelTypeError
#! File "program.py", line 3, in f
#!     if ti.static(n > 1):
#!        ^^^^^^^^^^^^^^^^
#! ti.static needs a value known while compiling, found u1

#-- ti.static_assert that fails
ti.static_assert(1 > 2)
#! StaticAssertionError
#! File "program.py", line 3, in f
#!     ti.static_assert(1 > 2)
#!     ^^^^^^^^^^^^^^^^^^^^^^^
#! this static assertion does not hold

#-- ti.static_assert that fails with a text
ti.static_assert(1 > 2, "one is not more than two")
#! StaticAssertionError
#! File "program.py", line 3, in f
#!     ti.static_assert(1 > 2, "one is not more than two")
#!     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#! one is not more than two

#-- ti.static_assert of a runtime value
ti.static_assert(n > 2)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     ti.static_assert(n > 2)
#!     ^^^^^^^^^^^^^^^^^^^^^^^
#! Static assert with non-static condition: found u1

#-- ti.static_assert without an argument
ti.static_assert()
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     ti.static_assert()
#!     ^^^^^^^^^^^^^^^^^^
#! static_assert() takes 1 or more arguments, found 0

#-- a bound beyond 32 bits, when it runs
@ti.kernel
def f(n: ti.i64):
    for i in range(n):
        pass
f(2**40)
#! KernelRuntimeError
#! File "program.py", line 3, in f
#!     for i in range(n):
#!     ^^^^^^^^^^^^^^^^^^
#! axis 0 of this parallel loop runs from 0 to 2147483647 or more; bounds beyond 2130706431 are not supported

#-- a lower bound beyond 32 bits, when it runs
@ti.kernel
def f(n: ti.i64):
    for i, j in ti.ndrange(3, (n, 2)):
        pass
f(-2**40)
#! KernelRuntimeError
#! File "program.py", line 3, in f
#!     for i, j in ti.ndrange(3, (n, 2)):
#!     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#! axis 1 of this parallel loop runs from -2147483648 or less to 2; bounds beyond 2130706431 are not supported

#-- an unsigned bound beyond 32 bits, when it runs
@ti.kernel
def f(n: ti.u64):
    for i in range(n):
        pass
f(2**63)
#! KernelRuntimeError
#! File "program.py", line 3, in f
#!     for i in range(n):
#!     ^^^^^^^^^^^^^^^^^^
#! axis 0 of this parallel loop runs from 0 to 2147483647 or more; bounds beyond 2130706431 are not supported
