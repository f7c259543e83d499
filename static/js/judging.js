// The judging screen: a grade is kept and sent in the background, and the next pair, which lies ready in the page,
// is on screen before the key is up. Keys come from keys.js; this file only answers to what is clicked.
import { Clock, showPace } from "./judging-clock.js";
import { bestOf, paint, selected, spansOf, toggle } from "./judging-evidence.js";
import { Fold } from "./judging-fold.js";
import { Outbox } from "./judging-outbox.js";
import { lightTerms } from "./judging-terms.js";

const LOW = 4;
const AHEAD = 8;
const MOST = 20;
const AGAIN = 2000;

const form = document.querySelector("[data-judging]");
const at = (name) => document.querySelector(`[data-${name}]`);
const outbox = new Outbox({ user: form.dataset.user, round: form.dataset.round, url: form.dataset.api, csrf: form.dataset.csrf });
const clock = new Clock();
const note = document.getElementById("note");
const pile = [];
const history = [];
const taken = new Set();
let current = null;
let fold = null;
let isFetching = false;
let isDry = false;
let done = Number(form.dataset.done);
let dropped = [];

// Pairs -------------------------------------------------------------------------------------------------

function pairFrom(template) {
  const part = (name) => [...template.content.querySelector(`[data-part=${name}]`).childNodes];
  return { seat: Number(template.dataset.seat), query: template.dataset.query, lead: part("lead"), read: part("read"), answer: null, spans: [], note: "" };
}

function firstPair() {
  const { seat, query, given } = form.dataset;
  const isAgain = "again" in form.dataset;
  const spans = spansOf(form.dataset.spans);
  return { seat: Number(seat), query, lead: [...at("lead").childNodes], read: [...at("read").childNodes], answer: isAgain ? given : null, spans, note: note.value, isAgain };
}

function take(templates) {
  const known = new Set([current?.seat, ...pile.map((pair) => pair.seat), ...taken]);
  for (const template of templates) {
    if (!known.has(Number(template.dataset.seat))) pile.push(pairFrom(template));
  }
}

async function refill() {
  if (isFetching || isDry || pile.length > LOW) return;
  isFetching = true;
  const isSettled = outbox.count === 0;
  try {
    const wanted = Math.min(MOST, AHEAD + outbox.count + 1);
    const response = await fetch(`${form.dataset.pairs}?n=${wanted}`, { credentials: "same-origin", headers: { Accept: "text/html" } });
    if (response.ok && !response.redirected) {
      const before = pile.length;
      take(new DOMParser().parseFromString(await response.text(), "text/html").querySelectorAll("template[data-seat]"));
      isDry = pile.length === before && isSettled;
    }
  } catch {
    // Offline: what lies in the page is graded first, and asking goes on when it is used up.
  }
  isFetching = false;
  if (current !== null) return;
  if (pile.length) next();
  else if (isDry) showEmpty();
  else setTimeout(refill, AGAIN);
}

// Screen ------------------------------------------------------------------------------------------------

function show(pair) {
  current = pair;
  if (pair === null) return showEmpty();
  at("lead").replaceChildren(...pair.lead);
  at("read").replaceChildren(...pair.read);
  form.elements.seat.value = pair.seat;
  note.value = pair.note;
  at("note").open = pair.note !== "";
  at("reasons").open = false;
  if (!pair.fold) pair.fold = new Fold(at("doc"));
  fold = pair.fold;
  at("whole").setAttribute("aria-disabled", String(fold.isWhole));
  repaint();
  document.querySelector(".read").scrollTop = 0;
  document.querySelector(".lead").scrollTop = 0;
  setKeys(false);
  for (const key of form.querySelectorAll("button[name=grade], button[name=cant_judge], .reasons > summary")) {
    const isChosen = key.name === "grade" ? pair.answer === key.value : pair.answer === "x" && !key.name;
    key.toggleAttribute("aria-pressed", false);
    if (isChosen) key.setAttribute("aria-pressed", "true");
  }
  clock.restart();
  showCounts();
  at("says").textContent = `Pair ${at("place").textContent} of ${at("total").textContent}, query ${pair.query}`;
  return undefined;
}

