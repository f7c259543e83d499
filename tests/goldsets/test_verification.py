import hashlib
import io
import json
import zipfile

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.goldsets.formats.folder import FORMS, write_folder, zip_folder
from apps.goldsets.formats.verification import OTHER_ZIP, NotAnExport, verify
from tests.goldsets.content import FACTS, SMALL
from tests.walks import often


@pytest.fixture
def export(tmp_path):
    folder = tmp_path / "export"
    folder.mkdir()
    write_folder(SMALL, folder, formats=["all"], facts=FACTS)
    return folder


def test_changed_missing_and_foreign_files_are_named(export):
    (export / "trec/qrels.txt").write_text("Q01 0 b1 2\n")
    (export / "csv/judgements.csv").unlink()
    (export / "notes.txt").write_text("hello")

    assert verify(export).faults == [
        "csv/judgements.csv is missing.",
        "trec/qrels.txt differs from the manifest.",
        "notes.txt is not in the manifest.",
    ]


@pytest.mark.parametrize(
    "manifest",
    [
        "not json",
        "[]",
        '{"files": 3}',
        '{"files": [{"path": "../x", "bytes": 1, "sha256": "a"}]}',
        '{"files": [{"path": "/etc/passwd", "bytes": 1, "sha256": "a"}]}',
        '{"files": [{"path": "a"}]}',
        "[" * 100_000,
    ],
)
def test_a_manifest_that_is_none_is_refused(tmp_path, manifest):
    (tmp_path / "manifest.json").write_text(manifest)

    with pytest.raises(NotAnExport):
        verify(tmp_path)


def test_a_folder_without_manifest_is_not_an_export(tmp_path):
    with pytest.raises(NotAnExport, match=r"contains no manifest\.json; it is not an export of Karat"):
        verify(tmp_path)


