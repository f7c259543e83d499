from apps.triples.core.checks import PASS, STOP, WARN, Check, settled, stop_sentence


def test_an_answered_warning_shows_its_answer_and_needs_no_other():
    warning = Check(WARN, "duplicate", "Nearly the same question exists.", ref="T-0001")

    (check,) = settled([warning], blocking=[], answers={"duplicate:T-0001": " Other product. "})

    assert (check.answer, check.needs_reason, stop_sentence([check])) == ("Other product.", False, None)


def test_an_answer_to_one_thing_is_none_to_another():
    warning = Check(WARN, "duplicate", "Nearly the same question exists.", ref="T-0002")

    (check,) = settled([warning], blocking=[], answers={"duplicate:T-0001": "Other product."})

    assert check.needs_reason


def test_an_answer_stays_with_its_block_when_a_second_one_is_expected():
    alone = Check(WARN, "longer", "The answer says more than its evidence.", of="SEC-4.2")
    beside = alone._replace(where="SEC-4.2")
    other = alone._replace(of="SEC-9.3", where="SEC-9.3")

    found = settled([beside, other], blocking=[], answers={alone.key: "It is a list."})

    assert [check.answer for check in found] == ["It is a list.", ""]


def test_a_warning_that_a_lead_made_blocking_blocks_despite_an_answer():
    warning = Check(WARN, "longer", "The answer says more than its evidence.")

    (check,) = settled([warning], blocking=["longer"], answers={"longer": "It is all right."})

    assert (check.level, check.answer) == (STOP, "")


def test_blocking_checks_precede_warnings_and_passed_checks():
    found = [Check(PASS, "a", "Fine."), Check(WARN, "b", "Hm."), Check(STOP, "c", "No.")]

    assert [check.code for check in settled(found, blocking=[], answers={})] == ["c", "b", "a"]


def test_the_stop_sentence_names_the_first_and_counts_the_rest():
    stop = Check(STOP, "a", "The cipher differs.")

    assert stop_sentence([Check(PASS, "b", "Fine.")]) is None
    assert stop_sentence([stop]) == "One check blocks submission: the cipher differs."
    assert stop_sentence([stop, stop]) == "2 checks block submission; the first: the cipher differs."


def test_warnings_without_an_answer_forbid_submitting_too():
    warn = Check(WARN, "c", "Nearly the same question exists.")

    assert (
        stop_sentence([warn]) == "One warning needs your reason why it is all right: nearly the same question exists."
    )
    assert stop_sentence([warn, warn]).startswith(
        "2 warnings need your reason why they are all right; the first: nearly"
    )
    assert stop_sentence([warn, Check(STOP, "a", "No.")]) == "One check blocks submission: no."
