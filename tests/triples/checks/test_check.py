import re
from pathlib import Path

from apps.triples.core import checks
from apps.triples.core.checks import CAN_WARN, WARN, Check


def test_an_answer_of_a_draft_that_did_not_name_its_only_block_counts_until_it_is_taken_back():
    warning = Check(WARN, "longer", "The answer says more than its evidence.", of="SEC-4.2")

    assert warning.answer_in({"longer": "It is a list."}) == "It is a list."
    assert warning.answer_in({"longer": "It is a list.", "longer:SEC-4.2": ""}) == ""
    assert warning._replace(where="SEC-4.2").answer_in({"longer": "It is a list."}) == ""


def test_every_check_that_warns_can_be_made_blocking():
    rooms = Path(checks.__file__).parent.glob("*.py")
    source = "".join(room.read_text() for room in rooms)

    assert set(re.findall(r'Check\(\s*WARN,\s*"(\w+)"', source)) | {"figures"} == set(CAN_WARN)


def test_two_checks_about_other_things_have_other_keys():
    checks_ = [Check(WARN, "a", "", ref=ref, of=block) for ref in ("", "1") for block in ("", "2")]

    assert len({check.key for check in checks_} | {check.slug for check in checks_}) == 8
