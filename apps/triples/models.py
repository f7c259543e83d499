from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.functional import cached_property

from apps.accounts.models import Project
from apps.corpus.models import BlockVersion, Snapshot
from apps.queries.models import Query, Source
from apps.triples.enums import ELSEWHERE, RetireReason, State

USABLE = Q(state=State.ACCEPTED) | Q(state=State.IN_REVIEW, resolution=ELSEWHERE)
"""Accepted; or taken as reviewed elsewhere and now reviewed blind, which takes nothing from it before its verdicts."""
CANDIDATE = Q(is_machine_written=True, adopted_by=None, state=State.DRAFT)


def label_of(number: int) -> str:
    return f"T-{number:04d}"


class Triple(models.Model):
    """Question, expected block(s), expected answer, on their way from draft to gold.

    Only `workflow.move` assigns `state`. `is_stale` marks an accepted triple whose block has another text in a newer
    snapshot; the pinned text does not change.
    """

    project = models.ForeignKey(Project, models.PROTECT, related_name="triples")
    number = models.PositiveIntegerField()
    state = models.CharField(max_length=12, choices=State.choices, default=State.DRAFT)
    is_stale = models.BooleanField(default=False)
    round = models.PositiveIntegerField(default=0, help_text="Review rounds so far; 0 before the first submit.")
    was_disputed = models.BooleanField(default=False)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="triples")
    snapshot = models.ForeignKey(Snapshot, models.PROTECT, related_name="triples")
    query = models.ForeignKey(Query, models.PROTECT, null=True, blank=True, related_name="triples")
    source = models.ForeignKey(Source, models.PROTECT, null=True, blank=True, related_name="triples")
    domain = models.CharField(max_length=80, blank=True)
    difficulty = models.CharField(max_length=10, blank=True)
    is_machine_written = models.BooleanField(default=False)
    adopted_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    parent = models.ForeignKey("self", models.PROTECT, null=True, blank=True, related_name="children")
    current = models.ForeignKey("Revision", models.PROTECT, null=True, related_name="+")
    resolution = models.CharField(
        max_length=40, blank=True, help_text="consensus, revised, policy:…, adjudicated, elsewhere."
    )
    resolved_at = models.DateTimeField(null=True)
    sampled_at = models.DateTimeField(
        null=True, help_text="When it was drawn at random for a blind review, after it was taken as reviewed elsewhere."
    )
    retire_reason = models.CharField(max_length=24, choices=RetireReason.choices, blank=True)
    edit_version = models.PositiveIntegerField(default=0, help_text="Raised by each save of the draft.")
    idempotency_key = models.CharField(  # noqa: DJ001 - a filled default would rebuild the table
        max_length=64, null=True, help_text="Of the new bench that it was first saved from."
    )
    created_at = models.DateTimeField()
    changed_at = models.DateTimeField(help_text="When the state or the draft last moved.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "number"], name="triple_number_in_project"),
            models.UniqueConstraint(
                fields=["author", "idempotency_key"],
                condition=Q(idempotency_key__isnull=False),
                name="triple_key_once_per_author",
            ),
            models.CheckConstraint(name="triple_state_is_known", condition=Q(state__in=State.values)),
            models.CheckConstraint(
                name="triple_only_accepted_is_stale", condition=Q(is_stale=False) | Q(state=State.ACCEPTED)
            ),
            models.CheckConstraint(
                name="triple_accepted_has_resolution",
                condition=~Q(state=State.ACCEPTED) | (~Q(resolution="") & Q(resolved_at__isnull=False)),
            ),
            models.CheckConstraint(
                name="triple_retired_has_a_reason", condition=~Q(state=State.RETIRED) | ~Q(retire_reason="")
            ),
        ]
        indexes = [
            models.Index(fields=["project", "state", "changed_at"], name="triple_by_state"),
            models.Index(fields=["project", "state", "number"], name="triple_list_by_state"),
            models.Index(fields=["project", "author", "number"], name="triple_list_by_author"),
            models.Index(fields=["project", "source", "number"], name="triple_list_by_source"),
            models.Index(fields=["project", "domain", "number"], name="triple_list_by_domain"),
            models.Index(fields=["project", "number"], condition=Q(is_stale=True), name="triple_list_stale"),
            models.Index(fields=["project", "changed_at"], condition=Q(is_stale=True), name="triple_stale_by_age"),
            models.Index(fields=["project", "number"], condition=CANDIDATE, name="triple_candidates"),
        ]

    def __str__(self) -> str:
        return self.label

    @cached_property
    def label(self) -> str:
        return label_of(self.number)

    @property
    def is_candidate(self) -> bool:
        """Whether a machine wrote it and nobody has adopted it: nobody's draft yet."""
        return self.is_machine_written and self.adopted_by_id is None and self.state == State.DRAFT

    @property
    def is_from_elsewhere(self) -> bool:
        """Whether it counts as accepted because it was reviewed elsewhere, and no two verdicts here say otherwise."""
        return self.resolution == ELSEWHERE

    @property
    def reviewed_elsewhere_by(self) -> list[str]:
        """Who reviewed it elsewhere, as its file says (load `imported` with it). Hidden while it is reviewed."""
        if not self.is_from_elsewhere or self.state != State.ACCEPTED:
            return []
        return list(self.imported.claims.get("reviewed_by", []))

    @property
    def revision(self) -> "Revision":
        """The wording that counts: the one submitted last, or the first draft. Always exists."""
        assert self.current is not None, f"{self.label} was not started by start_draft"
        return self.current


