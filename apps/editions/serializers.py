"""New editions as JSON: what changes and what rests on it, decisions, and what came of taking one."""

from typing import Any

from rest_framework import serializers

from apps.common.web.api import next_page
from apps.common.web.forms import ChoiceField
from apps.editions.enums import ChangeKind, Choice
from apps.editions.selectors.applied import TakenEdition
from apps.editions.selectors.decisions import ChangedPassage, Work
from apps.retrieval.models import Run, System

LONGEST_MARK = 64


class MarkInput(serializers.Serializer[Any]):
    """With `mark` nothing is done where the changes are no longer those that you have read."""

    mark = serializers.CharField(max_length=LONGEST_MARK, default="", allow_blank=True)


class DecisionsInput(MarkInput):
    """What happens to the grades of changed passages, by the ids of the passages."""

    decisions = serializers.DictField(
        child=ChoiceField(choices=Choice.choices),
        allow_empty=False,
        help_text='Such as {"SEC-4.2": "carry"}.',
    )


class TakeInput(MarkInput):
    """`rest` is for changed passages without a decision; without it each is as its `start` says.

    Without `with_round` the pairs to judge become a pool alone.
    """

    rest = ChoiceField(choices=Choice.choices, allow_null=True, default=None)
    with_round = serializers.BooleanField(default=True)


class KindOut(serializers.Serializer[Any]):
    """One kind of change: how many passages are of it, and what rests on their texts before."""

    kind = ChoiceField(choices=ChangeKind.choices)
    passages = serializers.IntegerField()
    grades = serializers.IntegerField()
    triples = serializers.IntegerField()
    versions = serializers.ListField(child=serializers.CharField(), help_text="Versions with items on them.")


class WorkOut(serializers.Serializer[Work]):
    """What taking it comes to, in grades and pairs, as decided now.

    `along` are all grades that the new edition has, `carried` those of them that come from another text or id; `again`
    and `new` are pairs for people to judge; `gone` grades stay on the snapshot before.
    """

    along = serializers.IntegerField()
    carried = serializers.SerializerMethodField()
    again = serializers.SerializerMethodField()
    new = serializers.SerializerMethodField()
    gone = serializers.IntegerField()

    def get_carried(self, work: Work) -> int:
        return len(work.carried)

    def get_again(self, work: Work) -> int:
        return len(work.again)

    def get_new(self, work: Work) -> int:
        return len(work.new)


class PlannedRoundOut(serializers.Serializer[Any]):
    """The round that taking it opens: as `former`, the round before, by its people. `refusal` is why it cannot."""

    former = serializers.IntegerField(source="former.pk", default=None, allow_null=True)
    people = serializers.ListField(child=serializers.CharField())
    refusal = serializers.CharField(allow_null=True)
    time = serializers.CharField(help_text="For one person, in words; empty without a pair.")


class StaysOut(serializers.Serializer[Any]):
    """What stays on the snapshot before."""

    runs = serializers.IntegerField()
    pools = serializers.IntegerField()
    open_rounds = serializers.SerializerMethodField()

    def get_open_rounds(self, stays: Any) -> list[int]:
        return [round_.pk for round_ in stays.open_rounds]


class TakenFactsOut(serializers.Serializer[TakenEdition]):
    """That it was taken, and what came of it; pool and rounds are null where there was nothing for them."""

    at = serializers.DateTimeField()
    by = serializers.CharField(source="actor")
    along = serializers.IntegerField(source="after.along")
    carried_round = serializers.IntegerField(source="after.carried_round", allow_null=True)
    pool = serializers.IntegerField(source="after.pool", allow_null=True)
    round = serializers.IntegerField(source="after.round", allow_null=True)
    drafts = serializers.ListField(source="after.drafts", child=serializers.CharField())


class SystemToRunOut(serializers.Serializer[System]):
    id = serializers.IntegerField(source="pk")
    name = serializers.CharField()


class SystemsToRunOut(serializers.Serializer[Any]):
    """What ranked the snapshot before and not this one: systems that Karat can run again, and those outside."""

    here = SystemToRunOut(many=True)
    elsewhere = SystemToRunOut(many=True)


