"""The package that `pip install` brings: the commands that need no server, away from the folder of Karat."""

import os
import subprocess
import sys
import zipfile

import pytest
from django.conf import settings

from apps.goldsets.formats.folder import zip_folder
from tests.cli.evaluate.releases import write_release
from tests.conftest import REPO

pytestmark = [pytest.mark.once, pytest.mark.slow]


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """What the wheel unpacks to."""
    folder = tmp_path_factory.mktemp("package")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=REPO, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "unpacked")
    return folder / "unpacked"


def karat(package, at, *words):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("KARAT_")}
    return subprocess.run(
        [sys.executable, "-m", "apps.config.commandline", *words],
        cwd=at,
        env={**environment, "PYTHONPATH": str(package)},
        capture_output=True,
        text=True,
    )


def test_it_knows_its_version(package, tmp_path):
    done = karat(package, tmp_path, "--version")

    assert (done.stdout, done.returncode) == (f"karat {settings.VERSION}\n", 0)


def test_a_zip_is_verified_and_a_run_scored_with_a_report(package, tmp_path):
    with (tmp_path / "doors.zip").open("wb") as stream:
        zip_folder(write_release(tmp_path / "doors"), stream)
    (tmp_path / "mine.run").write_text("Q1 Q0 a 1 2.0 mine\n")

    verified = karat(package, tmp_path, "verify", "doors.zip")
    scored = karat(package, tmp_path, "eval", "doors.zip", "--run", "mine.run", "--html", "report.html")

    assert (verified.returncode, scored.returncode) == (0, 0), verified.stderr + scored.stderr
    assert "nDCG@10" in scored.stdout
    assert "nDCG@10" in (tmp_path / "report.html").read_text()


def test_the_client_is_there_under_its_own_name_and_loads_no_framework(package, tmp_path):
    told = "import sys; from karat import Client; print(Client.__module__, {'django', 'numpy'} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", told], cwd=tmp_path, env={"PYTHONPATH": str(package)}, capture_output=True, text=True
    )

    assert (done.stdout, done.stderr) == ("apps.cli.client.client set()\n", "")
    assert [(package / folder / "py.typed").is_file() for folder in ("apps", "karat")] == [True, True]


def test_what_needs_pages_is_refused_with_the_way_there(package, tmp_path):
    done = karat(package, tmp_path, "up")

    assert done.returncode == 2
    assert done.stderr == (
        "This is the installed package of Karat, which has agree, score, eval, hash-texts, pull, push, verify. "
        "`karat up` needs "
        "the folder of Karat with its pages: get it, and run python3 manage.py up there.\n"
    )
    assert not (package / "data").exists()
    assert "  up " not in karat(package, tmp_path, "--help").stdout


def test_the_pytest_plugin_is_a_module_of_its_own_that_pytest_finds(package, tmp_path):
    (found,) = package.glob("karat_gold-*.dist-info/entry_points.txt")
    (tmp_path / "test_one.py").write_text("import pytest\n\n@pytest.mark.karat\ndef test_it(karat): pass\n")

    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-rs", "-p", "karat_pytest"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(package), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
    )

    assert "[pytest11]\nkarat = karat_pytest\n" in found.read_text()
    assert "needs a gold set: run it with --karat ADDRESS_OR_FOLDER" in done.stdout
    assert done.returncode == 0
