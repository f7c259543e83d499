// The layout of pairs: one alone, or all pairs of a query below each other, one of them open.

import { rangeOf } from "./blocktext.js";
import { bestOf } from "./judging-evidence.js";
import { foldOf } from "./judging-fold.js";

const BEST = "best-passage";
const lead = document.querySelector("[data-lead]");
const read = document.querySelector("[data-read]");
const scroller = document.querySelector(".desk-text");

function showLead(pair) {
  if (lead.firstChild === pair.lead[0]) return;
  lead.replaceChildren(...pair.lead);
  document.querySelector(".desk-lead").scrollTop = 0;
}

// People read the best passage first: the text is scrolled to it, and inside a long paragraph it has its own
// background.
function settle(doc, top) {
  const span = bestOf(doc);
  const best = span && rangeOf(doc, span);
  globalThis.CSS?.highlights?.delete(BEST);
  if (!best) return;
  const leaf = best.startContainer.parentElement.closest("[data-at]");
  if (CSS.highlights && best.toString().length < leaf.textContent.trim().length) CSS.highlights.set(BEST, new Highlight(best));
  const view = scroller.getBoundingClientRect();
  const place = best.getBoundingClientRect();
  if (place.bottom > view.bottom && place.top - top > view.height / 3) scroller.scrollTop += place.top - view.top - view.height / 4;
}

export class OnePair {
  show(pair) {
    showLead(pair);
    read.replaceChildren(...pair.read);
    scroller.scrollTop = 0;
  }

  settle(pair) {
    settle(pair.doc, scroller.getBoundingClientRect().top);
  }

  after(current, waiting) {
    return waiting[0] ?? null;
  }

  clear() {
    lead.replaceChildren();
  }
}

export class AllOfQuery {
  #queue;
  #list = document.createElement("ol");
  #rows = new Map();

  constructor(queue) {
    this.#queue = queue;
    this.#list.className = "query-pairs";
  }

  show(pair) {
    showLead(pair);
    const pairs = this.#queue.all.filter((other) => other.group === pair.group);
    pairs.forEach((other, place) => this.#dress(other, place, pairs.length, other === pair));
    const rows = pairs.map((other) => this.#rows.get(other));
    if (rows.length !== this.#list.childElementCount || rows.some((row, at) => this.#list.children[at] !== row)) this.#list.replaceChildren(...rows);
    if (read.firstChild !== this.#list) read.replaceChildren(this.#list);
  }

  settle(pair) {
    const row = this.#rows.get(pair);
    scroller.scrollTop += row.getBoundingClientRect().top - scroller.getBoundingClientRect().top - 12;
    settle(pair.doc, row.getBoundingClientRect().top);
  }

  // The next pair without a grade below this one, then from the top, then the next query.
  after(current, waiting) {
    const same = waiting.filter((pair) => pair.group === current?.group);
    const { all } = this.#queue;
    const below = same.find((pair) => all.indexOf(pair) > all.indexOf(current));
    return below ?? same[0] ?? waiting[0] ?? null;
  }

  beside(current, step) {
    const pairs = this.#queue.all.filter((pair) => pair.group === current.group);
    return pairs[pairs.indexOf(current) + step] ?? current;
  }

  pairOf(element) {
    const row = element.closest(".query-pair");
    return [...this.#rows].find(([, other]) => other === row)?.[0] ?? null;
  }

  clear() {
    lead.replaceChildren();
  }

  #dress(pair, place, count, isCurrent) {
    const row = this.#rows.get(pair) ?? this.#build(pair);
    row.toggleAttribute("aria-current", isCurrent);
    if (isCurrent) row.setAttribute("aria-current", "true");
    const chip = row.querySelector(".grade");
    chip.className = pair.answer === null || pair.answer === "x" ? "grade none" : "grade";
    chip.dataset.grade = pair.answer ?? "";
    chip.textContent = pair.answer ?? "·";
    const status = pair.answer === null ? "not graded" : pair.answer === "x" ? "can’t judge" : `grade ${pair.answer}`;
    row.querySelector(".pair-status").textContent = `Passage ${place + 1} of ${count}, ${status}`;
    return row;
  }

  #build(pair) {
    const row = document.createElement("li");
    row.className = "query-pair";
    const heading = document.createElement("button");
    heading.type = "button";
    heading.className = "pair-heading";
    const chip = document.createElement("span");
    chip.setAttribute("aria-hidden", "true");
    chip.className = "grade none";
    const status = document.createElement("span");
    status.className = "pair-status";
    heading.append(chip, status);
    row.append(heading, ...pair.read);
    foldOf(pair);
    this.#rows.set(pair, row);
    return row;
  }
}
