"""The grades of single annotators behind a version, from its rounds."""

import numpy as np

from apps.agreement.selectors.agreement import live_grades
from apps.corpus.selectors.corpora import TextKey, texts_of
from apps.evaluation.core.annotator_grades import GivenGrades, given_on
from apps.evaluation.selectors.rankings import AT_ONCE, ScoringGround
from apps.goldsets.models import Version, VersionGrade


def given_in(version: Version, ground: ScoringGround) -> GivenGrades:
    """The current grades of each person who judged in the version's rounds, for the pairs of one split.

    Anonymous judgements and check passes do not count. For a pair that a person judged in two rounds, the later grade
    counts.
    """
    released = VersionGrade.objects.filter(version=version)
    entries = released.values_list("block_version__block_id", "block_version__text_digest", "position").distinct()
    positions = {TextKey(block, digest): position for block, digest, position in entries.iterator(chunk_size=AT_ONCE)}
    judgements = live_grades(version.gold_set.project, version.rounds.all())
    rows = list(judgements.values_list("annotator_id", "entry__query_id", "entry__version_id", "grade"))
    texts = texts_of(text for _, _, text, _ in rows)
    table = np.array(
        [
            (person, ground.numbers[query], positions[texts[text]], grade)
            for person, query, text, grade in rows
            if query in ground.numbers and texts[text] in positions
        ],
        dtype=np.int64,
    ).reshape(-1, 4)
    person, query, block, grade = (table[:, column].copy() for column in range(4))
    return given_on(ground.judged, person, query, block, grade)
