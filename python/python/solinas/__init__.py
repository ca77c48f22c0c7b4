"""Compute on encrypted integers: keys, typed programs, encrypted values and arrays.

>>> import solinas as sl
>>> client, server_key = sl.keygen()
>>> a, b = client.encrypt(sl.u32(1234)), client.encrypt(sl.u32(99))
>>> server = sl.Server(server_key)
>>> client.decrypt(server.run(sl.select(a > b, a * b, a + b)))
122166
"""

from solinas import bigint, pir
from solinas._arrays import Array, ArrayType, EncryptedArray
from solinas._ciphertext import Ciphertext
from solinas._circuit import Circuit, Port, bits, from_bits
from solinas._cluster import Cluster, cluster
from solinas._core import __version__
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
    ServiceError,
    ShapeError,
    SolinasError,
    TypeMismatchError,
    WeakKeyWarning,
)
from solinas._fixed import Fixed, fixed
from solinas._functions import isqrt, lookup, maximum, minimum, select
from solinas._job import Job
from solinas._keys import ClientKey, PublicKey, ServerKey, keygen
from solinas._params import Estimate, FoundParams, GpuInfo, ParamsInfo, find_params, gpus, params
from solinas._plan import Plan
from solinas._program import Program
from solinas._remote import RemoteEstimate, RemoteJob, RemoteServer, Service, connect
from solinas._search import searchsorted
from solinas._server import Server
from solinas._sorting import argsort, median, sort, top_k
from solinas._text import Bytes, Text, bytes_, text
from solinas._tracing import program
from solinas._types import (
    I8,
    I16,
    I32,
    I64,
    I128,
    I256,
    U8,
    U16,
    U32,
    U64,
    U128,
    U256,
    Int,
    Integer,
    Modular,
    Number,
    UInt,
    int_,
    mod,
    uint,
)
from solinas._values import Bool, Value

bool_ = Bool
u8, u16, u32, u64, u128, u256 = U8, U16, U32, U64, U128, U256
i8, i16, i32, i64, i128, i256 = I8, I16, I32, I64, I128, I256

__all__ = [
    "I8",
    "I16",
    "I32",
    "I64",
    "I128",
    "I256",
    "U8",
    "U16",
    "U32",
    "U64",
    "U128",
    "U256",
    "Array",
    "ArrayType",
    "Bool",
    "Bytes",
    "CancelledError",
    "Ciphertext",
    "Circuit",
    "CircuitError",
    "ClientKey",
    "Cluster",
    "ElementError",
    "EncryptedArray",
    "Estimate",
    "FileError",
    "Fixed",
    "FormatError",
    "FoundParams",
    "GpuInfo",
    "Int",
    "Integer",
    "InternalError",
    "Job",
    "KeyMismatchError",
    "MissingPackageError",
    "Modular",
    "NoiseError",
    "Number",
    "ParameterError",
    "ParamsInfo",
    "Plan",
    "Port",
    "Program",
    "PublicKey",
    "RangeError",
    "RemoteEstimate",
    "RemoteJob",
    "RemoteServer",
    "Server",
    "ServerKey",
    "Service",
    "ServiceError",
    "ShapeError",
    "SolinasError",
    "Text",
    "TypeMismatchError",
    "UInt",
    "Value",
    "WeakKeyWarning",
    "__version__",
    "argsort",
    "bigint",
    "bits",
    "bool_",
    "bytes_",
    "cluster",
    "connect",
    "find_params",
    "fixed",
    "from_bits",
    "gpus",
    "i8",
    "i16",
    "i32",
    "i64",
    "i128",
    "i256",
    "int_",
    "isqrt",
    "keygen",
    "lookup",
    "maximum",
    "median",
    "minimum",
    "mod",
    "params",
    "pir",
    "program",
    "searchsorted",
    "select",
    "sort",
    "text",
    "top_k",
    "u8",
    "u16",
    "u32",
    "u64",
    "u128",
    "u256",
    "uint",
]
