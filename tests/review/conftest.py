"""The team that most tests of reviewing ask."""

from tests.module_rows import rows_of_module
from tests.triples.factories import make_team


@rows_of_module
def project():
    """A project with a small corpus, two reviewers and a lead."""
    return make_team()
