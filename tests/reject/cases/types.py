# Values of the wrong type in operators, conditions, casts, builtins.

#-- a float in a bit operation
y = n & t
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = n & t
#!         ^^^^^
#! unsupported operand type(s) for '&': i32 and f32; expected integers

#-- a float literal in a bit operation
y = n | 1.5
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = n | 1.5
#!         ^^^^^^^
#! unsupported operand type(s) for '|': i32 and float 1.5; expected integers

#-- a float in an exclusive or
y = t ^ n
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = t ^ n
#!         ^^^^^
#! unsupported operand type(s) for '^': f32 and i32; expected integers

#-- a float shift count
y = n << t
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = n << t
#!         ^^^^^^
#! unsupported operand type(s) for '<<': i32 and f32; expected integers

#-- shifting a float
y = t >> 1
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = t >> 1
#!         ^^^^^^
#! unsupported operand type(s) for '>>': f32 and int 1; expected integers

#-- inverting a float
y = ~t
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = ~t
#!         ^^
#! '~' takes integral inputs only, however 'f32' is provided

#-- a bit operation into a float variable
y = 1.0
y &= 3
#! KernelTypeError
#! File "program.py", line 4, in f
#!     y &= 3
#!     ^^^^^^
#! '&=' requires integer operands, got f32

#-- a bit operation into a float element
x[0] |= 1
#! KernelTypeError
#! File "program.py", line 3, in f
#!     x[0] |= 1
#!     ^^^^^^^^^
#! '|=' requires integer operands, got f32

#-- shifting a float element
x[0] <<= 1
#! KernelTypeError
#! File "program.py", line 3, in f
#!     x[0] <<= 1
#!     ^^^^^^^^^^
#! unsupported operand type(s) for '<<': f32 and int 1; expected integers

#-- None in arithmetic
y = n + None
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = n + None
#!         ^^^^^^^^
#! unsupported operand type(s) for '+': i32 and None; expected numbers

#-- a string in arithmetic
y = n * "abc"
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = n * "abc"
#!         ^^^^^^^^^
#! unsupported operand type(s) for '*': i32 and str 'abc'; expected numbers

#-- a tuple in arithmetic
y = n + (1, 2)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = n + (1, 2)
#!         ^^^^^^^^^^
#! unsupported operand type(s) for '+': i32 and tuple; expected numbers

#-- a function in arithmetic
y = n + ti.sin
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = n + ti.sin
#!         ^^^^^^^^^^
#! unsupported operand type(s) for '+': i32 and function sin; expected numbers

#-- a module in arithmetic
y = n - np
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = n - np
#!         ^^^^^^
#! unsupported operand type(s) for '-': i32 and module numpy; expected numbers

#-- a dtype in arithmetic
y = n * ti.f32
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = n * ti.f32
#!         ^^^^^^^^^^
#! unsupported operand type(s) for '*': i32 and dtype f32; expected numbers

#-- an array in arithmetic
y = x + 1
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = x + 1
#!         ^^^^^
#! unsupported operand type(s) for '+': f32 array of 1 axis and int 1; operators work on elements, so index the array

#-- two arrays in arithmetic
y = x * x
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = x * x
#!         ^^^^^
#! unsupported operand type(s) for '*': f32 array of 1 axis and f32 array of 1 axis; operators work on elements, so index the array

#-- a range in arithmetic
y = range(n) + 1
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = range(n) + 1
#!         ^^^^^^^^^^^^
#! unsupported operand type(s) for '+': range() or ndrange() and int 1; expected numbers

#-- minus an array
y = -x
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = -x
#!         ^^
#! unsupported operand type for '-': f32 array of 1 axis; expected a number

#-- minus a function
y = -ti.sin
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = -ti.sin
#!         ^^^^^^^
#! TypeError while compiling: bad operand type for unary -: 'pestle.Builtin'
#! from TypeError: bad operand type for unary -: 'pestle.Builtin'

#-- not of an array
y = not x
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = not x
#!         ^^^^^
#! unsupported operand type for 'not': f32 array of 1 axis; expected a number

#-- comparing with a string
y = n < "a"
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = n < "a"
#!         ^^^^^^^
#! unsupported operand type(s) for '<': i32 and str 'a'; expected numbers

#-- comparing with None
y = n < None
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = n < None
#!         ^^^^^^^^
#! unsupported operand type(s) for '<': i32 and None; expected numbers

#-- comparing an array
y = x < 1
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = x < 1
#!         ^^^^^
#! unsupported operand type(s) for '<': f32 array of 1 axis and int 1; operators work on elements, so index the array

#-- equality of an array and None
y = x == None
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = x == None
#!         ^^^^^^^^^
#! unsupported operand type(s) for '==': f32 array of 1 axis and None; operators work on elements, so index the array

#-- equality of two arrays
if x == x:
    n
#! KernelTypeError
#! File "program.py", line 3, in f
#!     if x == x:
#!        ^^^^^^
#! unsupported operand type(s) for '==': f32 array of 1 axis and f32 array of 1 axis; operators work on elements, so index the array

#-- a chain with a string
y = 0 < n < "a"
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = 0 < n < "a"
#!         ^^^^^^^^^^^
#! unsupported operand type(s) for '<': i32 and str 'a'; expected numbers

#-- a float condition
if t:
    x[0] = 1
#! KernelTypeError
#! File "program.py", line 3, in f
#!     if t:
#!        ^
#! `if` conditions must be an integer; found f32. Consider using `if x != 0`

#-- a float condition of while
while t:
    x[0] = 1
#! KernelTypeError
#! File "program.py", line 3, in f
#!     while t:
#!           ^
#! `while` conditions must be an integer; found f32. Consider using `while x != 0`

