"""Pairs of short questions, by which the threshold of near questions is set, and questions of a public set."""

import json

import pytest

from apps.goldsets.core.near_questions import NEAR_FROM, likeness, near_questions, with_near
from apps.goldsets.core.splits import DEV, TEST, SplitItem, groups, leaks, split

SAME = [
    ("reset password", "password reset"),
    ("how do i reset my password", "how can i reset my password"),
    ("How do I reset my password?", "resetting my password"),
    ("reset my password please", "I need to reset my password"),
    ("How can I reset a forgotten password?", "reset forgotten password"),
    ("reset pasword", "reset password"),
    ("How do I cancel my subscription?", "How can I cancel a subscription?"),
    ("What is the capital of France?", "France capital"),
    ("How long are backups kept?", "How long do we keep backups?"),
    ("Where do I find the invoice?", "Where can I find my invoices?"),
    ("Why is my invoice wrong?", "Why are my invoices wrong?"),
    ("change email address", "How do I change my e-mail address?"),
    ("How often are access rights reviewed?", "How often must access rights be reviewed?"),
    ("Who signs the visitor log?", "Who has to sign the visitors' log?"),
    ("install on windows", "windows installation"),
    ("How do I export my data as CSV?", "export data to csv"),
    ("delete account", "How can I delete my account"),
    ("Which ports does the server use?", "What ports does the server use?"),
    ("Is the data encrypted at rest?", "Are data encrypted at rest?"),
    ("How do I contact support?", "contacting support"),
    ("What is the refund policy?", "refund policy"),
    ("Can I get a refund?", "How do I get a refund"),
    ("Which documents do I need for onboarding?", "documents needed for onboarding"),
    ("Wie setze ich mein Passwort zurück?", "Wie kann ich mein Passwort zurücksetzen?"),
    ("Wie lange werden Backups aufbewahrt?", "Backups Aufbewahrung wie lange"),
    ("Welche Ports nutzt der Server?", "Welche Ports benutzt der Server?"),
    ("Wer unterschreibt das Besucherbuch?", "Wer muss das Besucherbuch unterschreiben?"),
    ("rotate api keys", "api key rotation"),
    ("how to set up sso", "set up single sign on sso"),
    ("Where is the data stored?", "data storage location"),
]
OTHER = [
    ("How do I reset my password?", "How do I change my password?"),
    ("How do I reset my password?", "How do I reset my email?"),
    ("How long are backups kept?", "How long are logs kept?"),
    ("What is the capital of France?", "What is the capital of Spain?"),
    ("Who signs the visitor log?", "Who reads the visitor log?"),
    ("How do I delete my account?", "How do I delete my invoice?"),
    ("How do I delete my account?", "How do I create an account?"),
    ("install on windows", "install on linux"),
    ("Which ports does the server use?", "Which disks does the server use?"),
    ("Is the data encrypted at rest?", "Is the data encrypted in transit?"),
    ("How do I export my data as CSV?", "How do I import my data as CSV?"),
    ("Where are backups stored?", "Where are backups encrypted?"),
    ("What is the maximum length of a username?", "What is the maximum length of a password?"),
    ("When was Chopin born?", "When was Chopin buried?"),
    ("Who may open the safe?", "Who may close the safe?"),
    ("Wie lange werden Backups aufbewahrt?", "Wie lange werden Protokolle aufbewahrt?"),
    ("Wer unterschreibt das Besucherbuch?", "Wer prüft das Besucherbuch?"),
    ("What does control AC-2 require?", "What does control AC-3 require?"),
    ("Which seats are in class B?", "Which seats are in class C?"),
    ("rotate api keys", "revoke api keys"),
    ("create api key", "delete api key"),
    ("Can I get a refund?", "Can I get an invoice?"),
    ("wrong invoice", "missing invoice"),
    ("How many days of leave do I have?", "How many days of notice do I have?"),
    ("add a user", "add a group"),
    ("What is the fee for late payment?", "What is the fee for early payment?"),
    ("Who approves overtime?", "Who approves holidays?"),
    ("How long is the warranty of a laptop?", "How long is the warranty of a phone?"),
    ("How often are firewalls reviewed?", "How often are access rights reviewed?"),
    ("internal audit", "external audit"),
    ("minimum password length", "maximum password length"),
    ("如何重置密码", "如何更改邮箱"),
    ("enable two-factor authentication", "disable two-factor authentication"),
    ("When must incidents be reported?", "Who must report incidents?"),
]


def test_the_threshold_parts_questions_that_ask_the_same_from_others():
    missed = [pair for pair in SAME if likeness(*pair) < NEAR_FROM]
    mistaken = [pair for pair in OTHER if likeness(*pair) >= NEAR_FROM]

    assert missed == SAME[-3:]  # other words for it: no letters tell
    assert mistaken == OTHER[-2:]  # all but the same words: kept together, which costs a split little
    errors = {
        at: sum(likeness(*pair) < at for pair in SAME) + sum(likeness(*pair) >= at for pair in OTHER)
        for at in (0.4, 0.5, 0.6, NEAR_FROM, 0.8, 0.9)
    }
    assert errors[NEAR_FROM] == min(errors.values())
    assert len(set(errors.values())) > 1


@pytest.mark.parametrize("seed", range(5))
def test_short_questions_that_ask_the_same_are_in_one_split_and_a_leak_where_a_version_has_them_in_both(seed):
    pairs = SAME[:12]
    items = with_near([SplitItem(f"{at} {side}", pair[side]) for at, pair in enumerate(pairs) for side in (0, 1)])
    splits = split(items, test_share=0.5, seed=seed)

    assert all(splits[f"{at} 0"] == splits[f"{at} 1"] for at in range(len(pairs)))
    assert set(splits.values()) == {DEV, TEST}
    held = [item._replace(former=TEST if item.name.endswith("1") else DEV) for item in items]
    crossed = {name for leak in leaks(held, split(held, test_share=0.5, seed=seed)) for name in (*leak.dev, *leak.test)}
    assert crossed == set(splits)


def test_questions_that_differ_in_numbers_or_have_no_words_are_tied_to_none():
    assert near_questions([f"Question number {n} of the set" for n in range(300)]) == []
    assert near_questions(["?!", "…", "", "how do i"]) == []
    assert near_questions(["how do I", "How do I?"]) == [[0, 1]]


def test_many_that_are_alike_are_one_group_with_one_key_each():
    words = ("old", "new", "red")
    questions = [f"How often does the team review the {word} register of assets" for word in words] * 50
    items = with_near([SplitItem(f"q{n}", text) for n, text in enumerate(["lists", *questions])])

    assert near_questions(questions) == [list(range(150))]
    assert [len(item.keys) for item in items] == [0] + [1] * 150
    assert list(map(len, groups(items))) == [1, 150]


@pytest.mark.parametrize("language", ["en", "de"])
def test_few_questions_of_a_public_set_are_held_to_be_the_same(shared_data, language):
    articles = json.loads((shared_data / "xquad" / f"xquad.{language}.json").read_text())["data"]
    questions = {q["question"] for a in articles for p in a["paragraphs"] for q in p["qas"]}

    assert 10 <= sum(map(len, near_questions(sorted(questions)))) <= 80
