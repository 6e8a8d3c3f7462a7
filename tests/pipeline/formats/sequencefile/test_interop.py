"""Files of other people's programs: those of Apache Nutch, and both ways with the Hadoop inside pyspark."""

from __future__ import annotations

import io
import os
import random
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from crawlctl.pipeline.formats.sequencefile.codecs import CODECS
from crawlctl.pipeline.formats.sequencefile.header import CHECKSUM_KEY
from crawlctl.pipeline.formats.sequencefile.mapfile import MapFileReader, MapFileWriter
from crawlctl.pipeline.formats.sequencefile.sequencefile import SequenceFileReader, SequenceFileWriter
from crawlctl.pipeline.formats.sequencefile.vint import decode_vint, encode_vint
from crawlctl.pipeline.formats.sequencefile.writables import (
    BYTES,
    LONG,
    NULL,
    TEXT,
    is_known,
    pack_long,
    unpack_long,
)
from crawlctl.tests.bytes_source import BytesSource

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.formats.sequencefile.header import Compression

Records = list[tuple[bytes, bytes]]

NUTCH = Path(__file__).resolve().parents[5] / "shared/data/seqfile/nutch-segments.tar.zst"
NUTCH_RECORDS = {
    "20150309101625/content/part-00000/data": ("Content", 1),
    "20150309101625/crawl_fetch/part-00000/data": ("CrawlDatum", 1),
    "20150309101625/crawl_generate/part-00000": ("CrawlDatum", 1),
    "20150309101625/crawl_parse/part-00000": ("CrawlDatum", 101),
    "20150309101625/parse_data/part-00000/data": ("ParseData", 1),
    "20150309101625/parse_text/part-00000/data": ("ParseText", 1),
    "20150309101656/content/part-00000/data": ("Content", 49),
    "20150309101656/crawl_fetch/part-00000/data": ("CrawlDatum", 61),
    "20150309101656/crawl_generate/part-00000": ("CrawlDatum", 57),
    "20150309101656/crawl_parse/part-00000": ("CrawlDatum", 2598),
    "20150309101656/parse_data/part-00000/data": ("ParseData", 39),
    "20150309101656/parse_text/part-00000/data": ("ParseText", 39),
}
FORMS: list[tuple[Compression, str]] = [
    ("none", "default"),
    *(("record", codec) for codec in CODECS),
    *(("block", codec) for codec in CODECS),
]
forms = pytest.mark.parametrize("form", FORMS, ids="-".join)
integration = pytest.mark.integration


def open_file(path: Path) -> SequenceFileReader:
    return SequenceFileReader(BytesSource(path.read_bytes(), str(path)))


def read(path: Path) -> Records:
    return list(open_file(path))


def open_map(folder: Path) -> MapFileReader:
    data, index = (BytesSource((folder / name).read_bytes(), name) for name in ("data", "index"))
    return MapFileReader(data, index)


