"""The settings, their types and defaults.

To add one: give it a field here with its default, and a commented line in conf/crawl.yaml that says what it
does and which values make sense; a test compares the two.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal, get_args

import msgspec

from crawlctl.pipeline.config.locations import DEFAULT_STORE
from crawlctl.pipeline.config.units import DAY, HOUR, Duration, Size

Count = Annotated[int, msgspec.Meta(ge=0)]
AtLeastOne = Annotated[int, msgspec.Meta(ge=1)]


class Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A group of settings; rules that concern several of them are checked when it is built."""


def demand(holds: bool, setting: str, rule: str) -> None:
    """Raise ValueError, which the loader turns into a ConfigError with its source, unless a rule holds."""
    if not holds:
        raise ValueError(f"{setting} must {rule}")


_PICTURES = ("avif", "bmp", "gif", "ico", "jpeg", "jpg", "png", "psd", "svg", "tif", "tiff", "webp")
_SOUND = ("aac", "flac", "m4a", "mid", "mp3", "ogg", "opus", "wav", "wma")
_FILM = ("avi", "flv", "m4v", "mkv", "mov", "mp4", "mpeg", "mpg", "ogv", "webm", "wmv")
_ARCHIVES = ("7z", "bz2", "cab", "gz", "iso", "jar", "rar", "tar", "tgz", "whl", "xz", "zip", "zst")
_PROGRAMS = ("apk", "bin", "class", "deb", "dll", "dmg", "exe", "img", "msi", "pkg", "rpm", "so", "swf")
_OFFICE = ("doc", "docx", "epub", "odp", "ods", "odt", "ppt", "pptx", "ps", "xls", "xlsx")
_PARTS_OF_PAGES = ("css", "eot", "js", "mjs", "otf", "ttf", "woff", "woff2")

# What we read nothing from; fetching it to throw it away costs the site and us.
SKIPPED_EXTENSIONS = (
    *_PICTURES,
    *_SOUND,
    *_FILM,
    *_ARCHIVES,
    *_PROGRAMS,
    *_OFFICE,
    *_PARTS_OF_PAGES,
)
SESSION_PARAMETERS = (
    "aspsessionid*",
    "cfid",
    "cftoken",
    "jsessionid",
    "phpsessid",
    "sessionid",
    "session_id",
    "sid",
)


class ScopeSettings(Section, frozen=True):
    """Which URLs a crawl takes up.

    A rule is `example.org` (that host), `*.example.org` (the hosts below it), `domain:example.org` (both),
    `https://example.org/docs/` (URLs that begin so) or `regex:…` (RE2, searched in the whole URL).
    """

    include: tuple[str, ...] = ()  # none: the hosts of the seeds, each with and without www.
    exclude: tuple[str, ...] = ()  # these win over include
    max_depth: Count = 20  # links from the nearest seed
    max_url_length: AtLeastOne = 2048  # characters
    max_path_segments: AtLeastOne = 20  # /a/b/c has three
    max_segment_repeats: AtLeastOne = 2  # /a/b/a/b/a has one three times
    max_query_parameters: Count = 10  # in one URL
    max_new_urls_per_page: Count = 50  # and round: it is read again for the rest; ranking keeps all links
    skip_extensions: tuple[str, ...] = SKIPPED_EXTENSIONS  # of the last segment of a path, without the dot
    # Names that stand for a visit where their value is long; a trailing * matches any ending.
    session_parameters: tuple[str, ...] = SESSION_PARAMETERS


class BudgetSettings(Section, frozen=True):
    """How many URLs of a site are taken up: a start, and more for every page that proved worth fetching."""

    urls_per_host: AtLeastOne = 500_000  # fixed: what one host may cost us at most
    urls_per_prefix: AtLeastOne = 2_000  # at the start, for a folder such as /a/ or /a/b/
    prefix_segments: Count = 2  # how deep folders are told apart
    urls_per_parameter_set: AtLeastOne = 1_000  # at the start, for a path and the names of its parameters
    parameter_sets_per_path: AtLeastOne = 50  # ?a=…, ?a=…&b=… and ?b=… are three
    # Not below scope.max_new_urls_per_page, or good pages would not pay for what they link to.
    urls_earned_per_page: Count = 50
    hosts_per_domain: AtLeastOne = 500  # at the start, for all hosts below a registrable domain
    pages_per_new_host: AtLeastOne = 10  # useful pages of a domain that earn it one host more


