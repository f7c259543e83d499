"""Is it good enough: agreement in one number and one sentence, and the newest scores against their gates."""

from collections.abc import Sequence
from typing import NamedTuple

from django.utils.safestring import SafeString

from apps.accounts.models import Project
from apps.accounts.selectors import Member
from apps.agreement.core.verdict import NO_PAIR, verdict_of
from apps.agreement.edges import estimate
from apps.agreement.selectors.agreement import exclusion_reason
from apps.common.drawing import charts
from apps.common.text.wording import count, interval, number
from apps.dashboard.edges.paths import path
from apps.dashboard.pages import progress
from apps.evaluation.models import Evaluation, Score
from apps.evaluation.rules import ground_words
from apps.gates.enums import GateState
from apps.gates.selectors.gates import GateStatus
from apps.judging.models import Round
from apps.metrics.agreement.results import Coefficient
from apps.metrics.estimate import Estimate
from apps.metrics.statistics.significance import NO_VALUE, few_words

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
        verdict=verdict_of(_known(member, alpha)),
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
