import pytest

from apps.common.database.batched_reads import answer_to
from apps.judging.actions.keys import KeysRefused, choose_keys, reset_keys
from apps.judging.models import KeyMap
from apps.judging.selectors.rounds import keys_question, own_keys
from tests.factories import make_user

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
