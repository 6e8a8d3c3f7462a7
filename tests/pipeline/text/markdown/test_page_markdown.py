"""Pages as Markdown: each element, what is left out, and words that no Markdown reader takes for markup."""

from __future__ import annotations

from html import escape

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from selectolax.lexbor import LexborHTMLParser

from crawlctl.pipeline.text.html.hidden import hidden_nodes
from crawlctl.pipeline.text.markdown.page_markdown import MAX_FRAMES, page_markdown

URL = "https://a.example/folder/page.html"
READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def written(html: str, limit: int = 100_000, without: str = "") -> str:
    tree = LexborHTMLParser(html)
    nodes = [*hidden_nodes(tree), *(tree.css(without) if without else ())]
    return page_markdown(tree, URL, limit, nodes).text


def shown(html: str) -> str:
    """Return a page as a reader of Markdown shows it."""
    return str(READER.render(written(html)))


CASES = {
    "<h2 id=x>A <em>big</em> title<a class=headerlink href='#x'>¶</a></h2>": "## A *big* title",
    "<h1><a href=/>Home</a></h1><h3>C #</h3><h4></h4>": "# [Home](https://a.example/)\n\n### C \\#",
    "<p>one<br>two<br>\n<br>three": "one\\\ntwo\n\nthree",
    "a <b> bold </b>word, <i><b>both</b></i>, <s>old</s>": "a **bold** word, ***both***, ~~old~~",
    "<b>a</b><b>b</b> <b></b><b><p>c</p><p>d</p></b>": "**ab**\n\n**c**\n\n**d**",
    'foo<b>"bar"</b>baz': 'foo"bar"baz',
    "<code>a</code> <code>`b</code> <kbd>x``y</kbd> <code> </code>": "`a` `` `b `` ```x``y```",
    "<a href='b c(1).html#s'>text <img alt='a ] b' src=i.png></a>": (
        "[text ![a \\] b](https://a.example/folder/i.png)](https://a.example/folder/b%20c\\(1\\).html#s)"
    ),
    "<a href=x> spaced </a>word<a href=y></a>": "[spaced](https://a.example/folder/x) word",
    "<a href=javascript:go()>go</a> <a href=mailto:m@a.example>mail</a>": "go [mail](mailto:m@a.example)",
    "wow!<a href=//b.example>b</a>": "wow\\![b](https://b.example/)",
    "<a href=x><h3>head</h3><p>body</p></a>": (
        "### [head](https://a.example/folder/x)\n\n[body](https://a.example/folder/x)"
    ),
    "<img src=i.png><img alt='' src=i.png><img alt=photo src=data:x>": "photo",
    "<ul><li>a<li>b<ul><li>c</ul><li>d</ul>": "- a\n- b\n  - c\n- d",
    "<ol start=7><li>a<li><p>b</p><p>c</p></ol>": "7. a\n\n8. b\n\n   c",
    "<ul><li>a<ol start=3><li>c</ol></ul>": "- a\n\n  3. c",
    "<ul><li>a</ul><ul><li>b</ul><ol><li>c</ol><ol><li>d</ol>": "- a\n\n* b\n\n1. c\n\n1) d",
    "<ul>loose<ul><li>a</ul></ul><li>alone": "- loose\n  - a\n\nalone",
    "<blockquote>a<blockquote>b</blockquote><ul><li>c</ul></blockquote>": "> a\n>\n> > b\n>\n> - c",
    "<dl><dt>term<dd>one<dd>two<dt>next<dd><pre>code</pre></dl>": (
        "- term\n\n  one\n\n  two\n\n- next\n\n  ```\n  code\n  ```"
    ),
    "<pre><code class='x language-py'>a = 1\n\n  b\n```\n</code></pre>": "````py\na = 1\n\n  b\n```\n````",
    "<div class=highlight-python3><div><pre>x<span>y</span><br>z</pre></div></div>": (
        "```python3\nxy\nz\n```"
    ),
    "<pre>  \n </pre>a<hr>b": "a\n\n___\n\nb",
    "<table><caption>C<tr><th>A<th>B|b<tr><td rowspan=2>1<td>2<br>3<tr><td><code>x|y</code></table>": (
        "C\n\n| A | B\\|b |\n| --- | --- |\n| 1 | 2<br>3 |\n|  | `x\\|y` |"
    ),
    "<table><tr><td>a<td>b<td>c<tr><td colspan=2>d<td>e</table>": (
        "|  |  |  |\n| --- | --- | --- |\n| a | b | c |\n| d |  | e |"
    ),
    "<table><tr><td>menu<td><h2>T</h2><p>text</table>": "menu\n\n## T\n\ntext",
    "<table role=presentation><tr><td>a<td>b<tr><td>c<td>d</table>": "a\n\nb\n\nc\n\nd",
    "<table><tr><td><table><tr><td>1<td>2<tr><td>3<td>4</table></table>": (
        "|  |  |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |"
    ),
    "snake_case, __init__, 2 * 3, *x*, [1], [a](b), a~b": (
        r"snake_case, \_\_init\_\_, 2 * 3, \*x\*, [1], [a\](b), a\~b"
    ),
    "&lt;b&gt; &amp;amp; &amp; AT&amp;T \\ `": r"\<b> \&amp; & AT&T \\ \`",
    "<p># a<p>- b<p>1986. c<p>&gt; d<p>---<p>#e -f": "\\# a\n\n\\- b\n\n1986\\. c\n\n\\> d\n\n\\---\n\n#e -f",
    "a<script>x</script><style>y</style><p hidden>z</p><p style='display:none'>w<template>v</template>b": "a",
    "<body><noscript><p>Long enough to be the content of the page</p></noscript>": (
        "Long enough to be the content of the page"
    ),
    "<body><noscript>Please enable JavaScript.</noscript>": "",
    "<base href=/other/><a href=x>x</a>": "[x](https://a.example/other/x)",
}


