"""What a lead decides about changed passages before the edition is taken."""

from django.conf import settings
from django.core.validators import RegexValidator
from django.db import models

from apps.corpus.models import BlockVersion
from apps.editions.enums import Choice


class Decision(models.Model):
    """What happens to the grades of a passage when its old text becomes this new one, until the edition is taken.

    It belongs to the two texts, not to an import: whoever uploads the same file again, or applies it and freezes, finds
    it. The latest of all leads counts, and the row is replaced; the audit log has what was taken.
    """

    version = models.ForeignKey(BlockVersion, on_delete=models.PROTECT, related_name="+")
    text_digest = models.CharField(max_length=64, validators=[RegexValidator(r"^[0-9a-f]{64}$")])
    """Of title and text in the new edition."""
    choice = models.CharField(max_length=5, choices=Choice)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    decided_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["version", "text_digest"], name="one_decision_for_two_texts"),
            models.CheckConstraint(condition=models.Q(choice__in=Choice.values), name="decision_is_a_choice"),
        ]

    def __str__(self) -> str:
        return f"{self.version}: {self.get_choice_display()}"