function repaint() {
  paint(at("doc"), current.spans);
  if ("lit" in form.dataset) lightTerms(at("doc"), document.getElementById("q").textContent);
}

function showEmpty() {
  setKeys(true);
  fold = null;
  const isWaiting = isFetching || !isDry;
  if (isWaiting) {
    const bones = ["", "", ""].map(() => Object.assign(document.createElement("span"), { className: "bone" }));
    const words = "The next pair is on its way. Without a connection it comes when that is back; your grades are kept here.";
    at("read").replaceChildren(Object.assign(document.createElement("p"), { className: "waiting", textContent: words }), ...bones);
    at("lead").replaceChildren();
  } else if (outbox.count === 0 && dropped.length === 0) {
    location.assign(location.pathname);
  } else {
    at("lead").replaceChildren();
    at("read").replaceChildren(at("empty").content.cloneNode(true));
    if (outbox.count) at("empty-words").textContent = "Every pair you were given has your grade. The last ones are still being sent; leave this page open.";
  }
  showCounts();
}

function setKeys(isOff) {
  for (const key of form.querySelectorAll("button[name], .reasons > summary, [data-mark], [data-note-key], [data-whole]")) {
    key.setAttribute("aria-disabled", String(isOff));
  }
}

const total = () => Math.max(Number(form.dataset.goal), done + outboxPairs().size + (current && !current.isAgain ? 1 : 0));
const outboxPairs = () => new Set(outbox.entries.filter((entry) => !entry.again).map((entry) => entry.seat));

function showCounts() {
  const unsent = outbox.count;
  const waiting = outboxPairs().size;
  const all = isDry && current === null ? done + waiting : total();
  const place = Math.min(all, done + waiting + (current?.isAgain ? 0 : 1));
  at("place").textContent = place;
  at("total").textContent = all;
  const words = [`${done} sent`, ...(waiting ? [`${waiting} unsent`] : []), `${Math.max(0, all - done - waiting)} to go`];
  at("own").textContent = words.join(", ");
  at("unsent").classList.toggle("sent", unsent === 0);
  at("unsent-words").textContent = unsent ? `${unsent} unsent` : "sent";
  at("strip-title").textContent = `${done} of ${all} pairs sent, ${waiting} waiting to be sent, ${Math.max(0, all - done - waiting)} to go`;
  showTicks(all, waiting);
  showFailing(unsent);
}

function showTicks(all, waiting) {
  const ticks = [...at("strip").querySelectorAll("rect")];
  const scale = all > ticks.length ? ticks.length / all : 1;
  const sent = Math.floor(done * scale);
  const filled = Math.floor((done + waiting) * scale);
  ticks.forEach((tick, place) => {
    const kind = place < sent ? "done" : place < filled ? "unsent" : place === filled ? "now" : "todo";
    if (tick.getAttribute("class") === kind) return;
    tick.setAttribute("class", kind);
    tick.setAttribute("y", { todo: 6, now: 0 }[kind] ?? 3);
    tick.setAttribute("height", { todo: 4, now: 10 }[kind] ?? 7);
  });
}

function showFailing(unsent) {
  const box = at("failing");
  const words = at("failing-words");
  at("try-now").hidden = unsent === 0;
  box.hidden = !(outbox.isFailing && unsent) && dropped.length === 0;
  if (dropped.length) words.textContent = `${dropped.length === 1 ? "A grade was" : `${dropped.length} grades were`} not taken: ${dropped.at(-1)}`;
  else if (outbox.needsSignIn) words.textContent = `${many(unsent)} could not be sent: you are signed out. ${unsent === 1 ? "It is" : "They are"} kept here; sign in again in another tab.`;
  else words.textContent = `${many(unsent)} could not be sent. ${unsent === 1 ? "It is" : "They are"} kept here and tried again every 5 seconds.`;
}