#-- a float condition of not
y = not t
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = not t
#!         ^^^^^
#! 'not' takes integral inputs only, however 'f32' is provided

#-- floats in and
y = t and n
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = t and n
#!         ^^^^^^^
#! `and` conditions must be an integer; found f32. Consider using `x != 0`

#-- floats in or, on the right
y = n or t
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = n or t
#!         ^^^^^^
#! `or` conditions must be an integer; found f32. Consider using `x != 0`

#-- a float literal in and
y = n and 1.5
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = n and 1.5
#!         ^^^^^^^^^
#! `and` conditions must be an integer; found f32. Consider using `x != 0`

#-- a string in and
y = n and "a"
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = n and "a"
#!         ^^^^^^^^^
#! unsupported operand type(s) for 'and': i32 and str 'a'; expected integers

#-- an array as condition
if x:
    x[0] = 1
#! KernelTypeError
#! File "program.py", line 3, in f
#!     if x:
#!        ^
#! `if` needs a number, as a truth value; found f32 array of 1 axis

#-- a vector as condition
for I in ti.grouped(m):
    if I:
        x[0] = 1
#! KernelTypeError
#! File "program.py", line 4, in f
#!     if I:
#!        ^
#! `if` needs a number, as a truth value; found vector of 2 i32

#-- a vector as condition of a conditional expression
for I in ti.grouped(m):
    x[0] = 1 if I > 0 else 2
#! KernelSyntaxError
#! File "program.py", line 4, in f
#!     x[0] = 1 if I > 0 else 2
#!            ^^^^^^^^^^^^^^^^^
#! the condition of a conditional expression is a vector. Please use "ti.select" instead.

#-- a float condition of a conditional expression
y = 1 if t else 2
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = 1 if t else 2
#!         ^^^^^^^^^^^^^
#! `if` conditions must be an integer; found f32. Consider using `if x != 0`

#-- a conditional expression with a tuple
y = (1, 2) if n > 0 else 3
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = (1, 2) if n > 0 else 3
#!         ^^^^^^^^^^^^^^^^^^^^^^
#! both values of a conditional expression must be numbers, found tuple and int 3; if the condition is known while compiling, use ti.static

#-- a conditional expression with a string
y = "a" if n > 0 else "b"
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = "a" if n > 0 else "b"
#!         ^^^^^^^^^^^^^^^^^^^^^
#! both values of a conditional expression must be numbers, found str 'a' and str 'b'; if the condition is known while compiling, use ti.static

#-- a conditional expression with functions
y = (ti.sin if n > 0 else ti.cos)(t)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = (ti.sin if n > 0 else ti.cos)(t)
#!          ^^^^^^^^^^^^^^^^^^^^^^^^^^^
#! both values of a conditional expression must be numbers, found function sin and function cos; if the condition is known while compiling, use ti.static

#-- a string assigned to a number
y = 1
y = "a"
#! KernelTypeError
#! File "program.py", line 4, in f
#!     y = "a"
#!         ^^^
#! expected a number, found str 'a'

#-- None assigned to a number
y = 1
y = None
#! KernelTypeError
#! File "program.py", line 4, in f
#!     y = None
#!         ^^^^
#! expected a number, found None

#-- a tuple assigned to a number
y = 1
y = (1, 2)
#! KernelTypeError
#! File "program.py", line 4, in f
#!     y = (1, 2)
#!         ^^^^^^
#! expected a number, found tuple

#-- an array assigned to a number
y = 1
y = x
#! KernelTypeError
#! File "program.py", line 4, in f
#!     y = x
#!         ^
#! expected a number, found an f32 array of 1 axis; index it to get an element

#-- a string stored into an array
x[0] = "a"
#! KernelTypeError
#! File "program.py", line 3, in f
#!     x[0] = "a"
#!            ^^^
#! expected a number, found str 'a'

#-- None stored into an array
x[0] = None
#! KernelTypeError
#! File "program.py", line 3, in f
#!     x[0] = None
#!            ^^^^
#! expected a number, found None

#-- a tuple stored into an array
x[0] = (1, 2)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     x[0] = (1, 2)
#!            ^^^^^^
#! expected a number, found tuple

#-- an array stored into an array
x[0] = m
#! KernelTypeError
#! File "program.py", line 3, in f
#!     x[0] = m
#!            ^
#! expected a number, found an i32 array of 2 axes; index it to get an element

#-- a string added to an element
x[0] += "a"
#! KernelTypeError
#! File "program.py", line 3, in f
#!     x[0] += "a"
#!     ^^^^^^^^^^^
#! unsupported operand type(s) for '+=': f32 and str 'a'; expected numbers

#-- an array added to an element
x[0] += x
#! KernelTypeError
#! File "program.py", line 3, in f
#!     x[0] += x
#!     ^^^^^^^^^
#! unsupported operand type(s) for '+=': f32 and f32 array of 1 axis; expected numbers

#-- an int literal beyond the default
y = 3_000_000_000
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = 3_000_000_000
#!         ^^^^^^^^^^^^^
#! Integer literal 3000000000 exceeded the range of default_ip: i32, which goes from -2147483648 to 2147483647

#-- an int literal beyond the other operand
y = n + 10_000_000_000
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = n + 10_000_000_000
#!         ^^^^^^^^^^^^^^^^^^
#! Integer literal 10000000000 exceeded the range of default_ip: i32, which goes from -2147483648 to 2147483647

#-- an int literal beyond its variable
y = 1
y = 2**40
#! KernelTypeError
#! File "program.py", line 4, in f
#!     y = 2**40
#!         ^^^^^
#! Integer literal 1099511627776 exceeded the range of default_ip: i32, which goes from -2147483648 to 2147483647