class SitemapSettings(Section, frozen=True):
    """How often the sitemaps of a host are read, and how much of them."""

    interval: Duration = Duration(DAY)  # between two readings, whether pages of the host are due or not
    max_urls: AtLeastOne = 50_000  # of one file; the protocol's own limit
    max_bytes: Size = Size(50 << 20)  # of one file, inflated; the protocol's own limit
    max_files: Count = 100  # of one host in an interval
    max_depth: AtLeastOne = 3  # a file named by robots.txt has depth 1, those it lists have depth 2


NotNegative = Annotated[float, msgspec.Meta(ge=0)]


class PolitenessSettings(Section, frozen=True):
    """How often a host is asked, and what happens when it cannot answer."""

    delay: Duration = Duration(1)  # at least this long between two requests to a host
    response_factor: NotNegative = 5.0  # and at least this many times as long as its last answer took,
    max_response_delay: Duration = Duration(30)  # up to this
    max_crawl_delay: Duration = Duration(300)  # a Crawl-delay in robots.txt is kept up to this
    connections_per_host: Count = 1  # 0 lifts the limit: only for hosts that are yours
    # Many hosts can be one machine. Between two requests to an address, or to a registrable domain whose
    # addresses are not known yet, lies this part of `delay`, over all tasks; without delay there is none.
    # No task waits longer than `delay`, so with more than 1 / address_factor tasks each asks once in `delay`.
    address_factor: NotNegative = 0.2
    connections_per_address: Count = 10  # of one task; 0 lifts the limit
    backoff: Duration = Duration(10)  # after a failure; doubled with each one that follows,
    max_backoff: Duration = Duration(3600)  # up to this
    # When only failing hosts are left, a round does not wait longer than this for one of them; for one that
    # has answered before, or where nobody else has, as long as all its back-offs take together.
    patience: Duration = Duration(15)
    max_failures: AtLeastOne = 5  # no answer, 429 or 503, in a row; then the host is left for the next round
    max_page_errors: AtLeastOne = 10  # other 5xx answers in a row that make a failure of the host
    max_retry_after: Duration = Duration(DAY)  # a Retry-After header is kept up to this
    pages_per_host: AtLeastOne | None = None  # a host's share of a round; null: no limit
    robots_max_age: Duration = Duration(DAY)  # then robots.txt is read again; at most 1d (RFC 9309)
    robots_tries: AtLeastOne = 3  # in a row, where robots.txt cannot be had
    robots_retry: Duration = Duration(3600)  # after them the host's pages stay closed for this long

    def __post_init__(self) -> None:
        if self.robots_max_age > DAY:
            raise ValueError(f"robots_max_age = {self.robots_max_age}: at most 1d, as RFC 9309 §2.4 asks for")


_Count = Annotated[int, msgspec.Meta(ge=1, le=10_000)]
# All before the last @ is a name and a password, as in secrets.py.
_PROXY = re.compile(
    r"(?:(?:https?|socks(?:4a?|5h?))://)?(?:(?!\w+://).*@)?(?:\[[0-9A-Fa-f:.]+\]|[^\s/?#@:\[\]]+)(?::(\d{1,5}))?/?",
    re.S,
)
_Redirects = Annotated[int, msgspec.Meta(ge=0, le=20)]


