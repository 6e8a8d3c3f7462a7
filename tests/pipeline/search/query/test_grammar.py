from __future__ import annotations

from contextlib import suppress
from typing import Any, cast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crawlctl.pipeline.errors import QueryError
from crawlctl.pipeline.search.query.filters import (
    After,
    Before,
    DocumentType,
    FieldValue,
    Language,
    Site,
    first_second,
)
from crawlctl.pipeline.search.query.grammar import MAX_NOTICES, parse
from crawlctl.pipeline.search.query.tree import (
    AllPages,
    And,
    Exact,
    Node,
    Not,
    Or,
    Phrase,
    Prefix,
    Range,
    Word,
)

A, B, C, D = (Word(letter) for letter in "abcd")


def tree(text: str) -> Node:
    return parse(text).tree


def error(text: str) -> list[str]:
    with pytest.raises(QueryError) as caught:
        parse(text)
    return str(caught.value).split("\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", A),
        ("a b", And((A, B))),
        ("a AND b", And((A, B))),
        ("AND a b", And((A, B))),
        ("AND a b c", And((A, B, C))),
        ("OR a b", Or((A, B))),
        ("OR a (AND b c)", Or((A, And((B, C))))),
        ("AND a (OR b c) NOT d", And((A, Or((B, C)), Not(D)))),
        ("AND a", A),
        ("a OR b", Or((A, B))),
        ("a b OR c d", Or((And((A, B)), And((C, D))))),
        ("a AND b OR c AND d", Or((And((A, B)), And((C, D))))),
        ("a (b OR c)", And((A, Or((B, C))))),
        ("(a b) (c d)", And((A, B, C, D))),
        ("a OR (b OR c)", Or((A, B, C))),
        ("a NOT b", And((A, Not(B)))),
        ("a AND NOT b", And((A, Not(B)))),
        ("jaguar -car", And((Word("jaguar"), Not(Word("car"))))),
        ("-car jaguar", And((Word("jaguar"), Not(Word("car"))))),
        ("aws -s3 news -uk", And((Word("aws"), Word("news"), Not(Word("s3")), Not(Word("uk"))))),
        ("cat -dog", And((Word("cat"), Not(Word("dog"))))),
        ("git -github", And((Word("git"), Not(Word("github"))))),
        ('ls -"la"', And((Word("ls"), Not(Exact("la"))))),
        ("ls -la*", And((Word("ls"), Not(Prefix("la"))))),
        ("a -é", And((A, Not(Word("é"))))),
        ("a NOT b c", And((A, C, Not(B)))),
        ("a -(b c)", And((A, Not(And((B, C)))))),
        ('a -"b c"', And((A, Not(Phrase(("b", "c")))))),
        ("a NOT NOT b", And((A, B))),
        ("+a +b", And((A, B))),
        ("a and b or c", And((A, Word("and"), B, Word("or"), C))),
        ('"AND" a', And((Word("AND"), A))),
        ('"a b"', Phrase(("a", "b"))),
        ("“a b”", Phrase(("a", "b"))),
        ('"a"', Exact("a")),
        ('title:"a"', Exact("a", "title")),
        ('"AND"', Word("AND")),  # it needs its quotes to be a word at all
        ('"x::y"', Word("x::y")),
        ('a"b c"d', And((A, Phrase(("b", "c")), D))),
        ("pyth*", Prefix("pyth")),
        ("Pyth*", Prefix("pyth")),
        ("1990..2000", Range(1990, 2000)),
        ("2000..1990", Range(1990, 2000)),
        ("title:a", Word("a", "title")),
        ("Title: a", Word("a", "title")),
        ("intitle:a inurl:b", And((Word("a", "title"), Word("b", "url")))),
        ("heading:(a b)", And((Word("a", "heading"), Word("b", "heading")))),
        ("anchor:(OR a body:b)", Or((Word("a", "anchor"), Word("b", "body")))),
        ('url:"a b"', Phrase(("a", "b"), "url")),
        ("title:py*", Prefix("py", "title")),
        ("title:1..2", Range(1, 2, "title")),
        ("title:(a NOT b)", And((Word("a", "title"), Not(Word("b", "title"))))),
        ("title:(a -car)", And((Word("a", "title"), Not(Word("car", "title"))))),
        ("-title:a b", And((B, Not(Word("a", "title"))))),
        ("site:Docs.Python.ORG", Site("docs.python.org")),
        ("site:https://a.org/", Site("a.org")),
        ("site:*.a.org", Site("a.org")),
        ("site:localhost:8000", Site("localhost:8000")),
        ("site:bücher.de", Site("xn--bcher-kva.de")),
        ("site:www.A.org", Site("www.a.org")),
        ("site:a.org/docs/", Site("a.org", "docs")),
        ("site:HTTPS://A.org:443/Docs/b?c#d", Site("a.org", "Docs/b")),
        ("site:http://a.org:80", Site("a.org")),
        ("site:a.org:8080/", Site("a.org:8080")),
        ("lang:DE", Language("de")),
        ("language:pt-BR", Language("pt")),
        ("lang:(de OR fr) a", And((Or((Language("de"), Language("fr"))), A))),
        ("before:2024 after:2024-5", And((Before("2024"), After("2024-05")))),
        ("since:2024/05/01 -until:2025.1.2", And((After("2024-05-01"), Not(Before("2025-01-02"))))),
        ("type:PDF", DocumentType("pdf")),
        ("-filetype:.htm a", And((A, Not(DocumentType("html"))))),
        ("in:author=Knuth", FieldValue("author", "Knuth")),
        ('in:author="Donald  Knuth" a', And((FieldValue("author", "Donald Knuth"), A))),
        ('-in:"author=Donald Knuth" a', And((A, Not(FieldValue("author", "Donald Knuth"))))),
        ("in:price=12.50*", FieldValue("price", "12.50*")),
        ("TLS AND HTTP", And((Word("TLS"), Word("HTTP")))),
        ("TCP OR UDP OR SCTP OR DCCP", Or(tuple(map(Word, ("TCP", "UDP", "SCTP", "DCCP"))))),
        (
            "AND TLS HTTP QUIC UDP NOT TCP",
            And((*map(Word, ("TLS", "HTTP", "QUIC", "UDP")), Not(Word("TCP")))),
        ),
        ("TLS HTTP QUIC UDP -TCP", And((*map(Word, ("TLS", "HTTP", "QUIC", "UDP")), Not(Word("TCP"))))),
        ("GNU (LINUX OR BSD)", And((Word("GNU"), Or((Word("LINUX"), Word("BSD")))))),
        (
            "東京 大阪 京都 奈良 NOT 神戸",
            And((*map(Word, ("東京", "大阪", "京都", "奈良")), Not(Word("神戸")))),
        ),
        ("site:(a.org OR b.org) c", And((Or((Site("a.org"), Site("b.org"))), C))),
        ("e-mail c++ a.b", And((Word("e-mail"), Word("c++"), Word("a.b")))),
        (
            "std::vector http://a.org/b 10:30",
            And((Word("std::vector"), Word("http://a.org/b"), Word("10:30"))),
        ),
        ("a -> b", And((A, B))),
        ("--help", Word("--help")),
        ("f(b)", And((Word("f"), B))),
        ("print()", Word("print")),
        ("a (b OR NOT c)", And((A, Not(And((C, Not(B))))))),
        ("a (NOT b NOT c)", And((A, Not(Or((B, C)))))),
        ("a NOT (NOT b OR NOT c)", And((A, B, C))),
        ("*", AllPages()),
        ("* *", AllPages()),
        ("* NOT a", And((AllPages(), Not(A)))),
        ("-car *", And((AllPages(), Not(Word("car"))))),
        ("* site:a.org", Site("a.org")),
        ("* (a OR NOT b)", And((AllPages(), Not(And((B, Not(A))))))),
        ("(* NOT a) b", And((B, Not(A)))),
        ("a OR *", Or((A, AllPages()))),
        ("SELECT * FROM a", And((Word("SELECT"), Word("FROM"), A))),
    ],
)
def test_a_query_means(text: str, expected: Node) -> None:
    assert tree(text) == expected


