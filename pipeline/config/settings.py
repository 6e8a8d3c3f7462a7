"""Every setting: its type, its default, its bounds, and the sentence that explains it to users.

The text below each field is its documentation. Each text must be readable alone; it names the unit and says
what a higher or lower value does. conf/crawl.yaml and docs/settings.md are written from these texts by
`python -m crawlctl.pipeline.config.reference`, and a test holds that both files are up to date.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal, get_args

import msgspec

from crawlctl.pipeline.config.locations import DEFAULT_STORE
from crawlctl.pipeline.config.units import DAY, GIB, HOUR, KIB, MIB, MINUTE, Characters, Duration, Size

# The settings most users change, in the order in which the generated files list them. The name of a section
# stands for all settings in it. All other settings are listed as "advanced".
EVERYDAY = (
    "store",
    "partitions",
    "fetch.contact",
    "fetch.agent",
    "scope.include",
    "scope.exclude",
    "scope.max_depth",
    "urls.strip_parameters",
    "sites",
    "politeness.delay",
    "round.max_pages",
    "round.max_time",
    "recrawl.pace",
    "fetch.max_body",
    "fetch.proxy",
    "fetch.allowed_networks",
    "runner.name",
    "runner.conf_path",
    "gc",
)

# The sections that a crawl owns: their values are kept in its store, because they decide what is in the
# crawl. All other sections say how this person and this machine work on the crawl.
OWN_SECTIONS = ("urls", "scope", "budgets", "parse", "sites", "recrawl", "focus", "index", "search")
# Settings in these sections that depend on the machine, so the crawl does not own them.
MACHINE_SETTINGS = ("index.memory",)

Count = Annotated[int, msgspec.Meta(ge=0)]
AtLeastOne = Annotated[int, msgspec.Meta(ge=1)]
NotNegative = Annotated[float, msgspec.Meta(ge=0)]
Share = Annotated[float, msgspec.Meta(gt=0, le=1)]
# A whole name, or the beginning of a name and a star.
ParameterPattern = Annotated[str, msgspec.Meta(min_length=1, pattern=r"^[^*]*\*?$")]

RunnerName = Literal["forked", "inline", "local", "hadoop", "emr", "spark"]
RUNNER_NAMES: tuple[str, ...] = get_args(RunnerName)
CLUSTER_RUNNERS = ("hadoop", "emr")  # starting their jobs takes a minute or more

MAX_RETRY_LIMIT = 100
MOST_DAMPING = 0.99
LEAST_TOLERANCE = 1e-12  # the sum of the ranks of a large web, in 64-bit numbers, is not more exact than this

# Everything before the last @ is a name and a password, as in secrets.py.
_PROXY = re.compile(
    r"(?:(?:https?|socks(?:4a?|5h?))://)?(?:(?!\w+://).*@)?(?:\[[0-9A-Fa-f:.]+\]|[^\s/?#@:\[\]]+)(?::(\d{1,5}))?/?",
    re.S,
)

_PICTURES = ("avif", "bmp", "gif", "ico", "jpeg", "jpg", "png", "psd", "svg", "tif", "tiff", "webp")
_SOUND = ("aac", "flac", "m4a", "mid", "mp3", "ogg", "opus", "wav", "wma")
_FILM = ("avi", "flv", "m4v", "mkv", "mov", "mp4", "mpeg", "mpg", "ogv", "webm", "wmv")
_ARCHIVES = ("7z", "bz2", "cab", "gz", "iso", "jar", "rar", "tar", "tgz", "whl", "xz", "zip", "zst")
_PROGRAMS = ("apk", "bin", "class", "deb", "dll", "dmg", "exe", "img", "msi", "pkg", "rpm", "so", "swf")
_OFFICE = ("doc", "ppt", "ps", "xls")
_PARTS_OF_PAGES = ("css", "eot", "js", "mjs", "otf", "ttf", "woff", "woff2")

# crawlctl cannot read text from these files, so fetching them would only cost traffic.
_SKIPPED_EXTENSIONS = (
    *_PICTURES,
    *_SOUND,
    *_FILM,
    *_ARCHIVES,
    *_PROGRAMS,
    *_OFFICE,
    *_PARTS_OF_PAGES,
)
_SESSION_PARAMETERS = (
    "aspsessionid*",
    "cfid",
    "cftoken",
    "jsessionid",
    "phpsessid",
    "sessionid",
    "session_id",
    "sid",
)


def is_own(key: str) -> bool:
    """Return whether a setting belongs to the crawl."""
    return key.partition(".")[0] in OWN_SECTIONS and key not in MACHINE_SETTINGS


class Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A group of settings. Rules about several settings of a group are checked when it is built."""


