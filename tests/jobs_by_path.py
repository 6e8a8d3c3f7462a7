"""The small jobs of tests of runners, loaded by path because they must also run as scripts."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

JOBS = Path(__file__).parent / "pipeline" / "runners" / "jobs"


def load_job(name: str) -> Any:
    """Return the class that "module.Class" names."""
    module_name, _, class_name = name.partition(".")
    full_name = f"crawlctl_test_jobs_{module_name}"
    if full_name not in sys.modules:
        spec = importlib.util.spec_from_file_location(full_name, JOBS / f"{module_name}.py")
        assert spec is not None and spec.loader is not None
        sys.modules[full_name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[full_name])
    return getattr(sys.modules[full_name], class_name)
