from __future__ import annotations

import subprocess
import sys
from itertools import pairwise

import pytest

from crawlctl.pipeline.mrjob_light import LooseVersion, MRJob, MRStep, light_imports

LENT = {"distutils", "distutils.spawn", "distutils.version", "pipes", "urllib.request", "yaml"}
VERSIONS = ["0.20", "0.20.203", "0.21", "1.0", "1.0.3", "2.0", "2.7.3", "2.10.1", "3.3.6", "3.4.2", "10.0"]


def python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_the_classes_are_mrjobs_own() -> None:
    assert (MRJob.__module__, MRStep.__module__) == ("mrjob.job", "mrjob.step")


def test_nothing_heavy_is_imported_and_no_stand_in_is_left() -> None:
    loaded = python("import sys, crawlctl.pipeline.mrjob_light; print(*sys.modules)").split()
    assert "mrjob.job" in loaded
    assert LENT.isdisjoint(loaded)


def test_modules_that_are_loaded_already_are_used_as_they_are() -> None:
    code = "import sys, urllib.request as real, crawlctl.pipeline.mrjob_light, mrjob.py2; "
    assert python(
        code + "print(mrjob.py2.urlopen is real.urlopen, sys.modules['urllib.request'] is real)"
    ) == ("True True")


def test_a_conf_file_is_read_by_the_real_yaml() -> None:
    code = (
        "import io, crawlctl.pipeline.mrjob_light, mrjob.conf, yaml; "
        "print(mrjob.conf._load_yaml_with_clear_tag(io.StringIO('a: !clear [1]')), "
        "mrjob.conf.yaml.load is yaml.load)"
    )
    assert python(code) == "{'a': ClearedValue([1])} True"


def test_what_was_lent_works() -> None:
    code = (
        "import crawlctl.pipeline.mrjob_light, mrjob.util, mrjob.compat, mrjob.parse; "
        "print(mrjob.util.cmd_line(['a b']), mrjob.util.which('sh') is not None, "
        "mrjob.compat.uses_yarn('3.4.2'), mrjob.parse.to_uri('/a b'))"
    )
    # Python 3.14 leaves out the empty host of such a URI; Java reads both.
    assert python(code) in {f"'a b' True True file:{slashes}a%20b" for slashes in ("/", "///")}


def test_mrjob_can_still_be_imported_plainly() -> None:
    assert python("from mrjob.job import MRJob; import mrjob.emr; print(MRJob.__name__)") == "MRJob"


def test_stand_ins_are_taken_back_when_an_import_fails() -> None:
    before = set(sys.modules)
    with pytest.raises(ImportError), light_imports():
        import crawlctl.no_such_module  # type: ignore[import-not-found]  # noqa: F401
    assert set(sys.modules) & LENT == before & LENT


def test_versions_are_ordered_by_their_numbers() -> None:
    for older, newer in pairwise(VERSIONS):
        assert LooseVersion(older) < LooseVersion(newer)
        assert LooseVersion(newer) >= LooseVersion(older) != LooseVersion(newer)
    assert LooseVersion("2.0") < LooseVersion("2.0.1") and LooseVersion("1.0") == LooseVersion("1.0")
    assert LooseVersion("3.3.6-amzn-2") < LooseVersion("3.3.6-amzn-10")