def demand(holds: bool, setting: str, rule: str) -> None:
    """Raise ValueError unless a rule holds; the loader turns it into a ConfigError that names the source."""
    if not holds:
        raise ValueError(f"{setting} must {rule}")


class UrlSettings(Section, frozen=True):
    """Which URLs count as the same page."""

    strip_parameters: tuple[ParameterPattern, ...] = ()
    """Query parameters that do not change the page; they are removed from every URL. A * at the end of a name
    matches any ending. For most sites [utm_*, gclid, fbclid, msclkid] is a good choice."""


class ScopeSettings(Section, frozen=True):
    """Which URLs belong to the crawl, and which look like a trap."""

    include: tuple[str, ...] = ()
    """Rules for the URLs to crawl; a URL needs to match one of them. Without rules the crawl keeps to the
    hosts of its seeds, each with and without www. A rule is example.org (this host), *.example.org (all hosts
    below it), domain:example.org (both), https://example.org/docs/ (URLs that begin like this),
    https://*.example.org/*.html (a * stands for any characters; without https:// for both http and https),
    url:https://example.org/page (this URL alone), regex:… (an RE2 expression, searched in the whole URL), or
    * (everything: the crawl then follows links to the whole web). Put a rule that begins with * in quotes:
    ["*.example.org"]."""
    exclude: tuple[str, ...] = ()
    """Rules for URLs not to crawl, written like those of scope.include. They win over scope.include."""
    forgotten: tuple[str, ...] = ()
    """Rules for pages that `crawlctl forget` has removed, written like those of scope.include. They win over
    all other rules, also for seeds and imported pages. `crawlctl gc` deletes what is left of these pages."""
    hidden: tuple[str, ...] = ()
    """Rules for pages that `crawlctl forget --keep-archive` has removed. They work like scope.forgotten, but
    `crawlctl gc` deletes neither the entries of these pages nor their copies in the archive."""
    max_depth: Count = 20
    """The largest number of links between a page and the nearest seed. 0 fetches only the seeds."""
    max_url_length: AtLeastOne = 2048
    """URLs with more characters than this are not crawled."""
    max_path_segments: AtLeastOne = 20
    """URLs whose path has more segments than this are not crawled; /a/b/c has three segments."""
    max_segment_repeats: AtLeastOne = 2
    """How often the same segment may occur in a path, such as a in /a/b/a. Traps repeat segments without
    end."""
    max_query_parameters: Count = 10
    """URLs with more query parameters than this are not crawled."""
    max_new_urls_per_page: Count = 50
    """How many new URLs that may belong to a trap the crawl takes from one page per round. The page is
    visited again for the rest. A URL may belong to a trap if it has query parameters, if its page says
    nothing new, if its site has used up half of its budgets, or if its host is new to the crawl. All other
    URLs in scope are taken at once. Ranking counts all links of the page in any case."""
    skip_extensions: tuple[str, ...] = _SKIPPED_EXTENSIONS
    """URLs whose path ends in one of these file extensions are not crawled, because no text can be read from
    such files."""
    session_parameters: tuple[str, ...] = _SESSION_PARAMETERS
    """URLs that carry one of these parameters with a value of 16 characters or more are not crawled, because
    the value names a visit and not a page. A * at the end of a name matches any ending."""


class BudgetSettings(Section, frozen=True):
    """How many URLs of a site are crawled. A site begins with a budget, and every useful page raises it: a
    page that can be indexed and is not a duplicate."""

    urls_per_host: AtLeastOne = 500_000
    """The largest number of URLs of one host. Useful pages do not raise this limit."""
    urls_per_prefix: AtLeastOne = 2_000
    """How many URLs a folder such as /a/ or /a/b/ may have at first. Each useful page of the folder adds
    budgets.urls_earned_per_page to it."""
    prefix_segments: Count = 2
    """How many path segments make a folder for budgets.urls_per_prefix. With 2, /a/b/ and /a/c/ are two
    folders, but /a/b/c/ belongs to /a/b/."""
    urls_per_parameter_set: AtLeastOne = 1_000
    """How many URLs a path may have at first with the same set of query parameter names. Each useful page
    among them adds budgets.urls_earned_per_page."""
    parameter_sets_per_path: AtLeastOne = 50
    """How many different sets of query parameter names a path may have; ?a=…, ?b=… and ?a=…&b=… are three
    sets."""
    urls_earned_per_page: Count = 50
    """How many more URLs a folder may have for each useful page in it. Do not set it below
    scope.max_new_urls_per_page: the page of a site with used-up budgets could then bring more URLs than it
    earns."""
    hosts_per_domain: AtLeastOne = 500
    """How many hosts below one registrable domain are crawled at first."""
    pages_per_new_host: AtLeastOne = 10
    """How many useful pages a domain needs for each host beyond budgets.hosts_per_domain. A higher value
    admits fewer hosts."""


