"""Exceptions. The messages say what is wrong, where, and what to do."""

from __future__ import annotations


class SolinasError(Exception):
    """Base of every exception of this package."""


class KeyMismatchError(SolinasError):
    """Ciphertexts, or a ciphertext and a key, that were not made from one key."""


class FormatError(SolinasError, ValueError):
    """Bytes or a file that are not what they should be: damaged, cut short, of another kind or version."""


class FileError(SolinasError, OSError):
    """A file that cannot be read or written, or that exists and may not be replaced."""


class RangeError(SolinasError, ValueError):
    """A value that does not fit its type."""


class TypeMismatchError(SolinasError, TypeError):
    """Operands or inputs of the wrong type."""


class ShapeError(SolinasError, ValueError):
    """Arrays whose shapes do not go together."""


class ElementError(SolinasError, IndexError):
    """An element that an array does not have."""


class ParameterError(SolinasError, ValueError):
    """An unknown scheme or parameter set, or one that needs `research=True`."""


class CircuitError(SolinasError, ValueError):
    """A program or circuit that is not valid."""


class MissingPackageError(SolinasError, ImportError):
    """A package that is not installed, for something that is optional."""


class NoiseError(SolinasError):
    """A ciphertext with too much noise to be computed on or decrypted (scheme gh)."""


class CancelledError(SolinasError):
    """A job that was cancelled."""


class WeakKeyWarning(UserWarning):
    """A key that protects little or nothing: its set is for research alone, or it was made from a chosen seed."""


class InternalError(SolinasError):
    """A bug of this package."""
