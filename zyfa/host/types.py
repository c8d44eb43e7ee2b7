"""Refusals by type: TypeErrors that name the argument, before anything looks into it."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor


def tensor(name: str, value: Any) -> None:
    """Raise TypeError unless `value` is a tensor."""
    if not isinstance(value, Tensor):
        raise TypeError(f"{name} must be a tensor, not {_kind(value)}")


def floating(name: str, value: Any) -> None:
    """Raise TypeError unless `value` is a tensor of a floating point dtype."""
    tensor(name, value)
    if not value.is_floating_point():
        raise TypeError(f"{name} must be floating point, not {value.dtype}")


def optional(name: str, value: Any) -> None:
    """Raise TypeError unless `value` is a tensor or None."""
    if value is not None:
        tensor(name, value)


def tensors(name: str, value: Any) -> None:
    """Raise TypeError unless `value` is a list or tuple of tensors."""
    if isinstance(value, (str, Tensor)) or not isinstance(value, Sequence):
        raise TypeError(f"{name} must be a list of tensors, not {_kind(value)}")
    for i, one in enumerate(value):
        floating(f"{name}[{i}]", one)


def number(name: str, value: Any) -> None:
    """Raise TypeError unless `value` is a real number and no bool."""
    real = isinstance(value, (numbers.Real, torch.SymFloat, torch.SymInt))
    if not real or isinstance(value, bool):
        raise TypeError(f"{name} must be a number, not {_kind(value)}")


def whole(name: str, value: Any) -> None:
    """Raise TypeError unless `value` is an integer and no bool, ValueError below 0."""
    if not isinstance(value, (numbers.Integral, torch.SymInt)) or isinstance(value, bool):
        raise TypeError(f"{name} must be an integer, not {_kind(value)}")
    if value < 0:
        raise ValueError(f"{name}={value}: a length is not negative")


def flag(name: str, value: Any) -> None:
    """Raise TypeError unless `value` is a bool."""
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be True or False, not {_kind(value)}")


def window(name: str, value: Any) -> None:
    """Raise TypeError unless `value` is a pair of integers, ValueError for another count."""
    if isinstance(value, (str, Tensor)) or not isinstance(value, Sequence):
        raise TypeError(f"{name} must be a pair of integers, not {_kind(value)}")
    if len(value) != 2:
        raise ValueError(f"{name} must be a pair of integers, not {len(value)}")
    for one in value:
        if not isinstance(one, numbers.Integral) or isinstance(one, bool):
            raise TypeError(f"{name} must be a pair of integers, not of {_kind(one)}")


def _kind(value: Any) -> str:
    return "None" if value is None else type(value).__name__
