"""Runs the fetch task of the order on standard input, as a process that can be killed."""

from __future__ import annotations

import sys

from crawlctl.pipeline.fetch.order import FetchOrder
from crawlctl.pipeline.fetch.stop_signal import stopped_by_signals
from crawlctl.pipeline.fetch.supervisor import fetch_supervised
from crawlctl.pipeline.orders import decode_order

if __name__ == "__main__":
    order = decode_order(sys.stdin.read(), FetchOrder)
    with stopped_by_signals() as stop:
        fetch_supervised(order, should_stop=stop)
