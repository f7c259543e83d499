import gzip
import re

import pytest
from django.contrib.staticfiles.storage import ManifestStaticFilesStorage
from django.core.management import call_command

from apps.common.web import assets
from apps.common.web.assets import asset_url, bundle, imported
from tests.conftest import REPO

TEMPLATES = sorted((REPO / "templates").rglob("*.html"))
STYLES = sorted((REPO / "static" / "css").rglob("*.css"))


def linked(tag: str) -> list[str]:
    return sorted({name for path in TEMPLATES for name in re.findall(rf"{{% {tag} '([^']+)' %}}", path.read_text())})


@pytest.mark.parametrize("name", linked("asset"))
def test_every_asset_of_a_page_is_there_and_is_its_bundle(client, name):
    answer = client.get(asset_url(name), headers={"accept-encoding": "gzip"})

    assert answer.status_code == 200
    assert gzip.decompress(answer.content).decode() == bundle(REPO / "static" / name)


def test_every_script_is_linked_or_imported():
    scripts = [REPO / "static" / name for name in linked("asset") if name.startswith("js/")]
    used = {file for script in scripts for file in [script, *imported(script)]}

    assert used == set((REPO / "static" / "js").glob("*.js"))


def test_an_asset_carries_only_headers_that_a_browser_heeds_for_it(client):
    answer = client.get(asset_url("js/shell.js"), headers={"accept-encoding": "gzip"})

    assert dict(answer.headers) == {
        "Content-Type": "text/javascript; charset=utf-8",
        "Content-Encoding": "gzip",
        "Content-Length": str(len(answer.content)),
        "Cache-Control": "public, max-age=31536000, immutable",
        "Vary": "Accept-Encoding",
        "X-Content-Type-Options": "nosniff",
    }


def test_who_takes_no_gzip_gets_the_same_text(client):
    answer = client.get(asset_url("css/jobs.css"))

    assert "Content-Encoding" not in answer
    assert answer["Content-Type"] == "text/css; charset=utf-8"
    assert answer.content.decode() == bundle(REPO / "static" / "css" / "jobs.css")


def test_an_old_page_finds_no_script_that_is_not_its_own(client, settings, monkeypatch, tmp_path):
    """And somebody who works on a script sees it at once."""
    settings.DEBUG = True
    monkeypatch.setattr(assets, "SOURCES", tmp_path)
    (tmp_path / "js").mkdir()
    (tmp_path / "js" / "part.js").write_text("export const part = 1;\n")
    (tmp_path / "js" / "page.js").write_text('import { part } from "./part.js";\n')
    before = asset_url("js/page.js")

    (tmp_path / "js" / "part.js").write_text("export const part = 2;\n")

    assert asset_url("js/page.js") != before
    assert client.get(before).status_code == 404
    assert b"part = 2;" in client.get(asset_url("js/page.js")).content


@pytest.mark.parametrize(
    "path",
    ["/assets/", "/assets/js/shell.js", "/assets/0123456789abcdef/js/shell.js", "/assets/0123456789abcdef/js/none.js"],
)
def test_an_address_of_no_version_is_not_there(client, path):
    assert client.get(path).status_code == 404


def test_an_asset_can_only_be_read(client):
    assert client.post(asset_url("js/shell.js")).status_code == 404


def test_a_static_file_may_load_nothing_and_nobody_guesses_at_its_kind(client):
    answer = client.get("/static/icon.svg")

    assert answer["Content-Security-Policy"] == "default-src 'none'"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert "Access-Control-Allow-Origin" not in answer


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: "/".join(path.parts[-2:]))
def test_templates_have_no_inline_script_or_style(template):
    source = template.read_text()

    assert not re.search(r"<script(?![^>]*\bsrc=)", source)
    assert not re.search(r"<style\b|\sstyle=|\son[a-z]+=\"", source)


@pytest.mark.parametrize("style", STYLES, ids=lambda path: path.name)
def test_colours_are_named_in_tokens_only(style):
    if style.name != "tokens.css":
        assert not re.search(r"#[0-9a-fA-F]{3,8}\b(?=[;\s),])|rgb\(", style.read_text())


@pytest.mark.slow
def test_every_file_of_a_page_is_collected_under_a_hashed_name(settings, tmp_path):
    settings.STATIC_ROOT = tmp_path
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
    }

    call_command("collectstatic", interactive=False, verbosity=0)

    hashed = ManifestStaticFilesStorage(location=tmp_path).hashed_files
    for name in [*linked("static"), "django_htmx/htmx-2.min.js"]:
        assert (tmp_path / hashed[name]).is_file()
