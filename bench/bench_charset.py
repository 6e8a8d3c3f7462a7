"""Detection of undeclared charsets: texts read right and CPU time, compared with other detectors.

    python bench/bench_charset.py FOLDER

FOLDER has one folder of texts per encoding, named after it (iso-8859-2, or iso-8859-2-polish), like the
folder tests/ of chardet's source distribution (`pip download --no-binary :all: chardet==5.2.0`). A text is
read right if its letters and digits are those that the named encoding gives; a wrong quotation mark is no
error. The detectors get the whole text, as decode() does, and name an encoding. decode() also decodes the
text, and that counts in its time. The time is CPU time, the best of several rounds. chardet is measured if it
is installed.
"""

from __future__ import annotations

import argparse
import codecs
import importlib
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import cchardet
import charset_normalizer
from clock import best_of

from crawlctl.pipeline.formats.web_encodings import detected_encoding, encoding_of
from crawlctl.pipeline.text.documents.charset import decode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_LANGUAGE = re.compile(r"(iso-8859-\d+|windows-\d+)-[a-z]+")


class Sample(NamedTuple):
    """A text, the folder it was found in, and its letters and digits."""

    folder: str
    body: bytes
    words: str


class Detector(NamedTuple):
    """A detector: `find` is measured, and `text` decodes the bytes with what it found."""

    name: str
    find: Callable[[bytes], object]
    text: Callable[[bytes, object], str]


def main() -> None:
    """Print the table of all detectors."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--rounds", type=int, default=3)
    chosen = arguments.parse_args()
    samples = list(samples_of(chosen.folder))
    size = sum(len(sample.body) for sample in samples)
    print(f"{len(samples)} texts, {size / 1e6:.1f} MB\n")
    print("| detector | read right | share | CPU s | misread |\n|---|---|---|---|---|")
    for detector in detectors():
        print(row_of(detector, samples, chosen.rounds))


def samples_of(folder: Path) -> Iterator[Sample]:
    """Yield the texts below a folder whose encoding Python knows."""
    for path in sorted(folder.glob("*/*")):
        codec = codec_of(path.parent.name)
        if path.is_file() and codec is not None:
            body = path.read_bytes()
            yield Sample(path.parent.name, body, words_of(read(body, codec)))


def codec_of(name: str) -> str | None:
    """Return the codec for a label: that of browsers, else that of Python."""
    label = _LANGUAGE.sub(r"\1", name.lower())
    found = None if label.startswith("utf-16") else encoding_of(label) or detected_encoding(label)
    try:
        return codecs.lookup(found.codec if found else label).name
    except LookupError:
        return None


def read(body: bytes, codec: str) -> str:
    """Return the text of some bytes without the byte order mark."""
    return codecs.getincrementaldecoder(codec)("replace").decode(body).removeprefix("\ufeff")


def words_of(text: str) -> str:
    """Return the letters and digits of a text, which an index keeps."""
    return "".join(filter(str.isalnum, text))


def detectors() -> Iterator[Detector]:
    """Yield decode() and the other detectors."""
    yield Detector("crawlctl", lambda body: decode(body, markup=False).text, lambda _body, found: str(found))
    yield Detector("faust-cchardet alone", lambda body: cchardet.detect(body)["encoding"], text_of_name)
    yield Detector("charset-normalizer", best_of_normalizer, text_of_name)
    try:
        chardet = importlib.import_module("chardet")
    except ImportError:
        return
    yield Detector(
        f"chardet {chardet.__version__}", lambda body: chardet.detect(body)["encoding"], text_of_name
    )


def best_of_normalizer(body: bytes) -> object:
    """Return the name of the best guess."""
    best = charset_normalizer.from_bytes(body).best()
    return best and best.encoding


def text_of_name(body: bytes, name: object) -> str:
    """Return the text in an encoding that a detector has named."""
    codec = codec_of(str(name)) if name else None
    return read(body, codec) if codec else ""


def row_of(detector: Detector, samples: list[Sample], rounds: int) -> str:
    """Return the line of a detector in the table."""
    best = best_of(lambda: [detector.find(sample.body) for sample in samples], rounds).cpu
    wrong = Counter(
        sample.folder
        for sample in samples
        if words_of(detector.text(sample.body, detector.find(sample.body))) != sample.words
    )
    right = len(samples) - wrong.total()
    missed = ", ".join(f"{folder} {count}" for folder, count in wrong.most_common(6))
    return f"| {detector.name} | {right} | {right / len(samples):.1%} | {best:.2f} | {missed} |"


if __name__ == "__main__":
    main()
