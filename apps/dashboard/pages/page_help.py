"""What each page is for and what to do there, by URL name: shown with the keys when somebody presses `?`.

`page` is the address below the documents that says more. A page without a row here fails `tests/test_matrix.py`.
"""

from typing import NamedTuple


class PageHelp(NamedTuple):
    words: str
    page: str


def help_for(name: str) -> PageHelp | None:
    return HELP.get(name)


START = {
    "dashboard:start": PageHelp(
        "Where you begin: your project, or the list of projects when there are several.",
        "tour.md",
    ),
    "dashboard:projects": PageHelp(
        "The projects that you are a member of. Open one by its name. Projects are walls: nothing of one is visible in"
        " another.",
        "tour.md",
    ),
    "dashboard:manual": PageHelp(
        "The documents of the version that runs here. Begin with the tour, which takes five minutes, or look a word up"
        " in the glossary.",
        "tour.md",
    ),
    "dashboard:manual-file": PageHelp(
        "A page of the documents of this version. Links between pages work; the back button leads to where you were.",
        "glossary.md",
    ),
    "accounts:login": PageHelp(
        "Sign in with your e-mail address and password, or with the button of your organisation. There is no open"
        " sign-up: a lead of a project invites you with a link that works once.",
        "operations.md#people",
    ),
    "accounts:sso": PageHelp(
        "The provider that your organisation signs in with did not answer. Try again, or sign in with a password.",
        "operations.md#single-sign-on",
    ),
    "accounts:sso-return": PageHelp(
        "You came back from the provider and were not let in. The page says why, and what to do.",
        "operations.md#single-sign-on",
    ),
    "accounts:link": PageHelp(
        "Link your account with your identity at the provider: your password first, then sign in there. After that the"
        " button on the sign-in page is enough.",
        "operations.md#single-sign-on",
    ),
    "accounts:setup": PageHelp(
        "The first account of this server. Whoever has it makes projects and invites people.", "operations.md#people"
    ),
    "accounts:join": PageHelp(
        "You were invited to a project. Choose a name and a password; the link works once.", "operations.md#people"
    ),
    "accounts:password-reset": PageHelp(
        "Type the address that you sign in with. Where the server can send mail, a link to a new password follows;"
        " otherwise ask whoever runs the server for one.",
        "operations.md#people",
    ),
    "accounts:reset": PageHelp(
        "Choose a new password. The link works once; your sessions elsewhere end.", "operations.md#people"
    ),
    "accounts:profile": PageHelp(
        "Your name as others see it, your password, and where you are signed in. End what you do not recognise, then"
        " choose another password. What you did keeps the name that you have now.",
        "operations.md#sessions-and-tokens",
    ),
    "mail:choice": PageHelp(
        "Choose whether notifications also come by mail: each at once, or one mail a day. It holds for all your"
        " projects.",
        "reference/notifications.md#by-mail",
    ),
    "accounts:new-project": PageHelp(
        "A project has members, documents, queries and gold sets of its own. Give it a name; everything else can be"
        " set later.",
        "tutorial.md#1-start-and-invite-your-team",
    ),
    "accounts:leave": PageHelp(
        "Somebody leaves for good: see what they have and what becomes of it, type their address, and all of it is"
        " taken at once. What they did stays under their name.",
        "operations.md#somebody-leaves",
    ),
    "accounts:people": PageHelp(
        "Everybody with an account on this server. Deactivating somebody ends their sessions and keeps what they did.",
        "operations.md#people",
    ),
    "dashboard:server": PageHelp(
        "Whether everything is all right on this server, with what mends what is not; who is there, what is stored and"
        " can be cleared, backups, versions, and the settings in force. Secrets are never shown.",
        "operations.md#the-servers-page",
    ),
    "dashboard:check-server": PageHelp(
        "Every check was made just now, those that ask the mail server and the broker included. Nothing was changed.",
        "operations.md#is-everything-all-right",
    ),
}
PROJECT = {
    "dashboard:home": PageHelp(
        "What waits for you, most urgent first: press the letter of a row to open it. Leads also see how far the"
        " project is and whether it is good enough. An empty project shows its next step instead.",
        "tutorial.md",
    ),
    "dashboard:search": PageHelp(
        "Type words or an id: queries, passages, documents, Q&As, people, runs and versions are found, an exact id"
        " first. You find only what you may open. Press / on any page to search.",
        "glossary.md",
    ),
    "dashboard:settings": PageHelp(
        "Rules of this project: the scale of grades, what blocks a submission, policies for flags, time limits. The"
        " scale can change until somebody has judged.",
        "reference/settings.md",
    ),
    "dashboard:delete": PageHelp(
        "Deletes the project with everything in it, released versions too. It asks for the name of the project. What"
        " stays is the record that it was deleted, by whom, and what was in it.",
        "operations.md#deleting-a-project",
    ),
    "people:people": PageHelp(
        "Who is in the project, with which roles. A lead invites people with links that work once, and changes roles."
        " Without any role a person leaves; what they did stays.",
        "reference/roles.md",
    ),
    "people:secrets": PageHelp(
        "Passwords and tokens with which the project signs in to systems elsewhere. A value is sealed when it is saved"
        " and never shown again.",
        "reference/systems.md#systems-elsewhere",
    ),
    "people:tokens": PageHelp(
        "A token lets a program use the API in your name, with the scopes that you tick. It is shown once and lasts 7"
        " to 365 days.",
        "reference/api.md#signing-in",
    ),
    "jobs:list": PageHelp(
        "Slow work runs as jobs: imports, runs, pools, scores. Here you see what waits, runs, is done or failed. Open"
        " a job to see its progress or its reason.",
        "reference/jobs.md",
    ),
    "jobs:job": PageHelp(
        "One job with its progress. A job that failed says why; a lead can run it again, and nothing happens twice.",
        "reference/jobs.md",
    ),
    "jobs:webhooks": PageHelp(
        "An address elsewhere that Karat sends signed events to, such as a release or a failed gate. Test one before"
        " you rely on it.",
        "reference/webhooks.md",
    ),
    "jobs:deliveries": PageHelp(
        "Every message to the webhooks of this project: whether it was accepted, with which answer, and when it is"
        " tried again. You can send one again at any time.",
        "reference/webhooks.md#deliveries",
    ),
    "server-webhook:deliveries": PageHelp(
        "Every message to the webhook of this server, as of a failed job or an old backup: whether it was accepted,"
        " and what went wrong. Test it before you rely on it.",
        "reference/webhooks.md#the-webhook-of-the-operators",
    ),
    "notifications:list": PageHelp(
        "What concerns you in this project, newest first. Opening one marks it as read.",
        "reference/notifications.md",
    ),
    "audit:list": PageHelp(
        "Every change in this project: who, what, when. Rows are sealed into a chain, so a change to the past would be"
        " found.",
        "operations.md#history",
    ),
}
CONTENT = {
    "corpus:list": PageHelp(
        "The documents your search looks in, as corpora. Import files into a corpus, then freeze a snapshot: runs and"
        " grades name a snapshot, so that texts never change under a grade.",
        "tutorial.md#2-import-a-corpus-and-freeze-it",
    ),
    "corpus:corpus": PageHelp(
        "The passages of one corpus as it is now, document by document. Press / to find one by id, title or document."
        " Freeze a snapshot when the texts are as you want them.",
        "reference/imports.md#corpus",
    ),
    "corpus:snapshot": PageHelp(
        "A frozen list of exact texts with one digest over all. It never changes; equal digests mean equal texts.",
        "glossary.md#project-corpus-queries",
    ),
    "corpus:changes": PageHelp(
        "What changed between this snapshot and the one before: new, changed and removed passages, with the words that"
        " differ.",
        "tutorial.md#10-and-when-the-handbook-changes",
    ),
    "corpus:block": PageHelp(
        "One passage with every text it has had, and the snapshots that contain each. A lead can redact a text that"
        " must not be kept: its digest stays.",
        "reference/texts.md",
    ),
    "corpus:imports": PageHelp(
        "Every file that was imported, newest first, with who did it and what came of it.",
        "reference/imports.md",
    ),
    "corpus:import-new": PageHelp(
        "Choose a file. It is read and checked first, and nothing is stored before you confirm. Either the whole file"
        " is imported or nothing of it.",
        "reference/imports.md",
    ),
    "corpus:import": PageHelp(
        "What the file would change: new, changed and equal rows. Mistakes are listed with their lines, and nothing is"
        " imported while there are any.",
        "reference/imports.md#rules-for-every-file",
    ),
    "corpus:import-options": PageHelp(
        "Change how the stored file is read; nothing has to be uploaded again. The preview then shows what the file"
        " would change.",
        "reference/imports.md#rules-for-every-file",
    ),
    "editions:import": PageHelp(
        "What a new edition of the documents changes, and what each change touches: grades, Q&As, versions. Grades of"
        " unchanged passages come along; decide for the changed ones, then take the edition.",
        "reference/editions.md",
    ),
    "editions:snapshot": PageHelp(
        "What this snapshot changed, and what each change touches: grades, Q&As, versions. Grades of unchanged"
        " passages come along; decide for the changed ones.",
        "reference/editions.md",
    ),
    "queries:list": PageHelp(
        "What people search for. Filter by words, source, type or difficulty. A query that a run has used keeps its"
        " words; retire it instead of changing it.",
        "tutorial.md#3-import-the-queries",
    ),
    "queries:new": PageHelp(
        "One query with its id and words. The intent is what judges read beside it: one or two sentences of what the"
        " person needs.",
        "reference/files.md#queries",
    ),
    "queries:balance": PageHelp(
        "How many queries and Q&As there are of each source, against the targets, and how many queries of each type,"
        " difficulty and domain. Gaps show where to collect more.",
        "glossary.md#project-corpus-queries",
    ),
    "queries:sources": PageHelp(
        "Where queries and Q&As come from, and under which permission each source may be used. A version leaves out"
        " those of a source without a valid permission.",
        "tutorial.md#3-import-the-queries",
    ),
    "queries:source": PageHelp(
        "One source with its permissions. Record a permission with its owner, its allowed use and its end; revoking it"
        " retires the queries that depend on it.",
        "tutorial.md#3-import-the-queries",
    ),
    "queries:query": PageHelp(
        "One query: its words, its properties, and where it is used. Write a Q&A for it from here.",
        "reference/files.md#queries",
    ),
    "queries:edit": PageHelp(
        "Change a query’s properties. Its words can change until a run has used them.", "reference/files.md#queries"
    ),
    "triples:list": PageHelp(
        "All questions with their expected answers, newest first. Press / to find one by number or words. Drafts of"
        " others are not shown.",
        "reference/states.md",
    ),
    "triples:mine": PageHelp(
        "The Q&As that you wrote: drafts to finish, those in review, and those that came back.",
        "reference/states.md",
    ),
    "triples:bench": PageHelp(
        "Find a passage, mark the words that prove the answer, then write question and answer. Checks run while you"
        " write: a red one blocks submission, a yellow one wants a reason. Submitting sends the Q&A to two reviewers.",
        "reference/checks.md",
    ),
    "triples:edit": PageHelp(
        "Your draft. It is saved as you type. Submit it when the checks pass: two people then review it blindly.",
        "reference/checks.md",
    ),
    "triples:candidates": PageHelp(
        "Questions that a machine wrote. Nobody is asked to review one until a person adopts it and answers for it.",
        "reference/imports.md#triples",
    ),
    "triples:candidate": PageHelp(
        "One machine-written question with its passage. Adopt it to become its author, or reject it with a reason.",
        "reference/imports.md#triples",
    ),
    "review:export": PageHelp(
        "Download Q&As in one of several file formats. Choose which; what cannot be exported is listed with its"
        " reason.",
        "reference/files.md#what-karat-export-triples-writes",
    ),
}
JUDGING = {
    "judging:index": PageHelp(
        "Your rounds, with how many pairs wait. Start one and grade with the number keys. Leads plan rounds here and"
        " see how far each is.",
        "reference/rounds.md",
    ),
    "judging:mine": PageHelp(
        "What you judged: pairs, time per pair, and how steady your grades are. Nobody is ranked by it.",
        "reference/adjudication.md#my-judging",
    ),
    "judging:guideline-latest": PageHelp(
        "What each grade means, with examples. Everybody judges by this text; a round names the version its people"
        " saw.",
        "reference/adjudication.md#guideline",
    ),
    "judging:guideline": PageHelp(
        "One version of the guideline as it was published. Rounds name the version that their people saw.",
        "reference/adjudication.md#guideline",
    ),
    "judging:guideline-new": PageHelp(
        "Say what each grade means, in one sentence, with an example. Publish when a colleague would grade as you"
        " would. A published version never changes; write the next one instead.",
        "reference/adjudication.md#guideline",
    ),
    "judging:guideline-changes": PageHelp(
        "Grades that the newer guideline gives another meaning. Decide for each whether it stays or is judged again.",
        "reference/adjudication.md#guideline",
    ),
    "judging:placeholders": PageHelp(
        "Imported grades belong to the names that their file has. Say which member a name is, when you know: the grades"
        " stay as they are, and the member no longer decides pairs that they judged under it.",
        "reference/imports.md#placeholders",
    ),
    "judging:new-round": PageHelp(
        "Say who judges which pairs, and how many pairs two people judge: agreement is measured on those. The workload"
        " is shown before you start.",
        "reference/rounds.md",
    ),
    "judging:round": PageHelp(
        "One round: who has judged how much, where people differ, and when it will be done. Give pairs of somebody who"
        " is away to others, and close the round when it is full.",
        "reference/adjudication.md#the-board-of-a-round",
    ),
    "judging:judge": PageHelp(
        "Read the query, then the passage, and press the number of your grade: the next pair follows at once. u takes"
        " the last grade back, x says that you cannot judge. Rank and system are hidden on purpose.",
        "reference/judging-keys.md",
    ),
    "judging:keys": PageHelp(
        "Choose your own keys for the judging screen. Each key does one thing; the usual ones can be set again.",
        "reference/judging-keys.md",
    ),
    "judging:adjudicate": PageHelp(
        "Pairs whose judges disagree, lowest agreement first. A lead who did not judge the pair decides, with a"
        " reason.",
        "reference/adjudication.md#decisions",
    ),
    "judging:adjudicate-pair": PageHelp(
        "Two people graded this pair differently. Read their notes, then decide by the guideline that they saw. Your"
        " reason is kept.",
        "reference/adjudication.md#decisions",
    ),
    "judging:settle": PageHelp(
        "Grades one step apart can be settled together by one rule. Each becomes a decision with that rule as its"
        " reason.",
        "reference/adjudication.md#decisions",
    ),
    "judging:carry": PageHelp(
        "Passages with the same text can take the grade of the one that was judged. You choose the rule; nothing is"
        " carried by itself.",
        "reference/pools.md#duplicate-texts",
    ),
    "review:queue": PageHelp(
        "What waits for you: Q&As to review, disputes to answer, your own to revise. Nobody’s verdict is shown before"
        " yours.",
        "reference/states.md",
    ),
    "review:next": PageHelp("The next Q&A that waits for your verdict.", "reference/states.md"),
    "review:screen": PageHelp(
        "Is the question realistic, is it the right passage, does the passage prove the answer? Press c to confirm or"
        " f to flag, name what is wrong, and send with enter. The other reviewer’s verdict is hidden until yours is"
        " in.",
        "reference/states.md",
    ),
    "review:candidate-next": PageHelp("The next passage that may be right as well.", "reference/states.md"),
    "review:candidate": PageHelp(
        "Does the proposed passage give the whole expected answer by itself? Press a if it does, w if it does not. Two"
        " reviewers answer without seeing each other’s answer or where the passage was found.",
        "reference/states.md#states-of-a-further-passage",
    ),
    "review:board": PageHelp(
        "All Q&As in progress: how old, who is next, what is stuck. Remind somebody or give their seat to another.",
        "reference/states.md",
    ),
    "review:triple": PageHelp(
        "One Q&A with its history, and what you can do with it now. What is refused says why.",
        "reference/states.md",
    ),
    "review:flags": PageHelp("What reviewers said about this Q&A, where you may know it.", "reference/states.md"),
    "review:split": PageHelp(
        "An answer that claims several things becomes several Q&As, each with its own passage. They start as drafts.",
        "reference/states.md",
    ),
    "review:stale": PageHelp(
        "Accepted Q&As whose passage has another text in a newer snapshot. Compare, then pin the new text or retire"
        " the Q&A.",
        "tutorial.md#10-and-when-the-handbook-changes",
    ),
    "review:stale-next": PageHelp("The next Q&A whose passage has changed.", "reference/states.md"),
    "review:stale-triple": PageHelp(
        "Old and new text side by side. When the new text still proves the answer, pin it: two people review the Q&A"
        " again. Otherwise retire it.",
        "tutorial.md#10-and-when-the-handbook-changes",
    ),
    "agreement:overview": PageHelp(
        "How far people grade alike, in one number and one sentence. Above 0.6 is good enough to measure systems with,"
        " below 0.4 is not. When it is low, see where people differ and improve the guideline.",
        "reference/agreement-pages.md#overview",
    ),
    "agreement:pair": PageHelp(
        "Two people’s grades of the same pairs, one against the other. Far from the diagonal are the pairs to talk"
        " about.",
        "reference/agreement-pages.md#overview",
    ),
    "agreement:differences": PageHelp(
        "Where people differ: by query, by week, by type, between which grades. Open a row to see its pairs.",
        "reference/agreement-pages.md#where-people-differ",
    ),
    "agreement:improve": PageHelp(
        "What to clarify in the guideline, ranked by impact: the grades that people confuse and the queries with most"
        " disagreement.",
        "reference/agreement-pages.md#improve-the-guideline",
    ),
    "agreement:items": PageHelp(
        "The pairs behind a figure, those furthest apart first.", "reference/agreement-pages.md#where-people-differ"
    ),
    "agreement:people": PageHelp(
        "Each annotator: how many pairs, how far they agree with others, whether they grade higher or lower.",
        "reference/agreement-pages.md#a-person",
    ),
    "agreement:person": PageHelp(
        "One person’s grades compared with others’, with decisions, and with their own second look.",
        "reference/agreement-pages.md#a-person",
    ),
    "calibration:log": PageHelp(
        "Every Q&A that was flagged, with reasons and outcome: what goes wrong, and for whom.",
        "reference/quality.md#the-log",
    ),
    "calibration:rates": PageHelp(
        "How often authors receive flags and reviewers give them, by period. A point outside of the limits is more"
        " than chance.",
        "reference/quality.md#rates",
    ),
    "calibration:calibrations": PageHelp(
        "Two people review past Q&As again, blindly, and compare. Open one when rates are far apart.",
        "reference/quality.md#calibration",
    ),
    "calibration:calibration": PageHelp(
        "One calibration. Answer your items; when both have answered all, you see where you differ and can discuss.",
        "reference/quality.md#calibration",
    ),
    "calibration:item": PageHelp(
        "A past Q&A to review once more. Its first verdicts and the other person’s answers are hidden. Nothing changes"
        " in the gold set.",
        "reference/quality.md#calibration",
    ),
}
RESULTS = {
    "goldsets:list": PageHelp(
        "Gold sets and their versions. A version is a frozen copy of grades and Q&As; every score belongs to one.",
        "reference/gold-versions.md",
    ),
    "goldsets:new": PageHelp(
        "A gold set collects versions under one name. Most projects need one.", "reference/gold-versions.md"
    ),
    "goldsets:signing": PageHelp(
        "The key that signs every download. Give its public part to those who use your versions.",
        "reference/gold-versions.md#signatures",
    ),
    "goldsets:training": PageHelp(
        "What your systems were trained on. Nothing of it goes to test; retire a list that no longer counts.",
        "reference/gold-versions.md#training-manifests",
    ),
    "goldsets:training-found": PageHelp(
        "The items of this version that a system was trained on, by name. A view of test is logged.",
        "reference/gold-versions.md#training-manifests",
    ),
    "goldsets:new-version": PageHelp(
        "Choose snapshot and rounds for the next version. It begins as a draft, which lists what is missing.",
        "reference/gold-versions.md",
    ),
    "goldsets:version": PageHelp(
        "A draft lists what blocks its freeze, each with its cure. A frozen version says what it contains, how far"
        " people agreed, and what was left out. Release it to let everybody score against it.",
        "reference/gold-versions.md#what-blocks-a-freeze",
    ),
    "goldsets:change": PageHelp(
        "Change what goes into this draft: snapshot, rounds, splits.", "reference/gold-versions.md#splits"
    ),
    "goldsets:difference": PageHelp(
        "What changed since the version before: items added, removed, and with another grade.",
        "reference/gold-versions.md",
    ),
    "goldsets:items": PageHelp(
        "What the version contains, query by query. Looking at the test split is counted, for leads too.",
        "reference/gold-versions.md#splits",
    ),
    "goldsets:public": PageHelp(
        "What of this version may go out, and what stays in with its reason. One lead prepares it, another opens the"
        " preview and signs (`s`); then it is released. A released one is never changed, only withdrawn.",
        "reference/public-release.md",
    ),
    "goldsets:public-preview": PageHelp(
        "A record as it goes out: struck is left out, underlined takes its place. `j` and `k` step through them; who"
        " signs has been here.",
        "reference/public-release.md#sign-and-release",
    ),
    "goldsets:public-card": PageHelp(
        "The twelve sections of the data card, which others read beside the data. Change what Karat drafted.",
        "reference/public-release.md#the-zip-file",
    ),
    "goldsets:public-exclusions": PageHelp(
        "The items that stay in for this reason. The source, or the word that was found, is beside each.",
        "reference/public-release.md#what-stays-in",
    ),
    "goldsets:left-out": PageHelp(
        "What was left out of the version, each with its reason.", "reference/gold-versions.md#what-is-left-out"
    ),
    "goldsets:slice": PageHelp(
        "The questions of one slice, in the order in which they came into it, each with the reason.",
        "reference/gold-versions.md#slices",
    ),
    "goldsets:pick-questions": PageHelp(
        "Tick questions, say why they belong in the slice, and add them. They stay in it.",
        "reference/gold-versions.md#slices",
    ),
    "retrieval:overview": PageHelp(
        "Systems are searches, runs are their results, pools are the pairs that people judge. Add two different"
        " systems or upload your own results, then choose results to judge.",
        "tutorial.md#4-pool-choose-the-pairs-to-judge",
    ),
    "retrieval:runs": PageHelp(
        "Every run of the project, newest first. A complete run never changes.", "reference/systems.md"
    ),
    "retrieval:new-system": PageHelp(
        "A search that Karat runs itself. Its configuration is its identity: another configuration is another system.",
        "reference/systems.md#systems-that-karat-runs",
    ),
    "retrieval:new-fusion": PageHelp(
        "A system that combines the rankings of others.", "reference/systems.md#systems-that-karat-runs"
    ),
    "retrieval:new-remote": PageHelp(
        "A search that runs elsewhere and is queried over HTTP. Try it with one query before you save it.",
        "reference/systems.md#systems-elsewhere",
    ),
    "retrieval:loaded": PageHelp(
        "Load the passages of a snapshot into OpenSearch or Elasticsearch, to search exactly these texts there.",
        "reference/systems.md#a-snapshot-in-opensearch-or-elasticsearch",
    ),
    "retrieval:loaded-index": PageHelp(
        "How far loading is, which systems search the index, and the way to drop it from its server.",
        "reference/systems.md#a-snapshot-in-opensearch-or-elasticsearch",
    ),
    "retrieval:pace": PageHelp(
        "How many requests at once Karat may send to this system, and how often.",
        "reference/systems.md#systems-elsewhere",
    ),
    "retrieval:system": PageHelp(
        "One system with its configuration and its runs. Run it on a snapshot to get rankings for all queries.",
        "reference/systems.md",
    ),
    "retrieval:run": PageHelp(
        "One run: its rankings, its digest, how long it took, and the pools it is in. Score it on a version from here.",
        "reference/systems.md",
    ),
    "retrieval:upload": PageHelp(
        "Upload the results of your own system: a TREC run, CSV or JSON lines with query, passage and score. It is"
        " checked before anything is stored.",
        "reference/files.md#runs",
    ),
    "retrieval:preview": PageHelp(
        "What the file contains and what is wrong with it. Confirm to make it a run.", "reference/files.md#runs"
    ),
    "retrieval:new-pool": PageHelp(
        "Which results people judge: the top of several runs, for each query. The size and the hours of work are shown"
        " before you build it.",
        "reference/pools.md",
    ),
    "retrieval:pool": PageHelp(
        "One pool: its pairs, what each run brought in, and how many have a grade. Plan a round to have them judged.",
        "reference/pools.md",
    ),
    "retrieval:grow-pool": PageHelp(
        "Add pairs of new runs or a deeper cut. What was judged keeps its grade.", "reference/pools.md#growing"
    ),
    "retrieval:provenance": PageHelp(
        "Which runs returned which passage, at which rank. For leads only: annotators judge without knowing.",
        "reference/pools.md",
    ),
    "evaluation:overview": PageHelp(
        "Runs scored on one version, best first, with their intervals. Runs whose intervals overlap much may differ by"
        " chance alone: compare two to be sure.",
        "reference/comparisons.md#leaderboard",
    ),
    "evaluation:evaluation": PageHelp(
        "All scores of one run on one version: each measure with its interval, each stratum, each query.",
        "reference/comparisons.md",
    ),
    "evaluation:misses": PageHelp(
        "Why was the question missed? Press a when the passage read is right as well, w when it is wrong, q when the"
        " question is unclear, j for the next miss. [ and ] step through what was returned.",
        "reference/comparisons.md#misses",
    ),
    "evaluation:trend": PageHelp("How scores moved from run to run on this version.", "reference/comparisons.md#trend"),
    "evaluation:slices": PageHelp(
        "Parts of a version to work with: whether each puts runs in the order of the full set, how wide its intervals"
        " are, and how it is made up.",
        "reference/gold-versions.md#slices",
    ),
    "evaluation:costs": PageHelp("What a better score costs in time.", "reference/comparisons.md#cost"),
    "evaluation:ledger": PageHelp(
        "Every run with what was changed, what it cost and what came out: the memory of the team.",
        "reference/comparisons.md#ledger",
    ),
    "evaluation:ledger-note": PageHelp(
        "Write down what you changed and what came out, while you know it.", "reference/comparisons.md#ledger"
    ),
    "evaluation:pick": PageHelp("Choose the two runs to compare.", "reference/comparisons.md#comparison"),
    "evaluation:compare": PageHelp(
        "Whether one run is better than the other, in one sentence. Below it the queries that got worse: decide for"
        " each whether to accept, fix, or have the grades judged again.",
        "reference/comparisons.md#comparison",
    ),
    "evaluation:query": PageHelp(
        "What two runs returned for one query, side by side, with grades.", "reference/comparisons.md#comparison"
    ),
    "gates:gates": PageHelp(
        "Rules that every score is checked against, and whether each system passes.", "reference/gates.md"
    ),
    "gates:new-gate": PageHelp(
        "Choose a measure and a threshold. The gate is checked with every new score.", "reference/gates.md#in-the-app"
    ),
    "gates:import-gates": PageHelp(
        "Gates from a file, as a pipeline keeps them. The preview shows what each would do.",
        "reference/gates.md#a-file-of-gates",
    ),
    "gates:gate": PageHelp(
        "One gate with every score it was checked against. Change its threshold with a reason; its history stays.",
        "reference/gates.md#states-of-a-gate",
    ),
    "reports:evaluation": PageHelp("The scores of one run as a document to pass on.", "reference/reports.md"),
    "reports:comparison": PageHelp("The comparison of two runs as a document to pass on.", "reference/reports.md"),
    "reports:version": PageHelp("What a version is made of, as a document to pass on.", "reference/reports.md"),
    "reports:bias-reports": PageHelp(
        "Whether a run profits from being in the pool: its score without the grades that it alone brought in.",
        "reference/bias.md#bias-report",
    ),
    "reports:bias": PageHelp(
        "How scores and places change without the grades that one run alone brought in. Large changes say: judge more"
        " of the others first.",
        "reference/bias.md#bias-report",
    ),
    "reports:stability-reports": PageHelp(
        "Whether the order of runs is the same under each annotator’s grades.",
        "reference/stability.md#stability-reports",
    ),
    "reports:stability": PageHelp(
        "Which runs change places with whose grades. Where none do, the order can be relied on.",
        "reference/stability.md#stability-reports",
    ),
    "reports:negatives": PageHelp(
        "Passages that look right and are not, for training a system.", "reference/bias.md#negatives"
    ),
}
HELP: dict[str, PageHelp] = {**START, **PROJECT, **CONTENT, **JUDGING, **RESULTS}
