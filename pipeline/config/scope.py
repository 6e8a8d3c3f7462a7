"""The settings that bound a crawl: which pages belong to it, and how much of a site is looked at."""

from __future__ import annotations

from crawlctl.pipeline.config.section import AtLeastOne, Count, Section
from crawlctl.pipeline.config.units import DAY, Duration, Size

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
