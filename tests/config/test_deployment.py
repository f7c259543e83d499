"""The files that describe the team set-up say what they should."""

import os
import subprocess
import sys

import pytest
import yaml

from tests.conftest import REPO

pytestmark = [pytest.mark.once, pytest.mark.slow]


@pytest.fixture(scope="module")
def compose() -> dict:
    return yaml.safe_load((REPO / "docker-compose.yml").read_text())


def test_compose_has_web_worker_postgres_and_redis(compose):
    assert set(compose["services"]) == {"migrate", "web", "worker", "postgres", "redis"}


def test_a_host_of_several_has_web_and_worker_with_the_same_commands_and_its_own_disk(compose):
    hosts = yaml.safe_load((REPO / "docker-compose.hosts.yml").read_text())
    shared = ["SECRET_KEY", "DATABASE_URL", "BROKER_URL", "KARAT_STORE", "KARAT_ALLOWED_HOSTS"]
    required = {name: f"${{{name}:?Set {name} in .env}}" for name in shared}

    assert set(hosts["services"]) == {"web", "worker"}
    for name, service in hosts["services"].items():
        assert service.get("command") == compose["services"][name].get("command")
        assert service["volumes"] == ["files:/data"]
        assert required.items() <= service["environment"].items()


def test_every_setting_in_env_reaches_web_and_worker(compose):
    hosts = yaml.safe_load((REPO / "docker-compose.hosts.yml").read_text())
    services = [each["services"][name] for each in (compose, hosts) for name in ("web", "worker")]

    assert [service["env_file"] for service in services] == [".env"] * 4


def test_karats_account_owns_its_database_and_is_no_superuser(compose):
    script = compose["configs"]["own-account"]["content"]
    database = compose["services"]["postgres"]

    assert compose["services"]["web"]["environment"]["DATABASE_URL"].startswith("postgres://karat:")
    assert database["environment"].keys() == {"POSTGRES_PASSWORD"}  # so the superuser is postgres
    assert database["configs"] == [{"source": "own-account", "target": "/docker-entrypoint-initdb.d/karat.sh"}]
    assert "CREATE ROLE karat LOGIN PASSWORD" in script
    assert "CREATE DATABASE karat OWNER karat" in script
    assert "ALTER ROLE postgres PASSWORD NULL" in script
    assert "SUPERUSER" not in script


def test_redis_persists_its_data(compose):
    assert compose["services"]["redis"]["command"][1:3] == ["--appendonly", "yes"]


def test_no_secret_has_a_default(compose):
    values = compose["services"]["web"]["environment"]

    assert values["SECRET_KEY"].startswith("${SECRET_KEY:?")
    assert "POSTGRES_PASSWORD:?" in values["DATABASE_URL"]


def test_the_database_is_migrated_before_anything_starts(compose):
    for name in ("web", "worker"):
        assert compose["services"][name]["depends_on"]["migrate"]["condition"] == "service_completed_successfully"


def test_only_the_web_server_is_published_and_only_on_this_machine(compose):
    ports = {name: service.get("ports") for name, service in compose["services"].items() if service.get("ports")}

    assert ports == {"web": ["127.0.0.1:8000:8000"]}


def test_the_image_does_not_run_as_root():
    lines = (REPO / "Dockerfile").read_text().splitlines()

    assert [line for line in lines if line.startswith("USER")] == ["USER karat"]


def test_the_image_has_the_code_compiled(tmp_path):
    lines = (REPO / "Dockerfile").read_text().splitlines()
    (line,) = [line for line in lines if "compileall" in line]
    assert lines.index("COPY apps apps") < lines.index(line) < lines.index("USER karat")
    (tmp_path / "apps").mkdir()
    (tmp_path / "apps" / "one.py").write_text("print('one')\n")

    words = line.removeprefix("RUN python ").split()
    beside = {name: value for name, value in os.environ.items() if name != "PYTHONPYCACHEPREFIX"}
    subprocess.run([sys.executable, *words], cwd=tmp_path, env=beside, check=True)

    assert [path.name.split(".")[0] for path in (tmp_path / "apps").rglob("*.pyc")] == ["one"]


def run_with(environment: dict[str, str], *command: str) -> subprocess.CompletedProcess:
    base = {key: os.environ[key] for key in ("PATH", "HOME") if key in os.environ}
    here = {"DJANGO_SETTINGS_MODULE": "apps.config.settings", "PYTHONPATH": str(REPO)}
    return subprocess.run(
        [sys.executable, *command], env=base | here | environment, capture_output=True, text=True, cwd=REPO, check=False
    )


def deployment_checks(environment: dict[str, str], *options: str) -> subprocess.CompletedProcess:
    return run_with(environment, "-m", "django", "check", "--deploy", *options)


def settings_of(environment: dict[str, str], *names: str) -> subprocess.CompletedProcess:
    """Reads the settings in a process of their own, without the apps, and prints some of them."""
    wanted = ", ".join(f"settings.{name}" for name in names)
    return run_with(environment, "-c", f"from apps.config import settings; print({wanted})")


