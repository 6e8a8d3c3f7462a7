"""The helper process: a forked child that parses documents and dies when a document costs too much.

The kernel enforces the limits, because nothing in Python can interrupt the C code of a parser: a timer of CPU
time whose signal ends the process, and a limit of the address space. The timer counts CPU time and not time
on the clock, so that documents do not fail because the machine is busy.

A parser may leak or crash, so the helper shares nothing with its parent but two pipes. It closes all other
files that it inherited: a copy of a socket would keep the connection open after the parent has closed it.
When the parent dies, the helper reads the end of the pipe and ends too, at the latest after its current
document.
"""

from __future__ import annotations

import gc
import importlib
import os
import resource
import signal
import struct
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, NoReturn

import msgspec

from crawlctl.pipeline.errors import CrawlctlError
from crawlctl.pipeline.processes.children import fork
from crawlctl.pipeline.sitemaps.sitemap_reader import read_sitemap_body
from crawlctl.pipeline.text.documents.document import FetchedDocument, Parsed, ParseOutcome, ParseRules

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlctl.pipeline.sitemaps.sitemap_reader import SitemapContent

    Parse = Callable[[FetchedDocument, ParseRules], Parsed]
    Salvage = Callable[[FetchedDocument, ParseRules, ParseOutcome, str], Parsed]

# A request: the size of its head, the size of its body, the head (msgpack of all but the body), the body. An
# answer: its size, the CPU seconds of this document, the CPU seconds of the helper's life so far, msgpack.
REQUEST_FRAME = struct.Struct("<II")
ANSWER_FRAME = struct.Struct("<Idd")
# Exit codes of a helper.
RETIRED = 0
OUT_OF_MEMORY = 70

_PIPE_BYTES = 1 << 20
_DOCUMENTS_PER_HELPER = 20_000  # parsers may leak a little memory with each document
_MAX_DESCRIPTORS = 1 << 16
# The garbage collector runs after this many new objects. Parsing makes few cycles, and Python's default of
# 700 objects would take a tenth of the time.
_COLLECTED_OBJECTS = 50_000


class ParseRequest(msgspec.Struct, frozen=True, array_like=True):
    """A document to parse; with a `cause` the full parser has failed on it, and the cheap parser is used."""

    document: FetchedDocument
    cause: ParseOutcome | None = None
    is_sitemap: bool = False


class HelperEnd(NamedTuple):
    """How a helper ended: its exit code (minus the signal that killed it) and its CPU seconds."""

    code: int
    seconds: float


@dataclass(frozen=True)
class Helper:
    """A running helper: its process id, the pipe for requests and the pipe for answers."""

    pid: int
    requests: int
    answers: int

    def bury(self) -> HelperEnd:
        """Kill the process unless it has ended, and close its pipes."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        return self.await_end()

    def await_end(self) -> HelperEnd:
        """Wait for a process that was killed or is about to end, and close its pipes."""
        os.close(self.requests)
        os.close(self.answers)
        _, status, usage = os.wait4(self.pid, 0)
        return HelperEnd(os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime)


def start_helper(rules: ParseRules, parse: Parse, salvage: Salvage) -> Helper:
    """Fork a helper; its pipes do not block on this side."""
    requests, to_requests = os.pipe()
    answers, to_answers = os.pipe()
    _enlarge(to_requests)
    _enlarge(to_answers)
    pid = _fork()
    if pid == 0:
        _live(requests, to_answers, rules, parse, salvage)
    os.close(requests)
    os.close(to_answers)
    os.set_blocking(to_requests, False)
    os.set_blocking(answers, False)
    return Helper(pid, to_requests, answers)


def _enlarge(pipe: int) -> None:
    """Make a pipe large enough for most documents, where the system allows it."""
    with suppress(ImportError, OSError):
        from fcntl import F_SETPIPE_SZ, fcntl

        fcntl(pipe, F_SETPIPE_SZ, _PIPE_BYTES)


def _fork() -> int:
    try:
        return fork()
    except OSError as error:
        raise CrawlctlError(
            f"cannot start a process for parsing: {error}; free memory, or raise the limit of processes "
            "(ulimit -u)"
        ) from error


def _live(requests: int, answers: int, rules: ParseRules, parse: Parse, salvage: Salvage) -> NoReturn:
    exit_code = 1
    try:
        _close_all_but(requests, answers)
        _take_default_signals()
        _load_numpy()
        gc.freeze()
        gc.set_threshold(_COLLECTED_OBJECTS)
        _limit_memory(rules.settings.memory_limit)
        _serve(requests, answers, rules, parse, salvage)
        exit_code = RETIRED
    except MemoryError:
        exit_code = OUT_OF_MEMORY
    finally:
        os._exit(exit_code)


def _close_all_but(*kept: int) -> None:
    limit = min(resource.getrlimit(resource.RLIMIT_NOFILE)[0], _MAX_DESCRIPTORS)
    start = 3
    for descriptor in sorted(kept):
        os.closerange(start, descriptor)
        start = descriptor + 1
    os.closerange(start, limit)


def _take_default_signals() -> None:
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGPROF):
        signal.signal(number, signal.SIG_DFL)
    # Ctrl-C reaches every process of the terminal; the parent decides when the helper ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _load_numpy() -> None:
    """Load numpy before the memory limit is set: its BLAS reserves memory for each core."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    importlib.import_module("numpy")


