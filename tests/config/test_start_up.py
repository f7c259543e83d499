"""What a start loads: slow packages come with what needs them, not with Django."""

from importlib import import_module

import pytest

from tests.backups.running import environment, python
from tests.house import called_later

pytestmark = [pytest.mark.once, pytest.mark.slow]

SLOW = ["bs4", "celery", "charset_normalizer", "docutils", "kombu", "pyarrow", "scipy", "sklearn", "urllib3"]
PAGES = ["apps.config.urls", "drf_spectacular.plumbing", "rest_framework.views"]
SET_UP = "import django; django.setup()"


def command(*words: str) -> str:
    return f"from apps.config.commandline import main; assert main({list(words)!r}) == 0"


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory):
    """A data directory with an empty database of this version."""
    folder = tmp_path_factory.mktemp("data")
    run_in(folder, command("migrate", "--verbosity", "0"))
    return folder


def run_in(folder, code: str) -> str:
    """Run the code in a process of its own, and return what it printed."""
    done = python(code, env=environment(folder))
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "code",
    [SET_UP, command("user", "list"), command("migrate", "--check"), command("verify-audit")],
    ids=["setup", "user list", "migrate --check", "verify-audit"],
)
def test_a_start_loads_no_slow_package_and_no_page(code, data_dir):
    shown = run_in(data_dir, f"{code}; import sys; print([name for name in {SLOW + PAGES} if name in sys.modules])")

    assert shown.splitlines()[-1] == "[]"


def test_the_pages_are_what_a_check_loads(data_dir):
    shown = run_in(data_dir, f"{command('check')}; import sys; print([name in sys.modules for name in {PAGES}])")

    assert shown.splitlines()[-1] == "[True, True, True]"


@pytest.mark.parametrize("path", called_later())
def test_what_is_loaded_later_is_there(path):
    module, _, name = path.rpartition(".")

    assert callable(getattr(import_module(module), name))


def test_a_worker_knows_every_kind_of_import_without_the_pages(tmp_path):
    kinds = ["corpus", "judgements", "queries", "training", "triples"]
    known = f"import apps.corpus.selectors.import_kinds as all; print([all.kind_named(name).name for name in {kinds}])"

    assert run_in(tmp_path, f"{SET_UP}; {known}").splitlines()[-1] == str(kinds)
