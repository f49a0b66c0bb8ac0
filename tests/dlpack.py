"""DLPack producers for tests, made with ctypes: what no library at hand can be made to give."""

import ctypes

DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Plain(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", DELETER)]


class Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", DELETER),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    ]


READ = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(Tensor))


class Exchange(ctypes.Structure):
    pass


Exchange._fields_ = [
    ("major", ctypes.c_uint32),
    ("minor", ctypes.c_uint32),
    ("previous", ctypes.POINTER(Exchange)),
    ("allocate", ctypes.c_void_p),
    ("managed_from", ctypes.c_void_p),
    ("managed_to", ctypes.c_void_p),
    ("read", READ),
    ("stream", ctypes.c_void_p),
]

capsule_new = ctypes.pythonapi.PyCapsule_New
capsule_new.restype = ctypes.py_object
capsule_new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
READ_ONLY, COPIED = 1, 2
INT, UINT, FLOAT, COMPLEX = 0, 1, 2, 5


class Producer:
    """An array over a ctypes array, in whatever way the test wants it told. `deleted` counts calls of the deleter."""

    def __init__(self, memory, shape=None, strides=None, dtype=(INT, 32), offset=0, version=(1, 3), flags=0,
                 device=(1, 0), tells=None, old=False):  # fmt: skip
        self.memory, self.shape, self.strides = memory, (len(memory),) if shape is None else shape, strides
        self.kind, self.offset, self.flags, self.device = dtype, offset, flags, device
        self.version, self.tells, self.deleted, self.asked, self.old = version, tells or device, 0, [], old

    def tensor(self):
        ndim = len(self.shape)
        self.kept = [(ctypes.c_int64 * ndim)(*self.shape)]
        if self.strides is not None:
            self.kept.append((ctypes.c_int64 * ndim)(*self.strides))
        strides = ctypes.cast(self.kept[1], ctypes.POINTER(ctypes.c_int64)) if self.strides is not None else None
        return Tensor(
            ctypes.addressof(self.memory), *self.device, ndim, *self.kind, 1,
            ctypes.cast(self.kept[0], ctypes.POINTER(ctypes.c_int64)), strides, self.offset,
        )  # fmt: skip

    def delete(self, address):
        self.deleted += 1

    def __dlpack_device__(self):
        return self.tells

    def __dlpack__(self, **request):
        self.asked.append(request)
        if self.old and request:
            raise TypeError("__dlpack__() got an unexpected keyword argument")
        self.deleter = DELETER(self.delete)
        if self.version is None:
            self.managed, name = Plain(self.tensor(), None, self.deleter), b"dltensor"
        else:
            self.managed = Versioned(*self.version, None, self.deleter, self.flags, self.tensor())
            name = b"dltensor_versioned"
        self.name = name  # the capsule does not copy it
        return capsule_new(ctypes.addressof(self.managed), self.name, None)


def exchanging(read, version=(1, 3)):
    """A class of producers whose arrays are read by exchange functions; `read(self)` gives a Tensor, or None to fail."""

    def call(producer, out):
        found = read(producer)
        if found is None:
            return -1
        out[0] = found
        return 0

    table = Exchange(*version, None, None, None, None, READ(call), None)

    class Exchanging(Producer):
        __dlpack_c_exchange_api__ = capsule_new(ctypes.addressof(table), b"dlpack_exchange_api", None)
        kept_table = table

    return Exchanging