@pytest.mark.parametrize(
    ("text", "is_plain"),
    [
        ("event loop", True),
        ("c++ & e-mail", True),
        ("print()", True),
        ("print(", True),
        ("a (+)-b (...)", True),
        ("AND a b", False),
        ("a OR b", False),
        ("+a b", False),
        ("a -car", False),
        ('"a b"', False),
        ("a*", False),
        ("1..2", False),
        ("title:a", False),
        ("(a b)", True),
        ("a protein (the b)", True),
        ("(a -car)", False),
        ("a (b OR c)", False),
        ("*", False),
        ("a * b", True),
    ],
)
def test_only_bare_words_are_plain(text: str, is_plain: bool) -> None:
    assert parse(text).plain is is_plain


@pytest.mark.parametrize(
    ("text", "expected", "notice"),
    [
        ('a "b c', And((A, Phrase(("b", "c")))), "a quote is not closed"),
        ("(a (b OR c", And((A, Or((B, C)))), "2 ( not closed"),
        ("a) b", And((A, B)), "a ) has no ("),
        ("a & b", And((A, B)), "& has no letter or digit"),
        ('a "" b', And((A, B)), '"" has no letter or digit'),
        ("a (+)-b", And((A, Word("-b"))), "(+) has no letter or digit"),
        ("a ((*) !) b", And((A, B)), "((*) !) has no letter or digit"),
        ("count(*) a", And((Word("count"), A)), "(*) has no letter or digit"),
        ("a -(+) b", And((A, B)), "-(+) has no letter or digit"),
        ('a -"!" b', And((A, B)), "-! has no letter or digit"),
        ("a (", A, "1 ( not closed"),
        ("a AND (.) b", And((A, B)), "(.) has no letter or digit"),
        ("a*b", Word("a*b"), "a * stands only at the end"),
        ("foo-ba*", Word("foo-ba*"), "a * stands only at the end"),
        ("1990..", Word("1990.."), "a range has two ends"),
        ("autor:smith", Word("autor:smith"), "autor: is no field"),
        ("a || b", Or((A, B)), "|| is read as OR"),
        ("a && b", And((A, B)), "&& is read as AND"),
        ("a ||", A, "|| has no letter or digit"),
        ("&& a", A, "&& has no letter or digit"),
        ("a URL:", And((A, Word("url"))), "url: has nothing behind it"),
        ("a (b Title:)", And((A, B, Word("title"))), "title: has nothing behind it"),
        ("head -n 3 a", And((Word("head"), Word("-n"), Word("3"), A)), "-n is read as the word n"),
        (
            "python -m venv",
            And((Word("python"), Word("-m"), Word("venv"))),
            "to exclude the word write NOT m",
        ),
        ("array -1", And((Word("array"), Word("-1"))), "-1 is read as the word 1"),
        ("ls -la", And((Word("ls"), Word("-la"))), "-la is read as the word la"),
        ("(tar -xzf a)", And((Word("tar"), Word("-xzf"), A)), "-xzf is read as the word xzf"),
        ("gcc a -O2", And((Word("gcc"), A, Word("-O2"))), "-O2 is read as the word O2"),
        ("gcc -std=c++17", And((Word("gcc"), Word("-std=c++17"))), "is read as the word std=c++17"),
        ("title:-b a", And((Word("-b", "title"), A)), "-b is read as the word b"),
        ('a 14" b', And((A, Word("14"), B)), "read as inches"),
        ('a 12" b and 14"', And((A, Word("12"), B, Word("and"), Word("14"))), "read as inches"),
        ("a type:error", And((A, Word("type:error"))), "type: takes one of html, pdf"),
        ("in: b", Word("in:b"), "in: takes a field and a value"),
        ('a before:"the b"', And((A, Phrase(("before:the", "b")))), "before: takes a year"),
        ("after:2024-13", Word("after:2024-13"), "after: takes a year, a month or a day"),
        ("lang:german", Word("lang:german"), "lang: takes the code"),
    ],
)
def test_small_faults_are_repaired_with_a_notice(text: str, expected: Node, notice: str) -> None:
    query = parse(text)
    assert query.tree == expected
    assert len(query.notices) == 1
    assert notice in query.notices[0]


