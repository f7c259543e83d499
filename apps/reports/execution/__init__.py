"""What a worker runs: leaving systems out, and scoring under each person's grades."""

from apps.reports.execution import bias, stability

__all__ = ["bias", "stability"]
