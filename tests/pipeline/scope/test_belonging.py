from __future__ import annotations

from crawlctl.pipeline.config.settings import ScopeSettings
from crawlctl.pipeline.scope.belonging import archive_of, archive_source, belonging, is_imported
from crawlctl.pipeline.scope.scope import Scope


def not_asked() -> str:
    raise AssertionError("the source of a URL inside the scope is not needed")


def test_a_url_inside_the_scope_belongs_wherever_it_comes_from() -> None:
    assert belonging(Scope(ScopeSettings(include=("a.org",))), "https://a.org/", 0, not_asked) == (None, True)


def test_an_imported_page_outside_stays_and_others_do_not() -> None:
    scope = Scope(ScopeSettings(include=("a.org",)))
    exclusion, stays = belonging(scope, "https://b.org/", 0, lambda: archive_source("/x/old.warc.gz"))
    assert exclusion is not None
    assert (exclusion.setting, stays) == ("scope.include", True)
    assert belonging(scope, "https://b.org/", 0, lambda: "https://a.org/").stays is False


def test_what_the_user_has_removed_does_not_stay() -> None:
    removed = (ScopeSettings(include=("*",), forgotten=("b.org",)), ScopeSettings(hidden=("b.org",)))
    for setting, settings in zip(("forgotten", "hidden"), removed, strict=True):
        scope = Scope(settings)
        exclusion, stays = belonging(scope, "https://b.org/", 0, lambda: "warc:old.warc.gz")
        assert exclusion is not None
        assert (exclusion.setting, stays) == (f"scope.{setting}", False)


def test_the_source_names_the_archive() -> None:
    source = archive_source("s3://bucket/folder/old.warc.gz")
    assert (source, archive_of(source), is_imported(source)) == ("warc:old.warc.gz", "old.warc.gz", True)
    assert archive_of("https://a.org/") == ""
    assert archive_of(archive_source("odd\udcff.warc")) == "odd?.warc"