#-- an int literal beyond the element
m[0, 0] = 2**31
#! KernelTypeError
#! File "program.py", line 3, in f
#!     m[0, 0] = 2**31
#!               ^^^^^
#! Integer literal 2147483648 exceeded the range of default_ip: i32, which goes from -2147483648 to 2147483647

#-- an int literal beyond 64 bits
y = ti.i64(2**70)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = ti.i64(2**70)
#!         ^^^^^^^^^^^^^
#! Integer literal 1180591620717411303424 exceeded the range of specified dtype: i64, which goes from -9223372036854775808 to 9223372036854775807

#-- a huge int literal
y = 123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = 123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890
#!         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#! Integer literal (a very large number) exceeded the range of default_ip: i32, which goes from -2147483648 to 2147483647

#-- a float literal beyond the default
y = 1e300
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = 1e300
#!         ^^^^^
#! Floating-point literal 1e+300 exceeded the range of default_fp: f32, which goes from -3.40282e+38 to 3.40282e+38

#-- a float literal beyond its element
x[0] = 1e39
#! KernelTypeError
#! File "program.py", line 3, in f
#!     x[0] = 1e39
#!            ^^^^
#! Floating-point literal 1e+39 exceeded the range of default_fp: f32, which goes from -3.40282e+38 to 3.40282e+38

#-- a float literal made an integer
y = ti.i32(1.5)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = ti.i32(1.5)
#!         ^^^^^^^^^^^
#! Floating-point literals must be annotated with a floating-point type. For type casting, use `ti.cast`: found float 1.5 for i32

#-- a float literal made an integer by its name
y = ti.i64(2.0)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = ti.i64(2.0)
#!         ^^^^^^^^^^^
#! Floating-point literals must be annotated with a floating-point type. For type casting, use `ti.cast`: found float 2.0 for i64

#-- a cast without a value
y = ti.f32()
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     y = ti.f32()
#!         ^^^^^^^^
#! A primitive type can only decorate a single expression. f32() found 0

#-- a cast of two values
y = ti.f32(1, 2)
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     y = ti.f32(1, 2)
#!         ^^^^^^^^^^^^
#! A primitive type can only decorate a single expression. f32() found 2

#-- a cast with a keyword
y = ti.f32(x=1)
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     y = ti.f32(x=1)
#!         ^^^^^^^^^^^
#! A primitive type can only decorate a single expression. f32() found 0 and keyword arguments

#-- a cast of a string
y = ti.f32("1.5")
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = ti.f32("1.5")
#!         ^^^^^^^^^^^^^
#! f32() expects a number, found str '1.5'

#-- a cast of an array
y = ti.f32(x)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = ti.f32(x)
#!         ^^^^^^^^^
#! f32() expects a number, found f32 array of 1 axis

#-- int of a string of a runtime value
y = int(f"{n}")
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = int(f"{n}")
#!         ^^^^^^^^^^^
#! i32() expects a number, found text with runtime values

#-- ti.cast to no type
y = ti.cast(n, 3)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = ti.cast(n, 3)
#!         ^^^^^^^^^^^^^
#! cast() expects a dtype, found int 3

#-- ti.cast of an array
y = ti.cast(x, ti.i32)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = ti.cast(x, ti.i32)
#!         ^^^^^^^^^^^^^^^^^^
#! cast() expects a number, found f32 array of 1 axis

#-- ti.cast with one argument
y = ti.cast(n)
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     y = ti.cast(n)
#!         ^^^^^^^^^^
#! cast() takes 2 arguments, found 1

#-- ti.bit_cast of another width
y = ti.bit_cast(t, ti.i64)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = ti.bit_cast(t, ti.i64)
#!         ^^^^^^^^^^^^^^^^^^^^^^
#! bit_cast needs types of the same width, found f32 and i64

#-- ti.bit_cast of a bool
y = ti.bit_cast(n > 0, ti.i8)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = ti.bit_cast(n > 0, ti.i8)
#!         ^^^^^^^^^^^^^^^^^^^^^^^^^
#! bit_cast needs types of the same width, found u1 and i8

#-- ti.bit_cast to no type
y = ti.bit_cast(t, "i32")
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = ti.bit_cast(t, "i32")
#!         ^^^^^^^^^^^^^^^^^^^^^
#! bit_cast() expects a dtype, found str 'i32'

#-- ti.floor of an integer
y = ti.floor(n)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = ti.floor(n)
#!         ^^^^^^^^^^^
#! 'floor' takes real inputs only, however 'i32' is provided

#-- ti.round to no type
y = ti.round(t, 3)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = ti.round(t, 3)
#!         ^^^^^^^^^^^^^^
#! round() expects a dtype, found int 3

#-- ti.sqrt of an array
y = ti.sqrt(x)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = ti.sqrt(x)
#!         ^^^^^^^^^^
#! sqrt() expects a number, found f32 array of 1 axis

#-- ti.sqrt of a string
y = ti.sqrt("a")
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = ti.sqrt("a")
#!         ^^^^^^^^^^^^
#! TypeError while compiling: must be real number, not str
#! from TypeError: must be real number, not str

#-- ti.sqrt without an argument
y = ti.sqrt()
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     y = ti.sqrt()
#!         ^^^^^^^^^
#! sqrt() takes 1 argument, found 0

#-- ti.sqrt of two
y = ti.sqrt(t, t)
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     y = ti.sqrt(t, t)
#!         ^^^^^^^^^^^^^
#! sqrt() takes 1 argument, found 2

#-- ti.sqrt with a keyword
y = ti.sqrt(x=t)
#! KernelCallError
#! File "program.py", line 3, in f
#!     y = ti.sqrt(x=t)
#!         ^^^^^^^^^^^^
#! sqrt(): Unexpected argument 'x'

#-- ti.popcnt of a float
y = ti.popcnt(t)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = ti.popcnt(t)
#!         ^^^^^^^^^^^^
#! 'popcnt' takes integral inputs only, however 'f32' is provided

