from django.conf import settings
from django.db import models
from django.db.models import Q


class Event(models.Model):
    """One change of state: who did what to which object, before and after. Never changed, never deleted.

    The foreign keys to project and actor have no database constraint: no event may block a change of another table, and
    no deletion elsewhere may empty a line of history.
    """

    project = models.ForeignKey(
        "accounts.Project", models.DO_NOTHING, null=True, db_constraint=False, related_name="events"
    )
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.DO_NOTHING, null=True, db_constraint=False, related_name="+"
    )
    action = models.CharField(max_length=64)
    object_type = models.CharField(max_length=64, blank=True)
    object_id = models.CharField(max_length=64, blank=True)
    object_label = models.CharField(max_length=200, blank=True)
    before = models.JSONField(null=True)
    after = models.JSONField(null=True)
    at = models.DateTimeField()
    request_id = models.CharField(max_length=64, blank=True)

    class Meta:
        constraints = [models.CheckConstraint(name="event_action_is_named", condition=~Q(action=""))]
        indexes = [
            models.Index(fields=["project", "-id"], name="event_newest_first"),
            models.Index(fields=["object_type", "object_id", "-id"], name="event_by_object"),
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.object_type} {self.object_id}".rstrip()


class Chain(models.Model):
    """The head of one hash chain: one for each project, and one (project empty) for records of none.

    Only the sealer writes it, and locks this row; writers of records never wait for the chain.
    """

    name = models.CharField(max_length=32, unique=True)
    project = models.ForeignKey(
        "accounts.Project", models.DO_NOTHING, null=True, db_constraint=False, related_name="chains"
    )
    length = models.PositiveBigIntegerField(default=0)
    digest = models.CharField(max_length=64)
    signature = models.CharField(max_length=64, blank=True, default="", help_text="Of the head, with the audit key.")

    def __str__(self) -> str:
        return self.name


class Link(models.Model):
    """One sealed record: its digest, chained to the link before. Never changed, never deleted."""

    # Without an index of its own: that of its positions begins with it.
    chain = models.ForeignKey(Chain, models.PROTECT, related_name="links", db_index=False)
    position = models.PositiveBigIntegerField()
    kind = models.CharField(max_length=32)
    record_id = models.PositiveBigIntegerField()
    record_digest = models.CharField(max_length=64)
    chain_digest = models.CharField(max_length=64)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["chain", "position"], name="link_one_at_a_position"),
            models.UniqueConstraint(fields=["kind", "record_id"], name="link_record_is_sealed_once"),
            models.CheckConstraint(name="link_positions_start_at_one", condition=Q(position__gte=1)),
        ]

    def __str__(self) -> str:
        return f"{self.chain}, {self.position}"


class SealMark(models.Model):
    """The last record of one kind that the sealer has read, so that it need not read all of them again."""

    kind = models.CharField(max_length=32, unique=True)
    record_id = models.PositiveBigIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.kind} up to {self.record_id}"
