"""The exceptions of this package. Each message says what is wrong, where, and how to fix it."""

from __future__ import annotations


class SolinasError(Exception):
    """The base class of every exception of this package."""


class KeyMismatchError(SolinasError):
    """Raised if ciphertexts, or a ciphertext and a key, belong to different key pairs."""


class FormatError(SolinasError, ValueError):
    """Raised if a file or bytes are damaged, incomplete, or of another kind or version."""


class FileError(SolinasError, OSError):
    """Raised if a file cannot be read or written, or exists and may not be replaced."""


class RangeError(SolinasError, ValueError):
    """Raised if a value or an argument is out of range."""


class TypeMismatchError(SolinasError, TypeError):
    """Raised if an operand or an argument has the wrong type."""


class ShapeError(SolinasError, ValueError):
    """Raised if the shape of an array does not suit the operation, or shapes cannot be broadcast."""


class ElementError(SolinasError, IndexError):
    """Raised if an index is out of the bounds of an array."""


class ParameterError(SolinasError, ValueError):
    """Raised for an unknown scheme or parameter set, or for one that needs `research=True`."""


class CircuitError(SolinasError, ValueError):
    """Raised if a program or circuit is not valid."""


class MissingPackageError(SolinasError, ImportError):
    """Raised if an optional feature needs a package that is not installed."""


class NoiseError(SolinasError):
    """Raised if a ciphertext has too much noise to compute on or to decrypt, or no products left."""


class ServiceError(SolinasError):
    """Raised if a service cannot be reached, refuses a request, or fails to compute a job."""


class CancelledError(SolinasError):
    """Raised by the result of a job that was cancelled."""


class WeakKeyWarning(UserWarning):
    """Issued for a weak key: its parameter set is for research only, or it was made from a chosen seed."""


class InternalError(SolinasError):
    """Raised if this package detects a bug of its own."""