class EditionOut(serializers.Serializer[Any]):
    """A new edition beside the snapshot before it. Of an import nothing is stored yet, and `snapshot` is null.

    `to_decide` counts the changed passages with grades, `decided` those that somebody decided about. `taken` is null
    until it is taken; `to_run` is null for an import.
    """

    before = serializers.IntegerField(help_text="The id of the snapshot before.")
    snapshot = serializers.IntegerField(allow_null=True)
    mark = serializers.CharField(help_text="Names exactly these changes; send it back with a decision.")
    passages = serializers.IntegerField()
    kinds = KindOut(many=True)
    to_decide = serializers.IntegerField()
    decided = serializers.IntegerField()
    work = WorkOut()
    round = PlannedRoundOut()
    stays = StaysOut()
    drafts = serializers.ListField(child=serializers.CharField(), help_text="Drafts that move to it when it is taken.")
    taken = TakenFactsOut(allow_null=True)
    to_run = SystemsToRunOut(allow_null=True)


class ChangeOut(serializers.Serializer[ChangedPassage]):
    """A changed passage with both texts. `evidence` was marked in the old one; `kept` is where it is in the new one.

    `start` is what happens to its grades unless somebody decides, `decided` what somebody did; `why` says how much
    changed.
    """

    block_id = serializers.CharField(source="change.name")
    title_before = serializers.CharField(source="old.title")
    text_before = serializers.CharField(source="old.text")
    title = serializers.CharField(source="new.title")
    text = serializers.CharField(source="new.text")
    grades = serializers.IntegerField()
    triples = serializers.IntegerField()
    evidence = serializers.SerializerMethodField()
    kept = serializers.SerializerMethodField()
    why = serializers.CharField()
    start = ChoiceField(choices=Choice.choices)
    decided = ChoiceField(choices=Choice.choices, allow_null=True)

    def get_evidence(self, passage: ChangedPassage) -> list[list[int]]:
        return [list(span) for span in passage.spans]

    def get_kept(self, passage: ChangedPassage) -> list[list[int]]:
        return [list(span) for span in passage.kept]


class ChangePage(serializers.Serializer[Any]):
    count = serializers.IntegerField()
    results = ChangeOut(many=True)
    next = next_page()


class ListedPassageOut(serializers.Serializer[Any]):
    """A passage of one kind; `former_block_id` is its id before, empty where it is the same or there was none."""

    block_id = serializers.CharField(source="name")
    former_block_id = serializers.CharField(source="former_name")
    title = serializers.CharField()
    text = serializers.CharField()
    grades = serializers.IntegerField()
    triples = serializers.IntegerField()


class ListedPassagePage(serializers.Serializer[Any]):
    count = serializers.IntegerField()
    results = ListedPassageOut(many=True)
    next = next_page()


class TakeOut(serializers.Serializer[Any]):
    """What was taken, by ids; or the `job` that takes a large one, and all else null until it is done."""

    snapshot = serializers.IntegerField(source="taken.snapshot.pk", default=None, allow_null=True)
    carried_round = serializers.IntegerField(source="taken.carried.pk", default=None, allow_null=True)
    pool = serializers.IntegerField(source="taken.pool.pk", default=None, allow_null=True)
    round = serializers.IntegerField(source="taken.round.pk", default=None, allow_null=True)
    drafts = serializers.SerializerMethodField()
    job = serializers.IntegerField(source="job.pk", default=None, allow_null=True)

    def get_drafts(self, requested: Any) -> list[str]:
        return [str(draft) for draft in requested.taken.drafts] if requested.taken else []


class SystemRunOut(serializers.Serializer[Run]):
    id = serializers.IntegerField(source="pk")
    tag = serializers.CharField()
    system = serializers.CharField(source="system.name")
    job = serializers.IntegerField(source="job_id", allow_null=True)


class SystemsRunOut(serializers.Serializer[Any]):
    """The runs that were queued on the new edition."""

    runs = SystemRunOut(many=True)