def _limit_memory(limit: int) -> None:
    """Allow the process `limit` bytes more than it has now (not on macOS, which enforces no such limit)."""
    with suppress(OSError, ValueError):
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        allowed = pages * resource.getpagesize() + limit
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        if hard == resource.RLIM_INFINITY or allowed < hard:
            resource.setrlimit(resource.RLIMIT_AS, (allowed, hard))


def _serve(requests: int, answers: int, rules: ParseRules, parse: Parse, salvage: Salvage) -> None:
    decoder, encoder = msgspec.msgpack.Decoder(ParseRequest), msgspec.msgpack.Encoder()
    seconds = float(rules.settings.time_limit)
    peak = _peak_memory() + rules.settings.memory_limit // 2
    for _ in range(_DOCUMENTS_PER_HELPER):
        request = _read_request(requests, decoder)
        if request is None:
            return
        signal.setitimer(signal.ITIMER_PROF, seconds)
        # Not process_time: while a timer of CPU time runs, that clock moves only with the ticks of the
        # kernel, which are as long as most documents take.
        begun = time.thread_time()
        answer = encoder.encode(_answer(request, rules, parse, salvage))
        ended = time.thread_time()
        signal.setitimer(signal.ITIMER_PROF, 0)
        _write_all(answers, ANSWER_FRAME.pack(len(answer), ended - begun, ended) + answer)
        if _peak_memory() > peak:
            return


def _answer(
    request: ParseRequest, rules: ParseRules, parse: Parse, salvage: Salvage
) -> Parsed | SitemapContent:
    if request.is_sitemap:
        document = request.document
        return read_sitemap_body(document.url, document.body, rules.sitemaps, rules.strip_parameters)
    if request.cause is not None:
        return salvage(request.document, rules, request.cause, "")
    try:
        return parse(request.document, rules)
    except MemoryError:
        raise
    except Exception as error:
        # A page that breaks our own code must not stop the crawl; the note says what to fix.
        return salvage(request.document, rules, ParseOutcome.CRASH, f"{type(error).__name__}: {error}")


def _peak_memory() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _read_request(pipe: int, decoder: msgspec.msgpack.Decoder[ParseRequest]) -> ParseRequest | None:
    """Return the next request, or None when the parent has closed the pipe."""
    frame = _read_exactly(pipe, REQUEST_FRAME.size)
    if len(frame) < REQUEST_FRAME.size:
        return None
    head, body = (_read_exactly(pipe, size) for size in REQUEST_FRAME.unpack(frame))
    request = decoder.decode(head)
    document = msgspec.structs.replace(request.document, body=body)
    return msgspec.structs.replace(request, document=document)


def _read_exactly(pipe: int, size: int) -> bytes:
    """Return `size` bytes, or fewer if the pipe ends before."""
    data = os.read(pipe, size)
    if len(data) == size or not data:
        return data
    parts, missing = [data], size - len(data)
    while missing and data:
        data = os.read(pipe, missing)
        parts.append(data)
        missing -= len(data)
    return b"".join(parts)


def _write_all(pipe: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(pipe, view) :]
