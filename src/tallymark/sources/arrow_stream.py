"""Columns of a query's result as a stream of NumPy arrays, by Arrow's C stream interface.

Arrays are views of the engine's batches; a batch is released when the last array of it is deleted. https://arrow.apache.org/docs/format/CStreamInterface.html
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from tallymark._check import Column


class Interrupted(Exception):
    """The stream failed, or has a missing value; the message is the engine's."""


class _Array(ctypes.Structure):
    """A column, or a batch whose children are columns."""


_Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(_Array))),
    ("dictionary", ctypes.c_void_p),
    ("release", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
    ("private_data", ctypes.c_void_p),
]


class _Batch(_Array):
    """A batch of columns that is released with it."""

    def __del__(self) -> None:
        if self.release:
            self.release(ctypes.byref(self))


class _Stream(ctypes.Structure):
    _fields_: ClassVar = [
        ("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)),
        ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)),
        ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p)),
        ("release", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
        ("private_data", ctypes.c_void_p),
    ]


class _Column:
    """NumPy's array interface of a column; keeps the batch alive."""

    def __init__(self, batch: _Batch, number: int, kind: np.dtype[Any]) -> None:
        column = batch.children[number].contents
        if column.null_count:
            raise Interrupted("A value is missing.")
        self._batch = batch
        address = column.buffers[1] + (batch.offset + column.offset) * kind.itemsize
        self.__array_interface__ = {
            "version": 3,
            "shape": (batch.length,),
            "typestr": kind.str,
            "data": (address, True),
        }


def arrow_blocks(source: Any, kinds: Sequence[np.dtype[Any]]) -> Iterator[list[Column]]:
    """Blocks of some thousands of rows: an array for each column of `source`, of the types `kinds`, without nulls."""
    pointer_in = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_in.restype, pointer_in.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    # The capsule releases the stream.
    capsule = source.__arrow_c_stream__()
    stream = _Stream.from_address(pointer_in(capsule, b"arrow_array_stream"))
    pointer = ctypes.byref(stream)
    while True:
        batch = _Batch()
        if stream.get_next(pointer, ctypes.byref(batch)):
            raise Interrupted((stream.get_last_error(pointer) or b"").decode(errors="replace"))
        if not batch.release:
            return
        if batch.length:
            yield [np.asarray(_Column(batch, i, kind)) for i, kind in enumerate(kinds)]
