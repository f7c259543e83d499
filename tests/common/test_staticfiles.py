import re
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command

SCRIPTS = sorted((Path(settings.BASE_DIR) / "static" / "js").rglob("*.js"))
STYLES = sorted((Path(settings.BASE_DIR) / "static" / "css").rglob("*.css"))
TEMPLATES = sorted((Path(settings.BASE_DIR) / "templates").rglob("*.html"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_import_lines_end_in_a_semicolon_so_that_hashing_finds_them(script):
    for line in script.read_text().splitlines():
        if re.match(r"(import|export)\b.*[\"']\./", line):
            assert line.rstrip().endswith(";"), line


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
def test_hashed_names_reach_into_modules(settings, tmp_path):
    settings.STATIC_ROOT = tmp_path
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "apps.common.web.staticfiles.HashedStaticFilesStorage"},
    }

    call_command("collectstatic", interactive=False, verbosity=0)

    (shell,) = tmp_path.glob("js/shell.*.js")
    assert re.search(r'import ?"\./keys\.[0-9a-f]{12}\.js";', shell.read_text())
