"""What the forms of pages may name and set: nothing of another project, and no field that is not asked for.

The forms are those that the pages show. What people write into them is shown as words wherever it comes back.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.apps import apps
from django.db import DatabaseError, models, transaction
from django.db.models import F, Value
from django.db.models.functions import Cast, Concat
from django.urls import Resolver404, resolve, reverse
from drf_spectacular.generators import SchemaGenerator

from apps.accounts.models import Project
from apps.corpus.imports.documents import CorpusImportForm
from apps.triples.forms import BenchForm
from tests.endpoints import ENDPOINTS
from tests.fast_client import Asker, watching, without_words
from tests.test_bodies import BODIES, NOWHERE, asker_of
from tests.world import OF_PROJECTS, ROUTES, World, is_of_the_api

pytestmark = [pytest.mark.django_db, pytest.mark.once]


@dataclass
class Form:
    """A form of a page: where it is sent, what it sends as it stands, and every value that its fields offer."""

    name: str
    url: str
    sent: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    offered: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))


class Forms(HTMLParser):
    """The forms of a page that post, and the fields that belong to them."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self.url, self.found = url, []
        self.form: Form | None = None
        self.select = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {key: value or "" for key, value in attrs}
        if tag == "form":
            self._begin(given)
        elif self.form is not None and (name := given.get("name", self.select if tag == "option" else "")):
            self._take(tag, name, given)

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self.form = None
        if tag == "select":
            self.select = ""

    def _begin(self, given: dict[str, str]) -> None:
        self.form = None
        if given.get("method", "get").lower() != "post":
            return
        url = given.get("action") or self.url
        try:
            self.form = Form(resolve(urlsplit(url).path).view_name, url)
        except Resolver404:
            return
        self.found.append(self.form)

    def _take(self, tag: str, name: str, given: dict[str, str]) -> None:
        assert self.form is not None
        if tag == "select":
            self.select = name
            self.form.offered[name] |= set()
        elif tag == "option":
            self._offer(name, given.get("value", ""), is_sent="selected" in given)
        elif tag == "input" and given.get("type") in {"radio", "checkbox"}:
            self._offer(name, given.get("value", "on"), is_sent="checked" in given)
        elif tag in {"input", "textarea", "button"} and given.get("type") != "file":
            self._offer(name, given.get("value", ""), is_sent=tag != "button" and given.get("type") != "submit")

    def _offer(self, name: str, value: str, *, is_sent: bool) -> None:
        assert self.form is not None
        self.form.offered[name].add(value)
        if is_sent:
            self.form.sent[name].append(value)


def pages_of(project: Project, world: World) -> Iterator[tuple[Asker, str]]:
    """Every page of a project, each read by one who may, leads first."""
    for name in OF_PROJECTS:
        readers = () if is_of_the_api(name) else ENDPOINTS[name].get or ()
        if standing := next((one for one in ("lead", "reviewer", "annotator") if one in readers), None):
            yield world.askers[standing], reverse(name, kwargs=world.kwargs(name, project))


def forms_of(project: Project, world: World) -> dict[str, Form]:
    """The forms that post of all pages, by the endpoint they are sent to; what several offer is put together."""
    found: dict[str, Form] = {}
    for asker, url in pages_of(project, world):
        answer = asker.answer("get", url)
        if answer.status_code != 200 or not answer.get("Content-Type", "").startswith("text/html"):
            continue
        parser = Forms(url)
        parser.feed(answer.content.decode())
        for form in parser.found:
            known = found.setdefault(form.name, form)
            for name, values in form.offered.items():
                known.offered[name] |= values
    return found


@pytest.fixture(scope="module")
def forms(world, django_db_blocker) -> tuple[dict[str, Form], dict[str, Form]]:
    """Our forms and theirs."""
    with django_db_blocker.unblock():
        return forms_of(world.project, world), forms_of(world.other, world)


ID = re.compile(r"\d+")
# Numbers that are no ids of anything: counts, grades, days, and the token against forgery.
NO_ID = {"csrfmiddlewaretoken", "key"}


