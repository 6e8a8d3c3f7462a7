"""What every group of settings is."""

from __future__ import annotations

from typing import Annotated

import msgspec

Count = Annotated[int, msgspec.Meta(ge=0)]
AtLeastOne = Annotated[int, msgspec.Meta(ge=1)]


class Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A group of settings; rules that concern several of them are checked when it is built."""


def demand(holds: bool, setting: str, rule: str) -> None:
    """Raise ValueError, which the loader turns into a ConfigError with its source, unless a rule holds."""
    if not holds:
        raise ValueError(f"{setting} must {rule}")
