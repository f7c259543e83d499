"""What `import karat` finds in an installed package: this module under that name, beside `apps`."""

from apps.cli.client.client import Client
from apps.cli.client.errors import (
    BadInput,
    Denied,
    FaultyFile,
    KaratError,
    NoAnswer,
    NotReady,
    NotThere,
    Problem,
    Rejected,
)

__all__ = [
    "BadInput",
    "Client",
    "Denied",
    "FaultyFile",
    "KaratError",
    "NoAnswer",
    "NotReady",
    "NotThere",
    "Problem",
    "Rejected",
]
