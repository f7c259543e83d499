"""Retrieval engines behind one interface: `make` gives one by name, with its parameters checked."""

from apps.retrieval.engines.base import BadParameters, Engine, Found, Parameters
from apps.retrieval.engines.registry import ENGINES, Parameter, defaults, make, parameters_of

__all__ = [
    "ENGINES",
    "BadParameters",
    "Engine",
    "Found",
    "Parameter",
    "Parameters",
    "defaults",
    "make",
    "parameters_of",
]
