"""What a worker runs: scoring a run against a version.

Importing the package makes its kinds of job known.
"""

from apps.evaluation.execution import scoring

__all__ = ["scoring"]
