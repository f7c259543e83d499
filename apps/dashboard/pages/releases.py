"""A summary of the latest gold version, and the next draft."""

from typing import Any, NamedTuple

from apps.accounts.models import Project
from apps.common.text.wording import NOT_DEFINED, count, interval, number
from apps.dashboard.edges.paths import path
from apps.evaluation.edges.run_again import systems_again
from apps.goldsets.models import Version
from apps.goldsets.selectors import versions as goldsets
from apps.metrics.estimate import Estimate

FIGURES = {"grades": "Agreement of grades", "verdicts": "Agreement of reviewers"}


class LatestRelease(NamedTuple):
    """`facts` are pairs of a term and its description; `url` is the page of all versions."""

    version: Version | None
    draft: Version | None
    facts: list[tuple[str, str]]
    url: str


def latest(project: Project, *, with_draft: bool) -> LatestRelease:
    version = goldsets.latest_version(project)
    return LatestRelease(
        version=version,
        draft=goldsets.newest_versions(project).draft if with_draft else None,
        facts=[*_facts(version.manifest), *_systems(version)] if version else [],
        url=path("versions", project),
    )


def _facts(manifest: dict[str, Any]) -> list[tuple[str, str]]:
    counts = manifest["counts"]
    contents = ", ".join(
        f"{count(counts[kind])} {one if counts[kind] == 1 else many}"
        for kind, one, many in (
            ("queries", "query", "queries"),
            ("grades", "judged pair", "judged pairs"),
            ("triples", "Q&A", "Q&As"),
        )
    )
    figures = manifest.get("agreement", {})
    return [
        ("Contains", contents),
        *((term, _figure(figures[key])) for key, term in FIGURES.items() if key in figures),
        ("Snapshot", manifest["snapshot"]["name"]),
    ]


def _systems(version: Version) -> list[tuple[str, str]]:
    """What became of the systems that were scored on earlier versions, where the snapshot is newer."""
    again = systems_again(version)
    words = [
        again.complete_words if again.complete else "",
        again.pending_words if again.pending else "",
        again.uploaded_words if again.again.uploaded else "",
    ]
    return [("Systems", "; ".join(filter(None, words)))] if any(words) else []


def _figure(facts: dict[str, Any]) -> str:
    figure = Estimate.read(facts)
    if figure.value is None:
        return f"{NOT_DEFINED}: {figure.reason}"
    return f"{number(figure.value, 2)}, {interval(figure.interval)}, n {count(figure.n)}, when frozen"
