"""Names in anchors and titles, as generators of documentation write them."""

from __future__ import annotations

import pytest

from crawlctl.pipeline.text.documents.page import Section
from crawlctl.pipeline.text.words.names import (
    defined_name,
    defining_section,
    is_qualified,
    keys_of,
    page_keys,
    section_keys,
    titled_name,
)


@pytest.mark.parametrize(
    ("anchor", "title", "name"),
    [
        ("click.Group.get_command", "get_command(ctx, cmd_name)", "click.Group.get_command"),
        ("module-os.path", "os.path", "os.path"),
        ("c.PyList_New", "PyObject *PyList_New(Py_ssize_t len)", "PyList_New"),
        ("Client.Get", "func (*Client) Get", "Client.Get"),
        ("get(java.lang.Object)", "get", "get"),
        ("get-java.lang.Object-int-", "get", "get"),
        ("method.push", "pub fn push(&mut self, value: T)", "push"),
        ("a0d2f5", "◆ push_back() [1/2]", "push_back"),
        ("open", "open(file, mode='r')", "open"),
        ("the-range-function", "4.3. The range() Function", "range"),
        ("the-format-method", "7.1.2. The String format() Method", "format"),
        ("id-1.11.7", "F.28.3.6. armor(), dearmor()", "armor"),
        ("a1", "const std::string& name() const noexcept", "name"),
        ("header", "gitk(1) Manual Page", "gitk"),
        ("use-count", "Use QuerySet.count()", ""),
        ("client-login-has-changed", "test.Client.login() has changed", ""),
        ("the-way", "The way open() fails", ""),
        ("new-or-init", "When to use __new__() vs. __init__()", ""),
        ("http-headers", "HTTP(s) headers", ""),
        ("introduction", "Introduction", ""),
        ("see-also", "See also (more)", ""),
        ("version-2.0", "Version 2.0", ""),
        ("v0.19.1", "Version 0.19.1", ""),
        ("", "f()", ""),
        ("x" * 201, "f()", ""),
    ],
)
def test_an_anchor_or_its_title_says_what_is_defined(anchor: str, title: str, name: str) -> None:
    assert defined_name(anchor, title) == name


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("pandas.DataFrame.merge — pandas 1.5.3 documentation", "pandas.DataFrame.merge"),
        ("std::vector<T,Allocator>::push_back - cppreference.com", "std::vector::push_back"),
        ("os.path.join()", "os.path.join"),
        ("Django 1.8.19 release notes", ""),
        ("Joins. And more", ""),
        ("", ""),
    ],
)
def test_a_title_may_begin_with_a_name(title: str, name: str) -> None:
    assert titled_name(title) == name


def test_a_name_is_found_whole_and_by_its_last_parts_without_signs() -> None:
    assert keys_of("click.core.Group.get_command") == (
        "getcommand",
        "groupgetcommand",
        "clickcoregroupgetcommand",
    )
    assert keys_of("Group::getCommand") == ("getcommand", "groupgetcommand")
    assert keys_of("a.get") == ("aget",), "a short name alone says nothing"


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://d.example/java/util/HashMap.html", "hashmapcontainsKey"),
        ("http://d.example/std/vec/struct.Vec.html", "veccontainsKey"),
        ("http://d.example/classns_1_1Box.html", "nsboxcontainsKey"),
    ],
)
def test_a_name_of_one_part_is_also_known_by_its_file(url: str, key: str) -> None:
    keys = section_keys(Section("containsKey(java.lang.Object)", "containsKey", 0), url)
    assert "containskey" in keys and key.lower() in keys
    assert section_keys(Section("containsKey()", "", 0), "http://d.example/index.html") == ("containskey",)


def test_the_section_of_the_first_name_is_the_one_a_hit_leads_to() -> None:
    some = [Section("a.Box.open_it", "", 1), Section("b.Box.open_it", "", 5), Section("b.Box", "", 9)]
    assert defining_section(("bboxopenit", "openit"), "http://d.example/", some) == some[1]
    assert defining_section(("nope", "openit"), "http://d.example/", some) == some[0]
    assert defining_section(("nope",), "http://d.example/", some) is None
    assert set(page_keys("x.Lid — docs", "http://d.example/", some[:1])) == {
        "xlid",
        "openit",
        "boxopenit",
        "aboxopenit",
    }


def test_only_names_of_several_parts_are_qualified() -> None:
    assert is_qualified("a.b") and is_qualified("module-a.b") and is_qualified("a::b")
    assert not is_qualified("a") and not is_qualified("git-add.txt--n") and not is_qualified("a." + "b" * 200)