@pytest.mark.parametrize(
    "text",
    [
        "WHY CARS DO NOT FLY",
        "TO BE OR NOT TO BE",
        "WHAT METHODS -DASH EXACT OR APPROXIMATE -DASH ARE KNOWN",
        "THE USE OF 16 COMPUTERS (MINI AND MICRO) IN PUBLIC LIBRARIES, OR ELSEWHERE.",
        'I AM INTERESTED IN THE "OPEN UNIVERSITY" AND IN DISTANCE LEARNING',
    ],
)
def test_text_in_capitals_has_no_operators(text: str) -> None:
    query = parse(text)
    assert query.notices == (
        "AND, OR and NOT are read as words, since all words are in capitals; "
        "to use them as operators write the other words in small letters",
    )
    assert isinstance(query.tree, And)
    assert not any(isinstance(part, (Not, Or)) for part in query.tree.parts)
    assert query.plain is ('"' not in text)


def test_notices_are_few() -> None:
    assert len(parse("a " + " ".join("&" * count for count in range(1, 100))).notices) == MAX_NOTICES


@pytest.mark.parametrize(
    ("text", "reason", "caret"),
    [
        ("", "expected a word", 0),
        ("a AND", "expected a word, a phrase in quotes or a parenthesis behind AND, found the end", 5),
        ("a OR OR b", 'to search for the word, put it in quotes: "OR"', 5),
        ("OR", "behind OR, found the end", 2),
        ("(a OR) b", "behind OR, found )", 5),
        ("AND a b OR c", "AND in front takes all that follows", 8),
        ("a (OR b AND c)", "OR in front takes all that follows", 8),
        ("a NOT & b", "behind NOT, found &", 6),
        ("(+)", "expected a word, a phrase in quotes or a parenthesis, found the end", 3),
        ("a NOT (+)", "behind NOT, found (+)", 6),
        ("title:(+)", "expected a word", 6),
        ("title:", "expected a word", 6),
        ("title:-car", "expected a word", 6),
        ("title:url:a", "expected a word", 6),
        ("site:/ a", "expected a word", 5),
        ('site:"a b"', "site: takes a host", 5),
        ("-car", "this only excludes pages", 0),
        ("NOT a NOT b", "this only excludes pages", 0),
        ("a OR NOT b", "this only excludes pages", 5),
        ("(NOT a)", "this only excludes pages", 0),
        ("NOT a", "or a * for all pages, as in: * NOT word", 0),
        ("NOT *", "this only excludes pages", 0),
        ("title:*", "a * alone means all pages and takes no field", 6),
        ("site:*", "site: takes a host", 5),
    ],
)
def test_errors_point_at_the_place(text: str, reason: str, caret: int) -> None:
    message, shown, pointer = error(text)
    assert reason in message
    assert shown == f"  {text}"
    assert pointer == " " * (caret + 2) + "^"