class FetchSettings(Section, frozen=True):
    """What the fetch engine must know; every bound is there because some server on the web breaks it."""

    # Our name in the User-Agent header, and the one looked for in robots.txt.
    agent: str = "crawlctl"
    # Where the owner of a site reaches whoever runs the crawl (web or mail); nothing is fetched without it.
    contact: str = ""
    # What the Accept-Language header says; empty leaves it out.
    languages: str = "en, *;q=0.5"
    # Transfers under way at once in one task, fewer where the system lets it open fewer files (ulimit -Hn).
    connections: _Count = 256
    # Answers under way in one task. Half is a reserve that each may fill, half is shared by large bodies.
    memory: Size = Size(128 << 20)
    # From the first look-up of the name to the end of the TLS handshake.
    connect_timeout: Duration = Duration(10)
    # The whole transfer, from the first look-up to the last byte.
    timeout: Duration = Duration(60)
    # A body must keep up this many bytes a second …
    min_speed: Size = Size(256)
    # … over any span of this length; so long may a server think before its first byte, too.
    min_speed_span: Duration = Duration(20)
    # Headers of one answer, 32 bytes more for each line, with interim ones (1xx) and trailers.
    max_header: Size = Size(64 << 10)
    # A body after decompression; what is longer is cut off and marked as truncated.
    max_body: Size = Size(8 << 20)
    # Bodies whose type begins with one of these are not downloaded.
    skip_types: tuple[str, ...] = ("audio/", "font/", "image/", "video/")
    # Redirects (and meta refreshes) in a row that are followed; each behind the first adds 1 to the depth.
    max_redirects: _Redirects = 5
    # Offer HTTP/2 in the TLS handshake.
    http2: bool = True
    # Refuse servers whose certificate does not prove their name.
    tls_verify: bool = True
    # A PEM file of trusted authorities; empty means those of the system, or else of certifi.
    ca_file: str = ""
    # An http(s) proxy for everything; empty means none, whatever the environment says.  What a name leads to
    # is then for the proxy to judge: here only addresses that stand in URLs can be refused.
    proxy: str = ""
    # The address of this machine to connect from; empty leaves the choice to the system.
    local_address: str = ""
    # Networks (10.0.0.0/8) or addresses to be crawled although they are private, loopback or the like.
    allowed_networks: tuple[str, ...] = ()
    # Names to be answered for without DNS, as in example.com:443:192.0.2.7.
    resolve: tuple[str, ...] = ()
    # How long the answer of DNS is kept.
    dns_cache: Duration = Duration(600)
    # How long one host may keep a library busy before the process that fetches is replaced without that host;
    # 0 fetches in the task's own process, as a debugger wants it.
    stall_time: Duration = Duration(60)

    def __post_init__(self) -> None:
        # libcurl would say so at each request, as if the hosts had not answered. A password is not repeated.
        proxy = _PROXY.fullmatch(self.proxy)
        is_one = proxy is not None and 0 < int(proxy[1] or 80) < 1 << 16
        demand(
            not self.proxy or is_one,
            "proxy",
            "be as in http://proxy.example:3128; name:password@ may stand before the host",
        )


Similarity = Annotated[float, msgspec.Meta(ge=0.5, le=1.0)]


class ParseSettings(Section, frozen=True):
    """What is read of a document, what is kept of it, and what it may cost."""

    # CPU time one document may take; when it is used up the process that parses is stopped and replaced.
    time_limit: Duration = Duration(5)
    # CPU time that the slow documents of one host may take in a round: pages of more than a quarter of a
    # second, sitemaps of more than one. When it is used up, the rest of the host waits for a later round.
    host_time: Duration = Duration(60)
    # Memory one document may take on top of what the process has at its start (enforced on Linux).
    memory_limit: Size = Size(512 << 20)
    # Bytes of an HTML or text document that are read; what follows is left out.
    max_html: Size = Size(10 << 20)
    # Bytes of a PDF; a longer one is not read at all, for its table of contents stands at its end.
    max_pdf: Size = Size(32 << 20)
    # Pages of a PDF that are read.
    max_pdf_pages: AtLeastOne = 1000
    # Characters of visible text that are kept.
    max_text: Size = Size(1 << 20)
    # Different URLs a page may link to; further ones are left out.
    max_links: AtLeastOne = 10_000
    # Characters of the text of a link, of a title and of a heading that are kept.
    max_anchor: AtLeastOne = 200
    max_title: AtLeastOne = 500
    # Headings that are kept.
    max_headings: AtLeastOne = 500
    # Share of common word triples from which two documents count as near duplicates.
    near_duplicate: Similarity = 0.9


