"""The search box: a page of what was found, and the few best while somebody types."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from operator import and_
from urllib.parse import urlencode

from django.db.models import Q
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from apps.accounts.access.pages import MemberRequest, member_view
from apps.accounts.models import Project
from apps.accounts.selectors import Member, members_of
from apps.corpus.models import Block, Document
from apps.corpus.selectors.search import search_latest
from apps.dashboard.pages.paths import path
from apps.goldsets.models import Version
from apps.goldsets.selectors.versions import versions_in
from apps.queries.selectors import queries_in
from apps.retrieval.selectors.runs import runs_in
from apps.triples.rules import READERS
from apps.triples.selectors.triples import Narrowing, page_of

MOST_WORDS = 8
MOST_SOUGHT = 200
DIGEST_BEGINNING = 8


@dataclass(frozen=True, slots=True)
class Hit:
    """One thing that was found. `id` is the name it has in files; `is_exact` where that was typed."""

    id: str
    title: str
    about: str
    url: str
    is_exact: bool = False


@dataclass(frozen=True, slots=True)
class ResultGroup:
    """The hits of one kind; `more` is the list that goes on with the same words, if there are more than are shown."""

    kind: str
    hits: list[Hit]
    more: str = ""

    @property
    def is_exact(self) -> bool:
        return any(hit.is_exact for hit in self.hits)


def search_results(member: Member, text: str, *, limit: int) -> list[ResultGroup]:
    """The kinds with a hit, `limit` hits of each; first the kinds and hits whose id is what was typed."""
    if not text:
        return []
    groups = [_group(kind, find(member, text, limit + 1), member, text, limit) for kind, find in KINDS.items()]
    return sorted((group for group in groups if group.hits), key=lambda group: not group.is_exact)


def _group(kind: str, hits: Iterable[Hit], member: Member, text: str, limit: int) -> ResultGroup:
    listed = sorted(hits, key=lambda hit: not hit.is_exact)
    more = LISTS[kind](member, text) if len(listed) > limit and kind in LISTS else ""
    return ResultGroup(kind, listed[:limit], more)


def _contains(text: str, *columns: str) -> Q:
    """Every word somewhere in the columns."""
    words = text.split()[:MOST_WORDS]
    return reduce(and_, (_any(word, columns) for word in words))


def _any(word: str, columns: Iterable[str]) -> Q:
    return Q(*((f"{column}__icontains", word) for column in columns), _connector=Q.OR)


def _is(text: str, *names: str) -> bool:
    return text.casefold() in {name.casefold() for name in names}


# Kinds -------------------------------------------------------------------------------------------------------------


def _queries(member: Member, text: str, limit: int) -> Iterable[Hit]:
    named = Q(outside_id__iexact=text)
    rows = queries_in(member.project).filter(named | _contains(text, "outside_id", "text", "label"))
    for query in rows.alias(is_named=named).order_by("-is_named", "outside_id")[:limit]:
        about = "retired" if query.retired_at else ""
        url = path("queries:query", member.project, pk=query.pk)
        yield Hit(query.outside_id, query.text, about, url, _is(text, query.outside_id))


def _passages(member: Member, text: str, limit: int) -> Iterable[Hit]:
    """Of the newest snapshot of each corpus by their words, and of the corpus as it is now by their id."""
    named = Block.objects.filter(corpus__project=member.project, outside_id=text).select_related("document", "current")
    found_here = set()
    for block in named[:limit]:
        found_here.add(block.pk)
        title = block.current.title if block.current else ""
        yield _passage(member, block, title, is_exact=True)
    for entry in search_latest(member.project, text, limit=limit):
        if entry.block_id not in found_here:
            yield _passage(member, entry.block, entry.version.title)


def _passage(member: Member, block: Block, title: str, *, is_exact: bool = False) -> Hit:
    url = path("corpus:block", member.project, pk=block.pk)
    return Hit(block.outside_id, title or block.outside_id, str(block.document), url, is_exact)


def _documents(member: Member, text: str, limit: int) -> Iterable[Hit]:
    named = Q(outside_id__iexact=text)
    rows = Document.objects.filter(named | _contains(text, "outside_id", "title"), corpus__project=member.project)
    rows = rows.select_related("corpus").alias(is_named=named).order_by("-is_named", "outside_id", "pk")
    for document in rows[:limit]:
        corpus = path("corpus:corpus", member.project, corpus_slug=document.corpus.slug)
        url = f"{corpus}?{urlencode({'find': document.outside_id})}"
        title = document.title or document.outside_id
        yield Hit(document.outside_id, title, document.corpus.name, url, _is(text, document.outside_id))


def _triples(member: Member, text: str, limit: int) -> Iterable[Hit]:
    """By number or by the words of the question. Nothing here says a state, which could give a verdict away."""
    if not member.holds(*READERS):
        return
    for triple in page_of(member, Narrowing(words=text)).triples[:limit]:
        is_exact = _is(text, triple.label, str(triple.number))
        question = triple.current.question if triple.current else ""
        url = path("review:triple", member.project, pk=triple.pk)
        yield Hit(triple.label, question or "No question yet", "", url, is_exact)


def _people(member: Member, text: str, limit: int) -> Iterable[Hit]:
    """By name; leads, who see addresses, also by e-mail."""
    columns = ("name", "email") if member.is_lead else ("name",)
    for person in members_of(member.project).filter(_contains(text, *columns))[:limit]:
        if member.is_lead:
            url = path("agreement:person", member.project, person=person.pk)
            yield Hit("", person.name, person.email, url, _is(text, person.name, person.email))
        else:
            yield Hit("", person.name, "", path("people:people", member.project), _is(text, person.name))


def _runs(member: Member, text: str, limit: int) -> Iterable[Hit]:
    rows = runs_in(member.project).filter(_contains(text, "tag", "system__name"))
    named = Q(tag__iexact=text)
    for run in rows.alias(is_named=named).order_by("-is_named", "-pk")[:limit]:
        url = path("retrieval:run", member.project, pk=run.pk)
        yield Hit(run.tag, run.tag, run.system.name, url, _is(text, run.tag))


def _versions(member: Member, text: str, limit: int) -> Iterable[Hit]:
    """By gold set and number, or by the digest's beginning; drafts are for leads."""
    rows = versions_in(member.project)
    if not member.is_lead:
        rows = rows.exclude(released_at=None)
    named = [version for version in rows.order_by("gold_set__name", "-number") if _names(version, text)]
    for version in named[:limit]:
        url = path("goldsets:version", member.project, gold_set=version.gold_set.slug, number=version.number)
        title = f"{version.gold_set.name} {version.label}"
        yield Hit(version.label, title, version.get_state_display(), url, _is(text, version.label, title))


