"""What a worker runs: deciding gates on runs that were scored before."""

from apps.gates.execution import decisions

__all__ = ["decisions"]
