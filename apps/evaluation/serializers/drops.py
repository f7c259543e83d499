"""Misses, drops of a comparison with their decisions, and the pairs that it misses, as JSON."""

from typing import Any

from rest_framework import serializers

from apps.common.web.api import next_page
from apps.common.web.forms import ChoiceField
from apps.evaluation.models import ClosedComparison, RegressionNote
from apps.evaluation.rules import MOST_LETTERS, MOST_PLANNED
from apps.retrieval.models import Pool

LONGEST_QUOTE = 20_000
LONGEST_NAME = 200


class FirstOut(serializers.Serializer):
    """The passage that was returned first: one of ours, or one that the system cut itself."""

    id = serializers.CharField(source="returned.id")
    block_id = serializers.CharField(source="entry.block.outside_id", allow_null=True, default=None)
    document_id = serializers.CharField(source="returned.document_id")
    pages = serializers.ListField(source="returned.pages", child=serializers.IntegerField(), allow_null=True)
    text = serializers.CharField()


class MissOut(serializers.Serializer):
    """A `MissRow`. `hidden` says that the person judges or reviews the question, so that ranks are not shown yet."""

    place = serializers.IntegerField(source="missed.place")
    triple = serializers.CharField(source="missed.row.label")
    triple_id = serializers.IntegerField(source="missed.row.triple_id")
    split = serializers.CharField(source="missed.row.split")
    question = serializers.CharField(source="missed.row.content.question")
    expected_answer = serializers.CharField(source="missed.row.content.expected_answer")
    expected_blocks = serializers.ListField(child=serializers.CharField())
    hidden = serializers.BooleanField(source="is_hidden")
    finding = serializers.CharField(help_text="Why it is a miss, as one sentence.")
    first_right_rank = serializers.IntegerField(
        allow_null=True, help_text="The rank of the first right passage beyond the cutoff; null: none was returned."
    )
    returned = serializers.IntegerField(allow_null=True, help_text="How many passages were returned.")
    first = FirstOut(allow_null=True)
    known = serializers.CharField(
        help_text="What is known about the first for this question: wrong, expected, open, disputed, rejected or empty."
    )
    unclear = serializers.BooleanField(source="is_unclear", help_text="Somebody found the question unclear.")


class MissPageOut(serializers.Serializer):
    evaluation = serializers.IntegerField()
    measure = serializers.CharField()
    cutoff = serializers.IntegerField()
    count = serializers.IntegerField()
    misses = MissOut(many=True)
    next = next_page()


class LeakOut(serializers.Serializer):
    """A result that the role may not see."""

    query_id = serializers.CharField(source="query.outside_id")
    rank = serializers.IntegerField()
    block_id = serializers.CharField(source="named.version.block.outside_id")
    audience = serializers.CharField(help_text="The roles that may see it, as its metadata names them.")


class LeakPageOut(serializers.Serializer):
    evaluation = serializers.IntegerField()
    measure = serializers.CharField()
    role = serializers.CharField()
    count = serializers.IntegerField()
    leaks = LeakOut(many=True)
    next = next_page()


class ProposalInput(serializers.Serializer):
    """A returned passage that answers a missed question as well."""

    triple = serializers.CharField(max_length=20, help_text="The triple's number, such as T-0004.")
    measure = serializers.CharField(required=False, default="", max_length=80)
    rank = serializers.IntegerField(required=False, default=1, min_value=1, max_value=10**6)
    block_id = serializers.CharField(
        required=False,
        default="",
        max_length=200,
        help_text="Which of our passages it is; needed where the system cut it itself.",
    )
    quote = serializers.CharField(
        required=False, default="", allow_blank=True, max_length=LONGEST_QUOTE, help_text="The words in it that count."
    )


class ProposalOut(serializers.Serializer):
    id = serializers.IntegerField(source="pk")
    triple_id = serializers.IntegerField()
    state = serializers.CharField()


class MeasureInput(serializers.Serializer[Any]):
    """The measure by which the two are compared: one that both were scored by."""

    measure = serializers.CharField(max_length=MOST_LETTERS)


