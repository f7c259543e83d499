"""The guideline for reviewers: the project's own, or the default text."""

from django.utils.safestring import SafeString, mark_safe

from apps.accounts.models import Project
from apps.accounts.selectors import policy
from apps.common.text.markdown import to_html

DEFAULT = """\
Read the question first, then the passage, then the answer. Decide on these three, in this order.

**1. Would somebody ask this?** In these words, without having read the passage. A question that quotes the text, or \
asks what nobody needs to know, is *unrealistic*.

**2. Is it the right passage?** The marked evidence alone must answer. If it only touches the subject, or another \
passage says it better, it is the *wrong passage*. Where several passages are expected, check which of them are needed.

**3. Does the passage say the answer?** Check every figure, name and condition against the evidence.

- It claims something that is not there: *not entailed*.
- It is more certain, wider or more exact than the passage: *overstated*.
- It leaves out a condition that changes what somebody would do: *understated*.

Confirm only if all three hold. If one does not, flag it: say what is wrong and how to fix it. \
What you know from elsewhere does not count; the passage does. If you are not sure, flag it and say why: talking costs \
less than a wrong answer in the set.
"""


def guideline_of(project: Project) -> str:
    """The guideline for reviewers as Markdown."""
    return policy(project, "review_guideline").strip() or DEFAULT


def guideline_html(project: Project) -> SafeString:
    """Safe because `to_html` lets only the tags of a text through."""
    return mark_safe(to_html(guideline_of(project)))
