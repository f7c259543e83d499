from django.urls import reverse

from apps.common.web import stylesheet
from apps.common.web.stylesheet import CSS, SHEETS, stylesheet_url


def test_every_component_is_in_it_in_the_order_of_the_cascade(client):
    answer = client.get(stylesheet_url())

    assert answer["Content-Type"] == "text/css; charset=utf-8"
    assert answer.content == b"\n".join((CSS / f"{name}.css").read_bytes() for name in SHEETS)


def test_a_browser_caches_it_forever_since_its_address_names_its_content(client, monkeypatch):
    before = stylesheet_url()
    kept = client.get(before)["Cache-Control"]
    monkeypatch.setattr(stylesheet, "_cached", stylesheet._read)
    monkeypatch.setattr(stylesheet, "SHEETS", SHEETS[:-1])

    assert kept == "public, max-age=31536000, immutable"
    assert stylesheet_url() != before
    assert client.get(before).status_code == 404, "an old page finds no sheet that is not its own"


def test_somebody_who_works_on_a_sheet_sees_it_at_once(client, settings, monkeypatch, tmp_path):
    (tmp_path / "tokens.css").write_text("/* One. */")
    monkeypatch.setattr(stylesheet, "CSS", tmp_path)
    monkeypatch.setattr(stylesheet, "SHEETS", ("tokens",))
    settings.DEBUG = True
    first = client.get(stylesheet_url()).content

    (tmp_path / "tokens.css").write_text("/* Two. */")

    assert (first, client.get(stylesheet_url()).content) == (b"/* One. */", b"/* Two. */")


def test_an_address_of_no_version_is_not_there(client):
    assert client.get(reverse("stylesheet", args=["0" * 16])).status_code == 404