#-- ti.bit_shr of a float
y = ti.bit_shr(t, 1)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = ti.bit_shr(t, 1)
#!         ^^^^^^^^^^^^^^^^
#! 'bit_shr' takes integral inputs only, however 'f32' is provided

#-- ti.atan2 with one argument
y = ti.atan2(t)
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     y = ti.atan2(t)
#!         ^^^^^^^^^^^
#! atan2() takes 2 arguments, found 1

#-- ti.max with one argument
y = ti.max(t)
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     y = ti.max(t)
#!         ^^^^^^^^^
#! max() takes 2 or more arguments, found 1

#-- ti.max of an array
y = ti.max(x, 1)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = ti.max(x, 1)
#!         ^^^^^^^^^^^^
#! max() expects a number, found f32 array of 1 axis

#-- max of a runtime number alone
y = max(n)
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     y = max(n)
#!         ^^^^^^
#! max() takes 2 or more arguments, found 1

#-- ti.select with two arguments
y = ti.select(n, 1)
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     y = ti.select(n, 1)
#!         ^^^^^^^^^^^^^^^
#! select() takes 3 arguments, found 2

#-- ti.select on a float
y = ti.select(t, 1, 2)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = ti.select(t, 1, 2)
#!         ^^^^^^^^^^^^^^^^^^
#! `select` conditions must be an integer; found f32. Consider using `x != 0`

#-- ti.select of arrays
y = ti.select(n, x, x)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = ti.select(n, x, x)
#!         ^^^^^^^^^^^^^^^^^^
#! select() expects a number, found f32 array of 1 axis

#-- ti.isnan of an array
y = ti.isnan(x)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = ti.isnan(x)
#!         ^^^^^^^^^^^
#! isnan() expects a number, found f32 array of 1 axis

#-- a negative power of an integer
y = n ** -1
#! KernelValueError
#! File "program.py", line 3, in f
#!     y = n ** -1
#!         ^^^^^^^
#! Negative exponent in pow(int, int) is not allowed.

#-- ti.pow with a negative power of an integer
y = ti.pow(n, -2)
#! KernelValueError
#! File "program.py", line 3, in f
#!     y = ti.pow(n, -2)
#!         ^^^^^^^^^^^^^
#! Negative exponent in pow(int, int) is not allowed.

#-- pow with a modulus
y = pow(n, 2, 3)
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     y = pow(n, 2, 3)
#!         ^^^^^^^^^^^^
#! pow() takes 2 arguments, found 3

#-- round with digits
y = round(t, 2)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = round(t, 2)
#!         ^^^^^^^^^^^
#! round() with a number of digits is not supported in kernels

#-- round of an array
y = round(x)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = round(x)
#!         ^^^^^^^^
#! round() expects a number, found f32 array of 1 axis

#-- an atomic on a number
y = ti.atomic_add(3, 1)
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     y = ti.atomic_add(3, 1)
#!         ^^^^^^^^^^^^^^^^^^^
#! cannot use a non-writable target as the first operand of 'atomic_add': found int 3

#-- an atomic on an expression
y = ti.atomic_add(n + 1, 1)
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     y = ti.atomic_add(n + 1, 1)
#!         ^^^^^^^^^^^^^^^^^^^^^^^
#! cannot use a non-writable target as the first operand of 'atomic_add': found i32

#-- an atomic on a scalar argument
y = ti.atomic_add(n, 1)
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     y = ti.atomic_add(n, 1)
#!         ^^^^^^^^^^^^^^^^^^^
#! cannot use a non-writable target as the first operand of 'atomic_add': found i32

#-- an atomic on an array
y = ti.atomic_add(x, 1)
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     y = ti.atomic_add(x, 1)
#!         ^^^^^^^^^^^^^^^^^^^
#! cannot use a non-writable target as the first operand of 'atomic_add': found f32 array of 1 axis

#-- an atomic with a string
y = ti.atomic_max(x[0], "a")
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = ti.atomic_max(x[0], "a")
#!         ^^^^^^^^^^^^^^^^^^^^^^^^
#! unsupported operand type(s) for 'atomic_max': f32 and str 'a'; expected numbers

#-- an atomic bit operation on floats
y = ti.atomic_and(x[0], 1)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = ti.atomic_and(x[0], 1)
#!         ^^^^^^^^^^^^^^^^^^^^^^
#! 'atomic_and' requires integer operands, got f32

#-- an atomic with one argument
y = ti.atomic_add(x[0])
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     y = ti.atomic_add(x[0])
#!         ^^^^^^^^^^^^^^^^^^^
#! atomic_add() takes 2 arguments, found 1

#-- compare and swap of floats
y = ti.atomic_cas(x[0], 1.0, 2.0)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = ti.atomic_cas(x[0], 1.0, 2.0)
#!         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#! 'atomic_cas' requires integer operands, got f32

#-- compare and swap on a number
y = ti.atomic_cas(n, 1, 2)
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     y = ti.atomic_cas(n, 1, 2)
#!         ^^^^^^^^^^^^^^^^^^^^^^
#! cannot use a non-writable target as the first operand of 'atomic_cas': found i32

#-- vectors of different lengths
for I in ti.grouped(m):
    for J in ti.grouped(x):
        x[0] = (I + J)[0]
#! KernelTypeError
#! File "program.py", line 5, in f
#!     x[0] = (I + J)[0]
#!             ^^^^^
#! Cannot broadcast tensor to tensor: the shapes of vector of 2 i32 and vector of 1 i32 differ; only a number can stand for all elements

#-- a vector and a longer tuple
for I in ti.grouped(m):
    x[0] = (I + (1, 2, 3))[0]
