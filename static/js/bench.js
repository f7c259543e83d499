// The bench: the rows of the form contain the expected blocks and their marks. The server renders them, this script
// changes them.
import { autosave } from "./autosave.js";
import { isTextField } from "./text-fields.js";
import { extendSelection, selectedSpans, selectSentence } from "./marking.js";

const form = document.querySelector("[data-bench]");
const read = document.getElementById("read");
const chosen = document.getElementById("chosen");
const field = (name) => form.elements.namedItem(name);
const reading = () => read.querySelector("[data-reading]")?.dataset;
const addressOf = (block) => form.dataset.blocks.replace("/0/", `/${block}/`);
const past = new Map();

// Expected blocks ------------------------------------------------------------------------------------------------

const rowOf = (block) => chosen.querySelector(`[data-row="${block}"]`);
const spansOf = (block) => JSON.parse(field(`spans-${block}`)?.value || "[]");

function hidden(name, value) {
  const input = document.createElement("input");
  Object.assign(input, { type: "hidden", name, value });
  return input;
}

function addRow(block, version = "") {
  if (rowOf(block)) return;
  const row = document.createElement("div");
  row.dataset.row = block;
  row.append(hidden("block", block), hidden(`pinned-${block}`, version), hidden(`spans-${block}`, "[]"));
  chosen.append(row);
}

function removeRow(block) {
  rowOf(block)?.remove();
  past.delete(block);
  document.getElementById("chosen-head").focus();
  if (reading()?.block === block) draw(block);
}

const EDITS = {
  add: (block) => addRow(block),
  remove: removeRow,
  up: (block) => rowOf(block).previousElementSibling?.before(rowOf(block)),
  down: (block) => rowOf(block).nextElementSibling?.after(rowOf(block)),
};

function draw(block) {
  window.htmx.ajax("GET", addressOf(block), { target: "#read", swap: "innerHTML" });
}

/** The rows changed: render, check and save them. */
function changed() {
  window.htmx.trigger(chosen, "karat:chosen");
  window.htmx.trigger(document.body, "karat:marked");
  saver.soon();
  settle();
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button[name='do']");
  if (button?.form !== form) return;
  event.preventDefault();
  const [verb, block] = button.value.split(":");
  EDITS[verb](block);
  changed();
});

// Find ------------------------------------------------------------------------------------------------------------

const searchField = document.querySelector("form.search-field").elements.q;
const wordsSought = () => searchField.value.trim();
let searchedNow = null;
let openAfterSearch = null;

/** Open the first result of the search in the field. Without a hit the list says so; false if the list is not there yet. */
function openFirst() {
  const list = document.querySelector("#results [data-found-for]");
  if (list?.dataset.foundFor !== wordsSought()) return false;
  const first = list.querySelector("a");
  first?.focus();
  first?.click();
  return true;
}

// Enter opens the first result. If the list is still older than the words, it opens once the list is there.
searchField.form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (openFirst()) return;
  openAfterSearch = wordsSought();
  if (searchedNow !== openAfterSearch) window.htmx.trigger(searchField, "karat:search");
});
searchField.addEventListener("htmx:beforeRequest", () => {
  searchedNow = wordsSought();
});
searchField.addEventListener("htmx:afterRequest", () => {
  searchedNow = null;
});
// Before it settles, htmx does not listen to the new links yet.
document.getElementById("results").addEventListener("htmx:afterSettle", () => {
  const isAwaited = openAfterSearch === wordsSought() && document.activeElement === searchField;
  if (!isAwaited || openFirst()) openAfterSearch = null;
});

// Marks -----------------------------------------------------------------------------------------------------------

function merged(all) {
  return all
    .map((span) => [...span])
    .sort(([a], [b]) => a - b)
    .reduce((kept, [start, end]) => {
      const last = kept.at(-1);
      if (last && start <= last[1]) last[1] = Math.max(last[1], end);
      else kept.push([start, end]);
      return kept;
    }, []);
}

function keep(spans) {
  const { block, version } = reading();
  addRow(block, version);
  field(`pinned-${block}`).value = version;
  field(`spans-${block}`).value = JSON.stringify(spans);
  const text = field(`evidence-${block}`);
  if (text) text.value = field(`evidence_shown-${block}`).value;
  draw(block);
  changed();
}

function mark() {
  const doc = read.querySelector("[data-doc]");
  if (!doc) return;
  const fresh = selectedSpans(doc);
  if (fresh.length === 0) {
    doc.focus();
    selectSentence(doc, 1);
    return;
  }
  getSelection().removeAllRanges();
  const { block } = reading();
  const before = spansOf(block);
  past.set(block, [...(past.get(block) ?? []), before]);
  keep(merged([...before, ...fresh]));
}

function unmark() {
  const block = reading()?.block;
  if (!block || spansOf(block).length === 0) return;
  keep(past.get(block)?.pop() ?? spansOf(block).slice(0, -1));
}

