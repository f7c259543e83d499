"""The slow work: scoring a run against a version, and again with each system left out.

Importing the package makes its kinds of job known.
"""

from apps.evaluation.execution import bias, scoring

__all__ = ["bias", "scoring"]