#! KernelTypeError
#! File "program.py", line 4, in f
#!     x[0] = (I + (1, 2, 3))[0]
#!             ^^^^^^^^^^^^^
#! Cannot broadcast tensor to tensor: the shapes of vector of 2 i32 and vector of 3 i32 differ; only a number can stand for all elements

#-- a vector assigned to a shorter one
for I in ti.grouped(m):
    v = I + 1
    for J in ti.grouped(x):
        v = J + 1
#! KernelTypeError
#! File "program.py", line 6, in f
#!     v = J + 1
#!         ^^^^^
#! Assign: cannot assign a vector of 1 i32 to a vector of 2 i32: the shapes differ

#-- a vector and a string
for I in ti.grouped(m):
    x[0] = (I + "ab")[0]
#! KernelTypeError
#! File "program.py", line 4, in f
#!     x[0] = (I + "ab")[0]
#!             ^^^^^^^^
#! unsupported operand type(s) for '+': vector of 2 i32 and str 'ab'; expected numbers

#-- a vector where a number is needed
for I in ti.grouped(m):
    x[0] = I
#! KernelTypeError
#! File "program.py", line 4, in f
#!     x[0] = I
#!            ^
#! Assign: expected a number for a place of type f32, found a vector of 2 i32; take an element of it

#-- calling a number
y = n(1)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = n(1)
#!         ^^^^
#! i32 cannot be called

#-- calling a Python number
y = 3(1)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = 3(1)
#!         ^^^^
#! int 3 cannot be called

#-- calling an array
y = x(0)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = x(0)
#!         ^^^^
#! f32 array of 1 axis cannot be called

#-- calling None
y = None(1)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = None(1)
#!         ^^^^^^^
#! None cannot be called

#-- unpacking too many
a, b = 1, 2, 3
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     a, b = 1, 2, 3
#!     ^^^^
#! The number of targets is not equal to value length: 2 targets, 3 values

#-- unpacking too few
a, b, c = (1, 2)
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     a, b, c = (1, 2)
#!     ^^^^^^^
#! The number of targets is not equal to value length: 3 targets, 2 values

#-- unpacking a number
a, b = n
#! KernelTypeError
#! File "program.py", line 3, in f
#!     a, b = n
#!     ^^^^
#! expected a tuple, list or vector, found i32

#-- unpacking an array
a, b = x
#! KernelTypeError
#! File "program.py", line 3, in f
#!     a, b = x
#!     ^^^^
#! expected a tuple, list or vector, found f32 array of 1 axis

#-- unpacking an index
for I in ti.grouped(m):
    a, b, c = I
#! KernelSyntaxError
#! File "program.py", line 4, in f
#!     a, b, c = I
#!     ^^^^^^^
#! The number of targets is not equal to value length: 3 targets, 2 values

#-- len of a number
y = len(n)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = len(n)
#!         ^^^^^^
#! len() expects an array, a tuple or a list, found i32

#-- len of a range of runtime bounds
y = len(range(n))
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = len(range(n))
#!         ^^^^^^^^^^^^^
#! len() expects an array, a tuple or a list, found range() or ndrange()

#-- float of None
y = float(None) + n
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = float(None) + n
#!         ^^^^^^^^^^^
#! TypeError while compiling: float() argument must be a string or a real number, not 'NoneType'
#! from TypeError: float() argument must be a string or a real number, not 'NoneType'

#-- a numpy array in arithmetic
@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return n + weights
weights = np.arange(3)
f(1)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     return n + weights
#!            ^^^^^^^^^^^
#! a numpy array is used here from outside the kernel; pass it as an argument annotated with types.ndarray(), or use ti.static(...) for elements that never change

#-- a pestle array in arithmetic
@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return n + weights
weights = ti.ndarray(ti.i32, 3)
f(1)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     return n + weights
#!            ^^^^^^^^^^^
#! unsupported operand type(s) for '+': i32 and i32 array of 1 axis; operators work on elements, so index the array

#-- a numpy array of one element
@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return n + weights
weights = np.arange(1)
f(1)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     return n + weights
#!            ^^^^^^^^^^^
#! a numpy array is used here from outside the kernel; pass it as an argument annotated with types.ndarray(), or use ti.static(...) for elements that never change

#-- a complex number stored
x[0] = 1j
#! KernelTypeError
#! File "program.py", line 3, in f
#!     x[0] = 1j
#!            ^^
#! expected a number, found complex

#-- a complex number in arithmetic
y = n + 2j
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = n + 2j
#!         ^^^^^^
#! unsupported operand type(s) for '+': i32 and complex; expected numbers

#-- bytes in arithmetic
y = n + b"a"
#! KernelTypeError
#! File "program.py", line 3, in f
#!     y = n + b"a"
#!         ^^^^^^^^
#! unsupported operand type(s) for '+': i32 and bytes; expected numbers

#-- random of no dtype
t = ti.random(3)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     t = ti.random(3)
#!         ^^^^^^^^^^^^
#! random takes a dtype, found int 3

#-- randn of integers
t = ti.randn(ti.i32)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     t = ti.randn(ti.i32)
#!         ^^^^^^^^^^^^^^^^
#! randn takes a float dtype, found dtype i32

#-- a matrix with unequal rows
a = ti.Matrix([[1, 2], [3]])
#! KernelTypeError
#! File "program.py", line 3, in f
#!     a = ti.Matrix([[1, 2], [3]])
#!         ^^^^^^^^^^^^^^^^^^^^^^^^
#! all rows of a matrix must have the same length: expected 2 elements, found 1

#-- a vector with a string in it
a = ti.Vector([1, "a"])
#! KernelTypeError
#! File "program.py", line 3, in f
#!     a = ti.Vector([1, "a"])
#!         ^^^^^^^^^^^^^^^^^^^
#! an element of a vector or matrix must be a number, found str 'a'

