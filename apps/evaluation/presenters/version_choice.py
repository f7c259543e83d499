"""The version and split that a page of scores shows."""

from typing import Any

from django.http import Http404, HttpRequest

from apps.accounts.models import Project
from apps.common.database.batched_reads import once
from apps.common.web.requests import key_in
from apps.evaluation import rules
from apps.evaluation.core.basis import basis_words
from apps.evaluation.selectors import evaluations
from apps.evaluation.selectors.evaluations import grounds_of
from apps.goldsets.enums import Split, VersionState
from apps.goldsets.models import Version
from apps.goldsets.selectors.versions import scorable_versions
from apps.metrics.expected.rules import (
    BLOCK,
    BY_GRADES,
    KINDS,
    TEXT,
    HitRuleError,
    counts_questions,
    is_by_text,
    parse_hit_rule,
)


def requested_version(request: HttpRequest, project: Project) -> Version | None:
    """The frozen version named in the URL, else the one released last; None when there is none to score on."""
    pk, versions = key_in(request.GET.get("version", "")), offered_versions(project)
    if pk is not None:
        found = next((version for version in versions if version.pk == pk), None)
        if found is None:
            raise Http404("No such version.")
        return found
    released = [version for version in versions if version.state == VersionState.RELEASED and version.released_at]
    latest = max(released, key=lambda version: (version.released_at, version.pk), default=None)
    return latest or next(iter(versions), None)


def offered_versions(project: Project) -> list[Version]:
    """The versions that a page of scores can show, the newest of each gold set first."""
    return once(("offered versions", project.pk), lambda: list(scorable_versions(project)))


def requested_hit(request: HttpRequest, version: Version) -> str:
    """The hit rule named in the URL, "" for grades; else grades, unless the version has Q&As alone.

    Of grades it is by text where runs were scored only so.
    """
    if "hit" in request.GET:
        try:
            return rules.canonical_hit(request.GET["hit"])
        except HitRuleError as fault:
            raise Http404(str(fault)) from fault
    grounds = grounds_of(version)
    if grounds.has_triples and not grounds.has_grades:
        return BLOCK
    by_text = [hit for hit in grounds.hits if is_by_text(hit)]
    return by_text[0] if by_text and BY_GRADES not in grounds.hits else BY_GRADES


def requested_split(request: HttpRequest, version: Version, hit: str = BY_GRADES) -> str:
    """The split named in the URL; else dev, unless only another one has scores, or the version has test items alone."""
    if "split" in request.GET:
        if request.GET["split"] not in rules.SPLITS:
            raise Http404("No such split.")
        return request.GET["split"]
    grounds = grounds_of(version)
    scored = next((split for split in (Split.DEV, rules.EVERY_SPLIT, Split.TEST) if split in grounds.splits(hit)), None)
    unscored = Split.TEST if grounds.has_test_alone(hit) else Split.DEV
    return unscored if scored is None else scored


def ledger_grounds(request: HttpRequest, version: Version) -> list[tuple[str, str]]:
    """Split and hit rule of the scores that the ledger shows: by grades, by text by one share, on Q&As by one rule.

    That is the one named in the URL, else the first in the order of the pages by which runs were scored.
    """
    scored = grounds_of(version).hits
    by_text = [hit for hit in scored if is_by_text(hit)]
    rules_used = sorted(filter(counts_questions, scored), key=lambda hit: (KINDS.index(parse_hit_rule(hit).kind), hit))
    hits = [BY_GRADES] if BY_GRADES in scored else []
    for usual in (by_text, rules_used):
        hits += ([hit for hit in usual if hit == request.GET.get("hit")] or usual)[:1]
    return [(requested_split(request, version, hit), hit) for hit in hits]


def requested_part(request: HttpRequest, version: Version) -> evaluations.SlicePart | None:
    """The slice named in the URL, by its kind or quarter, as it is now; None for all questions of a split."""
    name = request.GET.get("slice", "")
    part = evaluations.part_named(version, name) if name else None
    if name and part is None:
        raise Http404("No such slice.")
    return part


def hits_of(version: Version, hit: str) -> list[tuple[str, str]]:
    """What runs can be measured against on the version: each as key and words; the chosen one is always among them."""
    grounds = grounds_of(version)
    offered = [BY_GRADES, TEXT, *filter(is_by_text, grounds.hits)] if grounds.has_grades else []
    if grounds.has_triples:
        offered += [*KINDS, *filter(counts_questions, grounds.hits)]
    return [(one, basis_words(one)) for one in dict.fromkeys([*offered, hit])]


def ground_context(
    version: Version, split: str, hit: str = BY_GRADES, part: evaluations.SlicePart | None = None
) -> dict[str, Any]:
    """The context of the form that chooses version, split, slice, and what counts as right."""
    return {
        "version": version,
        "versions": offered_versions(version.gold_set.project),
        "split": split,
        "split_words": rules.SPLIT_WORDS[split] + (f", {part.words}" if part else ""),
        "part": part,
        "small_test": "" if part else rules.small_test_words(version, split, hit),
        "splits": [(key, rules.SPLIT_WORDS[key]) for key in rules.SPLITS],
        "hit": hit,
        "hits": hits_of(version, hit),
        "counts_questions": counts_questions(hit),
        "rule": parse_hit_rule(hit) if hit else None,
    }
