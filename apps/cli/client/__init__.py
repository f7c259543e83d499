"""The Python client of the API. Imports neither Django nor anything else of Karat: `from karat import Client`."""

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
