"""Labels from files: who gave which label to which item, long or wide, as a matrix and as what was said again."""

from apps.agreement.labelfiles.columns import REPEATS, Form, Label, Reading
from apps.agreement.labelfiles.labelling import Labelling, labelling_of
from apps.agreement.labelfiles.reading import read_labels
from apps.agreement.labelfiles.strata import Strata, read_strata

__all__ = ["REPEATS", "Form", "Label", "Labelling", "Reading", "Strata", "labelling_of", "read_labels", "read_strata"]
