"""What `import karat` finds in an installed package: this module under that name, beside `apps`."""

from apps.cli.client.client import (
    BadInput,
    Client,
    Denied,
    FaultyFile,
    KaratError,
    NoAnswer,
    NotReady,
    NotThere,
    Problem,
    Rejected,
)
from apps.cli.client.tables import Comparison, Table

__all__ = [
    "BadInput",
    "Client",
    "Comparison",
    "Denied",
    "FaultyFile",
    "KaratError",
    "NoAnswer",
    "NotReady",
    "NotThere",
    "Problem",
    "Rejected",
    "Table",
]