def test_a_zip_that_unpacks_to_more_than_its_manifest_says_is_not_read_to_the_end(tmp_path):
    manifest = {"files": [{"path": "big", "bytes": 3, "sha256": "0" * 64}]}
    with zipfile.ZipFile(tmp_path / "x.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("big", b"0" * 50_000_000)
        archive.writestr("manifest.json", json.dumps(manifest))

    report = verify(tmp_path / "x.zip")

    assert report.faults == ["big differs from the manifest."]
    assert report.size < 2 << 20


def test_a_file_that_is_not_a_zip_is_rejected(tmp_path):
    (tmp_path / "x").write_bytes(io.BytesIO(b"hello").getvalue())

    with pytest.raises(NotAnExport, match="neither a folder nor a zip file"):
        verify(tmp_path / "x")


# One byte anywhere


def found(path) -> bool:
    """Whether something is wrong with the file: a fault, or no export any more."""
    try:
        return not verify(path).is_intact
    except NotAnExport:
        return True


@pytest.fixture
def packed(export, tmp_path):
    path = tmp_path / "export.zip"
    with path.open("wb") as stream:
        zip_folder(export, stream)
    return path


@pytest.fixture
def small_zip(tmp_path):
    (tmp_path / "small").mkdir()
    write_folder(SMALL, tmp_path / "small", formats=["trec"], facts={"version": "v1"})
    path = tmp_path / "small.zip"
    with path.open("wb") as stream:
        zip_folder(tmp_path / "small", stream)
    return path


def test_every_byte_of_a_zip_counts(small_zip):
    data = small_zip.read_bytes()
    unseen = []
    for place in range(len(data)):
        small_zip.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        if not found(small_zip):
            unseen.append(place)

    assert unseen == []


@settings(max_examples=often(25, 60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_one_changed_bit_of_a_whole_zip_is_found_wherever_it_is(packed, place, bit):
    data = packed.read_bytes()
    here = int(place * len(data))
    changed = packed.with_name("changed.zip")
    changed.write_bytes(data[:here] + bytes([data[here] ^ (1 << bit)]) + data[here + 1 :])

    assert found(changed)


@pytest.mark.parametrize("cut", [1, 21, 22, 100, 5_000])
def test_a_zip_that_was_cut_off_is_found(packed, cut):
    packed.write_bytes(packed.read_bytes()[:-cut])

    assert found(packed)


def with_comment(path):
    with zipfile.ZipFile(path, "a") as archive:
        archive.comment = b"hello"


def with_bytes_in_front(path):
    path.write_bytes(b"#!" + path.read_bytes())


def with_bytes_behind(path):
    path.write_bytes(path.read_bytes() + b"\n")


def packed_by_another_program(path):
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)


@pytest.mark.parametrize("change", [with_comment, with_bytes_in_front, with_bytes_behind, packed_by_another_program])
def test_bytes_of_a_zip_around_its_files_are_found(packed, change):
    change(packed)

    assert verify(packed).faults == [OTHER_ZIP]


def test_a_file_that_is_in_a_zip_twice_is_found(packed):
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(packed, "a") as archive:
        archive.writestr("trec/qrels.txt", archive.read("trec/qrels.txt"))

    assert found(packed)


def test_a_link_in_a_folder_is_found(export):
    (export / "more").symlink_to(export / "nowhere")

    assert verify(export).faults == ["more is not in the manifest."]


def test_a_change_of_the_manifest_alone_is_found(export):
    path = export / "manifest.json"
    path.write_text(path.read_text().replace('"version": "v1"', '"version": "v2"'))

    assert verify(export).faults == [
        "SHA256SUMS and manifest.json do not belong together: one of them was changed.",
    ]


def test_sha256sum_reads_the_checksums(export):
    for line in (export / "SHA256SUMS").read_text().splitlines():
        digest, name = line.split("  ")
        assert hashlib.sha256((export / name).read_bytes()).hexdigest() == digest


def test_an_export_from_before_there_were_checksums_is_intact(export):
    manifest = json.loads((export / "manifest.json").read_text())
    del manifest["checksums"]
    (export / "manifest.json").write_text(json.dumps(manifest))
    (export / "SHA256SUMS").unlink()

    assert verify(export).is_intact


# Each form by itself


@pytest.fixture(params=FORMS)
def of_one_form(request, tmp_path):
    """A folder with one form alone."""
    folder = tmp_path / request.param
    folder.mkdir()
    write_folder(SMALL, folder, formats=[request.param], facts=FACTS)
    return folder


def files_in(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


def zipped(folder):
    path = folder.with_suffix(".zip")
    with path.open("wb") as stream:
        zip_folder(folder, stream)
    return path


def test_every_form_is_intact_as_a_folder_and_as_a_zip(of_one_form):
    assert len(files_in(of_one_form)) >= 3
    assert verify(of_one_form).is_intact
    assert verify(zipped(of_one_form)).is_intact


def test_each_file_of_each_form_changed_cut_longer_or_lost_is_found_in_the_folder_and_in_a_zip_made_anew(of_one_form):
    for path in files_in(of_one_form):
        data = path.read_bytes()
        for place in {0, len(data) // 2, len(data) - 1}:
            path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
            assert found(of_one_form), (path, place)
            assert found(zipped(of_one_form)), (path, place)
        for changed in (data[:-1], data + b"\n"):
            path.write_bytes(changed)
            assert found(of_one_form), path
        path.unlink()
        assert found(of_one_form), path
        path.write_bytes(data)
    assert verify(zipped(of_one_form)).is_intact


@pytest.mark.parametrize("is_zipped", [False, True], ids=["folder", "zip"])
def test_another_a_renamed_and_a_lost_file_of_each_form_are_named(of_one_form, is_zipped):
    def faults():
        return verify(zipped(of_one_form) if is_zipped else of_one_form).faults

    victim = next(path for path in files_in(of_one_form) if path.name not in ("manifest.json", "SHA256SUMS"))
    name = victim.relative_to(of_one_form).as_posix()

    (of_one_form / "more.txt").write_text("")
    assert faults() == ["more.txt is not in the manifest."]
    (of_one_form / "more.txt").unlink()
    victim.rename(victim.with_name("renamed"))
    renamed = victim.with_name("renamed").relative_to(of_one_form).as_posix()
    assert faults() == [f"{name} is missing.", f"{renamed} is not in the manifest."]
    victim.with_name("renamed").unlink()
    assert faults() == [f"{name} is missing."]


@pytest.mark.parametrize("change", [with_comment, with_bytes_in_front, with_bytes_behind, packed_by_another_program])
def test_bytes_around_the_files_of_each_form_are_found(of_one_form, change):
    path = zipped(of_one_form)
    change(path)

    assert verify(path).faults == [OTHER_ZIP]