class Revision(models.Model):
    """A triple's wording at one time. Editable as a draft; fixed by a trigger once submitted."""

    triple = models.ForeignKey(Triple, models.PROTECT, related_name="revisions")
    number = models.PositiveIntegerField()
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    snapshot = models.ForeignKey(Snapshot, models.PROTECT, related_name="+")
    question = models.TextField(blank=True)
    answer = models.TextField(blank=True)
    needs_all_blocks = models.BooleanField(default=False, help_text="All blocks are needed, not any one of them.")
    note = models.TextField(blank=True)
    warnings = models.JSONField(default=list, help_text="Checks that warned when it was submitted.")
    round = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField()
    saved_at = models.DateTimeField()
    submitted_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["triple", "number"], name="revision_number_in_triple"),
            models.CheckConstraint(
                name="revision_submitted_is_whole",
                condition=Q(submitted_at=None) | (~Q(question="") & ~Q(answer="") & Q(round__gte=1)),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.triple_id}/{self.number}"

    @cached_property
    def blocks(self) -> "list[ExpectedBlock]":
        """As the author ordered them, with texts and documents; `WITH_BLOCKS` reads those of many revisions at once."""
        return list(self.expected_blocks.select_related("version__block__document").order_by("order", "pk"))


class ExpectedBlock(models.Model):
    """A block version that a revision expects, with its marked evidence. Fixed together with its revision."""

    revision = models.ForeignKey(Revision, models.PROTECT, related_name="expected_blocks")
    version = models.ForeignKey(BlockVersion, models.PROTECT, related_name="+")
    order = models.PositiveSmallIntegerField(default=0)
    spans = models.JSONField(default=list, help_text="[start, end] in code points of the block's text.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["revision", "version"], name="expected_block_once_per_revision")]

    def __str__(self) -> str:
        return f"{self.revision_id}–{self.version_id}"


class AskedRevision(models.Model):
    """The query by which systems are asked the question of an accepted revision. Written once, when it is accepted.

    It is the triple's own query when it came from one, else a query that no list shows (`Query.is_asked`), with the
    triple's label as its outside id.
    """

    revision = models.OneToOneField(Revision, models.PROTECT, related_name="asked")
    query = models.ForeignKey(Query, models.PROTECT, related_name="asked_revisions")

    def __str__(self) -> str:
        return f"{self.revision_id} as {self.query_id}"


class ImportedEntry(models.Model):
    """The origin of an imported triple, and the claims of its file. Written once, with the draft.

    `claims` has `added_by`, `added_at`, `reviewed_by` and `resolution` as the file says them: nobody's verdict here,
    but what a lead goes by who takes it as accepted; `id` and `split` too, where given. `machine` names what wrote it
    (a model and its prompt); "" for people's work. `digest` is that of the wording the claims are about, see
    `formats.entry.wording_digest`.
    """

    triple = models.OneToOneField(Triple, models.PROTECT, related_name="imported")
    file = models.CharField(max_length=255)
    line = models.PositiveIntegerField()
    machine = models.CharField(max_length=200, blank=True)
    claims = models.JSONField(default=dict)
    digest = models.CharField(max_length=64, null=True)  # noqa: DJ001 - a filled default would rebuild the table
    imported_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    imported_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["digest"], name="imported_entry_by_digest")]

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class Rejection(models.Model):
    """Why a machine-written candidate was rejected, and by whom. Written once."""

    triple = models.OneToOneField(Triple, models.PROTECT, related_name="rejection")
    reason = models.TextField()
    rejected_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    rejected_at = models.DateTimeField()

    class Meta:
        constraints = [models.CheckConstraint(name="rejection_has_a_reason", condition=~Q(reason=""))]

    def __str__(self) -> str:
        return f"{self.triple}: {self.reason}"