class SitemapSettings(Section, frozen=True):
    """How often the sitemaps and feeds of a host are read, and how much of them. These settings also apply to
    the feeds (RSS, Atom, JSON Feed) that pages name."""

    interval: Duration = Duration(DAY)
    """How long after reading the sitemaps of a host they are read again, even if no page of the host is
    due."""
    max_urls: AtLeastOne = 50_000
    """How many URLs are read from one sitemap. The default is the limit of the sitemap protocol."""
    max_bytes: Size = Size(50 * MIB)
    """How much of one sitemap is read, after decompression. It applies in place of fetch.max_body. The
    default is the limit of the sitemap protocol."""
    max_files: Count = 100
    """How many sitemaps of one host are read per sitemaps.interval. 0 reads none."""
    max_depth: AtLeastOne = 3
    """How deep sitemap indexes may be nested. A file that robots.txt names has depth 1, the files it lists
    have depth 2."""


class PolitenessSettings(Section, frozen=True):
    """How often a host is asked, and what happens when it cannot answer."""

    delay: Duration = Duration(1)
    """The shortest pause between two requests to a host. A higher value is gentler and slower. The pause is
    longer if robots.txt asks for it or if the host answers slowly."""
    response_factor: NotNegative = 5.0
    """The pause after an answer is at least this many times as long as the answer took. It makes the crawl
    gentle to slow hosts; 0 switches this off."""
    max_response_delay: Duration = Duration(30)
    """The longest pause that politeness.response_factor can cause."""
    max_crawl_delay: Duration = Duration(5 * MINUTE)
    """The longest Crawl-delay of a robots.txt that is respected. If a site asks for more, the pause has this
    length."""
    connections_per_host: Count = 1
    """How many connections to one host may be open at the same time. 0 means no limit; use it only for hosts
    that are yours."""
    # A task does not know the other tasks, so each task uses only its share of the rate. No task waits longer
    # than `delay`, so with more than 1 / address_factor tasks each of them asks once per `delay`.
    address_factor: NotNegative = 0.2
    """Many hosts can share one machine, so there is also a pause between two requests to the same IP address
    (or to the same domain while its address is unknown). The pause is politeness.delay multiplied by this
    number: with 0.2 and a delay of 1s, all tasks together send up to five requests per second to an address.
    With more than five tasks, each task sends one request per second. 0 means no pause."""
    connections_per_address: Count = 10
    """How many connections one task may open to the same IP address at the same time. 0 means no limit."""
    backoff: Duration = Duration(10)
    """How long a host is left alone after a failure. Each further failure in a row doubles the time."""
    max_backoff: Duration = Duration(HOUR)
    """The longest time that a host is left alone because of politeness.backoff."""
    patience: Duration = Duration(2 * MINUTE)
    """When only failing hosts are left, the round ends if the next of them may be asked only after this time.
    The round waits longer for a host that has answered before, and when no host has answered at all. It does
    not wait if another round follows and other hosts have work for it, and five seconds at most if
    round.max_pages is used up. If a round could ask no host at all, the run waits for the first one, up to
    round.max_time."""
    max_failures: AtLeastOne = 5
    """After this many failures in a row (no answer, status 429 or 503) a host is left for the next round."""
    max_page_errors: AtLeastOne = 10
    """This many answers in a row with a 5xx status other than 503 count as one failure of the host. Fewer
    such answers count only as failures of their pages."""
    max_retry_after: Duration = Duration(DAY)
    """The longest Retry-After header that is respected. If a host asks for more, it is left alone for this
    long."""
    pages_per_host: AtLeastOne | None = None
    """The largest number of pages of one host per round. null means no limit."""
    robots_max_age: Duration = Duration(DAY)
    """How long a robots.txt is used before it is read again. At most 1d, as RFC 9309 demands."""
    robots_tries: AtLeastOne = 3
    """How many times in a row to ask for a robots.txt that does not arrive. After that no page of the host is
    fetched for the time of politeness.robots_retry."""
    robots_retry: Duration = Duration(45 * MINUTE)
    """How long no page of a host is fetched after its robots.txt did not arrive. Keep it below
    recrawl.retry_first: pages that fall due earlier fail without being asked for."""

    def __post_init__(self) -> None:
        demand(self.robots_max_age <= DAY, "robots_max_age", "be at most 1d, as RFC 9309 §2.4 demands")