def test_the_caret_stands_below_wide_characters() -> None:
    assert error("検索 AND")[2] == " " * (2 + 2 * 2 + 4) + "^"


def test_errors_of_long_queries_show_the_part_that_matters() -> None:
    _, shown, pointer = error("word " * 100 + "OR OR" + " word" * 100)
    assert len(shown) < 80
    assert shown[len(pointer) - 1 :].startswith("OR word")


def test_errors_cannot_steer_the_terminal() -> None:
    assert all(line.isprintable() for line in error("a\x1b[31m\r\n\tOR OR"))


def test_messages_stay_short_whatever_the_word() -> None:
    assert len(error("title:" + "(" + "OR " + "x" * 5000 + " AND")[0]) < 200
    assert len(error("NOT " + "&" * 5000)[0]) < 200
    assert max(map(len, parse("a" * 5000 + "*b " + "c" * 5000 + ":d " + "&" * 5000).notices)) < 200


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a " * 1001, "1,001 words; at most 1,000"),
        ('"' + "a " * 1001 + '"', "1,001 words"),
        ("x" * 70_000, "longer than 64 kB"),
        ("検" * 30_000, "longer than 64 kB"),
        ("(" * 101 + "a", "more than 100 deep"),
        ("a " * 500_000, "longer than 64 kB"),
    ],
)
def test_what_nobody_types_is_refused(text: str, reason: str) -> None:
    assert reason in error(text)[0]


def test_a_thousand_words_are_fine() -> None:
    found = tree("a " * 1000)
    assert isinstance(found, And)
    assert len(found.parts) == 1000


