"""Reads of gates, their results, badges and files, each scoped to a project, and what to do about one that failed."""

from collections.abc import Iterable
from typing import NamedTuple

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery
from django.http import Http404

from apps.accounts.models import Project
from apps.common.errors import InputError, InputErrors
from apps.common.files.faults import ErrorList
from apps.evaluation import rules
from apps.evaluation.models import Evaluation, by_grades
from apps.gates.core import decisions
from apps.gates.core import rule as gate_rule
from apps.gates.core.decisions import GAPS
from apps.gates.core.rule import GateRule
from apps.gates.enums import GateState
from apps.gates.formats import as_toml, parse_rules
from apps.gates.models import Badge, Gate, GateResult
from apps.gates.rules import MOST_GATES, gate_refusal
from apps.goldsets.models import GoldSet, VersionQuery
from apps.goldsets.selectors.slices import slice_named
from apps.goldsets.selectors.versions import scorable_versions
from apps.queries.core.strata import STRATA, label_of
from apps.retrieval.models import Run, System

NEWEST_FIRST = ("-evaluation__version__number", "-evaluation__run", "-pk")


class GateStatus(NamedTuple):
    """A gate and its current result: that of the newest run on the newest version. None before the first result.

    `waits_for` is the tag of a newer scored run that a gate on cost cannot check yet.
    """

    gate: Gate
    result: GateResult | None
    waits_for: str = ""

    @property
    def state(self) -> str:
        return self.result.state if self.result else GateState.UNKNOWN

    @property
    def slice_name(self) -> str:
        """The slice of the version that the gate is on; empty for every query and for a stratum."""
        part = rule_of(self.gate).slice
        return part.value.capitalize() if part is not None and part.is_named else ""

    @property
    def requirement(self) -> str:
        return requirement_of(self.gate)


def rule_of(gate: Gate) -> gate_rule.GateRule:
    return gate_rule.stored_rule(gate.rule)


def requirement_of(gate: Gate) -> str:
    """The rule in words, with its figure and slice."""
    return words_of(rule_of(gate))


def words_of(rule: gate_rule.GateRule) -> str:
    """As `requirement_of`, for a rule without a gate."""
    return f"{decisions.figure_words(rule)}{decisions.where(rule)}: {gate_rule.requirement(rule)}"


def gates_in(project: Project) -> QuerySet[Gate]:
    """Gates in use, by gold set, system and age."""
    gates = Gate.objects.filter(gold_set__project=project, retired_at=None)
    gates = gates.select_related("gold_set__project", "system", "baseline", "created_by")
    return gates.order_by("gold_set__name", "gold_set", "system__name", "system", "pk")


def retired_in(project: Project) -> QuerySet[Gate]:
    """Retired gates, the last retired first."""
    gates = Gate.objects.filter(gold_set__project=project, retired_at__isnull=False)
    return gates.select_related("gold_set", "system").order_by("-retired_at", "-pk")


def gate_in(project: Project, pk: int) -> Gate:
    """A gate of the project, retired or not. Raises Http404."""
    gates = Gate.objects.filter(gold_set__project=project, pk=pk)
    gate = gates.select_related("gold_set__project", "system", "baseline", "created_by", "replaces").first()
    if gate is None:
        raise Http404("No such gate.")
    return gate


def statuses(gates: Iterable[Gate]) -> list[GateStatus]:
    """The current status of each gate, in a statement for any number of gates, and one more where some are on cost."""
    rows = list(gates)
    newest = GateResult.objects.filter(gate=OuterRef("pk")).order_by(*NEWEST_FIRST).values("pk")[:1]
    current = Gate.objects.filter(pk__in=[gate.pk for gate in rows]).annotate(newest=Subquery(newest))
    results = GateResult.objects.filter(pk__in=current.values("newest"))
    by_gate = {row.gate_id: row for row in results.select_related("evaluation__run", "evaluation__version")}
    without_cost = _runs_without_cost([gate for gate in rows if rule_of(gate).figure == gate_rule.COST])
    return [GateStatus(gate, by_gate.get(gate.pk), without_cost.get(gate.pk, "")) for gate in rows]


def _runs_without_cost(costs: list[Gate]) -> dict[int, str]:
    """By gate on cost the tag of the newest run on the newest version, where the gate has no result for it."""
    if not costs:
        return {}
    scored = Evaluation.objects.filter(
        by_grades(),
        version__gold_set=OuterRef("gold_set"),
        run__system=OuterRef("system"),
        split=OuterRef("split"),
        scored_at__isnull=False,
    ).order_by("-version__number", "-run", "-pk")
    decided = GateResult.objects.filter(
        gate=OuterRef("pk"), evaluation__version=OuterRef("newest_version"), evaluation__run=OuterRef("newest_run")
    )
    gates = Gate.objects.filter(pk__in=[gate.pk for gate in costs]).annotate(
        newest_version=Subquery(scored.values("version")[:1]),
        newest_run=Subquery(scored.values("run")[:1]),
        tag=Subquery(scored.values("run__tag")[:1]),
    )
    return dict(gates.filter(~Exists(decided), newest_run__isnull=False).values_list("pk", "tag"))


