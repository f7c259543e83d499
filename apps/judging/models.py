from django.conf import settings
from django.db import models
from django.db.models import F, Q

from apps.accounts.models import Project
from apps.corpus.models import BlockVersion, Snapshot
from apps.judging.enums import CantJudgeReason, DecidedBy, ErrorType, RoundKind, RoundState, SeatState
from apps.queries.models import Query
from apps.retrieval.models import Pool, PoolEntry


class Guideline(models.Model):
    """The definition of each grade, in words and examples. A change is a new number; judgements name theirs."""

    project = models.ForeignKey(Project, models.PROTECT, related_name="guidelines")
    number = models.PositiveIntegerField()
    markdown = models.TextField(blank=True)
    grades = models.JSONField(help_text="For each grade: grade, name, definition, examples.")
    published_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    published_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "number"], name="guideline_number_in_project")]

    def __str__(self) -> str:
        return f"guideline {self.number}"


class RoundQuerySet(models.QuerySet["Round"]):
    def in_force(self) -> "RoundQuerySet":
        """Without those whose import was undone: their grades stay on record and count nowhere."""
        return self.filter(withdrawn_at=None)


class Round(models.Model):
    """One plan of who grades how much of a pool, and its execution.

    `withdrawn_at` is set when the import of its grades is undone: they stay as they were given, and count nowhere.
    """

    project = models.ForeignKey(Project, models.PROTECT, related_name="rounds")
    pool = models.ForeignKey(Pool, models.PROTECT, related_name="rounds")
    guideline = models.ForeignKey(Guideline, models.PROTECT, null=True, related_name="rounds")
    number = models.PositiveIntegerField()
    name = models.CharField(max_length=120)
    kind = models.CharField(max_length=10, choices=RoundKind.choices, default=RoundKind.JUDGING)
    state = models.CharField(max_length=10, choices=RoundState.choices, default=RoundState.OPENING)
    overlap_share = models.FloatField(default=0.2, help_text="Share of pairs judged by `judges` people, 0 to 1.")
    judges = models.PositiveSmallIntegerField(default=2, help_text="Judgements a pair of the overlap gets.")
    seed = models.BigIntegerField(default=0)
    plan = models.JSONField(null=True, help_text="The rest of the plan, as `plan.Plan` writes it.")
    lease_minutes = models.PositiveIntegerField(default=30)
    origin = models.CharField(max_length=300, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField()
    opened_at = models.DateTimeField(null=True)
    closed_at = models.DateTimeField(null=True)
    withdrawn_at = models.DateTimeField(null=True, help_text="When the import of its grades was undone.")

    objects = RoundQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "number"], name="round_number_in_project"),
            models.CheckConstraint(
                name="round_overlap_is_a_share", condition=Q(overlap_share__gte=0, overlap_share__lte=1)
            ),
            models.CheckConstraint(name="round_asks_for_a_judge", condition=Q(judges__gte=1)),
        ]

    def __str__(self) -> str:
        return self.name


class RoundAnnotator(models.Model):
    """An annotator of a round. `cursor` is the query they have reached (see `claim_seats`)."""

    round = models.ForeignKey(Round, models.PROTECT, related_name="annotators")
    annotator = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    cursor = models.BigIntegerField(default=0)
    share = models.PositiveIntegerField(
        null=True, help_text="How many first grades were planned for them when the round opened."
    )
    only = models.JSONField(null=True, help_text="What they may judge; empty: every pair of the round.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["round", "annotator"], name="round_annotator_once")]

    def __str__(self) -> str:
        return f"{self.annotator_id} in {self.round_id}"


class KnownAnswer(models.Model):
    """A check: a pair with a known grade. Everybody of the round judges it, blindly, and no answer is exported."""

    round = models.ForeignKey(Round, models.PROTECT, related_name="known_answers")
    entry = models.ForeignKey(PoolEntry, models.PROTECT, related_name="+")
    grade = models.SmallIntegerField()
    origin = models.CharField(max_length=300, help_text="Where the grade is known from.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["round", "entry"], name="known_answer_once")]

    def __str__(self) -> str:
        return f"{self.entry_id} is {self.grade}"


class KeptPair(models.Model):
    """A pair that a round assigns to nobody: its text has been judged for its query, or is being judged, elsewhere.

    `kept_from` is the latest round that planned it, on this snapshot or on another with the same text.
    """

    round = models.ForeignKey(Round, models.PROTECT, related_name="kept_pairs")
    entry = models.ForeignKey(PoolEntry, models.PROTECT, related_name="+")
    kept_from = models.ForeignKey(Round, models.PROTECT, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["round", "entry"], name="kept_pair_once")]

    def __str__(self) -> str:
        return f"{self.entry_id} keeps its grade of {self.kept_from_id}"


class PilotDecision(models.Model):
    """The decision that ends the pilot of a round: agreement reached the bar, or a lead opened the rest."""

    round = models.OneToOneField(Round, models.PROTECT, related_name="pilot_decision")
    alpha = models.FloatField(null=True, help_text="Ordinal α over the pilot; empty where it is undefined.")
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    reason = models.TextField(blank=True, help_text="Why a lead opened the round all the same.")
    decided_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="pilot_decision_of_a_lead_has_a_reason", condition=Q(decided_by=None) | ~Q(reason="")
            )
        ]

    def __str__(self) -> str:
        return f"pilot of {self.round_id}"


