// The judging screen: a grade is stored and sent in the background, and the next pair, which is preloaded in the page,
// is shown before the key is released. Keys come from keys.js; this file only handles clicks.
import { paint } from "./blocktext.js";
import { Clock, showPace } from "./judging-clock.js";
import { showCounts, showFailing, showRefused } from "./judging-counts.js";
import { bestOf, selected, toggle } from "./judging-evidence.js";
import { facetsWith, onLayoutChange, showFacets, takeFacetsBack, waitingGrade } from "./judging-facets.js";
import { foldOf } from "./judging-fold.js";
import { Outbox } from "./judging-outbox.js";
import { PairQueue, fetchPairs, makePair, answerKey } from "./judging-pairs.js";
import { moveSelection, selectSentence } from "./judging-select.js";
import { Sight } from "./judging-sight.js";
import { AllOfQuery, OnePair } from "./judging-layout.js";
import { Terms } from "./judging-terms.js";

const AGAIN = 2000;
const RENEW = 600000;
const MISSED = 1500;
const SAVING_LAST = "Saving your last grade. Without a connection it is sent later; leave this page open.";
// How many pairs are preloaded, and below how many more are requested. For one query all pairs are loaded.
const SETTINGS = { pair: { ahead: 20, low: 15 }, query: { ahead: 5, low: 4 } };

const form = document.querySelector("[data-judging]");
const at = (name) => document.querySelector(`[data-${name}]`);
const { user, round, view } = form.dataset;
const outbox = new Outbox({ user, round, url: form.dataset.api, csrf: form.dataset.csrf });
const queue = new PairQueue({ url: form.dataset.pairs, settings: { ...SETTINGS[view], view }, taken: outbox.entries.map((entry) => entry.seat) });
const layout = view === "query" ? new AllOfQuery(queue) : new OnePair();
const terms = new Terms(at("lit"), user);
const clock = new Clock();
const sight = new Sight(form);
const note = document.getElementById("note");
const history = [];
let step = 0; // the position of undo in the history
let isAtStart = false;
let current = null;
let done = Number(form.dataset.done);

// Screen ------------------------------------------------------------------------------------------------

// At the end of one's share the server asks whether to go on, once it has every grade.
function isShareDone() {
  return !("goesOn" in form.dataset) && Number(form.dataset.goal) <= done + unsentPairs();
}

function show(wanted) {
  const pair = wanted?.answer === null && isShareDone() ? null : wanted;
  if (current) current.note = note.value;
  current = pair;
  if (pair === null) return showEmpty();
  document.querySelector(".information-need:focus")?.blur(); // opened by a finger for the pair before
  layout.show(pair);
  form.elements.seat.value = pair.seat;
  note.value = pair.note;
  at("note").open = pair.note !== "";
  at("reasons").open = false;
  at("whole").setAttribute("aria-disabled", String(foldOf(pair).isWhole));
  repaint();
  layout.settle(pair);
  setKeys(false);
  showAnswer(pair);
  clock.restart();
  sight.restart();
  showState();
  at("says").textContent = `${at("count").textContent}, query ${pair.query}`.replace("pair", "Pair");
  return undefined;
}

function showAnswer(pair) {
  const { reason } = pair;
  const answer = pair.draft === null ? pair.answer : String(pair.draft);
  for (const key of form.querySelectorAll("button[name=grade], button[name=cant_judge], .reasons > summary")) {
    const isChosen = key.name === "grade" ? answer === key.value : answer === "x" && (!key.name || key.value === reason);
    key.toggleAttribute("aria-pressed", false);
    if (isChosen) key.setAttribute("aria-pressed", "true");
  }
}

function showMissed(button, reason) {
  button.dataset.missed = "";
  setTimeout(() => delete button.dataset.missed, MISSED);
  at("says").textContent = `Not counted: ${reason}.`;
}

function repaint() {
  paint(current.doc, current.spans);
  terms.light(at("read"), document.getElementById("q").textContent);
}

function showEmpty() {
  setKeys(true);
  const isSettled = outbox.count === 0;
  layout.clear();
  const isOver = isShareDone() || (queue.isDry && !queue.isFetching);
  if (isOver && isSettled && outbox.refused.length === 0) {
    location.assign(location.pathname);
  } else if (!isOver || (isShareDone() && !isSettled)) {
    const lines = ["", "", ""].map(() => Object.assign(document.createElement("span"), { className: "skeleton-line" }));
    const isLast = Number(form.dataset.goal) <= done + unsentPairs();
    const words = isLast ? SAVING_LAST : "The next pair is loading. Without a connection it comes later; your grades are saved in this browser.";
    at("read").replaceChildren(Object.assign(document.createElement("p"), { className: "loading-text", textContent: words }), ...lines);
  } else {
    at("read").replaceChildren(at("empty").content.cloneNode(true));
    if (!isSettled) at("empty-words").textContent = "Every pair you were given has your grade. The last ones are still being sent; leave this page open.";
  }
  showState();
}

