"""Signatures: what is signed, by which key, and what `karat verify` says of it."""

import json
from copy import deepcopy

import pytest
from django.db import DatabaseError, transaction
from django.test import override_settings
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from apps.accounts.enums import Role
from apps.audit.models import Event
from apps.common.errors import Refusal
from apps.config.commandline import main as karat
from apps.goldsets.actions.versions import make_signing_key
from apps.goldsets.core.signing import (
    BadSignature,
    NoKey,
    new_key,
    parse_public_key,
    public_key_of,
    signature,
    signer_of,
)
from apps.goldsets.enums import VersionState
from apps.goldsets.execution import exporting
from apps.goldsets.formats.verification import verify
from apps.goldsets.models import SigningKey
from tests.factories import AT, lead_of, make_member
from tests.goldsets.factories import make_version

PRIVATE = new_key()
PUBLIC = public_key_of(PRIVATE)


# The signature itself


def test_the_same_checksums_and_key_give_the_same_signature():
    one = signature(b"sums", private_key=PRIVATE, project="doors")

    assert one == signature(b"sums", private_key=PRIVATE, project="doors")
    assert signer_of(one, b"sums") == ("doors", PUBLIC)


@given(place=st.integers(0, 10_000), bit=st.integers(0, 7))
def test_one_changed_bit_of_a_signature_is_found(place, bit):
    data = bytearray(signature(b"sums", private_key=PRIVATE, project="doors"))
    data[place % len(data)] ^= 1 << bit

    with pytest.raises(BadSignature):
        signer_of(bytes(data), b"sums")


def test_a_signature_is_of_its_checksums_and_its_project_only():
    signed = signature(b"sums", private_key=PRIVATE, project="doors")
    other = json.loads(signed) | {"project": "windows"}

    with pytest.raises(BadSignature, match="is not a signature of these files"):
        signer_of(signed, b"other sums")
    with pytest.raises(BadSignature, match="is not a signature of these files"):
        signer_of(json.dumps(other, indent=2).encode() + b"\n", b"sums")


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b"\xff", b"[" * 10_000, b'{"project": 1}'])
def test_what_is_no_signature_is_told_in_a_sentence(data):
    with pytest.raises(BadSignature, match=r"signature\.json is"):
        signer_of(data, b"sums")


@pytest.mark.parametrize(
    "text",
    ["", "doors", PUBLIC[:-1], PUBLIC + "A", PUBLIC.replace("karat", "other")],
    ids=["nothing", "a word", "cut off", "too long", "another kind"],
)
def test_what_is_no_public_key_is_refused(text):
    with pytest.raises(NoKey, match="is not a public key of Karat"):
        parse_public_key(text)


def test_a_public_key_may_have_white_space_around_it():
    assert parse_public_key(f"  {PUBLIC}\n") == PUBLIC


# The key of a project


@pytest.fixture(scope="module")
def _version(module_rows):
    return make_version(VersionState.RELEASED)


@pytest.fixture
def version(db, _version):
    return deepcopy(_version)


@pytest.fixture
def project(version):
    return version.gold_set.project


def make_key(project, at=AT):
    return make_signing_key(project=project, actor=lead_of(project), at=at)


def written(version, folder, **options):
    exporting.write(version, folder, formats=["jsonl"], **options)
    return folder


def test_without_a_key_nothing_is_signed(version, tmp_path):
    report = verify(written(version, tmp_path))

    assert (report.is_intact, report.signer) == (True, None)
    assert not (tmp_path / "signature.json").exists()


def test_an_export_is_signed_with_the_key_of_its_project(version, project, tmp_path):
    key = make_key(project)

    report = verify(written(version, tmp_path))

    assert report.is_intact
    assert report.signer == (project.slug, key.public_key)


def test_a_new_key_ends_the_earlier_one_and_both_stay_on_record(version, project, tmp_path):
    first, second = make_key(project), make_key(project)

    first.refresh_from_db()
    assert (first.ended_at, second.ended_at) == (AT, None)
    assert verify(written(version, tmp_path)).signer.public_key == second.public_key
    event = Event.objects.filter(action="signing_key.made").latest("pk")
    assert (event.before, event.after) == ({"public_key": first.public_key}, {"public_key": second.public_key})


