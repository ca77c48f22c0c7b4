"""Compute on encrypted integers: keys, typed programs, encrypted values and arrays.

>>> import solinas as sl
>>> @sl.program
... def f(a: sl.U32, b: sl.U32) -> sl.U32:
...     return sl.select(a > b, a * b, a + b)
>>> f.simulate(1234, 99)
122166
"""

from solinas._array import Array, ArrayType
from solinas._bound import BoundArray
from solinas._cipher import Ciphertext, Encrypted, EncryptedArray
from solinas._circuit import Circuit, Port, bits, from_bits
from solinas._core import Estimate, FoundParams, ParamsInfo, __version__
from solinas._errors import (
    CancelledError,
    CircuitError,
    ElementError,
    FileError,
    FormatError,
    InternalError,
    KeyMismatchError,
    MissingPackageError,
    NoiseError,
    ParameterError,
    RangeError,
    ShapeError,
    SolinasError,
    TypeMismatchError,
    WeakKeyWarning,
)
from solinas._find import find_params
from solinas._functions import lookup, maximum, minimum, select
from solinas._integers import (
    I8,
    I16,
    I32,
    I64,
    I128,
    U8,
    U16,
    U32,
    U64,
    U128,
    Int,
    Integer,
    Modular,
    UInt,
    int_,
    mod,
    uint,
)
from solinas._job import Job
from solinas._keys import ClientKey, ServerKey, keygen, params
from solinas._program import Program, program
from solinas._values import Bool, Value

bool_ = Bool
u8, u16, u32, u64, u128 = U8, U16, U32, U64, U128
i8, i16, i32, i64, i128 = I8, I16, I32, I64, I128

__all__ = [
    "I8",
    "I16",
    "I32",
    "I64",
    "I128",
    "U8",
    "U16",
    "U32",
    "U64",
    "U128",
    "Array",
    "ArrayType",
    "Bool",
    "BoundArray",
    "CancelledError",
    "Ciphertext",
    "Circuit",
    "CircuitError",
    "ClientKey",
    "ElementError",
    "Encrypted",
    "EncryptedArray",
    "Estimate",
    "FileError",
    "FormatError",
    "FoundParams",
    "Int",
    "Integer",
    "InternalError",
    "Job",
    "KeyMismatchError",
    "MissingPackageError",
    "Modular",
    "NoiseError",
    "ParameterError",
    "ParamsInfo",
    "Port",
    "Program",
    "RangeError",
    "ServerKey",
    "ShapeError",
    "SolinasError",
    "TypeMismatchError",
    "UInt",
    "Value",
    "WeakKeyWarning",
    "__version__",
    "bits",
    "bool_",
    "find_params",
    "from_bits",
    "i8",
    "i16",
    "i32",
    "i64",
    "i128",
    "int_",
    "keygen",
    "lookup",
    "maximum",
    "minimum",
    "mod",
    "params",
    "program",
    "select",
    "u8",
    "u16",
    "u32",
    "u64",
    "u128",
    "uint",
]