#-- an empty vector
a = ti.Vector([])
#! KernelTypeError
#! File "program.py", line 3, in f
#!     a = ti.Vector([])
#!         ^^^^^^^^^^^^^
#! a vector or matrix must have at least one element

#-- a vector from a number
a = ti.Vector(n)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     a = ti.Vector(n)
#!         ^^^^^^^^^^^^
#! Vector() expects a list, tuple, vector or matrix, found i32

#-- a vector from rows
a = ti.Vector([[1, 2]])
#! KernelTypeError
#! File "program.py", line 3, in f
#!     a = ti.Vector([[1, 2]])
#!         ^^^^^^^^^^^^^^^^^^^
#! Vector() makes a vector from a list of numbers, found the elements of a 1x2 matrix of i32

#-- a number for dt
a = ti.Vector([1, 2], dt=3)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     a = ti.Vector([1, 2], dt=3)
#!         ^^^^^^^^^^^^^^^^^^^^^^^
#! Vector() expects a dtype, found int 3

#-- a vector with an unknown keyword
a = ti.Vector([1, 2], dtype=ti.f32)
#! KernelCallError
#! File "program.py", line 3, in f
#!     a = ti.Vector([1, 2], dtype=ti.f32)
#!         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#! Vector(): Unexpected argument 'dtype'

#-- vectors of different shapes
a = ti.Vector([1, 2]) + ti.Vector([1, 2, 3])
#! KernelTypeError
#! File "program.py", line 3, in f
#!     a = ti.Vector([1, 2]) + ti.Vector([1, 2, 3])
#!         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#! Cannot broadcast tensor to tensor: the shapes of vector of 2 i32 and vector of 3 i32 differ; only a number can stand for all elements

#-- a vector and a matrix
a = ti.Vector([1, 2]) * ti.Matrix([[1, 2]])
#! KernelTypeError
#! File "program.py", line 3, in f
#!     a = ti.Vector([1, 2]) * ti.Matrix([[1, 2]])
#!         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#! Cannot broadcast tensor to tensor: the shapes of vector of 2 i32 and 1x2 matrix of i32 differ; only a number can stand for all elements

#-- a matrix product that does not fit
a = ti.Matrix([[1, 2]]) @ ti.Vector([1, 2, 3])
#! KernelTypeError
#! File "program.py", line 3, in f
#!     a = ti.Matrix([[1, 2]]) @ ti.Vector([1, 2, 3])
#!         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#! '@' needs as many columns on the left as rows on the right, found a 1x2 matrix of i32 and a vector of 3 i32

#-- a matrix product with a number
a = ti.Matrix([[1, 2]]) @ n
#! KernelTypeError
#! File "program.py", line 3, in f
#!     a = ti.Matrix([[1, 2]]) @ n
#!         ^^^^^^^^^^^^^^^^^^^^^^^
#! unsupported operand type(s) for '@': 1x2 matrix of i32 and i32; expected matrices

#-- bits of a float vector
a = ti.Vector([1.5, 2.5]) & 1
#! KernelTypeError
#! File "program.py", line 3, in f
#!     a = ti.Vector([1.5, 2.5]) & 1
#!         ^^^^^^^^^^^^^^^^^^^^^^^^^
#! unsupported operand type(s) for '&': vector of 2 f32 and int 1; expected integers

#-- a vector assigned to a longer one
a = ti.Vector([1, 2, 3])
a = ti.Vector([1, 2])
#! KernelTypeError
#! File "program.py", line 4, in f
#!     a = ti.Vector([1, 2])
#!         ^^^^^^^^^^^^^^^^^
#! Assign: cannot assign a vector of 2 i32 to a vector of 3 i32: the shapes differ

#-- a vector assigned to a number
a = 1
a = ti.Vector([1, 2])
#! KernelTypeError
#! File "program.py", line 4, in f
#!     a = ti.Vector([1, 2])
#!         ^^^^^^^^^^^^^^^^^
#! Assign: expected a number for a place of type i32, found a vector of 2 i32; take an element of it

#-- a row of another length
a = ti.Matrix([[1, 2], [3, 4]])
a[0, :] = [1, 2, 3]
#! KernelTypeError
#! File "program.py", line 4, in f
#!     a[0, :] = [1, 2, 3]
#!     ^^^^^^^
#! Assign: cannot assign a vector of 3 i32 to a vector of 2 i32: the shapes differ

#-- an element beyond a matrix
a = ti.Matrix([[1, 2], [3, 4]])
a[0, 2] = 1
#! KernelIndexError
#! File "program.py", line 4, in f
#!     a[0, 2] = 1
#!     ^^^^^^^
#! index 2 is outside axis 1 of this 2x2 matrix of i32

#-- too many indices of a matrix
a = ti.Matrix([[1, 2], [3, 4]])
x[0] = a[0, 0, 0]
#! KernelIndexError
#! File "program.py", line 4, in f
#!     x[0] = a[0, 0, 0]
#!            ^^^^^^^^^^
#! Expected 2 indices, got 3

#-- a negative index of a matrix
a = ti.Matrix([[1, 2], [3, 4]])
x[0] = a[0, -1]
#! KernelIndexError
#! File "program.py", line 4, in f
#!     x[0] = a[0, -1]
#!            ^^^^^^^^
#! Negative indices are not supported in kernels: found -1

#-- a slice with a variable
a = ti.Vector([1, 2, 3])
b = a[n:]
#! KernelTypeError
#! File "program.py", line 4, in f
#!     b = a[n:]
#!         ^^^^^
#! the bounds of a slice of a vector or matrix must be integers known while compiling, found i32: Pestle does not support variables in slice now

