"""The version and split that a page of scores shows."""

from typing import Any

from django.http import Http404, HttpRequest

from apps.accounts.models import Project
from apps.evaluation import rules
from apps.evaluation.selectors import evaluations
from apps.goldsets.enums import Split
from apps.goldsets.models import Version
from apps.goldsets.selectors.versions import frozen_in, latest_version, scorable_versions

SECTION = {"section": "Scores"}


def requested_version(request: HttpRequest, project: Project) -> Version | None:
    """The frozen version named in the URL, else the one released last; None when there is none to score on."""
    pk = request.GET.get("version", "")
    if pk.isdecimal() and len(pk) < 18:
        return frozen_in(project, int(pk))
    return latest_version(project) or scorable_versions(project).first()


def requested_split(request: HttpRequest, version: Version) -> str:
    """The split named in the URL; else the dev split, unless only another one has scores."""
    if "split" in request.GET:
        if request.GET["split"] not in rules.SPLITS:
            raise Http404("No such split.")
        return request.GET["split"]
    scored = evaluations.splits_scored(version)
    return next((split for split in (Split.DEV, rules.EVERY_SPLIT, Split.TEST) if split in scored), Split.DEV)


def ground_context(version: Version, split: str) -> dict[str, Any]:
    """The context of the form that chooses version and split."""
    return {
        **SECTION,
        "version": version,
        "versions": scorable_versions(version.gold_set.project),
        "split": split,
        "split_words": rules.SPLIT_WORDS[split],
        "splits": [(key, rules.SPLIT_WORDS[key]) for key in rules.SPLITS],
    }
