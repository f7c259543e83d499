"""The form of a new round: a plan, the people, and their remits; and what of the project it can be made of."""

import csv
from typing import Any, NamedTuple

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import F, QuerySet, Value

from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.accounts.selectors import members_of, team_of
from apps.common.text.wording import plural
from apps.common.web.forms import KaratForm, offer, offer_rows, show_rows
from apps.corpus.models import Snapshot, SnapshotBlock
from apps.corpus.selectors.corpora import snapshots_in
from apps.judging.core.plan import PROPERTIES, USUAL_BAR, Plan, Remit, remit_from
from apps.judging.core.resolution import ResolutionRule
from apps.judging.rules import MOST_IN_PILOT
from apps.judging.selectors.rejudging import KnownGrade
from apps.judging.selectors.rounds import rounds_in
from apps.queries.models import Query, SavedSet
from apps.queries.selectors import sets_in
from apps.retrieval.enums import PoolKind, PoolState
from apps.retrieval.models import Pool

MOST_CHECKS = 200
SHARE = {
    "min_value": "This is a share of the pairs: 0 to 100 %%.",
    "max_value": "This is a share of the pairs: 0 to 100 %%.",
}
HEADER = ["query_id", "block_id", "grade"]


class RoundOffer(NamedTuple):
    """Annotators by name, pools newest first, properties and frozen query sets as key and words."""

    people: list[User]
    pools: list[Pool]
    properties: list[tuple[str, str]]
    sets: list[tuple[str, str]]


def round_offer(project: Project) -> RoundOffer:
    sets = [(one.key, one.name) for one in sets_in(project).filter(frozen_at__isnull=False)]
    return RoundOffer(list(annotators_of(project)), list(pools_to_judge(project)), properties_in(project), sets)


def annotators_of(project: Project) -> QuerySet[User]:
    """The people who may be asked to judge, by name."""
    return members_of(project, Role.ANNOTATOR)


def pools_to_judge(project: Project) -> QuerySet[Pool]:
    """The pools with pairs that a round can judge, newest first."""
    pools = Pool.objects.filter(project=project, state=PoolState.COMPLETE, entry_count__gt=0)
    return pools.exclude(kind=PoolKind.IMPORTED).select_related("snapshot").order_by("-pk")


def properties_in(project: Project) -> list[tuple[str, str]]:
    """The values that a remit can name in this project, "domain:security" and the like."""
    first, *others = [_values_of(project, place, name) for place, name in enumerate(PROPERTIES)]
    rows = first.union(*others).order_by("place", "value")
    named = [(PROPERTIES[place], value) for place, value in rows]
    return [(f"{name}:{value}", f"{name.replace('_', ' ')} {value}") for name, value in named]


def _values_of(project: Project, place: int, name: str) -> QuerySet:
    field = "source__slug" if name == "source" else name
    live = Query.objects.filter(project=project, retired_at=None).exclude(**{field: ""}).exclude(**{field: None})
    return live.order_by().annotate(place=Value(place), value=F(field)).values_list("place", "value")


class PoolField(forms.ModelChoiceField):
    def label_from_instance(self, pool: Pool) -> str:
        return f"{pool.name}: {plural(pool.entry_count, 'pair')} on {pool.snapshot}"


