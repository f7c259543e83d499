"""What people wrote from right to left is set from right to left, on every screen where it is read."""

from html.parser import HTMLParser

import pytest
from django.urls import reverse

from apps.accounts.enums import Role
from apps.queries.models import Query
from apps.review.actions.disputes import post_message
from apps.triples.actions.triples import refresh_staleness
from tests.factories import AT, lead_of, make_member, make_project
from tests.judging.factories import give, make_pool, make_round, people_of
from tests.review.factories import make_accepted, make_disputed, make_in_review, reviewers_of
from tests.triples.factories import make_candidate, make_snapshot

pytestmark = pytest.mark.django_db

TEXT = "يُنسخ كل مخزن مرتين في اليوم.\n\n- لا تغادر الأرشيفات المنطقة إلا مشفرة\n- ssh مرة أخرى\n\n> لا أحد يقرأ المفتاح"
CHANGED = TEXT.replace("مرتين", "ثلاث مرات")
EVIDENCE = "لا تغادر الأرشيفات المنطقة إلا مشفرة"
QUESTION, *OTHERS = "كم مرة يُنسخ كل مخزن من مخازن البيانات؟", "من يقرأ المفتاح؟", "ما الذي يغادر المنطقة؟"
VOID = {"br", "hr", "img", "input", "link", "meta", "path", "wbr"}


class Letters(HTMLParser):
    """The words from right to left that stand in an element whose direction is not theirs."""

    def __init__(self, html):
        super().__init__()
        self.open, self.wrong, self.count = [], [], 0
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        if tag not in VOID:
            self.open.append((tag, tag == "bdi" or dict(attributes).get("dir") == "auto"))

    def handle_endtag(self, tag):
        if tag not in VOID:
            while self.open.pop()[0] != tag:
                pass

    def handle_data(self, data):
        tags = {tag for tag, _ in self.open}
        if not tags & {"title", "script"} and any("\u0590" <= letter <= "\u06ff" for letter in data):
            self.count += 1
            if not any(is_auto for _, is_auto in self.open):
                self.wrong.append((self.open[-1][0], data.strip()))


def test_every_reading_screen_gives_each_text_its_own_direction(client):
    project = make_project()
    for _ in range(2):
        make_member(project, Role.REVIEWER)
    snapshot = make_snapshot(project, {"a": TEXT, "b": CHANGED}, titles={"a": "النسخ", "b": "المفاتيح"})
    pool = make_pool(project, queries=1, snapshot=snapshot)
    Query.objects.filter(project=project).update(text=QUESTION, description=QUESTION)
    round_ = make_round(project, pool=pool, annotators=2, judges=2, overlap=1.0)
    judges = people_of(round_)
    entry = pool.entries.get(version__block__outside_id="a")
    for judge, value in zip(judges, (0, 3), strict=True):
        seat = round_.seats.filter(entry=entry, annotator=None).first() or round_.seats.filter(entry=entry).first()
        give(seat, judge, value, spans=[(33, 50)], note=QUESTION)
    wording = {"key": "a", "evidence": EVIDENCE, "answer": EVIDENCE, "snapshot": snapshot}
    made = zip((make_in_review, make_disputed, make_accepted), (QUESTION, *OTHERS), strict=True)
    reviewed, disputed, accepted = (make(project, question=question, **wording) for make, question in made)
    block = {"block_id": "a", "evidence": EVIDENCE}
    candidate = make_candidate(project, question=QUESTION, expected_answer=TEXT, expected_block=block)
    post_message(project=project, triple_id=disputed.pk, author=disputed.author, text=QUESTION, at=AT)
    newer = make_snapshot(project, {"a": CHANGED, "b": TEXT}, corpus=snapshot.corpus)
    refresh_staleness(project=project, snapshot=newer, at=AT)
    lead, slug, block = lead_of(project), project.slug, entry.version.block_id

    wrong = {}
    for person, name, args, query in (
        (judges[0], "judging:judge", [round_.pk], ""),
        (judges[0], "judging:judge", [round_.pk], "?view=query"),
        (lead, "judging:adjudicate-pair", [round_.pk, entry.pk], ""),
        (reviewers_of(reviewed)[0], "review:screen", [reviewed.pk], ""),
        (lead, "review:triple", [disputed.pk], ""),
        (lead, "review:stale-triple", [accepted.pk], ""),
        (lead, "corpus:changes", [newer.pk], ""),
        (lead, "corpus:block", [block], ""),
        (lead, "corpus:snapshot", [newer.pk], ""),
        (lead, "triples:bench", [], f"?block={block}&q=مشفرة"),
        (lead, "triples:candidate", [candidate.pk], ""),
        (lead, "triples:list", [], ""),
        (lead, "queries:list", [], ""),
    ):
        client.force_login(person)
        page = Letters(client.get(reverse(name, args=[slug, *args]) + query).content.decode())
        assert page.count > 0, name
        wrong |= {f"{name}{query}": page.wrong} if page.wrong else {}

    assert wrong == {}