class KeyMap(models.Model):
    """The keys a person chose for the judging screen; without a row, the default keys."""

    person = models.OneToOneField(settings.AUTH_USER_MODEL, models.PROTECT, related_name="key_map")
    keys = models.JSONField(help_text="For each act that was given another key: act and key.")

    def __str__(self) -> str:
        return f"keys of {self.person_id}"


NOT_RETIRED = Q(query__retired_at=None)
"""For seats: nobody is given a pair of a retired query, as after a permission was revoked."""


class Seat(models.Model):
    """One place for one judgement of one pair. A pair has exactly the seats that the plan requires.

    open: `meant_for` gets it, and anybody else of the round once their own share is done; or only `reserved_for`, where
    that is set. leased: to `annotator` until `lease_expires_at`; done: judged, final. The next claim of anybody opens a
    seat whose lease has lapsed.
    """

    # Those without an index of their own stand first in one of the indexes below.
    round = models.ForeignKey(Round, models.PROTECT, related_name="seats", db_index=False)
    entry = models.ForeignKey(PoolEntry, models.PROTECT, related_name="seats")
    query = models.ForeignKey(Query, models.PROTECT, related_name="+")
    number = models.PositiveSmallIntegerField(help_text="From 1 to the judgements this pair gets.")
    pass_number = models.PositiveSmallIntegerField(
        default=1, help_text="0: a check against a known answer. 2 and up: the same pair again, blindly."
    )
    state = models.CharField(max_length=8, choices=SeatState.choices, default=SeatState.OPEN)
    annotator = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+", db_index=False)
    lease_expires_at = models.DateTimeField(null=True)
    reserved_for = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+", db_index=False
    )
    meant_for = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        null=True,
        related_name="+",
        db_index=False,
        help_text="In whose share it is. Empty: in nobody's.",
    )
    due_after = models.PositiveIntegerField(
        null=True, help_text="A reserved seat is offered once its person has judged so many pairs of the round."
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["round", "entry", "number"], name="judging_seat_number_once"),
            models.UniqueConstraint(
                fields=["round", "annotator", "entry", "pass_number"],
                condition=Q(annotator__isnull=False),
                name="judging_one_seat_per_person_pair_and_pass",
            ),
            models.CheckConstraint(
                name="judging_seat_state_fits_annotator",
                condition=Q(state="open", annotator=None, lease_expires_at=None)
                | Q(state="leased", annotator__isnull=False, lease_expires_at__isnull=False)
                | Q(state="done", annotator__isnull=False),
            ),
        ]
        indexes = [
            models.Index(fields=["round", "state", "query"], name="judging_seat_open"),
            models.Index(
                fields=["round", "annotator", "lease_expires_at"],
                condition=Q(state="leased"),
                name="judging_seat_leased",
            ),
            models.Index(
                fields=["round", "reserved_for", "state"],
                condition=Q(reserved_for__isnull=False),
                name="judging_seat_reserved",
            ),
            models.Index(fields=["round", "meant_for", "query"], condition=Q(state="open"), name="judging_seat_meant"),
        ]

    def __str__(self) -> str:
        return f"seat {self.number} of {self.entry_id}"