@pytest.mark.parametrize(("html", "markdown"), CASES.items())
def test_elements(html: str, markdown: str) -> None:
    assert written(html) == markdown


def test_nodes_are_left_out() -> None:
    assert written("<nav>menu <a href=x>x</a></nav><p>a</p><ul id=m><li>b</ul>", without="nav, #m") == "a"


def test_a_page_is_cut_at_the_limit() -> None:
    tree = LexborHTMLParser("<ul><li>" + "word " * 50 + "<li>more</ul>")
    result = page_markdown(tree, URL, 100)
    assert (len(result.text), result.is_cut) == (100, True)
    many = LexborHTMLParser(f"<base href='/{'x' * 4000}/'>" + "<a href=a>a</a>" * 1000)
    assert page_markdown(many, URL, 100_000).is_cut, "URLs count"


@pytest.mark.parametrize(
    "tag", ["ul><li", "blockquote", "b", "table><tr><td", "pre", "a href=x", "h1", "code"]
)
def test_deep_nesting_is_bounded(tag: str) -> None:
    text = written(f"<{tag}>a " * 800)
    assert text.count("a") >= 800
    assert all(len(line) - len(line.lstrip(" >-*")) <= 4 * MAX_FRAMES for line in text.split("\n"))


TEXTS = st.text("ab1 *_[]()<>&!`#-+~|\\.:=;\n¶é\x01\x1e\xa0", max_size=12)
INLINE = ("b", "em", "i", "s", "code", "a href=x", "span", "kbd")
BLOCK = (
    "p",
    "div",
    "ul><li",
    "ol start=4><li",
    "blockquote",
    "h2",
    "td",
    "table><tr><td",
    "dl><dt",
    "dd",
    "li",
)


def tagged(children: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    def wrapped(tag: str, parts: list[str]) -> str:
        names = [name.split()[0] for name in tag.split(">")]
        return f"<{tag}>{''.join(parts)}{''.join(f'</{name}>' for name in reversed(names))}"

    return st.builds(wrapped, st.sampled_from(INLINE + BLOCK), st.lists(children, max_size=4))


@given(st.lists(st.recursive(TEXTS.map(escape) | st.sampled_from(["<br>", "<hr>"]), tagged), max_size=5))
@example(["<b>a</b>", "*", "<em>b</em>"])
def test_a_reader_of_markdown_shows_the_same_text(parts: list[str]) -> None:
    html = f"<body>x{''.join(parts)}"
    tree = LexborHTMLParser(html)
    assert tree.body is not None
    expected = _letters(tree.body.text())
    assert _letters(LexborHTMLParser(shown(html)).text()) == expected


def _letters(text: str) -> str:
    return "".join(text.replace("\x01", " ").replace("\x1e", " ").replace("¶", "").split())