const many = (count) => (count === 1 ? "One grade" : `${count} grades`);

function showLast() {
  const undo = at("undo");
  const last = history.at(-1);
  const small = at("last");
  undo.toggleAttribute("aria-disabled", false);
  if (!last) {
    if (!undo.hasAttribute("href")) undo.setAttribute("aria-disabled", "true");
    return;
  }
  const chip = document.createElement("span");
  chip.className = "grade";
  chip.dataset.grade = last.answer;
  chip.textContent = last.answer;
  small.replaceChildren("last: ", last.answer === "x" ? "can’t judge" : chip, ` on ${last.query}`);
}

// Acts --------------------------------------------------------------------------------------------------

function next() {
  show(pile.shift() ?? null);
  refill();
}

function give(answer) {
  if (current === null) return;
  const pair = current;
  pair.note = note.value;
  pair.answer = answer.grade === null ? "x" : String(answer.grade);
  taken.add(pair.seat);
  const isAgain = pair.isAgain === true;
  pair.isAgain = true;
  history.push(pair);
  outbox.add({ seat: pair.seat, note: pair.note, spans: pair.spans, ...answer, ...clock.read(), again: isAgain });
  showLast();
  next();
}

function undo(event) {
  const last = history.pop();
  if (!last) return;
  event.preventDefault();
  if (current) pile.unshift(current);
  show(last);
  if (!history.length) at("last").textContent = "earlier grades";
  else showLast();
}

function markEvidence() {
  const doc = at("doc");
  const span = selected(doc) ?? bestOf(doc);
  if (!span) {
    at("says").textContent = "Select the words that carry the answer, then press m.";
    return;
  }
  current.spans = toggle(current.spans, span);
  repaint();
  getSelection().removeAllRanges();
  at("says").textContent = current.spans.length ? "Evidence marked." : "No evidence marked.";
}

function toggleDrawer() {
  const drawer = document.querySelector(".aside");
  if (matchMedia("(width < 64rem)").matches) drawer.classList.toggle("open");
  else document.querySelector(".desk").classList.toggle("shut");
}

form.addEventListener("submit", (event) => {
  const button = event.submitter;
  event.preventDefault();
  if (!button?.name || button.getAttribute("aria-disabled") === "true") return;
  if (button.name === "grade") give({ grade: Number(button.value), cant_judge: "" });
  else give({ grade: null, cant_judge: button.value });
});

document.addEventListener("click", (event) => {
  const has = (name) => event.target.closest(`[data-${name}]`);
  if (!has("reasons")) at("reasons").open = false;
  if (has("undo")) undo(event);
  else if (has("mark")) markEvidence();
  else if (has("whole") || has("fold")) fold?.show(!fold.isOpen);
  else if (has("drawer")) toggleDrawer();
  else if (has("try-now")) outbox.flush();
  else if (has("note-key")) {
    at("note").open = true;
    note.focus();
  }
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  at("reasons").open = false;
  document.querySelector(".aside").classList.remove("open");
  if (event.target === note && !note.value) at("note").open = false;
});

note.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.ctrlKey) note.blur();
});

outbox.onChange(({ sent, dropped: lost }) => {
  if (sent && !sent.again) done += 1;
  if (lost) dropped.push(lost.reason);
  showCounts();
  if (current === null && outbox.count === 0) isDry ? showEmpty() : refill();
});

// Start -------------------------------------------------------------------------------------------------

for (const entry of outbox.entries) taken.add(entry.seat);
current = firstPair();
take(at("pile").querySelectorAll("template[data-seat]"));
if (taken.has(current.seat) && !current.isAgain) next();
else show(current);
setInterval(() => current && showPace(at("pace"), clock.read().active_ms), 1000);
outbox.flush();
refill();