def test_no_private_key_is_in_the_database_or_the_history(project, monkeypatch):
    monkeypatch.setattr("apps.goldsets.actions.versions.new_key", lambda: PRIVATE)
    key = make_key(project)

    assert PRIVATE.encode() not in bytes(key.sealed)
    assert PRIVATE not in str(list(Event.objects.values_list("before", "after")))


def test_a_key_of_another_secret_key_is_refused_in_a_sentence(version, project, tmp_path):
    make_key(project)

    with override_settings(SECRET_KEY="x" * 50), pytest.raises(Refusal, match="A lead can make a new one"):
        written(version, tmp_path)


@pytest.mark.parametrize("change", [{"public_key": PUBLIC}, {"sealed": b"x"}, {"made_at": AT.replace(year=2020)}])
def test_the_database_keeps_a_key_as_it_is(project, change):
    key = make_key(project)

    with pytest.raises(DatabaseError, match="a signing key never changes"), transaction.atomic():
        SigningKey.objects.filter(pk=key.pk).update(**change)
    with pytest.raises(DatabaseError, match="a signing key is never deleted"), transaction.atomic():
        SigningKey.objects.filter(pk=key.pk)._raw_delete("default")


# karat verify


def test_verify_says_by_whom_files_were_signed(version, project, tmp_path, capsys):
    key = make_key(project)
    folder = written(version, tmp_path / "out")
    (tmp_path / "key.pub").write_text(f"{key.public_key}\n")

    for named in (key.public_key, str(tmp_path / "key.pub")):
        assert karat(["verify", str(folder), "--key", named]) == 0
        assert f"Signed by project {project.slug} with the key {key.fingerprint}.\n" in capsys.readouterr().out
    assert karat(["verify", str(folder)]) == 0
    assert "Whose key it is, --key PUB checks." in capsys.readouterr().out


def test_another_key_and_a_missing_signature_have_a_code_of_their_own(version, project, tmp_path, capsys):
    unsigned = written(version, tmp_path / "unsigned")
    make_key(project)
    signed = written(version, tmp_path / "signed")

    assert karat(["verify", str(unsigned), "--key", PUBLIC]) == 4
    assert "Not signed, and the key" in capsys.readouterr().out
    assert karat(["verify", str(signed), "--key", PUBLIC, "--format", "json"]) == 4
    told = json.loads(capsys.readouterr().out)
    assert told["intact"] is True
    assert "Signed with another key" in told["faults"][0]


def test_a_removed_signature_is_a_change(version, project, tmp_path, capsys):
    key = make_key(project)
    folder = written(version, tmp_path / "out")
    (folder / "signature.json").unlink()

    assert karat(["verify", str(folder), "--key", key.public_key]) == 1
    assert "signature.json is missing, and the manifest says that the export is signed." in capsys.readouterr().out


def test_files_that_were_changed_and_digested_again_are_not_signed(version, project, tmp_path):
    """Who changes files can write manifest and checksums that fit; without the key there is no signature that does."""
    make_key(project)
    folder = written(version, tmp_path / "out", names=False)
    other = written(version, tmp_path / "other")
    (other / "signature.json").write_bytes((folder / "signature.json").read_bytes())

    assert verify(other).faults == ["signature.json is not a signature of these files."]


def test_what_is_no_key_is_a_wrong_command_line(tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        karat(["verify", str(tmp_path), "--key", "doors"])

    assert ended.value.code == 2
    assert "is not a public key of Karat" in capsys.readouterr().err


# The page


def test_a_lead_makes_a_key_and_everybody_sees_its_public_part(client, version, project):
    client.force_login(lead_of(project))
    page = client.post(reverse("goldsets:make-key", args=[project.slug]), follow=True).content.decode()
    key = SigningKey.objects.get()

    assert key.public_key in page
    assert "Replace the key" in page
    client.force_login(make_member(project, Role.VIEWER))
    seen = client.get(reverse("goldsets:signing", args=[project.slug])).content.decode()
    assert key.public_key in seen
    assert "Replace the key" not in seen
    assert client.post(reverse("goldsets:make-key", args=[project.slug])).status_code == 403


def test_the_page_of_a_version_says_whether_downloads_are_signed(client, version, project):
    client.force_login(lead_of(project))
    page = reverse("goldsets:version", args=[project.slug, version.gold_set.slug, version.number])
    assert "not signed" in client.get(page).content.decode()

    key = make_key(project)

    assert f"signed with the key {key.fingerprint}" in client.get(page).content.decode()
