"""What `python3 manage.py` notices before it starts anything."""

import importlib.util

import pytest

from tests.conftest import REPO


@pytest.fixture
def manage(tmp_path, monkeypatch):
    """manage.py as a module, of a checkout whose files are of a line each."""
    spec = importlib.util.spec_from_file_location("manage_under_test", REPO / "manage.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name in {"pyproject.toml", *(name for names in module.LOCKS.values() for name in names)}:
        (tmp_path / name).write_text(f"{name}\n")
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(module, "STAMP", tmp_path / "stamp")
    return module


@pytest.mark.parametrize(("kind", "runs"), [("run", {"run"}), ("test", {"run", "test"})])
def test_an_environment_is_reused_while_its_inputs_are_unchanged_and_that_of_tests_to_run(manage, kind, runs):
    manage.STAMP.write_text(manage.digest_of(kind) + "\n")

    assert {each for each in ("run", "test") if manage.is_ready(each)} == runs


@pytest.mark.parametrize("name", ["requirements-dev.lock", "pyproject.toml"])
def test_another_package_or_command_brings_it_up_to_date(manage, name):
    manage.STAMP.write_text(manage.digest_of("test") + "\n")

    (manage.ROOT / name).write_text("changed\n")

    assert not manage.is_ready("test")
    assert not manage.is_ready("run")
