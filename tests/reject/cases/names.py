# Names: undefined, gone, not yet assigned, read-only.

#-- an unknown name
y = unknown + 1
#! KernelNameError
#! File "program.py", line 3, in f
#!     y = unknown + 1
#!         ^^^^^^^
#! Name "unknown" is not defined

#-- an unknown function
y = unknown(n)
#! KernelNameError
#! File "program.py", line 3, in f
#!     y = unknown(n)
#!         ^^^^^^^
#! Name "unknown" is not defined

#-- an unknown name in an index
x[unknown] = 1
#! KernelNameError
#! File "program.py", line 3, in f
#!     x[unknown] = 1
#!       ^^^^^^^
#! Name "unknown" is not defined

#-- an unknown name in a condition
if unknown:
    x[0] = 1
#! KernelNameError
#! File "program.py", line 3, in f
#!     if unknown:
#!        ^^^^^^^
#! Name "unknown" is not defined

#-- an unknown name in a func's annotation
@ti.func
def g(a: "unknown"):
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
#!     def g(a: "unknown"):
#!              ^^^^^^^^^
#! parameter 'a' of a func has an annotation that is no dtype, types.ndarray(...), dataclass or template(): str 'unknown'

#-- a name assigned in a branch only
if n > 0:
    y = 1
else:
    y = 2
x[0] = y
#! KernelNameError
#! File "program.py", line 7, in f
#!     x[0] = y
#!            ^
#! Name "y" is not defined here: it was first assigned inside a block that has ended (line 4); assign "y" before that block

#-- a name assigned in one branch, used in the other
if n > 0:
    y = 1
else:
    x[0] = y
#! KernelNameError
#! File "program.py", line 6, in f
#!     x[0] = y
#!            ^
#! Name "y" is not defined here: it was first assigned inside a block that has ended (line 4); assign "y" before that block

#-- a name assigned in a loop
for i in range(n):
    y = i
x[0] = y
#! KernelNameError
#! File "program.py", line 5, in f
#!     x[0] = y
#!            ^
#! Name "y" is not defined here: it was first assigned inside a block that has ended (line 4); assign "y" before that block

#-- a name assigned in a while
while n > 5:
    y = 1
x[0] = y
#! KernelNameError
#! File "program.py", line 5, in f
#!     x[0] = y
#!            ^
#! Name "y" is not defined here: it was first assigned inside a block that has ended (line 4); assign "y" before that block

#-- a loop variable after its loop
for i in range(n):
    pass
x[0] = i
#! KernelNameError
#! File "program.py", line 5, in f
#!     x[0] = i
#!            ^
#! Name "i" is not defined here: it is the variable of a loop that has ended (line 3)

#-- the variable of a static loop after it
for i in ti.static(range(3)):
    pass
x[0] = i
#! KernelNameError
#! File "program.py", line 5, in f
#!     x[0] = i
#!            ^
#! Name "i" is not defined here: it is the variable of a loop that has ended (line 3)

#-- the variable of a comprehension after it
y = [i for i in ti.static(range(3))]
x[0] = i
#! KernelNameError
#! File "program.py", line 4, in f
#!     x[0] = i
#!            ^
#! Name "i" is not defined here: it is the variable of a loop that has ended (line 3)

#-- a name used before its assignment
x[0] = y
y = 1.0
#! KernelNameError
#! File "program.py", line 3, in f
#!     x[0] = y
#!            ^
#! Name "y" is used before assignment: no statement that is compiled assigns it before this

#-- a name updated before its assignment
y += 1
#! KernelNameError
#! File "program.py", line 3, in f
#!     y += 1
#!     ^
#! Name "y" is used before assignment: no statement that is compiled assigns it before this

#-- a global that the kernel also assigns
@ti.kernel
def f():
    total += 1
total = 0
f()
#! KernelNameError
#! File "program.py", line 3, in f
#!     total += 1
#!     ^^^^^
#! Name "total" is used before assignment: no statement that is compiled assigns it before this

#-- a name of a branch that is not compiled
if ti.static(False):
    y = 1
x[0] = y
#! KernelNameError
#! File "program.py", line 5, in f
#!     x[0] = y
#!            ^
#! Name "y" is used before assignment: no statement that is compiled assigns it before this

#-- a closure variable that is empty
@ti.func
def g(a):
    return a
def make():
    @ti.kernel
    def f() -> ti.i32:
        return later
    f()
    later = 1
make()
#! KernelNameError
#! File "program.py", line 7, in f
#!     return later
#!            ^^^^^
#! Name "later" is not defined

#-- a loop variable that exists already
y = 0
for y in range(n):
    pass
