def grades_refusal(*, is_closed: bool, is_lead: bool, is_asked: bool) -> str | None:
    """Why the grades of a round are not added up for a member, or None.

    Grades of an open round may still change, and who grades there could read the others' from how the figures move.
    So until it is closed they are for leads, and for no lead who was asked to grade there.
    """
    if is_closed or (is_lead and not is_asked):
        return None
    if is_asked:
        return "While you may still grade in a round, other people’s grades in it are not shown to you."
    return "Agreement in a round is shown once a lead closes it."
