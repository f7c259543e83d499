"""Checks while a triple is written. Each takes plain text and returns `Check`s with their sentences.

`stop` blocks submitting, `warn` needs the author's answer and is stored with it in the revision, `pass` shows nothing.
A lead may make any warning stop. One module per check; `settling` combines the results.
"""

from apps.triples.core.checks.check import ALWAYS_STOPS, CAN_WARN, PASS, STOP, WARN, Check
from apps.triples.core.checks.copying import check_copied, longest_common_run
from apps.triples.core.checks.figures import check_figures
from apps.triples.core.checks.length import check_longer
from apps.triples.core.checks.likeness import Other, check_duplicates, likeness, probe_words
from apps.triples.core.checks.other_blocks import SAME_TEXT, OtherBlock, check_other_blocks, may_answer
from apps.triples.core.checks.parts import Span, check_evidence, check_wording
from apps.triples.core.checks.settling import settled, stop_sentence, stops

__all__ = [
    "ALWAYS_STOPS",
    "CAN_WARN",
    "PASS",
    "SAME_TEXT",
    "STOP",
    "WARN",
    "Check",
    "Other",
    "OtherBlock",
    "Span",
    "check_copied",
    "check_duplicates",
    "check_evidence",
    "check_figures",
    "check_longer",
    "check_other_blocks",
    "check_wording",
    "likeness",
    "longest_common_run",
    "may_answer",
    "probe_words",
    "settled",
    "stop_sentence",
    "stops",
]