class PlanInput(MeasureInput):
    """The number of queries, or questions, at which the fixed test of the two systems decides."""

    queries = serializers.IntegerField(min_value=1, max_value=MOST_PLANNED)


class PoolNameInput(serializers.Serializer[Any]):
    """How the pool is called; without a name Karat makes one of what it is for."""

    name = serializers.CharField(max_length=120, required=False, allow_blank=True, default="")


class DropsRejudgeInput(MeasureInput, PoolNameInput):
    """The measure whose drops are marked as wrongly graded."""


class DropDecisionInput(MeasureInput):
    """A decision on a drop. To accept it or to have it fixed takes an explanation."""

    query = serializers.CharField(max_length=LONGEST_NAME, help_text="The id of the query, or the label of the Q&A.")
    decision = ChoiceField(choices=RegressionNote.Decision.choices)
    explanation = serializers.CharField(max_length=2_000, required=False, allow_blank=True, default="")


class GradesInput(PoolNameInput):
    """The query whose unjudged passages people are to judge."""

    query = serializers.CharField(max_length=LONGEST_NAME, help_text="The id of the query.")


class ChosenPoolOut(serializers.Serializer[Pool]):
    """The pool that was made; plan a round on it to have its pairs judged."""

    pool = serializers.IntegerField(source="pk")
    name = serializers.CharField()
    pairs = serializers.IntegerField(source="entry_count")


class NoteOut(serializers.Serializer[RegressionNote]):
    """A decision on a drop."""

    query = serializers.CharField(source="query_id_text")
    measure = serializers.CharField()
    decision = ChoiceField(choices=RegressionNote.Decision.choices)
    explanation = serializers.CharField()
    pool = serializers.IntegerField(source="pool_id", allow_null=True, help_text="In which its pairs are judged again.")
    decided_at = serializers.DateTimeField()


class DropOut(serializers.Serializer[Any]):
    """A query, or a Q&A by its label, that got worse by more than the bar. `note` is null until it is decided."""

    query = serializers.CharField(source="change.query_id")
    text = serializers.CharField()
    split = serializers.CharField()
    baseline = serializers.FloatField(source="change.baseline")
    candidate = serializers.FloatField(source="change.candidate")
    change = serializers.FloatField(source="change.change")
    note = NoteOut(allow_null=True)


class ClosedOut(serializers.Serializer[ClosedComparison]):
    """The verdict with which a comparison was closed."""

    measure = serializers.CharField()
    verdict = serializers.CharField()
    closed_at = serializers.DateTimeField()


class DropPageOut(serializers.Serializer[Any]):
    """The drops by one measure that the person may see, worst first.

    `regressions` and `unexplained` count all there are, `withheld` says why some are not listed. `closing_refusal` is
    why you cannot close the comparison now, null where you can; `left_open` is the work on wrong grades that would be
    left, `to_judge_again` how many drops wait for a pool.
    """

    measure = serializers.CharField()
    measures = serializers.ListField(child=serializers.CharField(), help_text="All by which the two are compared.")
    bar = serializers.FloatField(help_text="The fall beyond which a drop needs an explanation.")
    verdict = serializers.CharField()
    regressions = serializers.IntegerField()
    unexplained = serializers.IntegerField()
    withheld = serializers.ListField(child=serializers.CharField())
    closed = ClosedOut(allow_null=True)
    closing_refusal = serializers.CharField(allow_null=True)
    to_judge_again = serializers.IntegerField()
    left_open = serializers.ListField(child=serializers.CharField())
    drops = DropOut(many=True)
    next = next_page()


class UnjudgedOut(serializers.Serializer[Any]):
    """A query with the passages without a grade in the first ten of either run, by their ids in the snapshot."""

    query = serializers.CharField()
    split = serializers.CharField()
    block_ids = serializers.ListField(child=serializers.CharField())


class UnjudgedPageOut(serializers.Serializer[Any]):
    """`count` is the number of queries that you may see with such passages; `withheld` why others are not listed."""

    count = serializers.IntegerField()
    withheld = serializers.ListField(child=serializers.CharField())
    results = UnjudgedOut(many=True)
    next = next_page()
