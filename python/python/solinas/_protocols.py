"""numpy's protocols: its functions and operators come here, and never take a value of this package for an object."""

from __future__ import annotations

from typing import Any


class NumpyProtocols:
    """Values and arrays that numpy hands its functions to."""

    __slots__ = ()

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        """Refuse to become an array of numpy."""
        from solinas._errors import TypeMismatchError
        from solinas._numpy import NO_ARRAY

        raise TypeMismatchError(NO_ARRAY)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Carry out a function of numpy, or refuse to."""
        from solinas._numpy import array_function

        return array_function(function, args, kwargs)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Carry out an operator of numpy, or refuse to."""
        from solinas._numpy import array_ufunc

        return array_ufunc(ufunc, method, inputs, kwargs)
