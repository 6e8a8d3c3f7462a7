"""Names that a page defines, such as `click.Group.get_command`, and the keys by which a query finds them.

Generators of documentation give each definition an anchor, and most write the name into it:

    Sphinx, pkg.go.dev, mkdocstrings   click.Group.get_command, Client.Get, module-os.path, c.PyList_New
    Javadoc                            get(java.lang.Object), get-java.lang.Object-
    rustdoc                            method.push, struct.Vec

Doxygen's anchors contain no names, but its headings do: `push_back()`. A heading with more than a declaration
or the kind of the name (`The range() Function`) only speaks of the name: `Use QuerySet.count()`, `login() has
changed`. Titles such as `std::vector<T>::push_back` are names too. A name of one part is also known by the
file it is in: `get` in `java/util/HashMap.html` is `HashMap.get`.

A key is the letters and digits of a name, and nothing else. So `click.Group.get_command`, `Group::getCommand`
and `group get command` are found alike. A name has three keys: of its last part, of its last two parts, and
of all parts.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crawlctl.pipeline.text.words.tokens import folded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crawlctl.pipeline.text.documents.page import Section

MAX_NAME = 200  # the most characters of a name; nobody types longer names
LEAST_KEY = 4  # the fewest characters of a key; shorter names, such as `get`, are on too many pages

_PART = r"~?[^\W\d]\w*"
_NAME = re.compile(rf"{_PART}(?:(?:\.|::|\#){_PART})*")
_QUALIFIED = re.compile(rf"{_PART}(?:(?:\.|::|\#){_PART})+")
_PARTS = re.compile(r"[.:#]+")
_MODULE = "module-"
_KINDS = re.compile(
    r"(?:c|macro|method|tymethod|fn|struct|enum|union|trait|type|variant|structfield|constant|static"
    r"|associatedtype|associatedconstant)\.(?=\w+$)"
)
_JAVADOC = re.compile(r"(\w+)(?:\(.*\)|-(?:[\w.:\[\]]+-)*)")
_CALLED = re.compile(
    rf"(?:^|(?:[\w<>:,]+\s*[*&]+\s*)|\s)({_PART}(?:(?:\.|::){_PART})*)\((?:[^()]|\([^()]*\))*(?:\)|$)"
)
_NUMBERED = re.compile(r"\W*(?:[A-Z]\.)?[0-9][0-9.]*\s+")  # the number of a section, as in F.28.1. digest()
_WORD = re.compile(r"[^\W\d]+")
_KIND_OF_NAME = re.compile(r"(?:function|method|macro)s?|operator|procedure")
# The words that may stand beside the call in a heading that defines a name.
_DECLARES = re.compile(
    rf"{_KIND_OF_NAME.pattern}|the|and|or|sql|manual|page"
    r"|static|inline|virtual|explicit|extern|constexpr|const|noexcept|override|final|volatile|abstract|async"
    r"|public|private|protected|default|delete|def|func?|fn|fun"
    r"|void|bool|char|int|long|short|unsigned|signed|float|double|auto"
)
_TEMPLATE = re.compile(r"<[^<>]*>")
_FILE = re.compile(r"(?:class|struct|enum|trait|union|interface)?[.]?(\w+?)\.x?html?$")
_DOXYGEN = "_1_1"  # two colons in the name of a file
_NO_SIGNS = re.compile(r"[\W_]+")


def defined_name(anchor: str, title: str = "") -> str:
    """Return the name that is defined at an anchor with a title; "" if it does not look like a definition."""
    if not anchor or len(anchor) > MAX_NAME:
        return ""
    # Most anchors and headings lack the signs without which a pattern cannot match.
    anchor = anchor.removeprefix(_MODULE)
    if "." in anchor and (kind := _KINDS.match(anchor)):
        return anchor[kind.end() :]
    if _PARTS.search(anchor) and _QUALIFIED.fullmatch(anchor):
        return anchor
    if anchor.endswith((")", "-")) and (javadoc := _JAVADOC.fullmatch(anchor)):
        return javadoc[1]
    return _called_name(title[:MAX_NAME]) if "(" in title else ""


def _called_name(title: str) -> str:
    """Return the name that a heading such as `push_back()` defines; "" if it only speaks of it."""
    number = _NUMBERED.match(title)
    text = title[number.end() :] if number else title
    called = _CALLED.search(text)
    if called is None:
        return ""
    beside = _WORD.findall(_CALLED.sub(" ", text).casefold())
    # The String format() Method
    is_of_a_kind = beside[:1] == ["the"] and bool(_KIND_OF_NAME.fullmatch(beside[-1]))
    return called[1] if is_of_a_kind or all(map(_DECLARES.fullmatch, beside)) else ""


def is_qualified(anchor: str) -> bool:
    """Return whether an anchor is a name of several parts, or a name with its kind."""
    return len(anchor) <= MAX_NAME and bool(_QUALIFIED.fullmatch(anchor.removeprefix(_MODULE)))


def titled_name(title: str) -> str:
    """Return the qualified name that a title begins with, as `pandas.merge — pandas`; empty without one."""
    words = _TEMPLATE.sub("", title[:MAX_NAME]).split(None, 1)
    found = _QUALIFIED.fullmatch(words[0].rstrip("():,")) if words else None
    return found[0] if found else ""


def keys_of(name: str) -> tuple[str, ...]:
    """Return the keys of a name: of its last part, its last two parts, and all."""
    parts = _PARTS.split(name)
    return _long_enough("".join(some) for some in (parts[-1:], parts[-2:], parts))


def _long_enough(texts: Iterator[str] | Sequence[str]) -> tuple[str, ...]:
    keys = (_NO_SIGNS.sub("", folded(text)) for text in texts)
    return tuple(dict.fromkeys(key for key in keys if len(key) >= LEAST_KEY))


def section_keys(section: Section, url: str) -> tuple[str, ...]:
    """Return the keys of the name that a section of a page defines; none if it defines nothing."""
    name = defined_name(section.anchor, section.title)
    if not name:
        return ()
    return keys_of(name if _PARTS.search(name) else f"{_class_in(url)}{name}")


def defining_section(names: Sequence[str], url: str, sections: Sequence[Section]) -> Section | None:
    """Return the first section that defines one of the names, given as keys; earlier names are preferred."""
    found: dict[str, Section] = {}
    for section in sections:
        for key in section_keys(section, url):
            if key in names:
                found.setdefault(key, section)
    return next((found[name] for name in names if name in found), None)


def page_keys(title: str, url: str, sections: Sequence[Section]) -> Iterator[str]:
    """Yield the keys of all names that a page defines; a key may be yielded several times."""
    if name := titled_name(title):
        yield from keys_of(name)
    for section in sections:
        yield from section_keys(section, url)


def _class_in(url: str) -> str:
    """Return the class that the file of a URL documents, with a dot behind it; empty if it says none."""
    found = _FILE.search(url.rpartition("/")[2])
    return f"{found[1].replace(_DOXYGEN, '.')}." if found and found[1] != "index" else ""
