"""The reason why figures of grades are hidden from a member, or None."""


def grades_refusal(*, is_closed: bool, is_lead: bool, is_asked: bool) -> str | None:
    """Why a member may not see figures of the grades of a round, or None.

    Grades of an open round may still change, and its judges could infer others' grades from how the figures move. So
    until it is closed only leads see them, and no lead who judges in it.
    """
    if is_closed or (is_lead and not is_asked):
        return None
    if is_asked:
        return "While you may still grade in a round, other people’s grades in it are not shown to you."
    return "Agreement in a round is shown once a lead closes it."
