"""The pytest plugin: `pytest --karat ADDRESS_OR_FOLDER` fails a test where a gate fails on a gold version.

Every pytest of its environment loads it, as a module of its own, so it imports nothing heavy before a test uses it.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from apps.cli.evaluate.in_tests import Checked, Conditions
    from apps.cli.evaluate.released import ReleaseSplit

HOW_TO_RUN = (
    "needs a gold set: run it with --karat ADDRESS_OR_FOLDER, such as pytest --karat gold/handbook-v3, or the address "
    "of a project of Karat"
)
HIDDEN = (
    "a package of this project is called apps and hides the one that Karat needs. Run the tests so that its folder is "
    "not on the path, for example with --import-mode=importlib."
)
WARN, FAIL = "warn", "fail"
PROPERTY = ("karat", "not known yet")
MARK = ("gates", "tier", "split", "slice", "hit", "depth", "baseline")
"""What a mark may say beside the version, under the names of the options of `karat eval`."""
PATHS = ("gates", "baseline")
PREPARED = pytest.StashKey[dict[tuple[str, str], Any]]()


class NotKnownYet(UserWarning):
    """A gate that cannot be decided: too few queries, or its bound lies within the interval."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("karat", "gates on a gold set")
    options = {
        "karat": ("ADDRESS_OR_FOLDER", "", "a project of Karat, such as https://karat.example.org/p/handbook, an "
                  "exported version, or a folder of them; without it tests with the mark karat are skipped"),
        "karat-project": ("SLUG", "", "the project, where the address does not name it"),
        "karat-version": ("GOLDSET@vN", "", "the version of tests whose mark names none"),
        "karat-gates": ("FILE", "", "the gates of tests whose mark names none"),
        "karat-tier": ("TIER", "", "smoke, full or deep, for tests whose mark names none (full)"),
        "karat-token-from": ("NAME", "KARAT_TOKEN", "environment variable of the token (KARAT_TOKEN)"),
        "karat-not-known": ("{warn,fail}", WARN, "what a gate that is not known yet does (warn)"),
    }  # fmt: skip
    for name, (metavar, default, words) in options.items():
        ini = name.replace("-", "_")
        choices: dict[str, Any] = {"choices": (WARN, FAIL)} if name == "karat-not-known" else {"metavar": metavar}
        group.addoption(f"--{name}", dest=ini, default=None, help=words, **choices)
        parser.addini(ini, f"the same as --{name}", default=default)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        f"karat(version, {', '.join(f'{name}=…' for name in MARK)}): a test of the fixture karat on this gold version; "
        "it is skipped without --karat",
    )


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("karat") and not _option(item.config, "karat"):
        pytest.skip(HOW_TO_RUN)


def pytest_report_teststatus(report: Any) -> tuple[str, str, tuple[str, Mapping[str, bool]]] | None:
    """Not known yet is an outcome of its own, beside passed and failed."""
    if report.when == "call" and report.passed and PROPERTY in map(tuple, report.user_properties):
        return "not known yet", "?", ("NOT KNOWN YET", {"yellow": True})
    return None


@pytest.fixture
def karat(request: pytest.FixtureRequest) -> Karat:
    """Holds a search function against the gates of the mark `karat` of this test."""
    if not _option(request.config, "karat"):
        pytest.skip(HOW_TO_RUN)
    return Karat(request)