document.querySelector("[data-mark]").addEventListener("click", mark);
document.querySelector("[data-unmark]").addEventListener("click", unmark);
// A click would clear the selection before it is read.
document.querySelector("[data-mark]").addEventListener("pointerdown", (event) => event.preventDefault());

document.addEventListener("keydown", (event) => {
  const doc = read.querySelector("[data-doc]");
  if (!doc || isTextField(event.target) || event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.key === "Enter" && event.target === doc) {
    event.preventDefault();
    mark();
  }
  if (!event.key.startsWith("Arrow") || !selectedSpans(doc).length) return;
  const step = event.key === "ArrowDown" || event.key === "ArrowRight" ? 1 : -1;
  const isSentence = event.key === "ArrowDown" || event.key === "ArrowUp";
  if (!event.shiftKey && !isSentence) return;
  event.preventDefault();
  if (event.shiftKey) extendSelection(doc, step, isSentence ? "sentence" : "word");
  else selectSentence(doc, step);
});

// What the server renders -------------------------------------------------------------------------------------------

function settle() {
  const open = reading()?.block;
  for (const item of document.querySelectorAll("[data-opens-block]")) {
    const isOpen = Boolean(open) && item.getAttribute("hx-get") === addressOf(open);
    const place = item.closest("li") ?? item;
    if (isOpen) place.setAttribute("aria-current", "true");
    else place.removeAttribute("aria-current");
  }
  const isExpected = Boolean(open && rowOf(open));
  const expect = document.getElementById("expect");
  if (open) document.getElementById("expect-why").textContent = isExpected ? "expected" : "not yet";
  if (isExpected || !open) expect.setAttribute("aria-disabled", "true");
  else expect.removeAttribute("aria-disabled");
}

function pointOut() {
  const isWrong = document.querySelector("#c-figures.check-stop") !== null;
  field("answer").setAttribute("aria-invalid", String(isWrong));
  if (isWrong) field("answer").setAttribute("aria-describedby", "c-figures");
  else field("answer").removeAttribute("aria-describedby");
}

function countWords() {
  for (const note of document.querySelectorAll("[data-words-of]")) {
    const number = document.getElementById(note.dataset.wordsOf).value.split(/\s+/).filter(Boolean).length;
    note.textContent = number === 1 ? "1 word" : `${number} words`;
  }
}

document.addEventListener("htmx:configRequest", (event) => {
  const block = event.detail.path.split("?")[0].match(/\/blocks\/(\d+)\/$/)?.[1];
  if (block && rowOf(block)) event.detail.parameters.spans = field(`spans-${block}`).value;
});
document.addEventListener("htmx:beforeSwap", (event) => {
  // Typed evidence is newer than the requested part. Leaving the field requests it again.
  const isTyped = chosen.contains(document.activeElement) && document.activeElement.tagName === "TEXTAREA";
  if (event.detail.target === chosen && isTyped) event.detail.shouldSwap = false;
});
document.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target === read) {
    read.scrollTop = event.detail.requestConfig.triggeringEvent ? 0 : read.scrollTop;
  } else if (event.detail.target === chosen) {
    const open = reading()?.block;
    if (open && rowOf(open) && read.dataset.spans !== field(`spans-${open}`).value) draw(open);
  } else if (event.detail.target.id === "checks") {
    pointOut();
    // The answer to a warning that no longer exists is saved as empty.
    saver.soon();
  }
  read.dataset.spans = field(`spans-${reading()?.block}`)?.value ?? "";
  readdress();
  settle();
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-replace]");
  if (!button) return;
  const answer = field("answer");
  answer.value = answer.value.replace(button.dataset.replace, button.dataset.with);
  answer.dispatchEvent(new Event("input", { bubbles: true }));
  answer.focus();
});

// Saving ----------------------------------------------------------------------------------------------------------

const CLOSED = {
  0: "You are signed out, so nothing is saved any more. Your text is still in the fields: copy what you need, sign in, and load the page again.",
  403: "You may no longer write here, so nothing is saved any more. Your text is still in the fields: copy what you need.",
};
const GONE = "This draft is no longer here, so nothing is saved any more. Your text is still in the fields: copy what you need.";
const LOST = {
  connection: "Not saved: there is no connection. Your text stays here, and saving is tried again every 5 seconds.",
  server: "Not saved: the server did not take it. Your text stays here, and saving is tried again every 5 seconds.",
};
const notice = document.querySelector("[data-unsaved]");
let addresses = null;
let isLeaving = false;
const isNew = () => addresses === null && !("isSaved" in form.dataset);

const isEmpty = (name) => !field(name).value.trim();
// Source and domain may be those of the Q&A before: nobody has written them here yet.
const given = ["source", "domain"].map((name) => [name, field(name).value]);