@pytest.fixture(scope="module")
def segments(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not NUTCH.exists():
        pytest.skip(f"{NUTCH} is not here")
    if not shutil.which("zstd"):
        pytest.skip("the zstd command is not installed")
    plain = subprocess.run(["zstd", "-dc", str(NUTCH)], check=True, capture_output=True).stdout
    folder = tmp_path_factory.mktemp("nutch")
    with tarfile.open(fileobj=io.BytesIO(plain)) as archive:
        for member in archive.getmembers():
            if member.isfile():
                target = folder / member.name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(archive.extractfile(member).read())  # type: ignore[union-attr] # a file has one
    return folder / "test-segments"


def test_every_file_of_nutch_is_read(segments: Path) -> None:
    found = {}
    for path in segments.rglob("[!.]*"):
        if path.is_file() and path.name != "index":
            header = open_file(path).header
            assert (header.key_class, is_known(header.value_class)) == (TEXT, False)
            name = str(path.relative_to(segments))
            found[name] = header.value_class.rpartition(".")[2], len(read(path))
    assert found == NUTCH_RECORDS


def test_what_nutch_wrote_is_what_we_read(segments: Path) -> None:
    [(url, text)] = read(segments / "20150309101625/parse_text/part-00000/data")
    assert url == b"http://nutch.apache.org/"
    length, start = decode_vint(text, 1)  # ParseText: its version, then the text behind its length
    assert (text[0], length) == (2, len(text) - start)
    assert text[start:].decode().startswith("Apache Nutch™ - Downloads Community Board")
    fetched = read(segments / "20150309101656/crawl_generate/part-00000")
    assert all(key.startswith(b"http") and value[0] == 7 for key, value in fetched)  # CrawlDatum, version 7


def test_maps_of_nutch_are_looked_up(segments: Path) -> None:
    folders = [path.parent for path in segments.rglob("index")]
    assert len(folders) == 8
    for folder in folders:
        reader, records = open_map(folder), read(folder / "data")
        [(key, position)] = read(folder / "index")
        assert (key, unpack_long(position)) == (records[0][0], reader.header.end)
        assert [reader.get(key) for key, _ in records] == [value for _, value in records]
        assert [reader.get(key + b"\0") for key, _ in records] == [None] * len(records)
        assert list(reader.range(records[0][0], records[-1][0])) == records[:-1]


class Hadoop:
    """Hadoop's own classes, through the Java gateway of a Spark context."""

    def __init__(self, context: Any) -> None:
        jvm = context._jvm
        self.context = context
        self.io = jvm.org.apache.hadoop.io
        self.path = jvm.org.apache.hadoop.fs.Path
        self.conf = jvm.org.apache.hadoop.conf.Configuration(context._jsc.hadoopConfiguration())
        self.conf.setInt("io.seqfile.compress.blocksize", 4000)
        self.files = jvm.org.apache.hadoop.fs.FileSystem.getLocal(self.conf)
        self._class = jvm.java.lang.Class.forName
        self._new = jvm.org.apache.hadoop.util.ReflectionUtils.newInstance

    def part(self, name: str) -> Any:
        """Return an inner class of SequenceFile or MapFile."""
        return getattr(self.io, name)

    def compression(self, form: tuple[Compression, str]) -> tuple[Any, Any]:
        kind = getattr(self.part("SequenceFile$CompressionType"), form[0].upper())
        return kind, self._new(self._class(CODECS[form[1]].class_name), self.conf)

    def writer(
        self, path: Path, form: tuple[Compression, str], key_class: str = TEXT, value_class: str = BYTES
    ) -> Any:
        metadata = self.part("SequenceFile$Metadata")()
        metadata.set(self.io.Text("größe"), self.io.Text("七"))
        classes = self._class(key_class), self._class(value_class)
        return self.io.SequenceFile.createWriter(
            self.files, self.conf, self.path(str(path)), *classes, *self.compression(form), None, metadata
        )

    def map_writer(self, folder: Path, form: tuple[Compression, str]) -> Any:
        classes = self._class(TEXT), self._class(BYTES)
        kind, codec = self.compression(form)
        return self.part("MapFile$Writer")(self.conf, self.files, str(folder), *classes, kind, codec, None)

    def append(self, writer: Any, records: Records) -> None:
        for key, value in records:
            writer.append(self.io.Text(key.decode()), self.io.BytesWritable(value))
        writer.close()

    def read(self, path: Path) -> tuple[dict[str, str], Records]:
        """Return metadata and records as SequenceFile.Reader sees them."""
        reader = self.part("SequenceFile$Reader")(self.files, self.path(str(path)), self.conf)
        metadata = {str(name): str(value) for name, value in reader.getMetadata().getMetadata().items()}
        key, value = self.io.Text(), self.io.BytesWritable()
        records = []
        while reader.next(key, value):
            records.append((key.copyBytes(), value.copyBytes()))
        reader.close()
        return metadata, records


@pytest.fixture(scope="module")
def hadoop() -> Iterator[Hadoop]:
    if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        pytest.skip("Java is not installed")
    pyspark = pytest.importorskip("pyspark", reason="pyspark is not installed: pip install '.[interop]'")
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings = (
        pyspark.SparkConf().setMaster("local[1]").setAppName("interop").set("spark.ui.enabled", "false")
    )
    settings = settings.set("spark.driver.host", "127.0.0.1").set("spark.ui.showConsoleProgress", "false")
    context = pyspark.SparkContext(conf=settings)
    yield Hadoop(context)
    context.stop()


def sample(count: int) -> Records:
    """Return records whose keys rise and whose lengths cross the widths of Hadoop's length fields."""
    keys = [
        f"host{number:04d} http://é.example/{'x' * (number * 7 % 300)}".encode() for number in range(count)
    ]
    values = [random.Random(number).randbytes(number * 13 % 700) for number in range(count)]
    values[count // 2] = bytes(range(256)) * 300
    return list(zip(keys, values, strict=True))


def write(path: Path, records: Records, form: tuple[Compression, str]) -> None:
    with (
        path.open("wb") as sink,
        SequenceFileWriter(
            sink,
            compression=form[0],
            codec=form[1],
            metadata={"größe": "七"},
            block_bytes=10_000,
            sync_interval=3000,
        ) as writer,
    ):
        writer.extend([key for key, _ in records], [value for _, value in records])


@integration
def test_numbers_are_those_of_hadoop(hadoop: Hadoop) -> None:
    powers = [sign * 2**power + step for power in range(63) for sign in (1, -1) for step in (-1, 0, 1)]
    for number in [*range(-130, 131), *powers, 2**63 - 1, -(2**63)]:
        buffer = hadoop.io.DataOutputBuffer()
        hadoop.io.WritableUtils.writeVLong(buffer, number)
        assert encode_vint(number) == buffer.getData()[: buffer.getLength()]


@integration
@forms
def test_hadoop_reads_what_we_write(hadoop: Hadoop, tmp_path: Path, form: tuple[Compression, str]) -> None:
    records = sample(300)
    write(tmp_path / "part", records, form)
    metadata, found = hadoop.read(tmp_path / "part")
    assert metadata.pop(CHECKSUM_KEY)  # of our header; to Hadoop it is an entry like any other
    assert (metadata, found) == ({"größe": "七"}, records)


@integration
@forms
def test_spark_reads_what_we_write_in_splits(
    hadoop: Hadoop, tmp_path: Path, form: tuple[Compression, str]
) -> None:
    records = sample(2000)  # Hadoop makes no split below 100 kB
    write(tmp_path / "part", records, form)
    found = hadoop.context.sequenceFile(str(tmp_path / "part"), minSplits=4)
    assert found.getNumPartitions() >= 4
    assert [(key.encode(), bytes(value)) for key, value in found.collect()] == records


@integration
@forms
def test_we_read_what_hadoop_writes(hadoop: Hadoop, tmp_path: Path, form: tuple[Compression, str]) -> None:
    records, path = sample(200), tmp_path / "part"
    hadoop.append(hadoop.writer(path, form), records)
    assert open_file(path).header.metadata == {"größe": "七"}
    assert read(path) == records


@integration
@forms
def test_we_read_what_spark_writes(hadoop: Hadoop, tmp_path: Path, form: tuple[Compression, str]) -> None:
    records, prefix = sample(200), "mapreduce.output.fileoutputformat.compress"
    settings = {
        prefix: str(form[0] != "none").lower(),
        f"{prefix}.type": form[0].upper(),
        f"{prefix}.codec": CODECS[form[1]].class_name,
    }
    pairs = [(key.decode(), bytearray(value)) for key, value in records]
    hadoop.context.parallelize(pairs, 1).saveAsNewAPIHadoopFile(
        str(tmp_path / "out"),
        "org.apache.hadoop.mapreduce.lib.output.SequenceFileOutputFormat",
        keyClass=TEXT,
        valueClass=BYTES,
        conf=settings,
    )
    [path] = (tmp_path / "out").glob("part-*")
    header = open_file(path).header
    assert header.compression == form[0]
    assert header.codec == ("" if form[0] == "none" else CODECS[form[1]].class_name)
    assert read(path) == records


@integration
@forms
def test_longs_and_nulls_go_both_ways(hadoop: Hadoop, tmp_path: Path, form: tuple[Compression, str]) -> None:
    numbers = [0, 1, -1, 2**63 - 1, -(2**63), 1234567890123]
    writer = hadoop.writer(tmp_path / "theirs", form, LONG, NULL)
    for number in numbers:
        writer.append(hadoop.io.LongWritable(number), hadoop.io.NullWritable.get())
    writer.close()
    assert read(tmp_path / "theirs") == [(pack_long(number), b"") for number in numbers]
    with (
        (tmp_path / "ours").open("wb") as sink,
        SequenceFileWriter(
            sink, key_class=LONG, value_class=NULL, compression=form[0], codec=form[1]
        ) as ours,
    ):
        ours.extend([pack_long(number) for number in numbers], [b""] * len(numbers))
    found = hadoop.context.sequenceFile(str(tmp_path / "ours"))
    assert [key for key, _ in found.collect()] == numbers


@integration
@pytest.mark.parametrize("form", [FORMS[0], FORMS[1], FORMS[5]], ids="-".join)
def test_hadoop_looks_up_in_our_maps(hadoop: Hadoop, tmp_path: Path, form: tuple[Compression, str]) -> None:
    records = sample(700)
    with (
        (tmp_path / "data").open("wb") as data,
        (tmp_path / "index").open("wb") as index,
        MapFileWriter(data, index, compression=form[0], codec=form[1], block_bytes=10_000) as writer,
    ):
        writer.extend([key for key, _ in records], [value for _, value in records])
    reader = hadoop.part("MapFile$Reader")(hadoop.files, str(tmp_path), hadoop.conf)
    found, absent = hadoop.io.BytesWritable(), hadoop.io.Text("host0001 nothing")
    for key, value in records[::-3]:
        assert reader.get(hadoop.io.Text(key.decode()), found) is not None
        assert found.copyBytes() == value
    assert reader.get(absent, found) is None
    assert reader.getClosest(absent, found).copyBytes() == records[2][0]
    last = hadoop.io.Text()
    reader.finalKey(last)
    assert last.copyBytes() == records[-1][0]
    reader.close()


@integration
@pytest.mark.parametrize("form", [FORMS[0], FORMS[1], FORMS[5]], ids="-".join)
def test_we_look_up_in_hadoops_maps(hadoop: Hadoop, tmp_path: Path, form: tuple[Compression, str]) -> None:
    records = sample(700)
    hadoop.append(hadoop.map_writer(tmp_path / "map", form), records)
    reader = open_map(tmp_path / "map")
    for key, value in records[::-1]:
        assert reader.get(key) == value
        assert reader.get(key + b"!") is None
    for start in range(0, 600, 41):
        assert list(reader.range(records[start][0], records[start + 77][0])) == records[start : start + 77]