class RoundSettings(Section, frozen=True):
    """The budget of a round over all partitions, and the memory and the runs of a fetch task."""

    max_pages: AtLeastOne = 100_000  # what is due beyond that waits for the next round
    max_bytes: Size = Size(10 << 30)  # received, as they came over the wire
    max_time: Duration = Duration(HOUR)  # for fetching; then pages under way are given up and stay due
    # A round that only waits for a few slow hosts ends after this long if the run has another round to come
    # and others have work for it.
    tail: Duration = Duration(15)
    task_memory: Size = Size(512 << 20)  # of one fetch task
    # A task saves what it has as a run after so many pages, or so long: a kill loses no more than that.
    flush_pages: AtLeastOne = 20_000
    flush_time: Duration = Duration(60)


MAX_RETRY_LIMIT = 100


class Pace(Section, frozen=True):
    """How often live pages are visited; `minimum` = `maximum` fixes the interval."""

    initial: Duration = Duration(7 * DAY)
    minimum: Duration = Duration(HOUR)
    maximum: Duration = Duration(90 * DAY)
    grow: float = 1.4
    shrink: float = 0.8

    def __post_init__(self) -> None:
        demand(0 < self.minimum <= self.maximum, "minimum", "be above 0 and no more than maximum")
        demand(self.initial > 0, "initial", "be above 0")
        demand(1 <= self.grow < float("inf"), "grow", "be 1 or more")
        demand(0 < self.shrink <= 1, "shrink", "be above 0 and no more than 1")


class RecrawlSettings(Section, frozen=True):
    """When pages are looked at again.

    `hosts` gives single hosts another pace, by host name (with the port, to mean that port only) or by
    `*.domain`, which stands for every host below the domain; the most exact pattern counts.
    """

    pace: Pace = Pace()
    hosts: dict[str, Pace] = msgspec.field(default_factory=dict)
    retry_first: Duration = Duration(HOUR)  # then 4 h, 16 h, 64 h, 72 h
    retry_growth: float = 4.0
    retry_maximum: Duration = Duration(3 * DAY)
    retry_limit: int = 6  # failures in a row: a site may be down for a week before its documents go
    confirm_after: Duration = Duration(DAY)  # a live page that answers 404 or 403 is asked once more
    rest: Duration = Duration(14 * DAY)  # then 21 d, 32 d, 47 d…: some nine requests in two years
    rest_growth: float = 1.5
    rest_maximum: Duration = Duration(180 * DAY)
    jitter: float = 0.1

    def __post_init__(self) -> None:
        demand(0 < self.retry_first <= self.retry_maximum, "retry_first", "be above 0, up to retry_maximum")
        demand(1 <= self.retry_growth < float("inf"), "retry_growth", "be 1 or more")
        demand(1 <= self.retry_limit <= MAX_RETRY_LIMIT, "retry_limit", f"be from 1 to {MAX_RETRY_LIMIT}")
        demand(self.confirm_after > 0, "confirm_after", "be above 0")
        demand(0 < self.rest <= self.rest_maximum, "rest", "be above 0 and no more than rest_maximum")
        demand(1 <= self.rest_growth < float("inf"), "rest_growth", "be 1 or more")
        demand(0 <= self.jitter < 1, "jitter", "be from 0 to less than 1")
        for pattern in self.hosts:
            demand("*" not in pattern.removeprefix("*."), f"hosts.{pattern}", "be a host or *.domain")


MOST_DAMPING = 0.99
LEAST_TOLERANCE = 1e-12  # what numbers of 64 bits can tell apart, added up over a web


class RankSettings(Section, frozen=True):
    """How pages are ranked by the links between them, and how often."""

    every: Count | None = 0  # rounds; 0: at the end of each run; null: only by `crawlctl rank`
    damping: Annotated[float, msgspec.Meta(ge=0, le=MOST_DAMPING)] = 0.85
    tolerance: Annotated[float, msgspec.Meta(ge=LEAST_TOLERANCE, le=1)] = 1e-6  # of all ranks added up
    teleport: str = "uniform"  # seed, or a file of URLs: ranks from the point of view of those pages
    memory: Size = Size(1 << 30)  # of one task; a graph that needs more is solved in several, round by round


class FocusSettings(Section, frozen=True):
    """What makes a page relevant; with nothing set, all pages are alike."""

    terms: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()  # URLs of pages that are what is wanted
    domains: tuple[str, ...] = ()  # of which all pages are wanted
    # A relevant page comes before others that have up to so many times its rank.
    weight: Annotated[float, msgspec.Meta(ge=0)] = 1000.0


