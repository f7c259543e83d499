"""The files that describe the team set-up say what they should."""

import os
import re
import subprocess
import sys

import pytest
import yaml

from tests.conftest import REPO

pytestmark = [pytest.mark.once, pytest.mark.slow]


@pytest.fixture(scope="module")
def compose() -> dict:
    return yaml.safe_load((REPO / "docker-compose.yml").read_text())


def test_compose_keeps_data_and_secrets_migrates_first_and_publishes_the_web_server_on_this_machine_only(compose):
    services = compose["services"]
    values = services["web"]["environment"]

    assert set(services) == {"migrate", "web", "worker", "postgres", "redis"}
    assert services["redis"]["command"][1:3] == ["--appendonly", "yes"]
    assert values["SECRET_KEY"].startswith("${SECRET_KEY:?")
    assert "POSTGRES_PASSWORD:?" in values["DATABASE_URL"]
    for name in ("web", "worker"):
        assert services[name]["depends_on"]["migrate"]["condition"] == "service_completed_successfully"
    ports = {name: service["ports"] for name, service in services.items() if service.get("ports")}
    assert ports == {"web": ["127.0.0.1:8000:8000"]}


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


def test_the_image_has_the_code_compiled_and_does_not_run_as_root(tmp_path):
    lines = (REPO / "Dockerfile").read_text().splitlines()
    assert [line for line in lines if line.startswith("USER")] == ["USER karat"]
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
    env = base | {"DJANGO_SETTINGS_MODULE": "apps.config.settings", "PYTHONPATH": str(REPO)} | environment
    return subprocess.run([sys.executable, *command], env=env, capture_output=True, text=True, cwd=REPO)


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
    behind = {"KARAT_DATA_DIR": str(tmp_path), "KARAT_BEHIND_PROXY": "1"}
    done = deployment_checks(PRODUCTION | behind, "--fail-level", "WARNING")

    assert done.returncode == 0, done.stderr
    assert "KARAT_BEHIND_PROXY" not in done.stderr


WELL_KNOWN = {"SECRET_KEY": "django-insecure-" + "x" * 40}
REFUSED: dict[str, tuple[dict[str, str], str]] = {
    "no secret key": ({**PRODUCTION, "SECRET_KEY": ""}, "SECRET_KEY is missing. .*token_urlsafe"),
    "no hosts": ({**PRODUCTION, "KARAT_ALLOWED_HOSTS": ""}, "KARAT_ALLOWED_HOSTS is missing. .*host names people type"),
    "a well-known key": (PRODUCTION | WELL_KNOWN, "short or well known"),
    "no proxy": ({"KARAT_PROXY_HOPS": "0"}, "KARAT_PROXY_HOPS=0 is no number of proxies. One in front is 1."),
    "a folder as store": ({"KARAT_STORE": "/mnt/shared"}, "KARAT_STORE='/mnt/shared' is no bucket. Write it as s3://B"),
    "another database": ({"DATABASE_URL": "mysql://u@h/d"}, "sqlite:///… and postgres://…"),
    "a URL without scheme": (
        {"KARAT_URL": "karat.example.org"},
        "is no address. Write it as https://karat.example.org",
    ),
    "a URL without host": ({"KARAT_URL": "https://"}, "is no address. Write it as https://karat.example.org"),
    "a URL of FTP": ({"KARAT_URL": "ftp://karat.example.org"}, "is no address. Write it as https://karat.example.org"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_setting_that_cannot_work_is_refused_in_words_with_its_cure(tmp_path, what):
    environment, words = REFUSED[what]

    done = settings_of(environment | {"KARAT_DATA_DIR": str(tmp_path)})

    assert done.returncode != 0
    assert re.search(words, done.stderr)


def hsts(tmp_path, **environment: str) -> list[str]:
    names = ("SECURE_HSTS_SECONDS", "SECURE_HSTS_INCLUDE_SUBDOMAINS", "SECURE_HSTS_PRELOAD")
    return settings_of(PRODUCTION | {"KARAT_DATA_DIR": str(tmp_path)} | environment, *names).stdout.split()


def test_other_hosts_of_the_domain_are_bound_to_https_by_choice_only(tmp_path):
    chosen = {"KARAT_HSTS_SECONDS": "63072000", "KARAT_HSTS_SUBDOMAINS": "1", "KARAT_HSTS_PRELOAD": "1"}

    assert hsts(tmp_path) == ["31536000", "False", "False"]
    assert hsts(tmp_path, **chosen) == ["63072000", "True", "True"]
    assert hsts(tmp_path, **chosen, KARAT_HTTPS="0") == ["0", "False", "False"]


def test_deployment_checks_warn_in_words(tmp_path):
    unwise = {"KARAT_HSTS_PRELOAD": "1", "KARAT_ALLOWED_HOSTS": "*"}

    done = deployment_checks(PRODUCTION | {"KARAT_DATA_DIR": str(tmp_path)} | unwise, "--fail-level", "WARNING")

    assert done.returncode == 1
    assert "KARAT_HSTS_PRELOAD is on, but browsers take no domain into their lists" in done.stderr
    assert "KARAT_ALLOWED_HOSTS contains “*”" in done.stderr
    assert "KARAT_HTTPS is on and KARAT_BEHIND_PROXY is off." in done.stderr


@pytest.mark.parametrize(
    ("environment", "name", "value"),
    [
        (PRODUCTION, "PUBLIC_URL", "https://karat.example.org"),
        (PRODUCTION | {"KARAT_ALLOWED_HOSTS": "*,.example.org"}, "PUBLIC_URL", "https://example.org"),
        (PRODUCTION | {"KARAT_HTTPS": "0"}, "PUBLIC_URL", "http://karat.example.org"),
        (PRODUCTION | {"KARAT_URL": "https://gold.example.org/"}, "PUBLIC_URL", "https://gold.example.org"),
        ({}, "PUBLIC_URL", "http://localhost"),
        ({"KARAT_ALLOWED_HOSTS": ""}, "PUBLIC_URL", "http://localhost"),
        (
            {"DATABASE_URL": "postgres://u:p@db.example.org/karat?sslmode=verify-full"},
            "DATABASES['default']['OPTIONS']['sslmode']",
            "verify-full",
        ),
    ],
)
def test_links_begin_with_the_address_people_type_and_options_of_the_database_are_kept(
    tmp_path, environment, name, value
):
    done = settings_of(environment | {"KARAT_DATA_DIR": str(tmp_path)}, name)

    assert done.stdout.strip() == value


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


def test_two_fresh_installs_have_different_keys(tmp_path):
    """Two hosts that share a store have the same audit key, from the same secret."""
    shared = {"KARAT_STORE": "s3://karat/files", "SECRET_KEY": "k" * 40}
    keys, of_hosts = [], []
    for name in ("one", "two"):
        data_dir = tmp_path / name
        settings_of({"KARAT_DATA_DIR": str(data_dir)})
        path = data_dir / "secret-key"
        keys.append(path.read_text())
        assert path.stat().st_mode & 0o777 == 0o600
        of_hosts.append(settings_of(shared | {"KARAT_DATA_DIR": str(tmp_path / f"host-{name}")}, "AUDIT_KEY").stdout)

    assert keys[0] != keys[1]
    assert of_hosts[0] == of_hosts[1] != ""


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


def test_the_web_server_says_at_its_start_what_its_settings_contradict(tmp_path):
    script = (
        "import django; django.setup(); from apps.config.apps import startup_messages; "
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