#! KernelSyntaxError
#! File "program.py", line 4, in f
#!     for y in range(n):
#!         ^
#! Variable 'y' is already declared in the outer scope and cannot be used as loop variable

#-- a loop variable that is an argument
for n in range(3):
    pass
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     for n in range(3):
#!         ^
#! Variable 'n' is already declared in the outer scope and cannot be used as loop variable

#-- a loop variable of the loop around
for i in range(n):
    for i in range(n):
        pass
#! KernelSyntaxError
#! File "program.py", line 4, in f
#!     for i in range(n):
#!         ^
#! Variable 'i' is already declared in the outer scope and cannot be used as loop variable

#-- a static loop variable that exists already
y = 0
for y in ti.static(range(3)):
    pass
#! KernelSyntaxError
#! File "program.py", line 4, in f
#!     for y in ti.static(range(3)):
#!         ^
#! Variable 'y' is already declared in the outer scope and cannot be used as loop variable

#-- assigning to a loop variable
for i in range(n):
    i = 3
#! KernelSyntaxError
#! File "program.py", line 4, in f
#!     i = 3
#!     ^
#! loop variable "i" cannot be assigned; create a new variable

#-- adding to a loop variable
for i in range(n):
    i += 1
#! KernelSyntaxError
#! File "program.py", line 4, in f
#!     i += 1
#!     ^^^^^^
#! loop variable "i" cannot be assigned; create a new variable

#-- assigning to a variable of ndrange
for i, j in ti.ndrange(3, 4):
    j = i
#! KernelSyntaxError
#! File "program.py", line 4, in f
#!     j = i
#!     ^
#! loop variable "j" cannot be assigned; create a new variable

#-- assigning to the variable of a static loop
for i in ti.static(range(3)):
    i = 1
#! KernelSyntaxError
#! File "program.py", line 4, in f
#!     i = 1
#!     ^
#! loop variable "i" cannot be assigned; create a new variable

#-- assigning to an element of a grouped index
for I in ti.grouped(m):
    I[0] = 3
#! KernelSyntaxError
#! File "program.py", line 4, in f
#!     I[0] = 3
#!     ^^^^
#! this value is read-only: only variables and elements of arrays can be changed

#-- assigning to a component of a grouped index
for I in ti.grouped(m):
    I.x = 3
#! KernelSyntaxError
#! File "program.py", line 4, in f
#!     I.x = 3
#!     ^^^
#! this value is read-only: only variables and elements of arrays can be changed

#-- assigning to a scalar argument
n = 3
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     n = 3
#!     ^
#! Kernel argument "n" is immutable in the kernel. If you want to change its value, please create a new variable.

#-- adding to a scalar argument
n += 1
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     n += 1
#!     ^^^^^^
#! Kernel argument "n" is immutable in the kernel. If you want to change its value, please create a new variable.

#-- unpacking into a scalar argument
n, y = 1, 2
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     n, y = 1, 2
#!     ^
#! Kernel argument "n" is immutable in the kernel. If you want to change its value, please create a new variable.

#-- assigning to an array
x = 3.0
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     x = 3.0
#!     ^
#! array "x" cannot be assigned, only its elements; index it

#-- adding to an array
x += 1.0
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     x += 1.0
#!     ^^^^^^^^
#! array "x" cannot be assigned, only its elements; index it

#-- adding to an array of another kind
y = x
y += 1
#! KernelSyntaxError
#! File "program.py", line 4, in f
#!     y += 1
#!     ^^^^^^
#! array "y" cannot be assigned, only its elements; index it

#-- an attribute of an array
y = x.strides
#! KernelNameError
#! File "program.py", line 3, in f
#!     y = x.strides
#!         ^^^^^^^^^
#! f32 array of 1 axis has no attribute 'strides'; it has shape, size, ndim, dtype and fill()

#-- an unknown attribute of a number
y = n.real
#! KernelNameError
#! File "program.py", line 3, in f
#!     y = n.real
#!         ^^^^^^
#! i32 has no attribute 'real'

#-- an unknown attribute of a module
y = ti.no_such_thing(n)
#! KernelNameError
#! File "program.py", line 3, in f
#!     y = ti.no_such_thing(n)
#!         ^^^^^^^^^^^^^^^^
#! module pestle has no attribute 'no_such_thing'

#-- an unknown attribute of an index
for I in ti.grouped(m):
    x[0] = I.q
#! KernelNameError
#! File "program.py", line 4, in f
#!     x[0] = I.q
#!            ^^^
#! component .q is outside this vector of 2 i32

#-- a component beyond the index
for I in ti.grouped(m):
    x[0] = I.z