PRODUCTION = {
    "KARAT_PRODUCTION": "1",
    "KARAT_ALLOWED_HOSTS": "karat.example.org",
    "SECRET_KEY": "kR7-q2Zp9wLx_4Ty8Vb3Nm6Hc1Sd5Fg0Jk-aEoUiWzQtXrMvBn2",
}


def test_deployment_checks_pass_under_production_settings(tmp_path):
    done = deployment_checks(PRODUCTION | {"KARAT_DATA_DIR": str(tmp_path)}, "--fail-level", "WARNING")

    assert done.returncode == 0, done.stderr


def hsts(tmp_path, **environment: str) -> list[str]:
    names = ("SECURE_HSTS_SECONDS", "SECURE_HSTS_INCLUDE_SUBDOMAINS", "SECURE_HSTS_PRELOAD")
    return settings_of(PRODUCTION | {"KARAT_DATA_DIR": str(tmp_path)} | environment, *names).stdout.split()


def test_other_hosts_of_the_domain_are_bound_to_https_by_choice_only(tmp_path):
    chosen = {"KARAT_HSTS_SECONDS": "63072000", "KARAT_HSTS_SUBDOMAINS": "1", "KARAT_HSTS_PRELOAD": "1"}

    assert hsts(tmp_path) == ["31536000", "False", "False"]
    assert hsts(tmp_path, **chosen) == ["63072000", "True", "True"]
    assert hsts(tmp_path, **chosen, KARAT_HTTPS="0") == ["0", "False", "False"]


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({"KARAT_HSTS_PRELOAD": "1"}, "KARAT_HSTS_PRELOAD is on, but browsers take no domain into their lists"),
        ({"KARAT_ALLOWED_HOSTS": "*"}, "KARAT_ALLOWED_HOSTS contains “*”"),
    ],
)
def test_deployment_checks_warn_in_words(tmp_path, environment, words):
    environment = PRODUCTION | {"KARAT_DATA_DIR": str(tmp_path)} | environment

    done = deployment_checks(environment, "--fail-level", "WARNING")

    assert done.returncode == 1
    assert words in done.stderr


@pytest.mark.parametrize(("behind", "told"), [("0", True), ("1", False)])
def test_https_without_a_proxy_is_mentioned(tmp_path, behind, told):
    environment = PRODUCTION | {"KARAT_DATA_DIR": str(tmp_path), "KARAT_BEHIND_PROXY": behind}

    done = deployment_checks(environment)

    assert ("KARAT_HTTPS is on and KARAT_BEHIND_PROXY is off." in done.stderr) == told


def test_a_number_of_proxies_that_is_none_is_refused(tmp_path):
    done = settings_of({"KARAT_PROXY_HOPS": "0", "KARAT_DATA_DIR": str(tmp_path)})

    assert "KARAT_PROXY_HOPS=0 is no number of proxies. One in front is 1." in done.stderr


def test_connection_options_in_the_address_of_the_database_are_kept(tmp_path):
    url = "postgres://u:p@db.example.org/karat?sslmode=verify-full"

    done = settings_of(
        {"DATABASE_URL": url, "KARAT_DATA_DIR": str(tmp_path)}, "DATABASES['default']['OPTIONS']['sslmode']"
    )

    assert done.stdout.strip() == "verify-full"


@pytest.mark.parametrize(
    ("missing", "cure"),
    [("SECRET_KEY", "token_urlsafe"), ("KARAT_ALLOWED_HOSTS", "host names people type")],
)
def test_a_missing_value_is_named_with_its_cure(tmp_path, missing, cure):
    environment = {key: value for key, value in PRODUCTION.items() if key != missing}

    done = settings_of(environment | {"KARAT_DATA_DIR": str(tmp_path)})

    assert done.returncode != 0
    assert f"{missing} is missing" in done.stderr
    assert cure in done.stderr


@pytest.mark.parametrize(
    ("environment", "url"),
    [
        (PRODUCTION, "https://karat.example.org"),
        (PRODUCTION | {"KARAT_ALLOWED_HOSTS": "*,.example.org"}, "https://example.org"),
        (PRODUCTION | {"KARAT_HTTPS": "0"}, "http://karat.example.org"),
        (PRODUCTION | {"KARAT_URL": "https://gold.example.org/"}, "https://gold.example.org"),
        ({}, "http://localhost"),
        ({"KARAT_ALLOWED_HOSTS": ""}, "http://localhost"),
    ],
)
def test_links_in_mails_begin_with_the_address_people_type(tmp_path, environment, url):
    done = settings_of(environment | {"KARAT_DATA_DIR": str(tmp_path)}, "PUBLIC_URL")

    assert done.stdout.strip() == url


@pytest.mark.parametrize("url", ["karat.example.org", "https://", "ftp://karat.example.org"])
def test_what_is_no_address_is_refused(tmp_path, url):
    done = settings_of({"KARAT_URL": url, "KARAT_DATA_DIR": str(tmp_path)})

    assert "is no address. Write it as https://karat.example.org." in done.stderr


