import bz2
import gzip
import io
import lzma
import tarfile
import zipfile

import pytest

from apps.common.errors import InputError
from apps.common.files.faults import ErrorList
from apps.common.files.filekinds import not_text
from apps.common.files.tabular import TableFile, read_csv, read_lines
from apps.metrics.files.trec_rows import read_run_rows

ROW = b"Q1 Q0 B7 1 2 t\n"


def zipped() -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("run.txt", ROW)
    return held.getvalue()


def tarred() -> bytes:
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w") as archive:
        facts = tarfile.TarInfo("run.txt")
        facts.size = len(ROW)
        archive.addfile(facts, io.BytesIO(ROW))
    return held.getvalue()


OTHERS = {
    "compressed with xz": lzma.compress(ROW),
    "compressed with bzip2 (bz2)": bz2.compress(ROW),
    "compressed with Zstandard (zst)": b"\x28\xb5\x2f\xfd\x04\x58" + ROW,
    "a zip archive or a spreadsheet": zipped(),
    "a tar archive": tarred(),
    "a PDF": b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n",
    "a Parquet file": b"PAR1\x15\x04\x15",
    "UTF-16": "Q1 Q0".encode("utf-16"),
    "not text": bytes(range(256)) * 4,
    "not text: it is binary, or UTF-16 without its mark": ROW.decode().encode("utf-16-le"),
}
WIDE = {"UTF-16", "not text: it is binary, or UTF-16 without its mark"}
"""What the command line reads all the same."""


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le"])
def test_the_command_line_reads_a_run_in_wide_letters(tmp_path, encoding):
    (tmp_path / "plain").write_bytes(ROW)
    (tmp_path / "wide").write_bytes(ROW.decode().encode(encoding))

    assert list(read_run_rows(tmp_path / "wide")) == list(read_run_rows(tmp_path / "plain"))


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", OTHERS)
def test_a_file_that_is_not_text_is_named_for_what_it_is(tmp_path, name, packed):
    data = gzip.compress(OTHERS[name]) if packed else OTHERS[name]
    (tmp_path / "run").write_bytes(data)
    readers = [
        *([] if name in WIDE else [lambda: list(read_run_rows(tmp_path / "run"))]),
        lambda: list(read_lines(TableFile("run", io.BytesIO(data)))),
        lambda: list(read_csv(TableFile("run", io.BytesIO(data)), ErrorList(), required=["query"])),
    ]

    for read in readers:
        with pytest.raises(InputError) as caught:
            read()

        assert caught.value.line is None
        assert caught.value.message.startswith(f"the file is {name}")


@pytest.mark.parametrize("head", [b"", ROW, b"BZ 1\n", "ä,ö\n".encode(), b"a\tb\r\n\x0c", b"Q1 0 B\x007 1\n", b"\xe4"])
def test_what_may_be_text_is_left_to_its_reader(head):
    assert not_text(head) == ""