class FetchSettings(Section, frozen=True):
    """How pages are requested. Each limit exists because some servers on the web exceed it."""

    agent: str = "crawlctl"
    """The name of the crawler in the User-Agent header. It is also the name that robots.txt rules are looked
    up by."""
    contact: str = ""
    """A web address or mail address where site owners can reach you; it is part of the User-Agent header.
    Nothing is fetched without it."""
    languages: str = "en, *;q=0.5"
    """The Accept-Language header. Empty sends no such header."""
    connections: Annotated[int, msgspec.Meta(ge=1, le=10_000)] = 256
    """How many transfers one task may have open at the same time. A task opens fewer if the system allows
    fewer open files (ulimit -Hn)."""
    memory: Size = Size(64 * MIB)
    """Memory of one task for answers that are arriving, at most 1/8 of round.task_memory. Up to half of it is
    divided equally among all transfers, the rest is shared by large bodies. With less memory, large bodies
    wait for each other."""
    connect_timeout: Duration = Duration(10)
    """How long a connection may take, from the DNS lookup to the end of the TLS handshake."""
    timeout: Duration = Duration(MINUTE)
    """How long a whole transfer may take, from the DNS lookup to the last byte."""
    min_speed: Size = Size(256)
    """The slowest transfer that is tolerated, in bytes per second. A transfer that is slower over
    fetch.min_speed_span is given up."""
    min_speed_span: Duration = Duration(20)
    """The time over which fetch.min_speed is measured. A server may also take this long to send its first
    byte."""
    max_header: Size = Size(64 * KIB)
    """The largest headers of one answer. Each header line counts 32 bytes more than its text. Interim answers
    (1xx) and trailers count too."""
    max_body: Size = Size(10 * MIB)
    """The largest body of a page, after decompression; the rest is cut off. PDFs, Office documents and
    e-books (parse.max_pdf) and sitemaps (sitemaps.max_bytes) have limits of their own. A higher value needs
    more memory and time."""
    skip_types: tuple[str, ...] = ("audio/", "font/", "image/", "video/")
    """Bodies whose Content-Type begins with one of these texts are not downloaded."""
    max_redirects: Annotated[int, msgspec.Meta(ge=0, le=20)] = 5
    """How many redirects (or meta refreshes) in a row are followed. Each redirect after the first one adds 1
    to the depth of the page."""
    http2: bool = True
    """Whether to offer HTTP/2 to https servers."""
    tls_verify: bool = True
    """Whether to refuse servers whose TLS certificate does not prove their name."""
    ca_file: str = ""
    """A PEM file with the certificate authorities to trust. Empty means the authorities that the system
    trusts, or the list of the package certifi if the system has no list."""
    proxy: str = ""
    """A proxy for all requests, such as http://proxy.example:3128 or http://name:password@proxy.example:3128.
    Empty means no proxy; variables such as http_proxy are ignored. The proxy looks up host names in place of
    crawlctl, so the proxy must also block private addresses: crawlctl then checks only addresses that are
    written in URLs."""
    local_address: str = ""
    """The IP address of this machine to connect from. Empty lets the system choose."""
    allowed_networks: tuple[str, ...] = ()
    """Networks or addresses to crawl although they are private, such as [10.0.0.0/8, 127.0.0.1]. You need
    this to crawl an intranet: by default crawlctl never connects to private, loopback or similar
    addresses."""
    resolve: tuple[str, ...] = ()
    """Host names with fixed addresses, which are not looked up in DNS, such as
    [example.com:443:192.0.2.7]."""
    dns_cache: Duration = Duration(10 * MINUTE)
    """How long the address of a host name is remembered before DNS is asked again."""
    stall_time: Duration = Duration(MINUTE)
    """How long one host may block the fetching process inside a library. After that the process is replaced
    and the host is left out. 0 fetches without a second process, which helps when debugging."""

    def __post_init__(self) -> None:
        # libcurl would report the mistake at each request, as if the hosts had not answered. The message does
        # not repeat the proxy, because it may contain a password.
        proxy = _PROXY.fullmatch(self.proxy)
        is_valid = proxy is not None and 0 < int(proxy[1] or 80) < 1 << 16
        demand(
            not self.proxy or is_valid,
            "proxy",
            "be as in http://proxy.example:3128; name:password@ may stand before the host",
        )


