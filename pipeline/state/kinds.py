"""The kinds of data files in a store; a kind is the first folder of a file's name (layout.py)."""

from __future__ import annotations

# Of the crawl as a whole.
WEBDB = "webdb"  # the part of each partition: all its URLs
HOSTS = "hosts"  # the state of each host: robots.txt, back-off, sitemaps
SETTINGS = "settings"  # the crawl's own settings (own_settings.py)
HISTORY = "history"  # costs and results of each commit (crawl/history)
PURGED = "purged"  # rules for forgotten pages that were carried out (purged_rules.py)

# Of a run: files that a fetch task saves together. The WebDB merge consumes the first two kinds, and HOSTS.
OUTCOMES = "outcomes"  # the outcome of each URL that was fetched
FRESH = "fresh"  # URLs that were discovered
PAGES = "pages"  # the archive: requests and answers as WARC
CAPTURES = "captures"  # the places in the archives of the answers of each URL
BLOCKS = "blocks"  # hashes of the blocks of some pages of each host (webdb/repeated)
DOCS = "docs"  # documents
POSTINGS = "postings"
LINKS = "links"

# Of the index.
SEGMENTS = "segments"  # all files of a segment
DELETED = "deleted"  # tombstones
DICTIONARY = "dictionary"  # term → term infos in all segments
GROUPS = "groups"  # duplicate groups
COMPARED = "compared"  # the documents that the last grouping has compared (duplicates/compared.py)
RULES = "rules"  # synonyms, pins, blocks and boosts, and the documents they are about (search/rules)
COMPOUND = "compound"  # copies of the bytes that every query reads, in one file (compound_file.py)
INTERLEAVED = "interleaved"  # copies of posting lists, in which a word is one place (interleaved_lists.py)

# Of a ranking.
GRAPH = "graph"  # the nodes and links of the graph, and the states of an iteration
RANKS = "ranks"  # the published ranks
PRIORS = "priors"  # the prior of each document of the index, one byte each