#! KernelNameError
#! File "program.py", line 4, in f
#!     x[0] = I.z
#!            ^^^
#! component .z is outside this vector of 2 i32

#-- assigning to an attribute of an array
x.shape = 3
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     x.shape = 3
#!     ^^^^^^^
#! attributes of f32 array of 1 axis cannot be assigned in a kernel

#-- assigning to an attribute of a module
np.pi = 3
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     np.pi = 3
#!     ^^^^^
#! attributes of module numpy cannot be assigned in a kernel

#-- assigning to an attribute of a number
y = 1
y.a = 2
#! KernelSyntaxError
#! File "program.py", line 4, in f
#!     y.a = 2
#!     ^^^
#! attributes of i32 cannot be assigned in a kernel

#-- assigning to a call
@ti.kernel
def f(n: ti.i32):
    n + 1
    g()[0] = 1
def g():
    return (1, 2)
f(1)
#! KernelSyntaxError
#! File "program.py", line 4, in f
#!     g()[0] = 1
#!     ^^^^^^
#! elements of tuple cannot be assigned in a kernel; those of arrays, lists and dicts can

#-- a name that stands for a function gets another one in a branch
y = ti.sin
if n > 0:
    y = ti.cos
#! KernelSyntaxError
#! File "program.py", line 5, in f
#!     y = ti.cos
#!     ^
#! "y" stands for a value known while compiling (function sin); it cannot be given another one inside a branch or loop that is decided when the kernel runs

#-- a static value changed in a loop
y = ti.static(1)
for i in range(n):
    y = 2
#! KernelSyntaxError
#! File "program.py", line 5, in f
#!     y = 2
#!     ^
#! "y" stands for a value known while compiling (int 1); it cannot be given another one inside a branch or loop that is decided when the kernel runs

#-- a static value added to in a branch
y = ti.static(1)
if n > 0:
    y += 1
#! KernelSyntaxError
#! File "program.py", line 5, in f
#!     y += 1
#!     ^^^^^^
#! "y" stands for a value known while compiling (int 1); it cannot be given another one inside a branch or loop that is decided when the kernel runs

#-- a tuple changed in a branch
y = (1, 2)
if n > 0:
    y = (2, 3)
#! KernelSyntaxError
#! File "program.py", line 5, in f
#!     y = (2, 3)
#!     ^
#! "y" stands for a value known while compiling (tuple); it cannot be given another one inside a branch or loop that is decided when the kernel runs

#-- a list appended to in a branch
y = [1]
if n > 0:
    y.append(2)
#! KernelSyntaxError
#! File "program.py", line 5, in f
#!     y.append(2)
#!     ^^^^^^^^^^^
#! this would change a Python container (list) while compiling, and not each time the kernel gets here; change containers in the block where they were made

#-- a list appended to in a loop
y = [1]
for i in range(n):
    y.append(i)
#! KernelSyntaxError
#! File "program.py", line 5, in f
#!     y.append(i)
#!     ^^^^^^^^^^^
#! this would change a Python container (list) while compiling, and not each time the kernel gets here; change containers in the block where they were made

#-- an element of a list assigned in a loop
y = [1]
for i in range(n):
    y[0] = 2
#! KernelSyntaxError
#! File "program.py", line 5, in f
#!     y[0] = 2
#!     ^^^^
#! this would change a Python container (list) while compiling, and not each time the kernel gets here; change containers in the block where they were made

#-- a global list appended to
@ti.kernel
def f():
    seen.append(1)
seen = []
f()
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     seen.append(1)
#!     ^^^^^^^^^^^^^^
#! this would change a Python container (list) while compiling, and not each time the kernel gets here; change containers in the block where they were made

#-- a global list assigned to
@ti.kernel
def f():
    seen[0] = 1
seen = [0]
f()
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     seen[0] = 1
#!     ^^^^^^^
#! this would change a Python container (list) while compiling, and not each time the kernel gets here; change containers in the block where they were made

#-- an element of a tuple assigned
y = (1, 2)
y[0] = 2
#! KernelSyntaxError
#! File "program.py", line 4, in f
#!     y[0] = 2
#!     ^^^^
#! elements of tuple cannot be assigned in a kernel; those of arrays, lists and dicts can

#-- an element of a string assigned
y = "abc"
y[0] = "d"
#! KernelSyntaxError
#! File "program.py", line 4, in f
#!     y[0] = "d"
#!     ^^^^
#! elements of str 'abc' cannot be assigned in a kernel; those of arrays, lists and dicts can

#-- an element of a number assigned
y = 1
y[0] = 2
#! KernelTypeError
#! File "program.py", line 4, in f
#!     y[0] = 2
#!     ^^^^
#! i32 cannot be indexed
