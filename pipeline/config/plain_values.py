"""The value of a setting as plain data, and as one line of YAML."""

from __future__ import annotations

from typing import Any

import msgspec

from crawlctl.pipeline.config.units import encode_unit


def plain_value(value: Any) -> Any:
    """Return a value as JSON has it; durations and sizes are texts with unambiguous units."""
    return msgspec.json.decode(msgspec.json.encode(value, enc_hook=encode_unit))


def yaml_value(value: Any) -> str:
    """Return a value as one line of YAML, with units that cannot be misread."""
    import yaml

    plain = plain_value(value)
    return yaml.safe_dump([plain], default_flow_style=True, width=float("inf"), allow_unicode=True)[1:-2]
