from __future__ import annotations

import subprocess
import sys

from crawlctl.pipeline.formats.zstd_module import zstd

WITHOUT_ZSTANDARD = """
import sys
sys.modules["_zstd"] = sys.modules["backports.zstd"] = None  # how Python spells "not there"
from crawlctl.pipeline.errors import ConfigError
try:
    import crawlctl.pipeline.formats.zstd_module
except ConfigError as err:
    print(err)
"""


def test_the_module_is_that_of_python_where_python_has_it() -> None:
    assert zstd.__name__ == ("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
    assert zstd.decompress(zstd.compress(b"page" * 1000)) == b"page" * 1000


def test_a_python_that_was_compiled_without_zstandard_is_named_with_a_way_out() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_ZSTANDARD], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(f"this Python ({sys.executable}) has no Zstandard")
    assert "; take a Python with the module compression.zstd" in done.stdout
