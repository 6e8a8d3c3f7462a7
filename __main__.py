"""`python -m crawlctl`: the crawlctl program, where its script is not on the path."""

from __future__ import annotations

from crawlctl.cli import main

if __name__ == "__main__":
    main()