@pytest.mark.timeout(5)
@pytest.mark.parametrize("unit", ["(", ")", "()", "NOT ", "-", '"', "title:", "a(", "(a)", "OR (", "a*", "+"])
def test_no_repetition_takes_more_than_linear_time(unit: str) -> None:
    with suppress(QueryError):
        parse(unit * (65_000 // len(unit)))


def test_a_hundred_levels_are_fine() -> None:
    assert tree("(" * 100 + "a" + ")" * 100) == A
    deep = "".join("(a OR (b " for _ in range(50)) + "c" + "))" * 50
    assert parse(deep).notices == ()


GARBAGE = st.lists(
    st.sampled_from(
        [
            "a",
            "b1",
            " ",
            " ",
            "AND",
            "OR",
            "NOT",
            "-",
            "+",
            '"',
            "(",
            ")",
            "title:",
            "site:",
            "in:a=",
            "lang:",
            "after:",
            "type:",
            "||",
            "&&",
            "*",
            "..",
            "9",
            "é",
            "検",
            "\x1b",
            "\ud800",
            "\u00ad",
        ]
    )
    | st.text(max_size=5)
).map("".join)


@given(GARBAGE)
@example("site:\ud800")
@example("site:_?²")
@example("- (")
@example(")title:*")
@example(")-x*")
def test_garbage_is_a_query_or_a_query_error(text: str) -> None:
    try:
        query = parse(text)
    except QueryError as err:
        assert str(err).count("\n") in (0, 2)
    else:
        assert tree(query.tree.infix()) == query.tree
        assert all("\n" not in notice for notice in query.notices)


WORDS = st.sampled_from(
    ["a", "B", "and", "AND", "OR", "NOT", "c++", "-x", "title:y", "z*", "1..2", "über", "検索"]
)
FIELD_NAMES = st.none() | st.sampled_from(["body", "heading", "title", "url", "anchor"])
LEAVES = st.one_of(
    st.builds(Word, WORDS, FIELD_NAMES),
    st.builds(Phrase, st.lists(WORDS, min_size=2, max_size=3).map(tuple), FIELD_NAMES),
    st.builds(Prefix, st.sampled_from(["a", "über"]), FIELD_NAMES),
    st.builds(
        lambda low, more, field: Range(low, low + more, field),
        st.integers(0, 10**9),
        st.integers(0, 10**9),
        FIELD_NAMES,
    ),
    st.builds(Site, st.sampled_from(["a.org", "localhost:80"]), st.sampled_from(["", "docs/b", "a (b) c"])),
    st.builds(Language, st.sampled_from(["de", "fra"])),
    st.builds(Before, st.sampled_from(["2024", "2024-05"])),
    st.builds(After, st.sampled_from(["2024", "2024-05-31"])),
    st.builds(DocumentType, st.sampled_from(["pdf", "html"])),
    st.builds(FieldValue, st.sampled_from(["author", "a.b-c"]), st.sampled_from(["12..5", "d knuth*", "(b"])),
    st.builds(AllPages),
)


SHAPES: st.SearchStrategy[Any] = st.recursive(
    LEAVES, lambda parts: st.tuples(st.booleans(), st.lists(parts, min_size=2, max_size=4)), max_leaves=12
)


def grown(shape: Any) -> Node:
    """Return a tree as the grammar promises it: an Or, or an And whose last parts are denied."""
    if not isinstance(shape, tuple):
        return cast("Node", shape)
    is_or, parts = shape
    nodes = [grown(part) for part in parts]
    if is_or:
        return Or((*(node for node in nodes if not isinstance(node, Or)), A, B))
    wanted: list[Node] = [node for node in nodes[:2] if not isinstance(node, (And, AllPages))]
    return And((*(wanted or [AllPages()]), *map(Not, nodes[2:]), Not(B)))


def prefixed(node: Node) -> str:
    """Return a tree with its operators in front: `AND a (OR b c) NOT d`."""
    if isinstance(node, (And, Or)):
        return " ".join((type(node).__name__.upper(), *map(prefixed_operand, node.parts)))
    return prefixed_operand(node)


def prefixed_operand(node: Node) -> str:
    if isinstance(node, Not):
        return f"NOT {prefixed_operand(node.part)}"
    return f"({prefixed(node)})" if isinstance(node, (And, Or)) else node.infix()


@given(SHAPES.map(grown))
def test_every_tree_written_out_parses_to_itself(node: Node) -> None:
    assert tree(node.infix()) == node
    assert tree(prefixed(node)) == node


@pytest.mark.parametrize(
    ("day", "seconds"),
    [("1970", 0), ("2024", 1_704_067_200), ("2024-05", 1_714_521_600), ("1970-01-02", 86_400)],
)
def test_a_year_a_month_and_a_day_have_a_first_second(day: str, seconds: int) -> None:
    assert first_second(day) == seconds
