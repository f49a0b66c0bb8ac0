# SPDX-License-Identifier: Apache-2.0
"""Classes that the peers have and Pestle has not: kinds of fields and arrays, to ask isinstance for; and those of layout
trees, which say that they are not there yet."""

import itertools

import pestle
import pestle._later
from pestle.compat.names import CLASSES


class Kind(type):
    """The class of a kind of Pestle's objects: no object is made by it, isinstance looks at what the object is."""

    def __new__(cls, name, of, fits):
        made = super().__new__(cls, name, (), {"__doc__": f"What isinstance(x, {name}) asks for."})
        made._of, made._fits = of, staticmethod(fits)
        return made

    def __init__(cls, name, of, fits):
        super().__init__(name, (), {})

    def __instancecheck__(cls, value):
        return isinstance(value, cls._of) and cls._fits(value)

    def __subclasscheck__(cls, other):
        return other is cls or (isinstance(other, type) and any(issubclass(other, of) for of in cls._of))

    def __dir__(cls):
        return CLASSES[cls.__name__].split()

    def __getattr__(cls, name):
        for of in type.__getattribute__(cls, "_of"):
            if hasattr(of, name):
                return getattr(of, name)
        pestle._later.refuse(cls.__name__, name, "class")

    def __call__(cls, *args, **kwargs):
        raise TypeError(f"{cls.__name__} is the class of a kind of objects; field() and ndarray() make them")


class Missing(type):
    """A class of something that Pestle does not have yet."""

    def __dir__(cls):
        return CLASSES[cls.__name__].split()

    def __getattr__(cls, name):
        pestle._later.refuse(cls.__name__, name, "class")

    def __call__(cls, *args, **kwargs):
        pestle._later.refuse_use(cls.__name__)


def element_axes(value):
    return len(value.element_shape)


FIELDS, STRUCTS, ARRAYS = (pestle.Field,), (pestle.StructField,), (pestle.Ndarray,)
KINDS = [
    Kind("Field", FIELDS + STRUCTS, lambda value: True),
    Kind("ScalarField", FIELDS, lambda value: element_axes(value) == 0),
    Kind("MatrixField", FIELDS, lambda value: element_axes(value) > 0),
    Kind("StructField", STRUCTS, lambda value: True),
    Kind("Ndarray", ARRAYS, lambda value: True),
    Kind("ScalarNdarray", ARRAYS, lambda value: element_axes(value) == 0),
    Kind("VectorNdarray", ARRAYS, lambda value: element_axes(value) == 1),
    Kind("MatrixNdarray", ARRAYS, lambda value: element_axes(value) == 2),
]


def classes():
    """All of them, by name."""
    return {kind.__name__: kind for kind in KINDS} | {name: Missing(name, (), {}) for name in ("FieldsBuilder", "SNode")}


def swizzles(letters, required_length=4):
    """The swizzles of these letters, up to that length."""
    lengths = range(1, required_length + 1)
    return ["".join(word) for n in lengths for word in itertools.product(letters, repeat=n)]