function setKeys(isOff) {
  for (const key of form.querySelectorAll("button[name], .reasons > summary, [data-mark], [data-note-key], [data-whole]")) {
    key.setAttribute("aria-disabled", String(isOff));
  }
}

/** The number of pairs whose first grade is still to be sent. */
function unsentPairs() {
  return new Set(outbox.entries.filter((entry) => !entry.again).map((entry) => entry.seat)).size;
}

function showState() {
  showStateOfAll();
  showFacets(current);
}

function showStateOfAll() {
  const unsent = outbox.entries;
  const waiting = unsentPairs();
  const isAgain = current === null || current.answer !== null;
  const goal = Number(form.dataset.goal);
  const share = queue.isDry && current === null ? Math.min(goal, done + waiting) : goal;
  showCounts({ done, share, waiting, unsent: unsent.length, isAgain, ahead: queue.waiting(current).length });
  const { isFailing, needsSignIn, retry, words } = outbox;
  showFailing({ count: unsent.length, isFailing, needsSignIn, retry, words });
  showRefused(at("refused"), outbox.refused);
  showLast();
}

function showLast() {
  const last = history[step - 1];
  if (last) at("undo").removeAttribute("aria-disabled");
  else if (isAtStart) at("undo").setAttribute("aria-disabled", "true");
  if (!last && history.length) at("last").textContent = isAtStart ? "nothing earlier" : "earlier grades";
  if (!last) return;
  const chip = Object.assign(document.createElement("span"), { className: "grade", textContent: last.answer });
  chip.dataset.grade = last.answer;
  at("last").replaceChildren("last: ", last.answer === "x" ? "can’t judge" : chip, ` on ${last.query}`);
}

// Actions --------------------------------------------------------------------------------------------------

async function refill(isForced = false) {
  await queue.refill(current, { isSettled: outbox.count === 0, isForced });
  if (current !== null) return showState();
  if (isShareDone()) return showEmpty();
  if (queue.waiting(null).length) next();
  else if (queue.isDry) showEmpty();
  else setTimeout(refill, AGAIN);
  return undefined;
}

function next(after = current) {
  show(layout.after(after, queue.waiting(after)));
  if (current !== null || !isShareDone()) refill();
}

// With subtopics a grade waits for them, and for enter.
function choose(grade) {
  if (!current?.box || grade < 1) return give({ grade, cant_judge: "" });
  current.draft = grade;
  document.activeElement?.closest("button[name=grade]")?.blur(); // else enter would press it again
  showAnswer(current);
  showState();
  at("says").textContent = `Grade ${grade}. Which subtopics does the passage answer? Enter sends.`;
  return undefined;
}

function give({ grade, cant_judge: reason }) {
  if (current === null) return;
  const pair = current;
  const isAgain = pair.answer !== null;
  const facets = facetsWith(pair, grade);
  pair.facets = facets ?? [];
  takeFacetsBack(pair);
  pair.note = note.value;
  pair.answer = grade === null ? "x" : String(grade);
  pair.reason = reason;
  if (history.includes(pair)) history.splice(history.indexOf(pair), 1);
  history.push(pair);
  queue.trim(history);
  step = history.length;
  const key = answerKey(pair);
  // The same grade again is no new judgement.
  if (key !== pair.sentKey) outbox.add({ query: pair.query, seat: pair.seat, note: pair.note, spans: pair.spans, facets, grade, cant_judge: reason, ...clock.read(), again: isAgain });
  pair.sentKey = key;
  next(pair);
}

// Back to the previous grade, any number of times; grades from before this page are loaded from the server.
async function undo() {
  if (takeFacetsBack(current)) {
    showAnswer(current);
    showState();
    return;
  }
  if (step === 0) await fetchEarlier();
  if (step === 0) {
    at("says").textContent = "There is no earlier grade to undo.";
    return;
  }
  step -= 1;
  show(history[step]);
}

async function fetchEarlier() {
  const first = history[0] ?? (current?.answer ? current : null);
  const templates = await fetchPairs(form.dataset.earlier + (first ? `?seat=${first.seat}` : "")).catch(() => null);
  if (step > 0) return;
  if (!templates) at("last").textContent = "earlier grades need a connection";
  else if (!templates.length && outbox.count === 0) isAtStart = true;
  for (const template of templates ?? []) {
    const pair = queue.find(Number(template.dataset.seat)) ?? queue.take([template], { first: true })[0];
    if (!pair?.answer || pair === current || history.includes(pair)) continue;
    history.unshift(pair);
    step += 1;
  }
  showLast();
}

