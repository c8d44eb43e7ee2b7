"""A property that is computed once, also when several threads ask for it together."""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from typing import Any, Generic, Protocol, TypeVar, overload

T = TypeVar("T")


class Guarded(Protocol):
    """What has such properties: ``lock`` is held while one of them is computed."""

    lock: RLock


class once(Generic[T]):
    """Like ``functools.cached_property``, under the lock of its object.

    (cached_property has no lock from Python 3.12 on, and one for all objects before.)
    """

    def __init__(self, make: Callable[[Any], T]) -> None:
        self.make, self.name, self.__doc__ = make, make.__name__, make.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> once[T]: ...
    @overload
    def __get__(self, instance: Guarded, owner: type) -> T: ...
    def __get__(self, instance: Guarded | None, owner: type) -> once[T] | T:
        if instance is None:
            return self
        with instance.lock:
            found = vars(instance)
            if self.name not in found:
                found[self.name] = self.make(instance)
            made: T = found[self.name]
            return made
