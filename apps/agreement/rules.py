def grades_refusal(*, is_closed: bool, is_lead: bool, is_asked: bool) -> str | None:
    """Why the grades of a round are not added up for a member, or None.

    Grades of an open round may still change, and who grades there could read the others' from how the figures move.
    So until it is closed they are for leads, and for no lead who was asked to grade there.
    """
    if is_closed or (is_lead and not is_asked):
        return None
    if is_asked:
        return "As long as you may grade in a round, how others grade in it is not shown to you."
    return "How people agree in a round is shown once a lead closes it."
