// The bench: marks live in the form's hidden fields; the server draws them into the text.
import { isTextField } from "./keys.js";
import { selectedSpans, selectSentence } from "./marking.js";

const form = document.querySelector("[data-bench]");
const read = document.getElementById("read");
const field = (name) => form.elements.namedItem(name);
const reading = () => read.querySelector("[data-reading]");
const spans = () => JSON.parse(field("spans").value || "[]");
const isShown = () => reading()?.dataset.block === field("block").value;
const addressOf = (block) => form.dataset.blocks.replace("/0/", `/${block}/`);
let isDirty = false;

function merged(all) {
  return all
    .sort(([a], [b]) => a - b)
    .reduce((kept, [start, end]) => {
      const last = kept.at(-1);
      if (last && start <= last[1]) last[1] = Math.max(last[1], end);
      else kept.push([start, end]);
      return kept;
    }, []);
}

function keep(next, order) {
  field("block").value = reading().dataset.block;
  field("pinned").value = reading().dataset.version;
  field("spans").value = JSON.stringify(next);
  form.dataset.order = JSON.stringify(order);
  isDirty = true;
  window.htmx.ajax("GET", addressOf(field("block").value), { target: "#read", swap: "innerHTML" });
  window.htmx.trigger(document.body, "karat:marked");
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
  const before = isShown() ? spans() : [];
  keep(merged([...before.map((span) => [...span]), ...fresh]), [...history(), before]);
}

const history = () => (isShown() ? JSON.parse(form.dataset.order || "[]") : []);

function unmark() {
  if (!isShown() || spans().length === 0) return;
  const past = history();
  const back = past.length ? past.pop() : spans().slice(0, -1);
  keep(back, past);
}

function settle() {
  if (!reading()) return;
  if (spans().length === 0) {
    field("block").value = reading().dataset.block;
    field("pinned").value = reading().dataset.version;
    delete form.dataset.order;
  }
  read.querySelector("[data-elsewhere]").hidden = isShown();
  for (const item of document.querySelectorAll(".results li")) {
    const isOpen = item.querySelector("a").getAttribute("hx-get") === addressOf(reading().dataset.block);
    item.toggleAttribute("aria-current", isOpen);
    if (isOpen) item.setAttribute("aria-current", "true");
  }
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

document.querySelector("[data-mark]").addEventListener("click", mark);
document.querySelector("[data-unmark]").addEventListener("click", unmark);
// A click would move the selection away before it is read.
document.querySelector("[data-mark]").addEventListener("pointerdown", (event) => event.preventDefault());

document.addEventListener("keydown", (event) => {
  const doc = read.querySelector("[data-doc]");
  if (!doc || isTextField(event.target) || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
  if ((event.key === "ArrowDown" || event.key === "ArrowUp") && selectedSpans(doc).length) {
    event.preventDefault();
    selectSentence(doc, event.key === "ArrowDown" ? 1 : -1);
  }
});

document.addEventListener("htmx:configRequest", (event) => {
  const block = field("block").value;
  if (block && event.detail.path.split("?")[0] === addressOf(block)) event.detail.parameters.spans = field("spans").value;
});
document.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target === read) {
    read.scrollTop = event.detail.requestConfig.triggeringEvent ? 0 : read.scrollTop;
    settle();
    window.htmx.trigger(document.body, "karat:marked");
  } else if (event.detail.target.id === "results") settle();
  else if (event.detail.target.id === "checks") pointOut();
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-replace]");
  if (!button) return;
  const answer = field("answer");
  answer.value = answer.value.replace(button.dataset.replace, button.dataset.with);
  answer.dispatchEvent(new Event("input", { bubbles: true }));
  answer.focus();
});

form.addEventListener("input", () => {
  isDirty = true;
  countWords();
});
form.addEventListener("submit", () => {
  isDirty = false;
});
addEventListener("beforeunload", (event) => {
  if (isDirty) event.preventDefault();
});

settle();
countWords();
pointOut();