class Judgement(models.Model):
    """One annotator's grade of one pair. Never changed: a changed grade is a new row that supersedes it.

    Exactly one of `grade` and `cant_judge` is set: grade 0 is a judgement, "can't judge" is a third thing.
    """

    # Those without an index of their own stand first in one of the indexes below.
    round = models.ForeignKey(Round, models.PROTECT, related_name="judgements", db_index=False)
    seat = models.ForeignKey(Seat, models.PROTECT, related_name="judgements")
    entry = models.ForeignKey(PoolEntry, models.PROTECT, related_name="judgements")
    annotator = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="judgements", db_index=False)
    pass_number = models.PositiveSmallIntegerField(default=1)
    grade = models.SmallIntegerField(null=True)
    cant_judge = models.CharField(max_length=20, choices=CantJudgeReason.choices, blank=True)
    note = models.TextField(blank=True)
    spans = models.JSONField(default=list, help_text="[start, end] in code points of the block's text.")
    facets = models.JSONField(
        null=True, help_text="Ids of the query's subtopics that the block answers. Empty: they were not asked."
    )
    guideline = models.ForeignKey(Guideline, models.PROTECT, null=True, related_name="+")
    active_ms = models.PositiveIntegerField(null=True)
    away_ms = models.PositiveIntegerField(null=True)
    idempotency_key = models.CharField(max_length=64)
    supersedes = models.OneToOneField("self", models.PROTECT, null=True, related_name="superseded_by")
    given_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["entry", "annotator", "pass_number", "round"],
                condition=Q(supersedes=None),
                name="judgement_one_chain_per_person_pair_and_pass",
            ),
            models.UniqueConstraint(fields=["seat"], condition=Q(supersedes=None), name="judgement_one_chain_per_seat"),
            models.UniqueConstraint(fields=["annotator", "idempotency_key"], name="judgement_key_once"),
            models.CheckConstraint(
                name="judgement_is_a_grade_or_a_reason",
                condition=Q(grade__isnull=False, cant_judge="") | (Q(grade=None) & ~Q(cant_judge="")),
            ),
        ]
        indexes = [
            models.Index(fields=["round", "entry"], name="judgement_of_pair"),
            models.Index(fields=["round", "annotator", "given_at"], name="judgement_of_person"),
        ]

    def __str__(self) -> str:
        return f"judgement {self.pk}"


class SecondLook(models.Model):
    """That a judge was shown the grades of the others on a pair. From then on their own first grade is final."""

    round = models.ForeignKey(Round, models.PROTECT, related_name="second_looks")
    entry = models.ForeignKey(PoolEntry, models.PROTECT, related_name="second_looks")
    judge = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    looked_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["round", "entry", "judge"], name="second_look_once")]

    def __str__(self) -> str:
        return f"{self.judge_id} looked at {self.entry_id}"


class SecondGrade(models.Model):
    """What a judge answered after a second look: their grade again, or another one with a word why. Append-only.

    The last one counts. Agreement never reads it: it is about first grades.
    """

    look = models.ForeignKey(SecondLook, models.PROTECT, related_name="grades")
    grade = models.SmallIntegerField(null=True)
    cant_judge = models.CharField(max_length=20, choices=CantJudgeReason.choices, blank=True)
    reason = models.TextField(blank=True)
    is_last = models.BooleanField(help_text="Nobody may answer after it: it is settled, or left to a lead.")
    idempotency_key = models.CharField(max_length=64)
    given_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["look", "idempotency_key"], name="second_grade_key_once"),
            models.CheckConstraint(
                name="second_grade_is_a_grade_or_a_reason",
                condition=Q(grade__isnull=False, cant_judge="") | (Q(grade=None) & ~Q(cant_judge="")),
            ),
        ]

    def __str__(self) -> str:
        return f"second grade {self.pk}"