def foreign_ids(ours: Form, theirs: Form) -> Iterator[tuple[str, str]]:
    """Each field with an id that only the other project's form offers."""
    for name, offered in sorted(theirs.offered.items()):
        alien = sorted(value for value in offered - ours.offered.get(name, set()) if ID.fullmatch(value))
        if alien and name not in NO_ID:
            yield name, alien[0]


@pytest.mark.slow
def test_an_id_of_another_project_in_a_form_is_answered_like_one_that_is_nowhere(world, forms):
    ours, theirs = forms
    asked, wrong = 0, {}

    with without_words():
        for endpoint in sorted(ours.keys() & theirs.keys()):
            if not ENDPOINTS[endpoint].post:
                continue  # a form whose buttons say where it goes
            form = ours[endpoint]
            asker = asker_of(world, endpoint)
            for name, alien in foreign_ids(form, theirs[endpoint]):
                answers = []
                for value in (alien, str(NOWHERE)):
                    with watching() as written:
                        status = asker.status("post", form.url, {**form.sent, name: [value]})
                    answers.append((status, [sql for sql, _ in written.statements]))
                asked += 1
                if answers[0] != answers[1]:
                    wrong[f"{endpoint} {name}={alien}"] = [status for status, _ in answers]

    assert wrong == {}
    assert asked >= 20, "forms offer too few ids: this test would find nothing"


# Fields that nobody asked for ----------------------------------------------------------------------------------------

VOLATILE = re.compile(
    r"[0-9a-f]{4}(?: [0-9a-f]{4}){3}"
    r'|"seed": \d+'
    r"|<memory at \w+>|\d{4}-\d\d-\d\d[T ][\d:.]+\S*|[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{32,}|[\w-]{40,}"
)


def hostile_values() -> dict[str, str]:
    """A value for every field of every model: another person's id, another state, a right, a time long past."""
    found: dict[str, str] = {}
    for model in apps.get_models():
        if not model.__module__.startswith("apps."):
            continue
        for one in model._meta.concrete_fields:
            value = "lead"
            if isinstance(one, models.BooleanField):
                value = "true"
            elif isinstance(one, models.ForeignKey | models.IntegerField | models.AutoField | models.FloatField):
                value = "1"
            elif isinstance(one, models.DateTimeField):
                value = "2000-01-01T00:00:00Z"
            found |= {one.name: value, one.attname: value}
    return {**found, "pk": "1", "is_staff": "true", "role": "lead", "scopes": "runs:write"}


def api_fields() -> dict[str, set[str]]:
    """By path and method, the fields that the description of the API names."""
    schema = SchemaGenerator().get_schema(request=None, public=True)
    parts, found = schema["components"]["schemas"], {}
    for path, operations in schema["paths"].items():
        content = operations.get("post", {}).get("requestBody", {}).get("content", {})
        for kind in content.values():
            part = parts.get(kind["schema"].get("$ref", "").rsplit("/", 1)[-1], {})
            found.setdefault(path, set()).update(part.get("properties", {}))
    return found


def effect(statements: list[tuple[str, Any]]) -> list[str]:
    """What was written, apart from times and random words."""
    return [VOLATILE.sub("…", f"{sql} {params!r}") for sql, params in statements]


def writers() -> list[str]:
    return sorted(name for name in ROUTES if ENDPOINTS[name].post and name != "api:not-found")


# Fields that an endpoint takes beside those its form shows, because a script of the page sends them.
TAKEN: dict[str, set[str]] = {
    "accounts:new-project": {"name"},
    "corpus:import-options": set(CorpusImportForm.base_fields),
    "evaluation:miss-note": {"say", "block", "quote", "text"},
    "evaluation:score": {"hit", "slice"},
    "goldsets:draw-slice": {"quarter", "size"},
    "judging:give-back": {"person"},
    "notifications:read-all": {"kind"},
    "queries:set-save": {"name"},
    "queries:settle": {"query", "which"},
    "queries:variants": {"query", "which", "take"},
    "review:remind": {"triple", "one"},
    "triples:save-new": {*BenchForm.base_fields, "block"},
}


