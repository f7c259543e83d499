"""Is it good enough: agreement, the people who need a lead, and the newest scores and release against their gates."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.utils.safestring import SafeString

from apps.accounts.models import Project, User
from apps.accounts.selectors import Member
from apps.agreement.core.attention import NO_PAIR, Mark, Word, marks_of, verdict_of
from apps.agreement.presenters import estimate
from apps.agreement.selectors.agreement import exclusion_reason
from apps.agreement.selectors.grade_cache import GradesNotRead
from apps.agreement.selectors.people import Closeness, closeness_of
from apps.common.drawing import charts
from apps.common.text.wording import NOT_DEFINED, count, interval, number
from apps.dashboard.pages import progress
from apps.dashboard.pages.paths import path
from apps.dashboard.pages.progress import Judging
from apps.evaluation.models import Evaluation, Score
from apps.evaluation.presenters.run_again import systems_again
from apps.evaluation.rules import ground_words
from apps.gates.enums import GateState
from apps.gates.selectors import GateStatus
from apps.goldsets.models import Version
from apps.goldsets.selectors import versions as goldsets
from apps.judging.core.eta import Workload
from apps.judging.enums import RoundState
from apps.judging.models import Round
from apps.judging.selectors.board import workloads
from apps.metrics.agreement.results import Coefficient
from apps.metrics.estimate import Estimate
from apps.metrics.statistics.significance import NO_VALUE, few_words
from apps.review.selectors.board import ReviewerLoad, reviewer_loads

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


MOST_PEOPLE = 12
WORDS = tuple(Word)
NOBODY = Estimate.of(None, None, 0, reason="Nobody else graded these pairs.")


class PersonRow(NamedTuple):
    """One annotator of the newest round. `alpha` is their agreement with the others, as tables show it."""

    person: User
    work: Workload
    url: str
    alpha: Estimate
    marks: list[Mark]


class PeopleRows(NamedTuple):
    """The annotators who need a lead first. `shared` is the range of pairs that agreement rests on, in words.

    `is_over`: nothing of the round is left to judge, so that no share is still to be done.
    """

    round: Round
    rows: list[PersonRow]
    more: int
    shared: str
    is_over: bool


def who_needs_me(member: Member, judging: Judging | None, rounds: Sequence[Round]) -> PeopleRows | None:
    """The annotators of the newest round as this lead may see them; None without a round.

    Agreement is over `rounds`, which the lead may see: one who still grades in a round learns nothing of it.
    """
    if judging is None:
        return None
    round_ = judging.round
    works = workloads(round_, judging.answers)
    closeness = _closeness(member, rounds, [person for person, _ in works])
    rows = [_row(member, *each, works, closeness.get(each[0].pk), round_) for each in works]
    rows.sort(key=lambda row: WORDS.index(row.marks[0].word) if row.marks else len(WORDS))
    shown = rows[:MOST_PEOPLE]
    is_over = round_.state == RoundState.CLOSED or 0 < judging.planned <= judging.done
    return PeopleRows(round_, shown, len(rows) - len(shown), _shared(shown), is_over)


def who_reviews(member: Member) -> list[tuple[ReviewerLoad, str]]:
    """The people with most open reviews, each with the address of what they have open."""
    board = path("review:board", member.project)
    loads = reviewer_loads(member.project, member.user, MOST_PEOPLE)
    return [(load, f"{board}?reviewer={load.person}") for load in loads]


def _closeness(member: Member, rounds: Sequence[Round], people: list[User]) -> dict[int, Closeness]:
    try:
        return closeness_of(member.project, rounds, [person.pk for person in people])
    except GradesNotRead:
        return {}


def _row(
    member: Member,
    person: User,
    work: Workload,
    works: list[tuple[User, Workload]],
    closeness: Closeness | None,
    round_: Round,
) -> PersonRow:
    others = [other.mean_ms for who, other in works if who != person and other.mean_ms]
    lean = closeness.lean if closeness else NOBODY
    marks = marks_of(work, others, lean, is_open=round_.state == RoundState.OPEN)
    url = path("agreement:person", member.project, person=person.pk)
    return PersonRow(person, work, url, closeness.alpha.informative if closeness else NOBODY, marks)


def _shared(rows: list[PersonRow]) -> str:
    counts = sorted(row.alpha.n for row in rows if row.alpha.n)
    if not counts:
        return ""
    least, most = counts[0], counts[-1]
    return f"agreement on {least:,} pairs each" if least == most else f"agreement on {least:,} to {most:,} pairs each"


MOST_GATES = 3
GRADES_NOT_READ = Estimate.of(None, None, 0, reason="The grades are loading. Open Agreement in a minute.")


class ScoreLine(NamedTuple):
    """One score against its threshold; `state` is that of the gate, "" without one."""

    title: str
    words: str
    state: str
    url: str


class Quality(NamedTuple):
    """`verdict` and `reviewers` are sentences; `chart` is agreement alone, `others` all coefficients.

    `scores` are the failed gates, else one that passed, or the newest score; `more_gates` counts the others.
    """

    verdict: str
    reviewers: str
    chart: SafeString | None
    shared: int
    others: progress.ProgressChart | None
    scores: list[ScoreLine]
    more_gates: int


def quality(member: Member, rounds: Sequence[Round], gates: Sequence[GateStatus], *, is_scored: bool) -> Quality:
    """What a lead or viewer may see of it: `rounds` are theirs, `is_scored` whether the project has a score."""
    lines = progress.coefficients(member, rounds)
    known = [status for status in gates if status.result]
    shown = [status for status in known if status.state == GateState.FAILED][:MOST_GATES] or known[:1]
    by_name = {name: coefficient for people, name, coefficient in lines if not people}
    alpha, kappa = by_name.get(progress.ALPHA), by_name[progress.FLEISS]
    return Quality(
        verdict=verdict_of(_known(member, alpha), queries=alpha.clusters if alpha else None),
        reviewers=verdict_of(kappa.informative, "reviewers", "Q&As") if kappa.n else "",
        chart=_chart(alpha),
        shared=alpha.n if alpha else 0,
        others=progress.chart_of(member, lines),
        scores=[_gate_line(member.project, status) for status in shown]
        or (_newest(member.project) if is_scored else []),
        more_gates=len(known) - len(shown),
    )


def _known(member: Member, alpha: Coefficient | None) -> Estimate:
    """Agreement as this member may know it: that no pair has two grades is said only where none is hidden."""
    if alpha is None:
        return GRADES_NOT_READ
    if alpha.n:
        return alpha.informative
    return Estimate.of(None, None, 0, reason=exclusion_reason(member) or NO_PAIR)


def _chart(alpha: Coefficient | None) -> SafeString | None:
    if alpha is None or not alpha.n:
        return None
    row = estimate("All annotators", progress.ALPHA, alpha, strong=True)
    return charts.plot(charts.estimates("Agreement of all annotators with its 95 % interval", [row]))


def _gate_line(project: Project, status: GateStatus) -> ScoreLine:
    result = status.result
    assert result is not None
    words = f"{result.evaluation.run.tag} on {result.evaluation.version.label}: {result.words}"
    return ScoreLine(f"{status.gate}", words, result.state, path("gates:gate", project, pk=status.gate.pk))


def _newest(project: Project) -> list[ScoreLine]:
    """The newest score where no gate has a result: the first measure of the run scored last on a whole split."""
    scored = Evaluation.objects.filter(project=project, scored_at__isnull=False)
    scores = Score.objects.filter(evaluation__in=scored, order=0).order_by("-evaluation__scored_at")
    score = scores.select_related("evaluation__run", "evaluation__version").first()
    if score is None:
        return []
    summary, evaluation = score.summary, score.evaluation
    figure = Estimate.of(summary.mean, summary.interval, score.n, reason=NO_VALUE)
    title = f"{evaluation.run.tag} on {evaluation.version.label}, {ground_words(evaluation)}"
    words = f"{score.measure} {_words(figure)}; no gate holds it to a threshold yet"
    return [ScoreLine(title, words, "", path("evaluation:evaluation", project, pk=evaluation.pk))]


def _words(figure: Estimate) -> str:
    if figure.value is None:
        return f"not defined: {figure.reason[0].lower()}{figure.reason[1:]}"
    ends = interval(figure.interval) if figure.interval else "no interval"
    return f"{number(figure.value, 2)}, {ends}, {few_words(figure.n) or f'n {count(figure.n)}'}"
