"""Serializers of missed questions, and of what is proposed for one."""

from rest_framework import serializers

LONGEST_QUOTE = 20_000


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
    next = serializers.CharField(allow_null=True)


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