function markEvidence() {
  const span = selected(current.doc) ?? bestOf(current.doc);
  if (!span) {
    at("says").textContent = "Select the words that carry the answer first.";
    return;
  }
  current.spans = toggle(current.spans, span);
  repaint();
  getSelection().removeAllRanges();
  at("says").textContent = current.spans.length ? "Evidence marked." : "No evidence marked.";
}

function toggleDrawer() {
  const drawer = document.querySelector(".desk-aside");
  if (matchMedia("(width < 64rem)").matches) drawer.classList.toggle("drawer-open");
  else document.querySelector(".desk").classList.toggle("drawer-closed");
}

form.addEventListener("submit", (event) => {
  const button = event.submitter;
  event.preventDefault();
  if (!button?.name || button.getAttribute("aria-disabled") === "true") return;
  const reason = sight.refusal(event);
  if (reason) showMissed(button, reason);
  else if (button.name === "grade") choose(Number(button.value));
  else if (button.name === "send") give({ grade: waitingGrade(current), cant_judge: "" });
  else give({ grade: null, cant_judge: button.value });
});

// keys.js ignores the repetitions of a held key; the key tells.
form.addEventListener("key-held", ({ target }) => {
  if (target.name && current) showMissed(target, "a key that is held down counts once");
});

const ACTS = {
  undo,
  "undo-grade": undo,
  mark: markEvidence,
  whole: () => current?.fold.show(!current.fold.isOpen),
  fold: () => current?.fold.show(!current.fold.isOpen),
  drawer: toggleDrawer,
  "try-now": () => outbox.flush(),
  seen: () => outbox.forgetRefused(),
  lit: () => terms.toggle(),
  select: () => selectSentence(current?.doc),
  step: (button) => current && show(layout.beside(current, Number(button.dataset.step))),
  "note-key": () => {
    at("note").open = true;
    note.focus();
  },
};

document.addEventListener("change", ({ target }) => target.name === "facets" && showState());
onLayoutChange(() => showFacets(current));

document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-reasons]")) at("reasons").open = false;
  const picked = layout.pairOf?.(event.target);
  if (picked && picked !== current) show(picked);
  for (const [name, act] of Object.entries(ACTS)) {
    const button = event.target.closest(`[data-${name}]`);
    // The note has the same name as its action; only buttons and links act.
    if (!button?.matches("button, a")) continue;
    event.preventDefault();
    act(button);
    return;
  }
});

// Before keys.js: while words are selected, the arrows belong to the selection.
document.addEventListener("keydown", (event) => {
  const isPlain = !event.ctrlKey && !event.altKey && !event.metaKey;
  const isElsewhere = event.target.closest?.("input, textarea, dialog") || document.querySelector("dialog[open]");
  if (isPlain && !isElsewhere && moveSelection(current?.doc, event)) event.preventDefault();
}, true);

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  at("reasons").open = false;
  document.querySelector(".desk-aside").classList.remove("drawer-open");
  if (event.target === note && !note.value) at("note").open = false;
});

note.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.ctrlKey) note.blur();
});

outbox.onChange(({ sent, refused, elsewhere }) => {
  if (sent && !sent.again) done += 1;
  if (refused) takeBack(refused);
  if (elsewhere) graded(elsewhere);
  showState();
  if (current === null && outbox.count === 0) queue.isDry || isShareDone() ? showEmpty() : refill();
});

function takeBack(refused) {
  const pair = queue.find(refused.seat);
  if (!pair || pair === current) return;
  queue.forget(pair);
  if (history.includes(pair)) history.splice(history.indexOf(pair), 1);
  step = Math.min(step, history.length);
}

// Another tab of this browser graded a pair that is loaded here too.
function graded({ seat, grade, cant_judge: reason, facets, query }) {
  const pair = queue.find(seat);
  if (!pair) return;
  pair.answer = grade === null ? "x" : String(grade);
  pair.reason = reason;
  pair.facets = facets ?? [];
  takeFacetsBack(pair);
  if (pair !== current) return;
  next(pair);
  at("says").textContent = `The pair of ${query} was graded in another tab. Here is the next one.`;
}

// Start -------------------------------------------------------------------------------------------------

const isKept = outbox.entries.some((entry) => entry.seat === Number(form.dataset.seat));
const first = makePair({ ...form.dataset, note: note.value, lead: [...at("lead").childNodes], read: [...at("read").childNodes] });
first.reason = form.querySelector("button[name=cant_judge][aria-pressed]")?.value ?? "";
queue.take(at("pile").querySelectorAll("template[data-seat]"));
if (!isKept || first.answer) queue.all.unshift(first);
show(isKept && !first.answer ? layout.after(null, queue.waiting(null)) : first);
setInterval(() => current && showPace(at("pace"), clock.read().active_ms), 1000);
setInterval(() => clock.isInUse(RENEW) && refill(true), RENEW);
outbox.flush();
refill();
