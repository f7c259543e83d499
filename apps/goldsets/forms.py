"""Forms of gold sets and versions."""

from collections.abc import Iterable
from typing import Any

from django import forms

from apps.accounts.models import Project
from apps.common.web.forms import KaratForm, offer
from apps.corpus.models import Snapshot
from apps.goldsets.enums import MOST_SEED, GroupBy, Split, SplitBy
from apps.goldsets.formats.public.card import LICENCES, SECTIONS
from apps.goldsets.formats.public.files import Order
from apps.goldsets.models import PublicRelease, Version
from apps.goldsets.selectors import versions

MOST_QUESTIONS = 100_000
LONGEST_WHY = 200


class GoldSetForm(KaratForm):
    name = forms.CharField(max_length=120, widget=forms.TextInput(attrs={"autofocus": True}))
    description = forms.CharField(max_length=2_000, required=False, widget=forms.Textarea(attrs={"rows": 3}))


class VersionForm(KaratForm):
    """The inputs of a draft; the choices are those of the project."""

    snapshot = forms.TypedChoiceField(coerce=int, help_text="The version uses these texts.")
    rounds = forms.TypedMultipleChoiceField(
        coerce=int,
        required=False,
        label="Judging rounds",
        widget=forms.CheckboxSelectMultiple,
        help_text="If two rounds judged the same pair, the later one counts.",
    )
    test_percent = forms.IntegerField(
        label="Test split",
        min_value=0,
        max_value=100,
        help_text="The share held back for the last comparison; the rest is dev, to work with. With fewer than "
        f"{versions.FEWEST_TO_HOLD_OUT} questions, 0. A target: what is kept together is never divided.",
    )
    split_by = forms.ChoiceField(
        label="Choose for test",
        required=False,
        choices=SplitBy.choices,
        initial=SplitBy.GROUP,
        widget=forms.RadioSelect,
        help_text="A question is as old as its asked_at says, else as long as it has been here.",
    )
    group_by = forms.MultipleChoiceField(
        label="Keep together",
        required=False,
        choices=GroupBy.choices,
        initial=[GroupBy.GROUP],
        widget=forms.CheckboxSelectMultiple,
        help_text="Questions that ask the same or nearly the same always stay together.",
    )
    seed = forms.IntegerField(min_value=0, max_value=MOST_SEED, initial=0, help_text="Same seed, same split.")
    note = forms.CharField(max_length=2_000, required=False, widget=forms.Textarea(attrs={"rows": 2}))

    def __init__(self, *args: Any, project: Project, version: Version | None = None, **kwargs: Any) -> None:
        snapshots = Snapshot.objects.filter(corpus__project=project).select_related("corpus")
        self.known_snapshots = {one.pk: one for one in snapshots.order_by("-frozen_at", "-pk")}
        self.known_rounds = {one.pk: one for one in versions.rounds_on(project)}
        kwargs["initial"] = _initial(version) if version else self._beginning(project)
        super().__init__(*args, **kwargs)
        texts = ((one, f"{one.name}, {one.corpus.name}, {one.block_count:,}") for one in self.known_snapshots.values())
        offer(self, "snapshot", [(one.pk, f"{words} passages") for one, words in texts])
        rounds = self.known_rounds.values()
        offer(self, "rounds", [(one.pk, f"{one.name}, on {one.pool.snapshot.name}, {one.state}") for one in rounds])

    def _beginning(self, project: Project) -> dict[str, Any]:
        """With every round of the corpus that was frozen last, so that rounds are left out only by choice."""
        corpus = next((one.corpus_id for one in self.known_snapshots.values()), None)
        rounds = [pk for pk, one in self.known_rounds.items() if one.pool.snapshot.corpus_id == corpus]
        return {"rounds": rounds, "test_percent": round(versions.usual_test_share(project) * 100)}

    @property
    def inputs(self) -> dict[str, Any]:
        """The keyword arguments of `draft_version` and `change_draft`."""
        values = self.cleaned_data
        return {
            "snapshot": self.known_snapshots[values["snapshot"]],
            "rounds": [self.known_rounds[pk] for pk in values["rounds"]],
            "test_share": values["test_percent"] / 100,
            "group_by": values["group_by"],
            "split_by": values["split_by"] or SplitBy.GROUP.value,
            "seed": values["seed"],
            "note": values["note"].strip(),
        }


def _initial(version: Version) -> dict[str, Any]:
    return {
        "snapshot": version.snapshot_id,
        "rounds": list(version.rounds.values_list("pk", flat=True)),
        "test_percent": round(version.test_share * 100),
        "group_by": version.group_by,
        "split_by": version.split_by,
        "seed": version.seed,
        "note": version.note,
    }


class ChangelogForm(KaratForm):
    """What changed since the version before, as its readers will see it."""

    changelog = forms.CharField(
        max_length=10_000,
        required=False,
        widget=forms.Textarea(attrs={"rows": 5, "form": "freeze-form"}),
        help_text="Drafted from what changed; names of test items are left out. Frozen with the version and exported.",
    )


class DrawForm(KaratForm):
    """How many questions a quarter's slice has."""

    size = forms.IntegerField(label="Questions", min_value=1, max_value=MOST_QUESTIONS)


class PickForm(KaratForm):
    """Questions for a slice, by name, and why they belong in it."""

    names = forms.MultipleChoiceField(label="Questions", error_messages={"required": "Choose at least one question."})
    why = forms.CharField(
        label="Why these",
        max_length=LONGEST_WHY,
        help_text="Such as: asked most often, or broke in May.",
    )

    def __init__(self, *args: Any, questions: Iterable[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer(self, "names", [(name, name) for name in questions])


class PublicForm(KaratForm):
    """What people choose for a public release."""

    title = forms.CharField(max_length=120, help_text="How others know it. Part of the name of the file.")
    holder = forms.CharField(
        label="Credited", max_length=120, required=False, help_text="A team or company, not a person, whom others cite."
    )
    licence = forms.ChoiceField(choices=[(one.key, f"{one.key}: {one.name}") for one in LICENCES])
    with_test = forms.BooleanField(
        label="The test split too",
        required=False,
        help_text="Then it is no longer sealed: anybody can tune a system on it.",
    )

    def order(self) -> Order:
        splits = (Split.DEV.value, Split.TEST.value) if self.cleaned_data["with_test"] else (Split.DEV.value,)
        title, holder, licence = (" ".join(self.cleaned_data[name].split()) for name in ("title", "holder", "licence"))
        return Order(title, holder, licence, splits)


def public_initial(version: Version, release: PublicRelease | None) -> dict[str, Any]:
    if release is None:
        return {"title": version.gold_set.name}
    chosen = {name: getattr(release, name) for name in ("title", "holder", "licence")}
    return {**chosen, "with_test": Split.TEST in release.splits}


class CardForm(KaratForm):
    """The sections of a data card. A section may be empty."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for number, section in enumerate(SECTIONS, 1):
            self.fields[section.key] = forms.CharField(
                label=f"{number}. {section.title}",
                required=False,
                max_length=5_000,
                widget=forms.Textarea(attrs={"rows": 4, "class": "input"}),
            )

    @property
    def texts(self) -> dict[str, str]:
        return {name: text.replace("\r\n", "\n") for name, text in self.cleaned_data.items()}