#-- an empty slice
a = ti.Vector([1, 2, 3])
b = a[2:2]
#! KernelTypeError
#! File "program.py", line 4, in f
#!     b = a[2:2]
#!         ^^^^^^
#! a vector or matrix must have at least one element

#-- a swizzle that assigns twice
a = ti.Vector([1, 2, 3])
a.xx = 1
#! KernelTypeError
#! File "program.py", line 4, in f
#!     a.xx = 1
#!     ^^^^
#! cannot assign to .xx: component x appears twice

#-- a swizzle beyond the vector
a = ti.Vector([1, 2])
b = a.xz
#! KernelNameError
#! File "program.py", line 4, in f
#!     b = a.xz
#!         ^^^^
#! component .xz is outside this vector of 2 i32

#-- a swizzle that mixes sets
a = ti.Vector([1, 2])
b = a.xg
#! KernelNameError
#! File "program.py", line 4, in f
#!     b = a.xg
#!         ^^^^
#! vector of 2 i32 has no attribute 'xg'; it has components as in .x, .xyz or .rgb, n, shape, dtype and methods such as norm()

#-- an attribute that a matrix does not have
a = ti.Matrix([[1, 2]])
b = a.x
#! KernelNameError
#! File "program.py", line 4, in f
#!     b = a.x
#!         ^^^
#! 1x2 matrix of i32 has no attribute 'x'; it has n, m, shape, dtype and methods such as transpose()

#-- an element of a value
ti.Vector([1, 2])[0] = 3
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     ti.Vector([1, 2])[0] = 3
#!     ^^^^^^^^^^^^^^^^^^^^
#! this value is read-only: only variables and elements of arrays can be changed

#-- the determinant of a matrix that is not square
a = ti.Matrix([[1, 2, 3], [4, 5, 6]]).determinant()
#! KernelTypeError
#! File "program.py", line 3, in f
#!     a = ti.Matrix([[1, 2, 3], [4, 5, 6]]).determinant()
#!         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#! expected a square matrix, got shape (2, 3)

#-- the transpose of a vector
a = ti.Vector([1, 2]).transpose()
#! KernelTypeError
#! File "program.py", line 3, in f
#!     a = ti.Vector([1, 2]).transpose()
#!         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#! `transpose()` cannot apply to a vector. If you want something like `a @ b.transpose()`, write `a.outer_product(b)` instead.

#-- a cross product of four
a = ti.Vector([1, 2, 3, 4]).cross(ti.Vector([1, 2, 3, 4]))
#! KernelTypeError
#! File "program.py", line 3, in f
#!     a = ti.Vector([1, 2, 3, 4]).cross(ti.Vector([1, 2, 3, 4]))
#!         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#! cross() works on two vectors of 3 elements or two of 2, found a vector of 4 i32 and a vector of 4 i32

#-- dot with a number
a = ti.Vector([1, 2]).dot(n)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     a = ti.Vector([1, 2]).dot(n)
#!         ^^^^^^^^^^^^^^^^^^^^^^^^
#! dot() expects a vector or matrix, found i32

#-- a method with too many arguments
a = ti.Vector([1, 2]).sum(1)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     a = ti.Vector([1, 2]).sum(1)
#!         ^^^^^^^^^^^^^^^^^^^^^^^^
#! sum() takes at most 0 arguments, found 1

#-- a method with an unknown keyword
a = ti.Vector([1, 2]).norm(epsilon=1)
#! KernelCallError
#! File "program.py", line 3, in f
#!     a = ti.Vector([1, 2]).norm(epsilon=1)
#!         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#! norm(): Unexpected argument 'epsilon'

#-- fill of a value
ti.Vector([1, 2]).fill(n)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     ti.Vector([1, 2]).fill(n)
#!     ^^^^^^^^^^^^^^^^^^^^^^^^^
#! this vector of 2 i32 is a value, not a variable; assign it to a name first

#-- a vector type with too few elements
a = ti.types.vector(3, ti.f32)(1, 2)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     a = ti.types.vector(3, ti.f32)(1, 2)
#!         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#! a vector of 3 f32 needs 3 elements, found 2

#-- unpacking a vector
a, b = ti.Vector([1, 2, 3])
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     a, b = ti.Vector([1, 2, 3])
#!     ^^^^
#! The number of targets is not equal to value length: 2 targets, 3 values

#-- a diagonal of unknown size
a = ti.Matrix.diag(n, t)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     a = ti.Matrix.diag(n, t)
#!         ^^^^^^^^^^^^^^^^^^^^
#! Matrix.diag() expects a size known while compiling and a number

#-- a vector in a conditional expression
a = 1 if ti.Vector([n, 2]) else 2
#! KernelSyntaxError
#! File "program.py", line 3, in f
#!     a = 1 if ti.Vector([n, 2]) else 2
#!         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#! the condition of a conditional expression is a vector. Please use "ti.select" instead.

#-- a vector argument of another length
vec = ti.types.vector(3, ti.f32)
@ti.func
def g(v: vec):
    return v.sum()
@ti.kernel
def f() -> ti.f32:
    return g(ti.Vector([1, 2]))
f()
#! KernelCallError
#! File "program.py", line 7, in f
#!     return g(ti.Vector([1, 2]))
#!            ^^^^^^^^^^^^^^^^^^^^
#! argument v: expected vector of 3 f32, found vector of 2 i32

#-- a result of another shape
@ti.kernel
def f() -> ti.types.vector(3, ti.f32):
    return ti.Vector([1, 2])
f()
#! KernelTypeError
#! File "program.py", line 3, in f
#!     return ti.Vector([1, 2])
#!            ^^^^^^^^^^^^^^^^^
#! the result is a vector of 3 f32, but a vector of 2 i32 is returned here

#-- results of different shapes
@ti.func
def g(n):
    if n > 0:
        return ti.Vector([1, 2])
    return ti.Vector([1, 2, 3])