OURS = {"KARAT_URL": "https://gold.example.org:8443/"}
THEIRS = {"KARAT_URL": "http://[fd00::2]:8000", "KARAT_SET_BY_UP": "KARAT_URL"}


@pytest.mark.parametrize(
    ("environment", "is_set", "added", "trusted"),
    [
        (OURS, True, ["gold.example.org"], ["https://gold.example.org:8443"]),
        ({"KARAT_URL": "http://[fd00::2]:8000"}, True, ["[fd00::2]"], ["http://[fd00::2]:8000"]),
        (THEIRS, False, [], []),
        ({"KARAT_URL": ""}, False, [], []),
    ],
)
def test_karat_answers_under_the_address_that_the_operator_has_set(tmp_path, environment, is_set, added, trusted):
    done = settings_of(
        environment | {"KARAT_DATA_DIR": str(tmp_path)}, "IS_PUBLIC_URL_SET", "ALLOWED_HOSTS", "CSRF_TRUSTED_ORIGINS"
    )

    assert done.stdout.strip() == f"{is_set} {['localhost', '127.0.0.1', '[::1]', *added]} {trusted}"


def test_a_well_known_key_is_refused(tmp_path):
    environment = PRODUCTION | {"SECRET_KEY": "django-insecure-" + "x" * 40, "KARAT_DATA_DIR": str(tmp_path)}

    done = settings_of(environment)

    assert "short or well known" in done.stderr


def test_two_fresh_installs_have_different_keys(tmp_path):
    keys = []
    for name in ("one", "two"):
        data_dir = tmp_path / name
        settings_of({"KARAT_DATA_DIR": str(data_dir)})
        path = data_dir / "secret-key"
        keys.append(path.read_text())
        assert path.stat().st_mode & 0o777 == 0o600

    assert keys[0] != keys[1]


@pytest.mark.parametrize(("variable", "file"), [("SECRET_KEY", "secret-key"), ("KARAT_AUDIT_KEY", "audit-key")])
def test_one_of_several_hosts_does_not_go_on_with_keys_of_its_own(tmp_path, variable, file):
    alone = {"KARAT_DATA_DIR": str(tmp_path)}
    settings_of(alone, "SECRET_KEY")  # which makes both
    keys = {"SECRET_KEY": "k" * 40, "KARAT_AUDIT_KEY": "a" * 40}
    shared = {**alone, "KARAT_STORE": "s3://karat/files"}

    assert settings_of(shared | keys, "AUDIT_KEY").stdout.strip() == keys["KARAT_AUDIT_KEY"]
    done = settings_of({name: value for name, value in (shared | keys).items() if name != variable})
    assert f"{variable} is missing. With KARAT_STORE all hosts need the same one" in done.stderr
    assert f"{tmp_path}/{file} of the host that ran first" in done.stderr


def test_new_hosts_have_the_same_keys_from_the_same_secret(tmp_path):
    keys = [
        settings_of(
            {"KARAT_DATA_DIR": str(tmp_path / name), "KARAT_STORE": "s3://karat/files", "SECRET_KEY": "k" * 40},
            "AUDIT_KEY",
        ).stdout
        for name in ("one", "two")
    ]

    assert keys[0] == keys[1] != ""


def test_a_store_that_is_no_bucket_is_refused_by_its_address(tmp_path):
    done = settings_of({"KARAT_STORE": "/mnt/shared", "KARAT_DATA_DIR": str(tmp_path)})

    assert "KARAT_STORE='/mnt/shared' is no bucket. Write it as s3://BUCKET/FOLDER." in done.stderr


def test_an_unknown_database_is_refused_by_name(tmp_path):
    done = settings_of({"DATABASE_URL": "mysql://u@h/d", "KARAT_DATA_DIR": str(tmp_path)})

    assert "sqlite:///… and postgres://…" in done.stderr


def test_the_web_server_says_at_its_start_what_its_settings_contradict(tmp_path):
    script = (
        "import django; django.setup(); from apps.config.checks import startup_messages; "
        "print(*startup_messages(), sep='\\n')"
    )
    environment = PRODUCTION | {"KARAT_DATA_DIR": str(tmp_path), "KARAT_ALLOWED_HOSTS": "*"}

    done = run_with(environment, "-c", script)

    assert done.stdout.splitlines() == [
        "KARAT_HTTPS is on and KARAT_BEHIND_PROXY is off."
        " Karat speaks plain HTTP: a proxy in front of it has to end TLS."
        " Set KARAT_BEHIND_PROXY=1 when a proxy in front sets X-Forwarded-Proto and X-Forwarded-For, or KARAT_HTTPS=0"
        " without TLS.",
        "KARAT_ALLOWED_HOSTS contains “*”: links in mails and redirects would follow whatever host a stranger names."
        " Name the hosts that people type, such as karat.example.org.",
    ]
