from __future__ import annotations

import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest
from packaging.utils import canonicalize_name

from crawlctl.pipeline.errors import ConfigError
from crawlctl.pipeline.runners.shipping import environment
from crawlctl.pipeline.runners.shipping.environment import (
    direct_requirements,
    environment_archive,
    installed,
    required_distributions,
    this_interpreter,
)
from crawlctl.tests.pipeline.runners.shipping.fake_distribution import Installed


def install(monkeypatch: pytest.MonkeyPatch, *parts: Any) -> None:
    by_name = {part.name: part for part in parts}
    monkeypatch.setattr(environment, "installed", by_name.get)


def names(**how: bool) -> list[str]:
    return [part.name for part in required_distributions(**how)]


def test_what_crawlctl_requires_here_is_found_and_the_tools_of_its_developers_are_not() -> None:
    found = {canonicalize_name(name) for name in names()}
    assert {"mrjob", "numpy", "msgspec", "botocore", "urllib3", "pyyaml"} <= found
    assert not found & {"crawlctl", "pytest", "moto", "mypy", "ruff", "pip", "hypothesis"}


def test_what_a_build_left_in_the_current_folder_is_not_what_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "click.egg-info").mkdir()
    (tmp_path / "click.egg-info" / "PKG-INFO").write_text("Name: click\nVersion: 0.0.1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    found = installed("click")
    assert found is not None and found.version != "0.0.1"
    assert installed("no-such-distribution") is None


def test_requirements_are_followed_through_others_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    install(
        monkeypatch,
        Installed("crawlctl", "b>=1,<2", "a"),
        Installed("a", "c (>=2)"),
        Installed("b", "c"),
        Installed("c", "a"),
        Installed("other"),
    )
    assert names() == ["a", "b", "c"]


def test_extras_count_only_where_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    install(
        monkeypatch,
        Installed("crawlctl", "a", 'tool; extra == "test"', "a[fast, safe]"),
        Installed("a", 'quick; extra == "fast"', 'slow; extra == "docs"'),
        Installed("quick"),
        Installed("slow"),
        Installed("tool"),
    )
    assert names() == ["a", "quick"]


def test_what_is_required_on_a_condition_counts_if_it_holds_here(monkeypatch: pytest.MonkeyPatch) -> None:
    needs = ('a; python_version >= "3.11"', 'b; sys_platform == "win32"', "c", 'd; python_version < "3"')
    install(monkeypatch, Installed("crawlctl", *needs), Installed("a"), Installed("c"), Installed("d"))
    assert names() == ["a", "c"]
    assert names(with_conditional=False) == ["c"]


def test_what_crawlctl_requires_with_another_python_is_known_though_it_is_not_installed_here(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    needs = ('a>=2; python_version < "3.14"', 'b; python_version >= "3.14"', "c", 'd; extra == "test"')
    install(monkeypatch, Installed("crawlctl", *needs), Installed("c"))
    assert [need.name for need in direct_requirements("3.11")] == ["a", "c"]
    assert [need.name for need in direct_requirements("3.14")] == ["b", "c"]


def test_what_cannot_be_packed_is_refused_with_a_way_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    remedy = "in a virtual environment of its own"
    install(monkeypatch)
    with pytest.raises(ConfigError, match=f"without being installed; .*{remedy}"):
        environment_archive(tmp_path)
    install(monkeypatch, Installed("crawlctl", "a ~> 2"))
    with pytest.raises(ConfigError, match=r"crawlctl requires 'a ~> 2', .*install a newer crawlctl"):
        environment_archive(tmp_path)
    install(monkeypatch, Installed("crawlctl", "gone"))
    with pytest.raises(ConfigError, match=f"gone, which crawlctl needs, is not installed; .*{remedy}"):
        environment_archive(tmp_path)
    of_the_system = Installed("a")
    monkeypatch.setattr(of_the_system, "read_text", lambda _: None)
    install(monkeypatch, Installed("crawlctl", "a"), of_the_system)
    with pytest.raises(ConfigError, match=f"a came without the list of its files; .*{remedy}"):
        environment_archive(tmp_path)


def test_the_archive_is_made_anew_when_and_only_when_a_part_changes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "a.py").write_text("x = 1")
    own = Installed("crawlctl", "a")
    install(monkeypatch, own, Installed("a", folder=tmp_path / "a"))
    first = environment_archive(tmp_path)
    assert environment_archive(tmp_path) == first
    with tarfile.open(first) as archive:
        assert "lib/a.py" in archive.getnames()
    install(monkeypatch, own, Installed("a", version="2", folder=tmp_path / "a"))
    assert environment_archive(tmp_path) != first


def test_the_interpreter_is_the_real_one_and_not_a_link_of_a_virtual_environment() -> None:
    interpreter = this_interpreter()
    assert interpreter.version == f"{sys.version_info.major}.{sys.version_info.minor}"
    assert not Path(interpreter.path).is_symlink()