class ParseSettings(Section, frozen=True):
    """How much of a document is read and kept, and what reading it may cost."""

    time_limit: Duration = Duration(5)
    """CPU time that one document may take. After that the process that parses it is stopped and replaced."""
    host_time: Duration = Duration(MINUTE)
    """CPU time that the slow documents of one host may take per task and round. Slow are pages that take more
    than a quarter of a second and sitemaps that take more than a second. After that the host waits for a
    later round."""
    memory_limit: Size = Size(512 * MIB)
    """Memory that one document may take, in addition to what the process needs at its start (enforced on
    Linux)."""
    max_html: Size = Size(10 * MIB)
    """How much of an HTML or text page is parsed. It matters only where fetch.max_body is larger."""
    max_pdf: Size = Size(32 * MIB)
    """The largest PDF, Office document or e-book that is parsed. A file of up to this size is fetched whole,
    even if fetch.max_body is smaller. A larger file is not read at all, because its table of contents is at
    its end."""
    max_pdf_pages: AtLeastOne = 1000
    """How many pages of a PDF are parsed."""
    max_text: Characters = Characters(1 << 20)
    """How many characters of the visible text of a page are kept."""
    max_links: AtLeastOne = 10_000
    """How many different URLs are taken from the links of one page; further links are ignored."""
    max_anchor: AtLeastOne = 200
    """How many characters of the text of a link are kept."""
    max_title: AtLeastOne = 500
    """How many characters of a title or heading are kept."""
    max_headings: AtLeastOne = 500
    """How many headings of a page are kept."""
    near_duplicate: Annotated[float, msgspec.Meta(ge=0.5, le=1.0)] = 0.9
    """Two pages are near duplicates if they share at least this part of their word triples. A lower value
    finds more duplicates; 1.0 finds only pages with the same word triples."""
    drop_repeated: bool = True
    """Whether repeated blocks are left out of the text of pages, from the next round on. A block is repeated
    if at least half of the pages of its host begin or end with it."""


class FieldRule(Section, frozen=True, omit_defaults=True):
    """Where the pages of a site have the value of a field; exactly one of css, meta and json_ld is given."""

    css: str = ""
    """A CSS selector; the value is the text of the element."""
    attribute: str = ""
    """With css: the value is this attribute of the element."""
    meta: str = ""
    """The name, property or itemprop of a meta element."""
    json_ld: str = ""
    """A path in JSON-LD, such as offers.price."""
    kind: Literal["keyword", "number", "date"] = "keyword"
    """The type of the value."""


class SiteRules(Section, frozen=True, omit_defaults=True):
    """How the pages of a site are read; each rule is a CSS selector."""

    content: str = ""
    """The elements whose text is the text of the page."""
    remove: str = ""
    """Elements whose text is left out."""
    title: str = ""
    """The element whose text is the title of the page."""
    fields: dict[str, FieldRule] = msgspec.field(default_factory=dict)
    """Fields of the page by name."""


class RoundSettings(Section, frozen=True):
    """How much is fetched in one round, and how often a fetch task saves its pages."""

    max_pages: AtLeastOne = 100_000
    """The largest number of pages fetched per round. Other pages that are due wait for the next round.
    Smaller rounds make new pages searchable sooner, larger rounds spend less time on merging."""
    max_bytes: Size = Size(10 * GIB)
    """The largest amount of data received per round, as it comes over the network."""
    max_time: Duration | None = None
    """How long a round may fetch. Then unfinished transfers are given up, and their pages stay due. null
    means a few minutes, so that new pages can soon be searched: 1min in the first round of a crawl, 5min from
    the fourth round on and in the last round of a run, and up to 1h where merging a round takes long. On
    Hadoop and EMR null means 1h."""
    # The driver of rounds (RoundPace) makes the time longer where shorter rounds would not save time.
    tail: Duration = Duration(15)
    """When a round only waits for a few slow hosts, it ends after this time or later, if another round
    follows and other hosts have work for it. The pages of the slow hosts stay due."""
    follow_outlinks: bool = True
    """Whether a round fetches pages that it has found itself, on hosts whose due pages are done. It does so
    while other due pages take more than 5s, and a round never lasts longer because of it. Only with
    `run --until-empty` on this machine such a round goes on until its time (round.max_time) is over. false
    leaves all new pages to the next round."""
    task_memory: Size = Size(512 * MIB)
    """Memory of one fetch task."""
    flush_pages: AtLeastOne = 20_000
    """A fetch task saves its pages when it has fetched this many. A kill loses at most the pages since the
    last save, so a lower value loses less; a higher value writes fewer files."""
    flush_time: Duration = Duration(MINUTE)
    """A fetch task saves its pages after this time, even if there are fewer than round.flush_pages."""

    def __post_init__(self) -> None:
        is_above = self.max_time is None or self.max_time > 0
        demand(is_above, "max_time", "be above 0; a round without time fetches nothing")


