"""Labels from files: annotators' labels of items, long or wide, as a matrix and as repeated labels."""

from apps.metrics.files.labels.columns import REPEATS, ColumnLayout, LabelColumn, LabelLayout
from apps.metrics.files.labels.labelling import Labelling, labelling_of
from apps.metrics.files.labels.reading import read_labels
from apps.metrics.files.labels.strata import LabelStrata, read_strata

__all__ = [
    "REPEATS",
    "ColumnLayout",
    "LabelColumn",
    "LabelLayout",
    "LabelStrata",
    "Labelling",
    "labelling_of",
    "read_labels",
    "read_strata",
]
