import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.common.database.batched_reads import answer_to
from apps.judging.actions.judgements import KeysRefused, choose_keys, reset_keys
from apps.judging.core.keymap import ACTS, RESERVED, acts_for, changed_keys, faults, frees_digits, keys_of, tidy
from apps.judging.enums import CantJudgeReason
from apps.judging.models import KeyMap
from apps.judging.selectors.rounds import keys_question, own_keys
from tests.factories import make_user

USUAL = {act.name: act.usual for act in ACTS.values()}


def test_the_usual_keys_are_without_fault():
    assert keys_of({}) == USUAL
    assert faults(USUAL) == {}


def test_every_reason_and_every_grade_of_a_screen_has_a_key():
    names = [act.name for act in acts_for([0, 1, 2])]

    assert names[:3] == ["grade_0", "grade_1", "grade_2"]
    assert set(CantJudgeReason.values) < set(names)
    assert "grade_3" not in names


def test_a_grade_beyond_nine_has_no_key():
    assert "grade_12" not in [act.name for act in acts_for([12])]


def test_two_acts_never_share_a_key():
    assert faults(USUAL | {"undo": "x"}) == {"undo": "“x” is “Can’t judge” already."}


def test_two_acts_may_change_keys():
    assert faults(USUAL | {"undo": "x", "cant_judge": "u"}) == {}


@pytest.mark.parametrize("key", ["", "ab", " ", "\t", "\x00", "enter", "ctrl"])
def test_a_key_is_one_character(key):
    assert list(faults({"undo": key})) == ["undo"]


@pytest.mark.parametrize("key", sorted(RESERVED))
def test_keys_of_the_browser_and_the_page_are_left_alone(key):
    assert list(faults({"undo": key})) == ["undo"]


def test_a_digit_is_its_grade_unless_digits_are_freed():
    assert faults({"undo": "7"}) == {"undo": "7 is the key of grade 7. Free the digits below to use it here."}
    assert list(faults({"grade_1": "2", "grade_2": "1"})) == ["grade_1", "grade_2"]
    assert faults({"undo": "7", "grade_1": "2", "grade_2": "1"}, digits_are_free=True) == {}


def test_an_unknown_act_is_refused():
    assert list(faults({"format_disk": "f"})) == ["format_disk"]


def test_letters_of_any_alphabet_will_do():
    assert faults({"undo": "ж", "note": "ø", "whole": ";"}) == {}


def test_capitals_are_the_same_key():
    assert tidy(" U ") == "u"


def test_an_act_whose_usual_key_went_elsewhere_has_none():
    assert keys_of({"undo": "5"})["grade_5"] == ""


def test_only_differences_are_stored():
    assert changed_keys(USUAL | {"undo": "z"}) == {"undo": "z"}


def test_it_is_known_whether_digits_were_freed():
    assert not frees_digits({"undo": "z", "grade_2": "2"})
    assert frees_digits({"undo": "5"})


@given(st.dictionaries(st.sampled_from(sorted(ACTS)), st.text(max_size=2), max_size=6))
def test_what_is_without_fault_never_puts_two_acts_on_one_key(chosen):
    if faults(chosen, digits_are_free=True):
        return
    keys = [key for key in keys_of(chosen).values() if key]

    assert len(keys) == len(set(keys))


pytestmark = pytest.mark.django_db


@pytest.fixture
def mara():
    return make_user("Mara Quill")


def keys_for(person) -> dict[str, str]:
    return answer_to(person, keys_question(person))


def test_keys_are_a_persons_own(mara):
    choose_keys(person=mara, keys={"undo": "Z", "note": "n"})

    assert own_keys(mara) == {"undo": "z"}
    assert keys_for(mara)["undo"] == "z"
    assert keys_for(make_user("Sef Arden"))["undo"] == "u"


def test_a_choice_that_does_not_go_together_changes_nothing(mara):
    choose_keys(person=mara, keys={"undo": "z"})

    with pytest.raises(KeysRefused) as refused:
        choose_keys(person=mara, keys={"undo": "b", "note": "b", "whole": "/"})

    assert refused.value.code == "keys_not_possible"
    assert sorted(refused.value.faults) == ["note", "whole"]
    assert own_keys(mara) == {"undo": "z"}


def test_an_omitted_action_keeps_its_key_unless_another_action_takes_it(mara):
    choose_keys(person=mara, keys={"grade_5": "p", "grade_6": "o"})
    choose_keys(person=mara, keys={"undo": "p"})

    assert own_keys(mara) == {"grade_6": "o", "undo": "p"}


def test_the_usual_keys_come_back(mara):
    choose_keys(person=mara, keys={"undo": "z"})
    reset_keys(person=mara)
    reset_keys(person=mara)

    assert keys_for(mara)["undo"] == "u"
    assert not KeyMap.objects.exists()