class Karat:
    """One gold version and its gates, as the mark of a test and the options say."""

    def __init__(self, request: pytest.FixtureRequest) -> None:
        self._request = request
        self._config: pytest.Config = request.config
        self._item: pytest.Item = request.node
        mark = self._item.get_closest_marker("karat")
        self._version = str(mark.args[0]) if mark and mark.args else _option(self._config, "karat_version")
        self._said: dict[str, Any] = dict(mark.kwargs) if mark else {}
        if unknown := sorted(set(self._said) - set(MARK)):
            pytest.fail(f"The mark karat has no {unknown[0]}. It has {', '.join(MARK)}.", pytrace=False)

    def check(self, search: Callable[[str], Iterable[Any]], *, name: str = "") -> Checked:
        """Ask `search` every query, and fail the test where a gate failed or had nothing to check.

        `search` takes the text of a query and returns, best first, ids, pairs of id and score, or dicts with `id`,
        `score`, `document_id`, `pages` and `text`, as many as it knows.
        """
        warns = _option(self._config, "karat_not_known") != FAIL
        called = name or getattr(search, "__name__", type(search).__name__)
        checked = self._checked(search, called, warns=warns)
        if checked.state != "passed":
            pytest.fail(checked.text, pytrace=False)
        if checked.is_open:
            self._item.user_properties.append(PROPERTY)
            warnings.warn(NotKnownYet(checked.text), stacklevel=2)
        return checked

    def _checked(self, search: Callable[[str], Iterable[Any]], name: str, *, warns: bool) -> Checked:
        faults = _faults()
        from apps.cli.evaluate import in_tests

        try:
            release, wanted = self._release(), self._conditions()
            return in_tests.check(release, _untouched(search), wanted, name=name, open_warns=warns)
        except _OfSearch as raised:
            raise raised.fault from None
        except faults as fault:
            sentence = f"karat: {fault}"
        pytest.fail(sentence, pytrace=False)

    def _conditions(self) -> Conditions:
        from apps.cli.evaluate.in_tests import Conditions

        said = {key: value for key, value in self._said.items() if key not in ("split", "tier")}
        said |= {key: self._path(said[key]) for key in PATHS if said.get(key)}
        if "gates" not in said:
            gates = _option(self._config, "karat_gates")
            if not gates:
                pytest.fail(
                    "karat: no gates: name their file in the mark, gates=…, or with --karat-gates.", pytrace=False
                )
            said["gates"] = _from(self._config, "karat_gates", gates)
        return Conditions(**said, tier=self._tier())

    def _tier(self) -> str:
        return str(self._said.get("tier") or _option(self._config, "karat_tier") or "full")

    def _path(self, name: str) -> Path:
        """A file that a mark names: beside the test, else below the root of all tests."""
        beside = self._item.path.parent / name
        return beside if beside.exists() else self._config.rootpath / name

    def _release(self) -> ReleaseSplit:
        """The release, read once in a run."""
        from apps.cli.evaluate.released import read_release

        read = self._config.stash.setdefault(PREPARED, {})
        split = str(self._said.get("split") or ("all" if self._tier() == "deep" else ""))
        key = (self._version, split)
        if key not in read:
            read[key] = read_release(self._file(), {"": None, "all": ""}.get(split, split), with_corpus=True)
        found: ReleaseSplit = read[key]
        return found

    def _file(self) -> Path:
        from apps.cli.evaluate import in_tests

        place = _option(self._config, "karat")
        version = in_tests.reference_of(self._version) if self._version else ""
        if not in_tests.is_address(place):
            return in_tests.found_in(_from(self._config, "karat", place), version)
        if not version:
            pytest.fail("karat: no version: name it in the mark, or with --karat-version.", pytrace=False)
        server, project = in_tests.server_and_project(place, _option(self._config, "karat_project"))
        variable = _option(self._config, "karat_token_from")
        token = os.environ.get(variable, "").strip()
        if not token:
            pytest.fail(f"karat: the environment variable {variable} holds no token.", pytrace=False)
        from apps.cli.client.client import Client

        with Client(server, project, token=token) as client:
            return in_tests.pulled(client, version, self._folder())

    def _folder(self) -> Path:
        cache: pytest.Cache | None = getattr(self._config, "cache", None)
        if cache is not None:
            return cache.mkdir("karat")
        factory: pytest.TempPathFactory = self._request.getfixturevalue("tmp_path_factory")
        return factory.mktemp("karat")


class _OfSearch(Exception):
    """What a search function raised: it is the test's own, and not one of ours."""

    def __init__(self, fault: Exception) -> None:
        self.fault = fault


def _untouched(search: Callable[[str], Iterable[Any]]) -> Callable[[str], Iterable[Any]]:
    def asked(text: str) -> Iterable[Any]:
        try:
            found = search(text)
            return list(found) if isinstance(found, Iterable) and not isinstance(found, str | bytes | dict) else found
        except Exception as fault:
            raise _OfSearch(fault) from fault

    return asked


def _faults() -> tuple[type[Exception], ...]:
    """What is told in a sentence."""
    try:
        from apps.cli.client.client import KaratError
    except ModuleNotFoundError as missing:
        if (missing.name or "").split(".")[0] == "apps":
            pytest.fail(f"karat: {HIDDEN}", pytrace=False)
        raise
    from apps.cli.evaluate.in_tests import CannotCheck
    from apps.common.errors import InputError, InputErrors
    from apps.goldsets.formats.verification import NotAnExport
    from apps.metrics.measures.notation import MeasureError

    return KaratError, CannotCheck, InputError, InputErrors, NotAnExport, MeasureError, OSError


def _option(config: pytest.Config, name: str) -> str:
    """The value of the command line, else of the ini file."""
    given = config.getoption(name)
    return str(config.getini(name) if given is None else given)


def _from(config: pytest.Config, option: str, path: str) -> Path:
    """A path of the command line from where pytest was called, one of the ini file from the root of all tests."""
    base = config.rootpath if config.getoption(option) is None else config.invocation_params.dir
    return base / path