class RoundForm(KaratForm):
    """A plan: the pool, the people, how often a pair is judged, the pilot, repeated pairs and checks."""

    pool = PoolField(Pool.objects.none(), empty_label=None, help_text="The pairs to judge.")
    questions = forms.ChoiceField(
        required=False,
        label="Only the queries of",
        help_text="A frozen query set: a round is a plan that stays. Otherwise all queries of the pool.",
    )
    only_new = forms.BooleanField(
        required=False,
        label="Only pairs that are in no earlier round of this pool",
        help_text="For a pool that has grown: judged pairs keep their grades.",
    )
    judge_again = forms.BooleanField(
        required=False,
        label="Judge again pairs that have a grade",
        help_text="Otherwise pairs that are already judged, or being judged, on the same text are left out.",
    )
    annotators = forms.ModelMultipleChoiceField(
        User.objects.none(), required=False, widget=forms.CheckboxSelectMultiple, label="Annotators"
    )
    overlap = forms.FloatField(
        label="Share judged by two people",
        min_value=0,
        max_value=100,
        initial=20,
        help_text="Agreement is computed from these pairs. 100 means all pairs.",
        error_messages=SHARE,
    )
    judges = forms.IntegerField(
        label="People on a shared pair",
        min_value=2,
        max_value=9,
        initial=2,
        help_text="All other pairs get one person.",
    )
    again = forms.FloatField(
        label="Pairs judged again",
        required=False,
        min_value=0,
        max_value=50,
        initial=0,
        help_text="Share of a person's pairs that they get again later, unmarked. 5 to 10 shows how consistent "
        "each person is.",
    )
    checks = forms.IntegerField(
        label="Checks from earlier rounds",
        required=False,
        min_value=0,
        max_value=MOST_CHECKS,
        initial=0,
        help_text="Pairs with a known grade from a closed round. Everybody gets them; their answers are not exported.",
    )
    known = forms.CharField(
        label="Checks of your own",
        required=False,
        max_length=50_000,
        widget=forms.Textarea(attrs={"rows": 3, "class": "code", "spellcheck": "false"}),
        help_text="One per line: query_id,block_id,grade.",
    )
    pilot = forms.IntegerField(
        label="Queries in the pilot",
        required=False,
        min_value=0,
        max_value=100,
        initial=0,
        help_text="Everybody judges these first: some of every large kind of query. Ten is usual; 0 means no pilot.",
    )
    pilot_bar = forms.FloatField(
        label="Threshold α to open the rest",
        required=False,
        min_value=0,
        max_value=1,
        initial=USUAL_BAR,
        help_text="Ordinal α over the pilot. Below it, you decide.",
    )
    extra_bar = forms.FloatField(
        label="Add a judge if α is below",
        required=False,
        min_value=0,
        max_value=1,
        help_text="Ordinal α of a query, over its shared pairs. If empty, nobody is added.",
    )
    most_judges = forms.IntegerField(
        label="Most judges per pair",
        required=False,
        min_value=2,
        max_value=9,
        initial=3,
        help_text="At most this many people judge a pair.",
    )
    reconcile = forms.BooleanField(
        required=False,
        label="Judges settle their differences first",
        help_text="Once all grades of a pair are in and differ, its judges see them and may change theirs with a word"
        " why. Agreement always counts the first grades. What they leave open, a lead decides.",
    )
    rule = forms.ChoiceField(
        label="Grades one step apart",
        required=False,
        choices=[
            (ResolutionRule.MAJORITY, "a lead decides, or chooses a rule later"),
            (ResolutionRule.NEAR_MEDIAN, "use the middle of an odd number of grades"),
            (ResolutionRule.LOWER, "use the lower"),
        ],
        help_text="A majority always settles a pair. A rule chosen now cannot be replaced later.",
    )
    name = forms.CharField(max_length=120, required=False, help_text="If empty, “Round” and its number.")
    seed = forms.IntegerField(
        min_value=0,
        max_value=2**62,
        help_text="The same seed gives the same selection of pairs.",
    )
    lease_minutes = forms.IntegerField(
        label="Minutes a pair is reserved",
        min_value=5,
        max_value=24 * 60,
        initial=30,
        help_text="After that, others can get it.",
    )

    def __init__(self, *args: Any, project: Project, offered: RoundOffer | None = None, **kwargs: Any) -> None:
        self.project = project
        self.offer = offered or round_offer(project)
        super().__init__(*args, **kwargs)
        self.fields.update(_remit_fields(self.offer))
        offer_rows(self, "pool", pools_to_judge(project))
        show_rows(self, "pool", self.offer.pools)
        offer_rows(self, "annotators", annotators_of(project))
        show_rows(self, "annotators", self.offer.people)
        offer(self, "questions", [("", "all queries of the pool"), *self.offer.sets])
        self.fields["annotators"].initial = self.offer.people
        self.fields["pool"].initial = next(iter(self.offer.pools), None)
        if len(self.offer.people) == 1:
            self.fields["overlap"].initial = 0  # nobody else could judge a pair again
        elif team_of(project).is_small:
            self.fields["overlap"].initial = 100
            self.fields["overlap"].help_text += " Chosen for a small team; 20 takes 40 % less work."
            self.fields["reconcile"].initial = True
            self.fields["reconcile"].help_text += " Chosen, since your team is small and has one lead."

    @property
    def follows_another(self) -> bool:
        """Whether pairs of the project may have been planned or judged before, so that the form asks about those."""
        return rounds_in(self.project).exists()

    @property
    def remit_fields(self) -> list[forms.BoundField]:
        """For each annotator their remit; none where no property distinguishes queries."""
        return [self[name] for name in self.fields if name.startswith("remit_")]

    @property
    def open_parts(self) -> set[str]:
        """The parts of the form with values, which are shown open."""
        return {part for part, names in PARTS.items() if any(self._has_value(name) for name in names)} | (
            {"remits"} if any(field.value() or field.errors for field in self.remit_fields) else set()
        )

    def _has_value(self, name: str) -> bool:
        return bool(self[name].errors) or self[name].value() not in (None, "", 0, "0", 0.0)

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        most = data.get("most_judges")
        if data.get("extra_bar") is not None and most is not None and most <= (data.get("judges") or 0):
            self.add_error("most_judges", "This must be more than the people on a shared pair.")
        grows = data.get("extra_bar") is not None or data.get("pilot")
        if data.get("rule") == ResolutionRule.NEAR_MEDIAN and (data.get("judges") or 0) < 3 and not grows:
            self.add_error("rule", "Two judges have no middle grade. Choose “use the lower”, or three people.")
        if data.get("reconcile") and data.get("extra_bar") is not None:
            self.add_error("reconcile", "Judges who differ settle it themselves, or one more is added: choose one.")
        if data.get("known") and (pool := data.get("pool")):
            try:
                data["known"] = _known(data["known"], self.project, pool.snapshot)
            except ValidationError as faults:
                self.add_error("known", faults)
        return data

    def plan(self) -> Plan:
        """The plan; call on a valid form."""
        data = self.cleaned_data
        return Plan(
            overlap=data["overlap"] / 100,
            judges=data["judges"],
            seed=data["seed"],
            again=(data["again"] or 0) / 100,
            pilot=data["pilot"] or 0,
            pilot_bar=USUAL_BAR if data["pilot_bar"] is None else data["pilot_bar"],
            extra_bar=data["extra_bar"],
            most_judges=data["most_judges"] or max(3, data["judges"] + 1),
            checks=data["checks"] or 0,
            only_new=data["only_new"],
            judge_again=data["judge_again"],
            rule=data["rule"] or ResolutionRule.MAJORITY,
            reconcile=data["reconcile"],
            questions=data["questions"],
        )

    def known_pairs(self) -> list[KnownGrade]:
        """The checks that the lead named; call on a valid form."""
        return self.cleaned_data["known"] or []

    def remits(self) -> dict[int, Remit]:
        """The remits of those annotators who may not judge everything; call on a valid form."""
        chosen = {person.pk: self.cleaned_data.get(f"remit_{person.pk}") for person in self.offer.people}
        return {pk: remit for pk, values in chosen.items() if (remit := remit_from(values or []))}