class Pace(Section, frozen=True):
    """How often live pages are visited. Equal `minimum` and `maximum` fix the interval."""

    initial: Duration = Duration(7 * DAY)
    """The time between the first and the second visit of a page. After each visit the time is adapted:
    shorter if the page has changed, longer if not."""
    minimum: Duration = Duration(HOUR)
    """The shortest time between two visits of a page, however often it changes."""
    maximum: Duration = Duration(90 * DAY)
    """The longest time between two visits of a page, even if it never changes."""
    grow: float = 1.4
    """The time to the next visit is multiplied by this number if the page has not changed. At least 1."""
    shrink: float = 0.8
    """The time to the next visit is multiplied by this number if the page has changed. Above 0, at most 1."""

    def __post_init__(self) -> None:
        demand(0 < self.minimum <= self.maximum, "minimum", "be above 0 and no more than maximum")
        demand(self.initial > 0, "initial", "be above 0")
        demand(1 <= self.grow < float("inf"), "grow", "be 1 or more")
        demand(0 < self.shrink <= 1, "shrink", "be above 0 and no more than 1")


class RecrawlSettings(Section, frozen=True):
    """When pages are visited again."""

    pace: Pace = Pace()
    hosts: dict[str, Pace] = msgspec.field(default_factory=dict)
    """Another pace for single hosts, by host name (with a port: only for this port) or by *.domain for all
    hosts below a domain; the most exact name wins. A value that is not given for a host is the default, not
    the value of recrawl.pace. Example: {news.example.org: {minimum: 15min, maximum: 1d},
    "*.archive.example.org": {minimum: 30d, maximum: 30d}}"""
    # With the defaults the tries come after 1 h, 4 h, 16 h, 64 h and 72 h: a site may be down for a week
    # before its documents leave the index.
    retry_first: Duration = Duration(HOUR)
    """How long after a failure (no answer, 5xx status, DNS) a page is tried again for the first time."""
    retry_growth: float = 4.0
    """Each further try of a failing page waits this many times longer than the one before. At least 1."""
    retry_maximum: Duration = Duration(3 * DAY)
    """The longest wait between two tries of a failing page."""
    retry_limit: int = 6
    """After this many failures in a row a page is given up: it leaves the index and is tried only as often as
    recrawl.rest says. From 1 to 100."""
    confirm_after: Duration = Duration(DAY)
    """When a live page answers 404 or 403, it is asked again after this time. It leaves the index only if it
    gives the same answer again."""
    # With the defaults the visits come after 14 d, 21 d, 32 d, 47 d, …: about nine requests in two years.
    rest: Duration = Duration(14 * DAY)
    """How long a page rests before it is visited again when it is gone, forbidden, permanently moved or
    given up."""
    rest_growth: float = 1.5
    """Each further rest of a page is this many times longer than the one before. At least 1."""
    rest_maximum: Duration = Duration(180 * DAY)
    """The longest rest of a page that is gone, forbidden, permanently moved or given up."""
    jitter: float = 0.1
    """Visits come earlier by up to this part of the waiting time, so that not all pages are due at once. From
    0 to less than 1."""

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


class RankSettings(Section, frozen=True):
    """How pages are ranked by the links between them, and how often."""

    every: Count | None = 0
    """Rank after this many rounds, and when a run ends if it is worth it (rank.share, rank.after). 0 ranks
    only when a run ends; null ranks only by `crawlctl rank`."""
    share: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.1
    """At the end of a run, rank if this share of the pages has changed since the last ranking, or if the
    number of known URLs has grown by this share. 0 ranks after every run that has fetched something; crawls
    of at most 1,000 URLs are ranked like this in any case."""
    after: Duration = Duration(7 * DAY)
    """At the end of a run, rank if the last ranking is as old as this and anything was fetched since."""
    damping: Annotated[float, msgspec.Meta(ge=0, le=MOST_DAMPING)] = 0.85
    """The probability that a reader follows a link on a page and does not jump to another page (PageRank). A
    higher value gives links more influence and takes longer."""
    tolerance: Annotated[float, msgspec.Meta(ge=LEAST_TOLERANCE, le=1)] = 1e-6
    """The largest error of all ranks together; the ranks add up to 1. A lower value is more exact and takes
    longer."""
    teleport: str = "uniform"
    """The pages to which a reader jumps who follows no link: uniform (any page), seed (the seeds), or the
    name of a file of URLs. Pages near these pages rank higher."""
    memory: Size = Size(GIB)
    """Memory of one ranking task. A link graph that needs more is solved by several tasks, in several
    jobs."""


