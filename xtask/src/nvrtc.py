"""Compiles CUDA sources to PTX: LIBRARY FOLDER OUT OPTIONS.. -- SOURCE=NAME..

Paths of sources and headers are relative to FOLDER. The program of SOURCE is written to OUT/NAME.ptx.
"""

import ctypes
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

split = sys.argv.index("--")
library, folder, out, *options = sys.argv[1:split]
nvrtc = ctypes.CDLL(library)
nvrtc.nvrtcGetErrorString.restype = ctypes.c_char_p


def check(status: int) -> None:
    """Ends the program unless `status` means success."""
    if status:
        sys.exit(nvrtc.nvrtcGetErrorString(status).decode())


def text(program: ctypes.c_void_p, what: str) -> str:
    """Returns the `PTX` or the `ProgramLog` of a program."""
    size = ctypes.c_size_t()
    check(getattr(nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size)))
    buffer = ctypes.create_string_buffer(size.value)
    check(getattr(nvrtc, f"nvrtcGet{what}")(program, buffer))
    return buffer.value.decode()


flags = [option.encode() for option in (*options, f"--include-path={folder}")]


def compile(argument: str) -> None:
    """Compiles SOURCE=NAME."""
    source, name = argument.split("=")
    program = ctypes.c_void_p()
    code = (Path(folder) / source).read_bytes()
    check(nvrtc.nvrtcCreateProgram(ctypes.byref(program), code, source.encode(), 0, None, None))
    status = nvrtc.nvrtcCompileProgram(program, len(flags), (ctypes.c_char_p * len(flags))(*flags))
    if log := text(program, "ProgramLog").strip():
        print(log, file=sys.stderr)
    check(status)
    (Path(out) / f"{name}.ptx").write_text(text(program, "PTX"))


# The library compiles one program at a time in a process.
with ProcessPoolExecutor(mp_context=get_context("fork")) as pool:
    list(pool.map(compile, sys.argv[split + 1 :]))