def results_of(gate: Gate) -> QuerySet[GateResult]:
    """Every result of the gate, newest version and run first."""
    results = GateResult.objects.filter(gate=gate).select_related("evaluation__run", "evaluation__version")
    return results.order_by(*NEWEST_FIRST)


def results_on(evaluation: Evaluation) -> list[GateResult]:
    """All gates' results for the run on these questions of its version by this rule, from any of its evaluations.

    The oldest gate first.
    """
    results = GateResult.objects.filter(evaluation__run=evaluation.run_id, evaluation__version=evaluation.version_id)
    rows = results.filter(_gates_of(evaluation, "gate__")).select_related("gate").order_by("gate")
    return [row for row in rows if _is_on(rule_of(row.gate), evaluation)]


def undecided_on(evaluation: Evaluation) -> list[Gate]:
    """The gates of the evaluation's run without a result for it on its version.

    A run is checked once by a gate on a version: scored again with other measures or another seed, it is the same run.
    A gate on cost is left out until the cost of the run is entered.
    """
    decided = GateResult.objects.filter(
        gate=OuterRef("pk"), evaluation__run=evaluation.run_id, evaluation__version=evaluation.version_id
    )
    gates = Gate.objects.filter(
        ~Exists(decided),
        gold_set=evaluation.version.gold_set_id,
        system=evaluation.run.system_id,
        retired_at=None,
    ).select_related("baseline__snapshot__corpus", "gold_set__project", "system")
    gates = gates.filter(_gates_of(evaluation)).order_by("pk")
    has_cost = cost_of(evaluation) is not None
    ruled = [(gate, rule_of(gate)) for gate in gates]
    ruled = [(gate, rule) for gate, rule in ruled if _is_on(rule, evaluation)]
    return [gate for gate, rule in ruled if has_cost or rule.figure != gate_rule.COST]


def _gates_of(evaluation: Evaluation, prefix: str = "") -> Q:
    """The gates on the split of an evaluation; those on both splits too where it is on a slice, which has dev alone."""
    splits = [evaluation.split] if evaluation.slice_id is None else ["", evaluation.split]
    return Q(**{f"{prefix}split__in": splits})


def _is_on(rule: gate_rule.GateRule, evaluation: Evaluation) -> bool:
    """Whether an evaluation can decide a rule: by its hit rule; one on a slice only rules that name the newest such.

    A rule on speed or cost is decided by any by grades, of returned blocks or by text.
    """
    if evaluation.counts_questions if rule.measure is None else rule.hit != evaluation.hit:
        return False
    if evaluation.slice is None:
        return True
    if rule.slice is None or not rule.slice.is_named or rule.slice.value != evaluation.slice.kind:
        return False
    newest = slice_named(evaluation.version, rule.slice.value)
    return newest is not None and newest.pk == evaluation.slice_id


def cost_of(evaluation: Evaluation) -> float | None:
    """The cost of 1,000 queries of the run, from its ledger entry."""
    ledger = getattr(evaluation.run, "ledger", None)
    return None if ledger is None or ledger.cost is None else float(ledger.cost)


def scored_for(gate: Gate) -> QuerySet[Evaluation]:
    """The scored evaluations that the gate applies to, oldest version and run first."""
    rule = rule_of(gate)
    ground = Q(slice=None, split=gate.split)
    if rule.slice is not None and rule.slice.is_named:
        ground |= Q(slice__kind=rule.slice.value)
    evaluations = Evaluation.everything.filter(
        ground,
        by_grades() if rule.measure is None else Q(hit=rule.hit),
        version__gold_set=gate.gold_set_id,
        run__system=gate.system_id,
        scored_at__isnull=False,
    )
    return evaluations.order_by("version__number", "run", "pk")


def on_slices(gold_set: GoldSet) -> list[Gate]:
    """The gates in use on slices of the gold set's versions, by name."""
    gates = Gate.objects.filter(gold_set=gold_set, retired_at=None).select_related("system").order_by("name", "pk")
    return [gate for gate in gates if (part := rule_of(gate).slice) is not None and part.is_named]


def slices_of(gold_set: GoldSet) -> list[tuple[str, str]]:
    """Field and value of every stratum of the newest version, by field and value."""
    newest = scorable_versions(gold_set.project).filter(gold_set=gold_set).order_by("-number").first()
    rows = VersionQuery.objects.filter(version=newest).values_list("fields", flat=True) if newest else []
    slices = {(name, label) for fields in rows for name in STRATA if (label := label_of(fields, name))}
    order = list(STRATA)
    return sorted(slices, key=lambda pair: (order.index(pair[0]), pair[1]))


def badge_of(gold_set: GoldSet, system_id: int) -> Badge | None:
    """The badge in use, if any."""
    return Badge.objects.filter(gold_set=gold_set, system=system_id, revoked_at=None).first()