class FocusSettings(Section, frozen=True):
    """The subject of the crawl: relevant pages are fetched first. Without any of these lists all pages are
    equally relevant."""

    terms: tuple[str, ...] = ()
    """Words that relevant pages contain."""
    phrases: tuple[str, ...] = ()
    """Phrases (several words in a row) that relevant pages contain."""
    examples: tuple[str, ...] = ()
    """URLs of single pages that are relevant."""
    domains: tuple[str, ...] = ()
    """Domains such as example.org whose pages are all relevant."""
    weight: NotNegative = 1000.0
    """How strongly relevance counts: a relevant page comes before other pages with up to this many times its
    rank. 0 ignores relevance."""


class FieldWeights(Section, frozen=True):
    """How much an occurrence of a word counts, by the field of the page it is in."""

    body: NotNegative = 1.0
    """How much a word in the text of a page counts. Changed weights take effect when segments are rewritten;
    to rewrite all of them, run `crawlctl merge --full`."""
    heading: NotNegative = 1.0
    """How much a word in a heading counts, in addition to its weight as part of the text."""
    title: NotNegative = 3.0
    """How much a word in the title of a page counts."""
    url: NotNegative = 1.0
    """How much a word in the URL of a page counts."""
    anchor: NotNegative = 2.0
    """How much a word in the text of links to a page counts."""


class IndexSettings(Section, frozen=True):
    """When and how the index is merged, and how words count."""

    merge_every: AtLeastOne = 1
    """Merge the index after this many rounds. New pages can be searched only after a merge; a higher value
    spends less time on merging."""
    memory: Size = Size(512 * MIB)
    """Memory of one merge task, in addition to what Python itself needs."""
    tier_ratio: Annotated[float, msgspec.Meta(ge=1.5)] = 2.0
    """A segment is merged with newer ones if it has at most this many times their documents. A higher value
    leaves fewer segments, which makes searches faster, but rewrites documents more often."""
    max_stale: Share = 0.2
    """A segment is rewritten if more than this part of its documents is deleted or has new links."""
    max_drift: Share = 0.1
    """A segment is rewritten if the average length of a field has changed by more than this part since it was
    written."""
    frontier: Count = 100_000
    """How many pages that are not fetched yet can be found by their URL and by the text of links to them, in
    the whole crawl. 0 means none."""
    k1: Annotated[float, msgspec.Meta(gt=0)] = 1.2
    """How much repeated words count (k1 of BM25F). With a lower value, further occurrences of a word add
    less."""
    b: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.75
    """How much less a word counts in a long field (b of BM25F). 0 ignores the length of a field, 1 counts it
    fully."""
    group_duplicates: bool = True
    """Whether near duplicates are grouped, so that a search shows one page of a group."""
    group_share: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.0
    """At the end of a run, group near duplicates if this share of the documents was not compared with the
    others yet. Until then new documents are in no group. 0 groups after every run that has changed the index:
    it costs what has changed. A higher share saves a job where jobs start slowly, as on EMR."""
    weights: FieldWeights = FieldWeights()
    explicit_words: tuple[str, ...] = ()
    """Words and phrases by which safe search knows pages that not everybody wants to see. A page with one of
    them in its title, a heading or its URL, or with several in its text, is left out by moderate and strict
    safe search; a page with a single one in its text only by strict. A change applies to a page when it is
    read the next time; `crawlctl refresh --whole HOST` has pages read with the next run."""
    explicit_hosts: tuple[str, ...] = ()
    """Hosts whose pages moderate and strict safe search leave out: example.org, *.example.org for all hosts
    below it, or the beginning of URLs (https://example.org/adult/). A change applies as with
    index.explicit_words."""


class SearchSettings(Section, frozen=True):
    """How answers differ from what the words of a query alone would find: synonyms, and pages that come
    first, are left out, or come earlier or later. A change takes effect with the next snapshot, for the
    command, the server and agents alike; `crawlctl config set` makes this snapshot at once."""

    synonyms: tuple[str, ...] = ()
    """Words and phrases with the same meaning (postgres = postgresql; more than two are possible). With =>
    they work in one direction: with js => javascript, a search for js also finds javascript. Pages with the
    word of the query come before pages with a synonym. A word in quotes has no synonyms. Example: [postgres =
    postgresql, machine learning = ml, js => javascript]."""
    pins: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    """Pages that come first for a query, in this order, by the words of the query. The query must have these
    words, in any order, and nothing else. A page that is not in the index is left out. Example: {install
    python: [https://docs.example.org/using/]}."""
    blocks: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    """Pages that are not shown for a query, by the words of the query, or for all queries, by "*". Each entry
    is a host (example.org, or *.example.org for all hosts below it), the beginning of URLs
    (https://example.org/old/) or one page (url:https://example.org/page). The pages stay in the crawl, and
    other ways to list pages show them; `crawlctl forget` removes pages. Example: {"*": [spam.example.org],
    python: [https://example.org/snakes/]}."""
    boosts: dict[str, float] = msgspec.field(default_factory=dict)
    """Factors from 0.01 to 100 by which the scores of pages are multiplied; above 1 pages come earlier, below
    1 later. Pages are written like those of search.blocks; if several entries match a page, the most exact
    counts. Example: {docs.example.org: 1.5, "https://docs.example.org/2/": 0.3}."""