class Adjudication(models.Model):
    """The decision on a pair whose first grades did not settle it. Append-only, like the grades it settles.

    It is a lead's, or that of its judges, who came to one grade; `adjudicator` is then who gave it last. No grade means
    that the pair can't be judged and is left out of every version.
    """

    round = models.ForeignKey(Round, models.PROTECT, related_name="adjudications")
    entry = models.ForeignKey(PoolEntry, models.PROTECT, related_name="adjudications")
    adjudicator = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    grade = models.SmallIntegerField(null=True, help_text="Empty: the pair can't be judged at all.")
    reason = models.TextField()
    error_type = models.CharField(max_length=20, choices=ErrorType.choices)
    decided_by = models.CharField(
        max_length=16, choices=DecidedBy.choices, default=DecidedBy.LEAD, db_default=DecidedBy.LEAD
    )
    facets = models.JSONField(null=True, help_text="Ids of subtopics. Empty: those of at least half of the judges.")
    supersedes = models.OneToOneField("self", models.PROTECT, null=True, related_name="superseded_by")
    given_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["round", "entry"],
                condition=Q(supersedes=None),
                name="adjudication_one_chain_per_pair",
            ),
            models.CheckConstraint(name="adjudication_has_a_reason", condition=~Q(reason="")),
            models.CheckConstraint(
                name="adjudication_of_judges_is_a_grade", condition=~Q(decided_by="judges") | Q(grade__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return f"adjudication {self.pk}"


class HeldDecision(models.Model):
    """A lead's grade for an undecided pair, kept until they give cause and reason for several. It decides nothing."""

    round = models.ForeignKey(Round, models.PROTECT, related_name="held_decisions")
    entry = models.ForeignKey(PoolEntry, models.PROTECT, related_name="+")
    lead = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    grade = models.SmallIntegerField(null=True, help_text="Empty: the pair can't be judged at all.")
    answers = models.CharField(max_length=64, help_text="A digest of the answers that the lead saw.")
    facets = models.JSONField(null=True, help_text="Ids of subtopics, as those of a decision.")
    held_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["round", "entry", "lead"], name="held_decision_once")]

    def __str__(self) -> str:
        return f"{self.entry_id} held by {self.lead_id}"


class UndecidedPair(models.Model):
    """A pair that needs a lead: its judges have all answered, did not settle it, and no lead has decided.

    Kept by triggers as grades, seats, decisions and the end of the round change it; nothing else writes it.
    """

    round = models.ForeignKey(Round, models.PROTECT, related_name="undecided")
    entry = models.ForeignKey(PoolEntry, models.PROTECT, related_name="+")
    oldest = models.ForeignKey(Judgement, models.PROTECT, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["round", "entry"], name="undecided_pair_once")]

    def __str__(self) -> str:
        return f"{self.entry_id} in {self.round_id}"


class PlaceholderClaim(models.Model):
    """A member who is the person behind a name in imported files, as a lead has said.

    The grades stay under the name, as they were given. A claim that was wrong is ended, and stays on record.
    """

    project = models.ForeignKey(Project, models.PROTECT, related_name="placeholder_claims")
    placeholder = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="claims")
    member = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    claimed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    claimed_at = models.DateTimeField()
    ended_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["placeholder"], condition=Q(ended_at=None), name="placeholder_is_one_member_at_most"
            ),
            models.CheckConstraint(name="placeholder_is_somebody_else", condition=~Q(placeholder=F("member"))),
            models.CheckConstraint(
                name="placeholder_claim_is_ended_by_somebody",
                condition=Q(ended_at=None, ended_by=None) | Q(ended_at__isnull=False, ended_by__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.placeholder} is {self.member}"


class UnanswerableVote(models.Model):
    """One person's vote on whether anything in a snapshot answers a query. Append-only.

    `number` is 1 or 2 for the two who vote without seeing each other, and 0 for a lead who decides where they differ.
    Once a passage is graded relevant, votes count no more: the next are another `attempt`. What they add up to is in
    `core.unanswerable`.
    """

    query = models.ForeignKey(Query, models.PROTECT, related_name="unanswerable_votes")
    snapshot = models.ForeignKey(Snapshot, models.PROTECT, related_name="+")
    attempt = models.PositiveSmallIntegerField(default=1)
    number = models.PositiveSmallIntegerField()
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    is_nothing = models.BooleanField(help_text="Whether nothing in the snapshot answers the query.")
    passage = models.ForeignKey(
        BlockVersion, models.PROTECT, null=True, related_name="+", help_text="The passage that answers it."
    )
    reason = models.TextField(blank=True)
    basis = models.JSONField(help_text="What was judged for the query at that time.")
    given_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["query", "snapshot", "attempt", "number"], name="unanswerable_vote_number_once"
            ),
            models.UniqueConstraint(
                fields=["query", "snapshot", "attempt", "person"],
                condition=Q(number__gt=0),
                name="unanswerable_vote_person_once",
            ),
            models.CheckConstraint(name="unanswerable_vote_is_of_two_or_a_lead", condition=Q(number__lte=2)),
            models.CheckConstraint(
                name="unanswerable_vote_names_a_passage_or_nothing",
                condition=Q(is_nothing=True, passage=None) | Q(is_nothing=False, passage__isnull=False),
            ),
            models.CheckConstraint(
                name="unanswerable_vote_of_a_lead_has_a_reason", condition=~Q(number=0) | ~Q(reason="")
            ),
        ]

    def __str__(self) -> str:
        return f"vote {self.number} on {self.query_id}"
