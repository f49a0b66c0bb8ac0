# Objects as arguments: dataclasses and their members, numbers of objects.

#-- an argument of another class than the dataclass
import dataclasses
@dataclasses.dataclass
class P:
    n: ti.i32

class Q(P):
    pass

@ti.kernel
def f(p: P) -> ti.i32:
    return p.n
f(Q(1))
#! KernelArgumentError
#! argument 'p' of kernel 'f': expected exactly a P, found Q

#-- the class itself as an argument
import dataclasses
@dataclasses.dataclass
class P:
    n: ti.i32

@ti.kernel
def f(p: P) -> ti.i32:
    return p.n
f(P)
#! KernelArgumentError
#! argument 'p' of kernel 'f': expected exactly a P, found the class P

#-- a member that is no array
import dataclasses
@dataclasses.dataclass
class P:
    x: ti.types.ndarray()

@ti.kernel
def f(p: P):
    p.x[0] = 1
f(P(3))
#! KernelArgumentError
#! File "program.py", line 8, in f
#!     p.x[0] = 1
#!     ^^^
#! argument 'p.x' of kernel 'f': expected an array (numpy.ndarray, torch.Tensor, pestle.Ndarray, ...), found int

#-- a member of a member that is no number
import dataclasses
@dataclasses.dataclass
class Q:
    n: ti.i32

@dataclasses.dataclass
class P:
    q: Q

@ti.kernel
def f(p: P) -> ti.i32:
    return p.q.n
f(P(Q(2.5)))
#! KernelArgumentError
#! argument 'p.q.n' of kernel 'f': expected an integer (i32), found float

#-- a member of another class
import dataclasses
@dataclasses.dataclass
class Q:
    n: ti.i32

@dataclasses.dataclass
class P:
    q: Q

@ti.kernel
def f(p: P) -> ti.i32:
    return p.q.n
f(P(None))
#! KernelArgumentError
#! File "program.py", line 12, in f
#!     return p.q.n
#!            ^^^
#! argument 'p.q' of kernel 'f': expected exactly a Q, found NoneType

#-- a member with an annotation that kernels do not know
import dataclasses
@dataclasses.dataclass
class P:
    n: dict

@ti.kernel
def f(p: P) -> ti.i32:
    return p.n
f(P({}))
#! KernelSyntaxError
#! File "program.py", line 8, in f
#!     return p.n
#!            ^^^
#! parameter 'p.n' of kernel 'f' has the annotation <class 'dict'>; expected a dtype, int, float, bool, types.ndarray(...), a dataclass or template()

#-- a member of a class that is no dataclass
import dataclasses
@ti.data_oriented
class Inner:
    pass
@dataclasses.dataclass
class P:
    inner: Inner
@ti.kernel
def f(p: P) -> ti.i32:
    return p.inner.n
f(P(Inner()))
#! KernelSyntaxError
#! File "program.py", line 10, in f
#!     return p.inner.n
#!            ^^^^^^^
#! parameter 'p.inner' of kernel 'f' has the annotation <class 'program.Inner'>; expected a dtype, int, float, bool, types.ndarray(...), a dataclass or template() (instances of other classes, @data_oriented ones too, are passed as ti.template())

#-- a member that is not there
import dataclasses
@dataclasses.dataclass
class P:
    n: ti.i32

@ti.kernel
def f(p: P) -> ti.i32:
    return p.m
f(P(1))
#! KernelNameError
#! File "program.py", line 8, in f
#!     return p.m
#!            ^^^
#! P has no attribute 'm'

#-- assigning a member
import dataclasses
@dataclasses.dataclass
class P:
    n: ti.i32

@ti.kernel
def f(p: P):
    p.n = 3
f(P(1))
#! KernelSyntaxError
#! File "program.py", line 8, in f
#!     p.n = 3
#!     ^^^
#! attributes of P cannot be assigned in a kernel

#-- another class for a func
import dataclasses
@dataclasses.dataclass
class P:
    n: ti.i32

@dataclasses.dataclass
class Q:
    n: ti.i32

@ti.func
def g(q: Q):
    return q.n

@ti.kernel
def f(p: P) -> ti.i32:
    return g(p)
f(P(1))
#! KernelTypeError
#! File "program.py", line 16, in f
#!     return g(p)
#!            ^^^^
#! parameter 'q' takes exactly a Q, found P

#-- a read-only array as a member that is written
import dataclasses
import numpy as np
@dataclasses.dataclass
class P:
    x: ti.types.ndarray()

@ti.kernel
def f(p: P):
    p.x[0] = 1
x = np.zeros(1, np.float32)
x.flags.writeable = False
f(P(x))
#! KernelArgumentError
#! argument 'p.x' of kernel 'f': the array is read-only, and the kernel writes to it

#-- a number of an object in ti.static
@ti.data_oriented(template_primitives=False)
class C:
    def __init__(self):
        self.n = 3

    @ti.kernel
    def f(self):
        for i in ti.static(range(self.n)):
            pass
C().f()
#! KernelTypeError
#! File "program.py", line 8, in f
#!     for i in ti.static(range(self.n)):
#!                              ^^^^^^
#! 'n' of a C is a runtime kernel argument, which is not known while compiling: its class is data_oriented(template_primitives=False)

#-- the text of the IR for a dataclass that is gone, without arguments
import dataclasses
@dataclasses.dataclass
class P:
    n: ti.i32

@ti.kernel
def f(p: P) -> ti.i32:
    return p.n
f(P(1))
f.ir()
#! KernelTypeError
#! the members of a dataclass that is gone, or gradient arrays, say what this kernel is compiled for; give the arguments
