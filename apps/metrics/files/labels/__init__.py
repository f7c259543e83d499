"""Labels from files: annotators' labels of items, long or wide, as a matrix and as repeated labels."""

from apps.metrics.files.labels.columns import REPEATS, ColumnLayout, LabelColumn, LabelLayout
from apps.metrics.files.labels.labelling import Labelling, LabelStrata, labelling_of, read_strata
from apps.metrics.files.labels.reading import read_labels

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
