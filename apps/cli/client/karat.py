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
