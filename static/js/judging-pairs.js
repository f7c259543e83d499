import { chosenIn, facetsIn } from "./judging-facets.js";

// The pairs this page knows, in the order to grade them: those graded here can be opened again, the next ones are preloaded.

const KEPT = 60;

function pairFrom(template) {
  const part = (name) => [...template.content.querySelector(`[data-part=${name}]`).childNodes];
  const { seat, query, group, given, reason, note, spans } = template.dataset;
  return makePair({ seat, query, group, given, reason, note, spans, lead: part("lead"), read: part("read") });
}

export function makePair({ seat, query, group, given, reason = "", note = "", spans, lead, read }) {
  const doc = read.find((node) => node.matches?.("[data-doc]")) ?? null;
  const pair = { seat: Number(seat), query, group: group || query, lead, read, doc, fold: null, answer: given || null, reason, note, spans: spans ? JSON.parse(spans) : [] };
  const box = facetsIn(lead);
  const asked = { ...pair, box, draft: null, facets: box ? chosenIn(box) : [] };
  return { ...asked, sentKey: asked.answer ? answerKey(asked) : null };
}

export const answerKey = ({ answer, reason, note, spans, facets }) => JSON.stringify([answer, reason, note, spans, facets]);

export class PairQueue {
  all = [];
  isDry = false;
  #url;
  #settings;
  #taken;
  #isFetching = false;

  // `taken` are seats graded by an earlier page whose grades are not sent yet.
  constructor({ url, settings, taken }) {
    this.#url = url;
    this.#settings = settings;
    this.#taken = new Set(taken);
  }

  get isFetching() {
    return this.#isFetching;
  }

  waiting(current) {
    return this.all.filter((pair) => pair.answer === null && pair !== current);
  }

  find(seat) {
    return this.all.find((pair) => pair.seat === seat);
  }

  // A pair whose grade was refused may be assigned again.
  forget(pair) {
    this.#taken.delete(pair.seat);
    this.all = this.all.filter((other) => other !== pair);
    this.isDry = false;
  }

  // Pairs graded long ago are loaded again when undo reaches them.
  trim(history) {
    while (history.length > KEPT) {
      const old = history.shift();
      this.all = this.all.filter((pair) => pair !== old);
      this.#taken.add(old.seat);
    }
  }

  take(templates, { first = false } = {}) {
    const fresh = [];
    for (const template of templates) {
      const seat = Number(template.dataset.seat);
      if (this.find(seat) || (this.#taken.has(seat) && !first)) continue;
      fresh.push(pairFrom(template));
    }
    if (first) this.all.unshift(...fresh.toReversed());
    else this.all.push(...fresh);
    return fresh;
  }

  // Load more when few are left; `isSettled` means that the server has every grade given so far.
  async refill(current, { isSettled, isForced = false }) {
    const { ahead, low, view } = this.#settings;
    const left = this.waiting(current).length;
    if (this.#isFetching || (!isForced && (this.isDry || left > low))) return;
    this.#isFetching = true;
    try {
      const held = left + (current?.answer === null ? 1 : 0);
      const has = this.all.map((pair) => pair.seat).join(",");
      const templates = await fetchPairs(`${this.#url}?n=${ahead}&view=${view}&has=${has}`);
      if (templates) this.isDry = this.take(templates).length === 0 && isSettled && held < ahead;
    } catch {
      // Offline: the preloaded pairs are graded first; then loading is tried again.
    }
    this.#isFetching = false;
  }
}

export async function fetchPairs(url) {
  const response = await fetch(url, { credentials: "same-origin", headers: { Accept: "text/html" } });
  if (!response.ok || response.redirected) return null;
  return [...new DOMParser().parseFromString(await response.text(), "text/html").querySelectorAll("template[data-seat]")];
}
