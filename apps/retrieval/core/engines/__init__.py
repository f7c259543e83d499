"""Retrieval engines behind one interface; `make` validates parameters and returns an engine."""

from apps.retrieval.core.engines.base import BadParameters, Engine, Hits, NotReady, Parameters
from apps.retrieval.core.engines.encoder import is_installed
from apps.retrieval.core.engines.folders import model_names
from apps.retrieval.core.engines.registry import ENGINES, Parameter, defaults, make, parameters_of

__all__ = [
    "ENGINES",
    "BadParameters",
    "Engine",
    "Hits",
    "NotReady",
    "Parameter",
    "Parameters",
    "defaults",
    "is_installed",
    "make",
    "model_names",
    "parameters_of",
]
