"""The slow work: scoring a run against a version, again with each system left out, and under each person's grades.

Importing the package makes its kinds of job known.
"""

from apps.evaluation.execution import bias, gates, scoring, stability

__all__ = ["bias", "gates", "scoring", "stability"]