Weight = Annotated[float, msgspec.Meta(ge=0)]
Share = Annotated[float, msgspec.Meta(gt=0, le=1)]


class FieldWeights(Section, frozen=True):
    """What an occurrence in a field counts."""

    body: Weight = 1.0
    heading: Weight = 1.0  # headings stand in the body too
    title: Weight = 3.0
    url: Weight = 1.0
    anchor: Weight = 2.0


class IndexSettings(Section, frozen=True):
    """How the runs of rounds become segments."""

    merge_every: AtLeastOne = 1  # rounds; what was fetched since is found after the next merge
    memory: Size = Size(512 << 20)  # of one merge task, beyond the interpreter
    # A segment is merged with newer ones once it has at most this many times their documents: a larger ratio
    # leaves fewer segments to search and writes documents more often.
    tier_ratio: Annotated[float, msgspec.Meta(ge=1.5)] = 2.0
    max_stale: Share = 0.2  # of the documents of a segment that are dead or linked anew; then it is rewritten
    max_drift: Share = 0.1  # of average lengths since the segment was written; then it is rewritten
    frontier: Count = 100_000  # pages not fetched yet that can be found by their anchors, in the whole crawl
    # Of BM25F: how soon further occurrences count less, and how much the length of a field matters.
    k1: Annotated[float, msgspec.Meta(gt=0)] = 1.2
    b: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.75
    weights: FieldWeights = FieldWeights()


RunnerName = Literal["forked", "inline", "local", "hadoop", "emr", "spark"]
RUNNER_NAMES: tuple[str, ...] = get_args(RunnerName)


class RunnerSettings(Section, frozen=True):
    """Where jobs run; `None` leaves a choice to the runner or its conf file."""

    name: RunnerName = "forked"
    workers: int | None = None  # tasks at once on this machine; by default one a core
    conf_path: str | None = None  # an mrjob conf file instead of the one in conf/
    python_bin: str | None = None  # the Python of the tasks; not for inline and forked
    packages: str | None = None  # a folder on HDFS or S3 for the package and the environment of the nodes
    tmp_dir: str | None = None  # scratch space of the driver; by default $TMPDIR
    task_env: dict[str, str] = msgspec.field(default_factory=dict)
    options: tuple[str, ...] = ()  # further mrjob switches, such as "--hadoop-bin", "…"

    def __post_init__(self) -> None:
        demand(self.name in RUNNER_NAMES, "name", f"be one of {', '.join(RUNNER_NAMES)}")
        demand(self.workers is None or self.workers > 0, "workers", "be 1 or more, or null for one a core")


# A whole name, or the beginning of one and a star.
ParameterPattern = Annotated[str, msgspec.Meta(min_length=1, pattern=r"^[^*]*\*?$")]


class UrlSettings(Section, frozen=True):
    """What makes two URLs the same page."""

    strip_parameters: tuple[ParameterPattern, ...] = ()


class LeaseSettings(Section, frozen=True):
    """How long a run may be silent before another one may take its place."""

    ttl: Duration = Duration(120)


class GcSettings(Section, frozen=True):
    """What `crawlctl gc` leaves in place."""

    keep_snapshots: AtLeastOne = 2
    min_age: Duration = Duration(3600)


class Config(Section, frozen=True):
    """Everything that can be set."""

    store: str = DEFAULT_STORE
    partitions: Annotated[int, msgspec.Meta(ge=1, le=100_000)] | None = None
    urls: UrlSettings = UrlSettings()
    scope: ScopeSettings = ScopeSettings()
    budgets: BudgetSettings = BudgetSettings()
    sitemaps: SitemapSettings = SitemapSettings()
    politeness: PolitenessSettings = PolitenessSettings()
    fetch: FetchSettings = FetchSettings()
    parse: ParseSettings = ParseSettings()
    round: RoundSettings = RoundSettings()
    recrawl: RecrawlSettings = RecrawlSettings()
    rank: RankSettings = RankSettings()
    focus: FocusSettings = FocusSettings()
    index: IndexSettings = IndexSettings()
    runner: RunnerSettings = RunnerSettings()
    lease: LeaseSettings = LeaseSettings()
    gc: GcSettings = GcSettings()