class PilotForm(KaratForm):
    """A pilot in one step: a sample of queries, its pool, and a round in which everybody judges all of it."""

    name = forms.CharField(max_length=120, initial="Pilot of ten", help_text="Of the set, the pool and the round.")
    number = forms.IntegerField(label="How many queries", min_value=1, max_value=MOST_IN_PILOT, initial=10)
    of = forms.ModelChoiceField(SavedSet.objects.none(), label="Drawn from", required=False, empty_label="all queries")
    seed = forms.IntegerField(
        initial=1, min_value=0, max_value=2**31 - 1, help_text="The same seed draws the same queries."
    )
    snapshot = forms.ModelChoiceField(Snapshot.objects.none(), empty_label=None)
    depth = forms.IntegerField(
        label="How deep", min_value=1, max_value=100, initial=10, help_text="How many top results of each are judged."
    )
    annotators = forms.ModelMultipleChoiceField(
        User.objects.none(), widget=forms.CheckboxSelectMultiple, help_text="Each judges every pair."
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer_rows(self, "of", sets_in(project))
        offer_rows(self, "snapshot", snapshots_in(project))
        offer_rows(self, "annotators", annotators_of(project))
        self.fields["annotators"].initial = list(annotators_of(project))
        self.fields["snapshot"].initial = snapshots_in(project).first()


PARTS = {
    "checks": ("again", "checks", "known"),
    "pilot": ("pilot",),
    "extra": ("extra_bar",),
}


def _remit_fields(offer: RoundOffer) -> dict[str, forms.Field]:
    choices = offer.properties
    if not choices:
        return {}
    return {
        f"remit_{person.pk}": forms.MultipleChoiceField(
            label=str(person),
            required=False,
            choices=choices,
            widget=forms.SelectMultiple(attrs={"class": "input", "size": min(6, max(3, len(choices)))}),
        )
        for person in offer.people
    }


def _known(text: str, project: Project, snapshot: Snapshot) -> list[KnownGrade]:
    """Parse a lead's list of checks. Raises ValidationError with every invalid line."""
    rows = [(line, row) for line, row in enumerate(csv.reader(text.splitlines()), 1) if any(row)]
    if rows and [cell.strip().lower() for cell in rows[0][1]] == HEADER:
        rows = rows[1:]
    cells = {line: [cell.strip() for cell in row] for line, row in rows}
    wanted = {row[0] for row in cells.values()}, {row[1] for row in cells.values() if len(row) > 1}
    queries = dict(Query.objects.filter(project=project, outside_id__in=wanted[0]).values_list("outside_id", "pk"))
    blocks = SnapshotBlock.objects.filter(snapshot=snapshot, block__outside_id__in=wanted[1])
    versions = dict(blocks.values_list("block__outside_id", "version_id"))
    faults: list[str] = []
    pairs: dict[tuple[int, int], KnownGrade] = {}
    for line, row in cells.items():
        if fault := _fault(row, queries, versions, project.grades):
            faults.append(f"Line {line}: {fault}")
            continue
        known = KnownGrade(queries[row[0]], versions[row[1]], int(row[2]), f"named by a lead, line {line}")
        if pairs.setdefault((known.query_id, known.version_id), known).grade != known.grade:
            faults.append(f"Line {line}: an earlier line gives this pair another grade.")
    if len(pairs) > MOST_CHECKS:
        faults.append(f"{len(pairs)} checks are named; at most {MOST_CHECKS} fit a round.")
    if faults:
        raise ValidationError(faults[:10])
    return list(pairs.values())


def _fault(row: list[str], queries: dict[str, int], versions: dict[str, int], grades: list[int]) -> str | None:
    if len(row) != len(HEADER):
        return "a check is a query id, a block id and a grade, with commas between."
    if row[0] not in queries:
        return f"there is no query {row[0]}."
    if row[1] not in versions:
        return f"there is no passage {row[1]} in the snapshot of this pool."
    if row[2] not in {str(grade) for grade in grades}:
        return f"{row[2]} is not on the scale of this project."
    return None