def badge_at(token: str) -> Badge:
    """The badge at a public address. Raises Http404 for an unknown or revoked one."""
    badge = Badge.objects.filter(token=token, revoked_at=None, gold_set__project__deletion=None).first()
    if badge is None:
        raise Http404("No such badge.")
    return badge


def gates_of_badge(badge: Badge) -> list[GateStatus]:
    """The gates that a badge shows."""
    return statuses(Gate.objects.filter(gold_set=badge.gold_set_id, system=badge.system_id, retired_at=None))


def state_of_all(rows: Iterable[GateStatus]) -> str:
    """The worst state among gates: failed, not known, nothing checked (also of no gate), passed."""
    return decisions.worst_state(row.state for row in rows)


AFTER_A_GAP = dict(
    zip(
        GAPS,
        (
            "Release a version with such queries, or retire the gate.",
            "Release a version with more such queries, or check every query.",
            "Check what the measure needs from the version, or retire the gate.",
            "Let Karat run the system: an uploaded run has no times.",
            "Enter the cost of 1,000 queries in the run's ledger entry.",
            "Create a gate with another baseline and retire this one.",
            "Run the baseline's system on that snapshot, create a gate against this run, and retire this one.",
            "Create a gate with a measure for this scale and retire this one.",
            "Grade more such queries and release a version with them.",
            "Compare runs on dev; a run that is better by the step is published on test, and checked.",
        ),
        strict=True,
    )
)


class Next(NamedTuple):
    """What to do about a gate that did not pass, and the evaluation to compare the run with, if any."""

    words: str
    compared_with: Evaluation | None = None


def next_step(gate: Gate, result: GateResult | None) -> Next | None:
    """None where nothing is to be done: the gate passed, or has no result yet."""
    if result is None or result.state == GateState.PASSED:
        return None
    if result.state != GateState.FAILED:
        words = AFTER_A_GAP.get(result.gap or "")
        return Next(words) if words else None
    compared_with = _evaluation_to_compare(gate, result)
    if compared_with is None:
        return Next("There is no passed run to compare it with.")
    what = "its baseline" if compared_with.run_id == gate.baseline_id else "the newest run that passed"
    return Next(f"Compare it with {compared_with.run.tag}, {what}.", compared_with)


def _evaluation_to_compare(gate: Gate, result: GateResult) -> Evaluation | None:
    """An evaluation of the baseline, else of the newest other passed run, on the version and split of the result."""
    version = result.evaluation.version_id
    if gate.baseline_id is not None:
        evaluations = Evaluation.objects.filter(
            run=gate.baseline_id,
            version=version,
            split=gate.split,
            hit=rule_of(gate).hit,
            scored_at__isnull=False,
        ).exclude(run=result.evaluation.run_id)
        return evaluations.select_related("run").order_by("-pk").first()
    passed = results_of(gate).filter(state=GateState.PASSED, evaluation__version=version).first()
    return passed.evaluation if passed else None


FILE_NAME = "gates.toml"
CONTENT_TYPE = "application/toml; charset=utf-8"


def file_of(gold_set: GoldSet, system: System) -> str:
    """The gates in use of a system on a gold set, oldest first; "" without gates.

    Side and baseline of a gate are not part of its rule; the file has them as comments.
    """
    gates = list(gates_in(gold_set.project).filter(gold_set=gold_set, system=system))
    if not gates:
        return ""
    head = f"Gates of {system.name} on {gold_set.name}"
    return as_toml(map(rule_of, gates), head=head, remarks={gate.name: _remark(gate) for gate in gates})


def _remark(gate: Gate) -> str:
    split = f"split: {rules.SPLIT_WORDS[gate.split]}"
    return f"{split}; baseline: {gate.baseline.tag}" if gate.baseline else split


def planned(
    gold_set: GoldSet, system: System, text: str, *, split: str, baseline: Run | None, name: str = FILE_NAME
) -> list[GateRule]:
    """The rules of a text, as gates of one split; `baseline` is for those that compare.

    Raises InputErrors with all errors of the text, and with every rule that cannot become a gate here.
    """
    errors = ErrorList()
    try:
        parsed = parse_rules(text, name, errors)
    except InputError as error:
        raise InputErrors([error]) from error
    for placed in parsed:
        own = baseline if placed.rule.is_against_baseline else None
        if reason := gate_refusal(gold_set, system, placed.rule, split, own):
            errors.add(InputError(name, placed.line, "gate", placed.rule.name, reason))
    in_use = Gate.objects.filter(gold_set=gold_set, retired_at=None).count()
    if in_use < MOST_GATES < in_use + len(parsed):
        message = f"A gold set has at most {MOST_GATES} gates, and here are {in_use}. Retire some first."
        errors.add(InputError(name, None, "gate", str(len(parsed)), message))
    if errors:
        errors.sort()
        raise InputErrors(list(errors), capped=errors.unlisted > 0)
    return [placed.rule for placed in parsed]