const saver = autosave(form, {
  isBlank: () =>
    ["question", "answer", "note", "difficulty"].every(isEmpty) &&
    given.every(([name, value]) => isEmpty(name) || field(name).value === value) &&
    !chosen.querySelector("[data-row]"),
  keptAs: () => `bench ${form.dataset.person} ${form.dataset.autosave}${isNew() ? location.search : ""}`,
  onResult: ({ saved, lost, wrong, conflict, closed }) => {
    if (saved) {
      notice.hidden = true;
      const wasNew = isNew();
      if (wasNew) history.replaceState(null, "", saved.addresses.edit);
      addresses = saved.addresses;
      readdress();
      showSaved(saved);
      // Checks that ran while the draft was created may have treated it as another question.
      if (wasNew) window.htmx.trigger(document.body, "karat:marked");
      return;
    }
    notice.querySelector("[data-problem]").textContent =
      LOST[lost] ?? conflict ?? (wrong ? `Not saved: ${wrong}` : (CLOSED[closed] ?? GONE));
    notice.querySelector("[data-try-now]").hidden = !lost;
    notice.querySelector("[data-see-saved]").hidden = !conflict || !notice.querySelector("[data-see-saved]").href;
    notice.hidden = false;
  },
});

// The answer to a warning is outside of the form element, and is saved with it.
document.addEventListener("input", (event) => {
  if ("why" in event.target.dataset) saver.soon();
});

/** A new draft got its own addresses; parts requested before still arrive with the old ones. */
function readdress() {
  if (addresses === null) return;
  form.dataset.autosave = addresses.autosave;
  document.querySelector("[data-see-saved]").href = addresses.edit;
  for (const element of document.querySelectorAll("[data-goes-to]")) {
    const address = addresses[element.dataset.goesTo];
    if (element.tagName === "FORM") element.action = address;
    else if (element.tagName === "BUTTON") element.formAction = address;
    else if (element.getAttribute("hx-post") !== address) {
      element.setAttribute("hx-post", address);
      window.htmx.process(element);
    }
    if (element.dataset.goesTo === "withdraw") element.hidden = false;
  }
}

function showSaved({ label, saved_at }) {
  document.querySelector("[data-label]").textContent = label;
  const time = document.createElement("time");
  time.dateTime = saved_at;
  document.querySelector("[data-saved]").replaceChildren("saved at ", time);
  document.querySelector("[data-start]")?.remove();
  showTimes();
}

/** Times in the reader's zone: the hour today, the day before it otherwise. */
function showTimes() {
  for (const time of document.querySelectorAll("[data-saved] time")) {
    const when = new Date(time.dateTime);
    const hour = when.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
    const isToday = when.toDateString() === new Date().toDateString();
    time.textContent = isToday ? hour : `${when.toLocaleDateString("en-GB", { day: "numeric", month: "long" })}, ${hour}`;
  }
}

form.addEventListener("input", () => {
  countWords();
  saver.soon();
});
form.addEventListener("change", () => saver.soon());
form.addEventListener("submit", async (event) => {
  if (!saver.idle()) {
    isLeaving = true;
    saver.end();
    return;
  }
  event.preventDefault();
  event.stopImmediatePropagation();
  await saver.idle();
  // The checks may have rendered the button again meanwhile.
  const { goesTo } = event.submitter?.dataset ?? {};
  form.requestSubmit([...form.elements].find((element) => element.tagName === "BUTTON" && element.dataset.goesTo === goesTo));
});
document.querySelector("[data-try-now]").addEventListener("click", () => saver.save());
addEventListener("beforeunload", (event) => {
  if (saver.isUnsaved() && !isLeaving) event.preventDefault();
});

// Unsaved work -------------------------------------------------------------------------------------------

const OF_A_ROW = ["pinned", "spans", "evidence", "evidence_shown"];

/** The fields as they were, with bare expected blocks until the server has rendered them. */
function putBack(fields) {
  for (const [name, value] of fields) {
    const there = field(name);
    if (there && !chosen.contains(there[0] ?? there)) there.value = value;
  }
  const rows = fields.getAll("block").map((block) => {
    const row = document.createElement("div");
    row.dataset.row = block;
    const names = OF_A_ROW.map((part) => `${part}-${block}`).filter((name) => fields.has(name));
    row.append(hidden("block", block), ...names.map((name) => hidden(name, fields.get(name))));
    return row;
  });
  chosen.replaceChildren(...rows, hidden("needs", fields.get("needs") ?? ""));
  document.querySelector("[data-brought-back]").hidden = false;
}

// A new bench is empty; loading the same one again restores it.
const isAsked = performance.getEntriesByType("navigation")[0]?.type === "navigate";
const left = isNew() && isAsked ? null : saver.left();
if (left) {
  putBack(left);
  document.addEventListener("DOMContentLoaded", () => {
    changed();
    field("question").dispatchEvent(new Event("input", { bubbles: true }));
  });
}

settle();
countWords();
pointOut();
showTimes();
