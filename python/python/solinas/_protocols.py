"""numpy's protocols. numpy passes its functions and operators to this package, and never makes arrays of objects."""

from __future__ import annotations

from typing import Any


class NumpyProtocols:
    """A value or array that implements `__array_function__` and `__array_ufunc__`."""

    __slots__ = ()

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        """Raise TypeMismatchError: encrypted and recorded values do not convert to a numpy array."""
        from solinas._errors import TypeMismatchError
        from solinas._numpy import NO_ARRAY

        raise TypeMismatchError(NO_ARRAY)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Apply a function of numpy. Raises TypeMismatchError if it is not supported."""
        from solinas._numpy import array_function

        return array_function(function, args, kwargs)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Apply a ufunc of numpy. Raises TypeMismatchError if it is not supported."""
        from solinas._numpy import array_ufunc

        return array_ufunc(ufunc, method, inputs, kwargs)