@pytest.fixture(scope="module")
def described() -> dict[str, set[str]]:
    return api_fields()


@pytest.mark.slow
@pytest.mark.parametrize("app", sorted({name.split(":")[0] for name in writers()}))
def test_no_endpoint_sets_a_field_that_it_does_not_declare(world, forms, described, app):
    hostile, wrong = hostile_values(), {}

    with without_words():
        for name in writers():
            if name.split(":")[0] != app:
                continue
            url, plain, known, kind = own_request(world, forms[0], described, name)
            extra = {key: value for key, value in hostile.items() if key not in known}
            effects = []
            for body in (plain, {**plain, **extra}):
                with watching() as written:
                    status = asker_of(world, name).status("post", url, body, **kind)
                effects.append((status, effect(written.statements)))
            if effects[0] != effects[1] and effects[1][0] != 400:
                wrong[name] = effects

    assert wrong == {}


def own_request(
    world: World, forms: dict[str, Form], described: dict[str, set[str]], name: str
) -> tuple[str, dict[str, Any], set[str], dict[str, Any]]:
    """Where to send what as people do, the fields that the endpoint asks for, and how it is sent."""
    url = world.url(name)
    if is_of_the_api(name):
        plain = BODIES[name](world.project) if name in BODIES else {}
        path = f"/{ROUTES[name]}".replace("<slug:slug>", "{slug}")
        known = next((keys for at, keys in described.items() if _same_path(at, path)), set())
        return url, plain, known | set(plain), {"content_type": "application/json"}
    form = forms.get(name)
    known = (set(form.offered) if form else set()) | TAKEN.get(name, set())
    return (form.url, dict(form.sent), known, {}) if form else (url, {}, known, {})


def _same_path(described: str, route: str) -> bool:
    return re.sub(r"\{[^}]+\}", "*", described) == re.sub(r"\{[^}]+\}|<[^>]+>", "*", route)


# What people write, and what they ask for ----------------------------------------------------------------------------

MARKUP = "<i>7</i>"
WORDS = {"name", "title", "label", "note", "tag", "commit", "origin", "filename", "reason", "explanation", "verdict"}
WORDS |= {"question", "answer", "text", "intent", "description", "owner", "evidence", "tried", "configuration", "body"}


def write_markup_everywhere() -> int:
    """Put markup into every field of words that may still change; guards and uniqueness keep some. How many took it."""
    taken = 0
    for model in apps.get_models():
        for one in model._meta.concrete_fields:
            if not model.__module__.startswith("apps.") or one.name not in WORDS or one.choices:
                continue
            if isinstance(one, models.CharField | models.TextField) and not isinstance(one, models.SlugField):
                rows = model._default_manager.annotate(marked=Concat(Cast("pk", models.TextField()), Value(MARKUP)))
                with suppress(DatabaseError), transaction.atomic():
                    taken += rows.update(**{one.name: F("marked")}) > 0
    return taken


def test_what_people_wrote_is_shown_and_not_obeyed(world):
    shown = 0

    assert write_markup_everywhere() >= 15
    for asker, url in pages_of(world.project, world):
        answer = asker.answer("get", url)
        if answer.get("Content-Type", "").startswith("text/html"):
            assert answer.status_code < 500, url
            assert MARKUP.encode() not in answer.content, url
            shown += b"&lt;i&gt;7" in answer.content

    assert shown >= 50


@pytest.mark.slow
def test_a_form_that_comes_back_shows_what_was_sent_and_does_not_obey_it(world, forms):
    shown = 0

    for name, form in sorted(forms[0].items()):
        if not ENDPOINTS[name].post:
            continue
        answer = asker_of(world, name).answer("post", form.url, dict.fromkeys(form.offered, MARKUP))
        if not answer.streaming and answer.get("Content-Type", "").startswith("text/html"):
            assert answer.status_code < 500, name
            assert MARKUP.encode() not in answer.content, name
            shown += b"&lt;i&gt;7" in answer.content

    assert shown >= 10