class RunnerSettings(Section, frozen=True):
    """Where jobs run."""

    name: RunnerName = "forked"
    """Where jobs run: forked (on the cores of this machine), inline (in one process, for debugging), local
    (as separate programs on this machine), hadoop, emr or spark."""
    workers: int | None = None
    """How many tasks run at the same time on this machine. null means one per core."""
    conf_path: str | None = None
    """An mrjob configuration file for the runner. null means the file of the package that is named after the
    runner, such as conf/hadoop.conf, if there is one."""
    python_bin: str | None = None
    """The Python program that runs the tasks; inline and forked ignore it. null means the Python that runs
    crawlctl, on EMR the one in conf/emr.conf, and on Hadoop the Python of the nodes with a packed copy of all
    packages installed here."""
    packages: str | None = None
    """A folder on HDFS or S3 where the nodes of a cluster find crawlctl and the packages it needs; they are
    put there once. null means hdfs:///user/NAME/.crawlctl/packages on Hadoop, and the temporary folder of
    each job on EMR."""
    tmp_dir: str | None = None
    """A folder for temporary files on this machine. null means $TMPDIR."""
    task_env: dict[str, str] = msgspec.field(default_factory=dict)
    """Environment variables for the tasks, such as {AWS_REGION: eu-west-1}."""
    options: tuple[str, ...] = ()
    """Further mrjob options, such as [--hadoop-bin, /opt/hadoop/bin/hadoop]."""

    def __post_init__(self) -> None:
        demand(self.name in RUNNER_NAMES, "name", f"be one of {', '.join(RUNNER_NAMES)}")
        demand(self.workers is None or self.workers > 0, "workers", "be 1 or more, or null for one per core")


class LeaseSettings(Section, frozen=True):
    """Which process may write to the store."""

    ttl: Duration = Duration(2 * MINUTE)
    """If a run gives no sign of life for this long, another run may take over the store. With a lower value a
    new run can start sooner after a crash."""


class GcSettings(Section, frozen=True):
    """What `crawlctl gc` keeps."""

    auto: bool = True
    """Whether a run deletes old snapshots and unused files when it ends, as `crawlctl gc` does. It keeps the
    snapshot with which it began too, so that a rollback can undo the whole run, and all snapshots younger
    than gc.min_age."""
    keep_snapshots: AtLeastOne = 2
    """How many of the newest snapshots `crawlctl gc` keeps. More snapshots need more space."""
    min_age: Duration = Duration(HOUR)
    """`crawlctl gc` keeps files younger than this, even if no snapshot names them, because a run may still
    need them."""


class Config(Section, frozen=True):
    """All settings of a crawl."""

    store: str = DEFAULT_STORE
    """Where the crawl is kept: a folder, s3://bucket/prefix, hdfs:///folder or hdfs://namenode/folder."""
    partitions: Annotated[int, msgspec.Meta(ge=1, le=100_000)] | None = None
    """How many partitions the crawl is split into; each holds a share of all hosts. `crawlctl init` fixes the
    number. null means one per core of this machine, but at least 4. More partitions let more tasks work at
    the same time."""
    sites: dict[str, SiteRules] = msgspec.field(default_factory=dict)
    """How the pages of single sites are read, by host (example.org, or *.example.org for all hosts below it)
    or by the beginning of URLs (https://example.org/docs/); the most exact one counts. The rules are CSS
    selectors: content (only the text of these elements counts), remove (their text is left out) and title.
    The rule fields names values to keep: by css (with attribute: that attribute), by meta or by json_ld, each
    with a kind of keyword, number or date. Links are found in the whole page. A change applies to a page when
    it is read the next time; `crawlctl refresh --whole HOST` has pages read with the next run. Example:
    {shop.example.org: {content: main, remove: .ads, fields: {price: {json_ld: offers.price, kind:
    number}}}}"""
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
    search: SearchSettings = SearchSettings()
    runner: RunnerSettings = RunnerSettings()
    lease: LeaseSettings = LeaseSettings()
    gc: GcSettings = GcSettings()
