"""Settings in force, each with its source, and no secret among them."""

import re
from types import SimpleNamespace

import pytest

from apps.dashboard.core.settings_table import VARIABLES, database_address, table, told, without_password
from tests.conftest import REPO

SECRET = "sesame-open-3"


def shown(environment=None, *, chosen=(), files=(), **values):
    settings = SimpleNamespace(**{one.setting: "" for one in VARIABLES if one.setting} | values)
    settings.DATABASES = values.get("DATABASES", {"default": {"ENGINE": "sqlite", "NAME": "data/karat.sqlite3"}})
    found = table(settings, environment or {}, chosen=frozenset(chosen), files=frozenset(files))
    return {one.name: (one.value, one.source) for one in found}


def test_every_variable_that_karat_reads_is_in_the_table():
    files = ("apps/config/settings.py", "apps/backups/management/console.py")
    text = "".join((REPO / name).read_text() for name in files)
    read = set(re.findall(r"(?:environ\.get\(|environ\[|_text\(|_flag\(|_words\(|_above_zero\()\"([A-Z_]+)\"", text))

    assert {one.name for one in VARIABLES} == read


def test_a_setting_names_where_it_comes_from():
    environment = {"KARAT_LOG_LEVEL": "INFO", "KARAT_URL": "http://localhost:8000"}
    found = shown(environment, chosen=["KARAT_URL"], files=["secret-key"], PUBLIC_URL="http://localhost:8000")

    assert found["KARAT_LOG_LEVEL"] == ("INFO", "environment")
    assert found["KARAT_URL"] == ("http://localhost:8000", "karat up")
    assert found["SECRET_KEY"][1] == "file secret-key"
    assert found["KARAT_AUDIT_KEY"][1] == "default"
    assert found["KARAT_BACKUP_TO"] == ("not set", "default")


def test_of_a_secret_only_whether_it_is_set_is_told():
    secret = {one.setting: SECRET for one in VARIABLES if one.is_secret and one.setting}
    environment = {one.name: SECRET for one in VARIABLES if one.is_secret}
    url = f"redis://karat:{SECRET}@queue.example.org:6379/0"

    found = shown(environment, **secret, BROKER_URL=url)

    assert SECRET not in str(found)
    assert found["EMAIL_HOST_PASSWORD"] == ("set, not shown", "environment")
    assert found["BROKER_URL"][0] == "redis://karat@queue.example.org:6379/0"
    assert shown()["KARAT_METRICS_TOKEN"] == ("not set", "default")


def test_every_variable_that_sounds_like_a_secret_is_one():
    sounding = re.compile("KEY$|TOKEN|PASSWORD$|SECRET|PASSPHRASE|WEBHOOK$")  # who has such an address can post to it

    assert {one.name for one in VARIABLES if sounding.search(one.name)} == {
        one.name for one in VARIABLES if one.is_secret
    }


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (True, "on"),
        (False, "off"),
        (None, "not set"),
        ([], "not set"),
        (["a", "b"], "a, b"),
        (9925, "9925"),
        (8.0, "8"),
    ],
)
def test_values_are_told_as_people_read_them(value, words):
    assert told(value) == words


def test_the_database_is_told_without_its_password():
    server = {"ENGINE": "postgresql", "NAME": "karat", "USER": "karat", "PASSWORD": SECRET, "HOST": "db", "PORT": 5432}

    assert database_address(server) == "postgres://karat@db:5432/karat"
    assert database_address({"ENGINE": "postgresql", "NAME": "karat"}) == "postgres://localhost/karat"
    assert database_address({"ENGINE": "x.sqlite", "NAME": "karat.sqlite3"}) == "SQLite, karat.sqlite3"


def test_a_query_that_may_hold_a_password_goes_with_it():
    assert without_password(f"redis://:{SECRET}@queue/0?password={SECRET}") == "redis://@queue/0"
    assert without_password("https://karat.example.org") == "https://karat.example.org"


def test_sizes_are_told_in_their_unit_and_zero_is_no_limit():
    assert shown(UPLOAD_MAX_BYTES=2_000_000_000)["KARAT_UPLOAD_MAX_BYTES"][0] == "2.0\N{NO-BREAK SPACE}GB"
    assert shown(INDEX_MAX_BYTES=0)["KARAT_INDEX_MAX_BYTES"][0] == "no limit"