def _names(version: Version, text: str) -> bool:
    name = f"{version.gold_set.name} {version.label}".casefold()
    is_digest = len(text) >= DIGEST_BEGINNING and version.digest.startswith(text.casefold())
    return is_digest or all(word.casefold() in name for word in text.split())


KINDS: dict[str, Callable[[Member, str, int], Iterable[Hit]]] = {
    "Queries": _queries,
    "Passages": _passages,
    "Documents": _documents,
    "Q&As": _triples,
    "People": _people,
    "Runs": _runs,
    "Versions": _versions,
}
LISTS: dict[str, Callable[[Member, str], str]] = {
    "Queries": lambda member, text: f"{path('queries:list', member.project)}?{urlencode({'find': text})}",
    "Q&As": lambda member, text: f"{path('triples:list', member.project)}?{urlencode({'q': text})}",
}

ON_A_PAGE = 20
WHILE_TYPING = 4


@member_view()
@require_safe
@vary_on_headers("HX-Request")
def search(request: MemberRequest, project: Project) -> HttpResponse:
    """What the words find, by kind. htmx gets the list alone."""
    is_typing = "HX-Request" in request.headers
    sought = request.GET.get("q", "").replace("\x00", "").strip()[:MOST_SOUGHT]
    groups = search_results(request.member, sought, limit=WHILE_TYPING if is_typing else ON_A_PAGE)
    context = {"sought": sought, "groups": groups, "section": "Search"}
    return render(request, "dashboard/_search_results.html" if is_typing else "dashboard/search.html", context)