@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return g(n).x
f(1)
#! KernelTypeError
#! File "program.py", line 8, in f
#!     return g(n).x
#!            ^^^^
#! File "program.py", line 5, in g
#!     return ti.Vector([1, 2, 3])
#!            ^^^^^^^^^^^^^^^^^^^^
#! the result is a vector of 2 i32, but a vector of 3 i32 is returned here

#-- a tuple of another length
@ti.kernel
def f() -> (ti.i32, ti.f32):
    return 1, 2, 3
f()
#! KernelTypeError
#! File "program.py", line 3, in f
#!     return 1, 2, 3
#!            ^^^^^^^
#! the result is a tuple of 2 values, but 3 are returned here

#-- a number for a tuple
@ti.kernel
def f() -> (ti.i32, ti.f32):
    return 1
f()
#! KernelTypeError
#! File "program.py", line 3, in f
#!     return 1
#!            ^
#! the result is a tuple of 2 values, but int 1 is returned here

#-- a result that is too large
@ti.kernel
def f() -> ti.types.matrix(100, 100, ti.f32):
    return 1
f()
#! KernelTypeError
#! File "program.py", line 2, in f
#!     def f() -> ti.types.matrix(100, 100, ti.f32):
#!                ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#! a result may have at most 1024 numbers in it; write to an array instead

#-- a parameter that is too large
@ti.kernel
def f(m: ti.types.matrix(100, 100, ti.f32)):
    pass
f(1)
#! KernelTypeError
#! File "program.py", line 2, in f
#!     def f(m: ti.types.matrix(100, 100, ti.f32)):
#!              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#! parameter 'm' may have at most 1024 numbers in it; pass an array instead

#-- a struct without that member
S = ti.types.struct(a=ti.f32, b=ti.i32)
@ti.kernel
def f():
    s = S(1, 2)
    s.c = 3
f()
#! KernelNameError
#! File "program.py", line 5, in f
#!     s.c = 3
#!     ^^^
#! struct(a, b) has no member 'c'; it has a and b

#-- a struct made with an unknown member
S = ti.types.struct(a=ti.f32, b=ti.i32)
@ti.kernel
def f():
    s = S(c=2)
f()
#! KernelNameError
#! File "program.py", line 4, in f
#!     s = S(c=2)
#!         ^^^^^^
#! struct(a, b) has no member 'c'; it has a and b

#-- a struct with too many values
S = ti.types.struct(a=ti.f32, b=ti.i32)
@ti.kernel
def f():
    s = S(1, 2, 3)
f()
#! KernelTypeError
#! File "program.py", line 4, in f
#!     s = S(1, 2, 3)
#!         ^^^^^^^^^^
#! struct(a, b) has 2 members, found 3 values

#-- a member of another kind
S = ti.types.struct(a=ti.f32, b=ti.i32)
@ti.kernel
def f():
    s = S(a="x")
f()
#! KernelTypeError
#! File "program.py", line 4, in f
#!     s = S(a="x")
#!         ^^^^^^^^
#! member 'a' of a struct must be a number, vector, matrix or struct, as its type says; found str 'x'

#-- a struct assigned to one of another type
S = ti.types.struct(a=ti.f32)
T = ti.types.struct(b=ti.f32)
@ti.kernel
def f():
    s = S(1)
    s = T(2)
f()
#! KernelTypeError
#! File "program.py", line 6, in f
#!     s = T(2)
#!     ^
#! expected a value of struct(a), found struct(b)

#-- arithmetic of structs
S = ti.types.struct(a=ti.f32)
@ti.kernel
def f():
    s = S(1)
    s += S(2)
f()
#! KernelTypeError
#! File "program.py", line 5, in f
#!     s += S(2)
#!     ^^^^^^^^^
#! unsupported operand type(s) for '+': struct(a) and struct(a); expected numbers

#-- a struct where a number is needed
S = ti.types.struct(a=ti.f32)
@ti.kernel
def f() -> ti.f32:
    s = S(1)
    return s + 1
f()
#! KernelTypeError
#! File "program.py", line 5, in f
#!     return s + 1
#!            ^^^^^
#! unsupported operand type(s) for '+': struct(a) and int 1; expected numbers

#-- a struct argument with a missing member
S = ti.types.struct(a=ti.f32)
@ti.kernel
def f(s: S):
    pass
f({"b": 1})
#! KernelArgumentError
#! argument 's' of kernel 'f': the struct has no member 'a'

#-- a number for a struct argument
S = ti.types.struct(a=ti.f32)
@ti.kernel
def f(s: S):
    pass
f(1)
#! KernelArgumentError
#! argument 's' of kernel 'f': expected a struct of 1 members (a value of its type, or a dict), found int

#-- a struct of nothing
s = ti.Struct()
#! KernelTypeError
#! File "program.py", line 3, in f
#!     s = ti.Struct()
#!         ^^^^^^^^^^^
#! Struct() takes members by name, or one dict of them

#-- a default value in a dataclass [module]
@ti.dataclass
class Foo:
    a: ti.i32
    b: ti.f32 = 3.0
#! KernelSyntaxError
#! Default value in @dataclass is not supported: member 'b'

#-- a value of an unpacked vector [module]
ti.types.vector(2, ti.f32, unpacked=True)(1, 2)
#! KernelSyntaxError
#! types.vector(..., unpacked=True) is the type of a member of a @ti.dataclass class; it makes no value, field or ndarray

#-- a member with the name of an unpacked vector's element [module]
@ti.dataclass
class Foo:
    _r1: ti.f32
    r: ti.types.vector(2, ti.f32, unpacked=True)
#! KernelSyntaxError
#! member '_r1' has the name of an element of the unpacked vector 'r'
