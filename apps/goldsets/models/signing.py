"""The keys that sign a project's exports."""

from django.db import models
from django.db.models import Q

from apps.accounts.models import Project
from apps.goldsets.core.signing import fingerprint
from apps.goldsets.models.fields import person


class SigningKey(models.Model):
    """A key that signs the exports of a project: one is in use, earlier ones stay so that people can look them up."""

    project = models.ForeignKey(Project, models.PROTECT, related_name="signing_keys")
    public_key = models.CharField(max_length=60)
    sealed = models.BinaryField(help_text="The private key, sealed under SECRET_KEY.")
    made_by = person()
    made_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project"], condition=Q(ended_at=None), name="signing_key_one_in_use")
        ]

    def __str__(self) -> str:
        return self.fingerprint

    @property
    def fingerprint(self) -> str:
        return fingerprint(self.public_key)
