"""What names an item of test, or tells the score of one, is read by leads and counted, at whatever address it stands.

Every address that is read is asked by a person of every role, in a project whose released version has a test split:
for its page, its side of test and its file. Those who are no leads share these three; with --all each asks for all.
Pages of queries, Q&As, judging and review do not know of splits; all that is above gold sets does.
"""

import io
import re
import zipfile
from collections.abc import Iterator

import pytest

from apps.goldsets.models import VersionQuery, VersionTriple
from apps.goldsets.selectors.versions import TEST_SEEN
from tests.endpoints import ENDPOINTS, MEMBERS
from tests.fast_client import watching
from tests.world import ROUTES

pytestmark = [pytest.mark.django_db, pytest.mark.once]

KNOW_OF_SPLITS = ("goldsets", "evaluation", "reports", "gates", "editions")


def unpacked(body: bytes) -> str:
    """The text of an answer, with that of the files in a zip."""
    if not body.startswith(b"PK\x03\x04"):
        return body.decode(errors="replace")
    with zipfile.ZipFile(io.BytesIO(body)) as folder:
        return "\n".join(unpacked(folder.read(name)) for name in folder.namelist())


def words_of(answer) -> str:
    return unpacked(b"".join(answer.streaming_content) if answer.streaming else answer.content)


def asked(number: int, name: str, *, everything: bool) -> Iterator[tuple[str, dict[str, str]]]:
    """Who asks an address for what besides: a lead for everything, and of the others each for something else.

    Which of them asks for what goes round with the number of the address. `everything`: all of them for all of it.
    """
    shown = {"test": "show"} if name.startswith("evaluation") else {"format": "csv"}
    wanted: list[dict[str, str]] = [{}, {"split": "test"}, shown]
    for place, role in enumerate(sorted((ENDPOINTS[name].get or frozenset()) & MEMBERS)):
        turn = (number + place) % len(wanted)
        yield from ((role, more) for n, more in enumerate(wanted) if everything or role == "lead" or n == turn)


def test_no_address_names_an_item_of_test_uncounted_or_to_others_than_leads(world, pytestconfig):
    sealed = set(VersionQuery.objects.filter(split="test").values_list("outside_id", flat=True))
    sealed |= set(VersionTriple.objects.filter(split="test").values_list("label", flat=True))
    named = re.compile(rf"(?<![\w-])({'|'.join(sorted(map(re.escape, sealed)))})(?![\w-])")
    told, counted = {}, set()

    for number, name in enumerate(name for name in sorted(ROUTES) if name.startswith(KNOW_OF_SPLITS)):
        for role, more in asked(number, name, everything=pytestconfig.option.all):
            with watching() as written:
                answer = world.askers[role].answer("get", world.url(name), more, whole=True)
            is_counted = any(TEST_SEEN in str(values) for _, values in written.statements)
            if is_counted:
                counted.add(name)
            is_open = is_counted and role == "lead"
            if answer.status_code == 200 and not is_open and (found := named.search(words_of(answer))):
                told[f"{name} {more} as {role}"] = found[0]

    assert sealed
    assert told == {}
    assert {"goldsets:export", "goldsets-api:export", "evaluation:evaluation"} <= counted
