from __future__ import annotations

import subprocess
import sys

IMPORT_AND_LIST = """
import sys
from crawlctl.pipeline.urls import canonical, domains, hosts, ports, seeds, whatwg
print(*sys.modules)
"""


def test_the_suffix_list_is_not_read_until_a_domain_is_asked_for() -> None:
    loaded = subprocess.run(
        [sys.executable, "-c", IMPORT_AND_LIST], capture_output=True, text=True, check=True
    ).stdout.split()
    assert "crawlctl.pipeline.urls.hosts" in loaded
    assert not {"publicsuffixlist", "yaml", "boto3", "mrjob"} & set(loaded)
