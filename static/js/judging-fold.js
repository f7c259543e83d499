// Of a long text only the part around the best paragraph is open; `t` or the fold shows the rest.

// The label names the key that unfolds: it may be changed.
export function foldOf(pair) {
  pair.fold ??= new Fold(pair.doc, document.querySelector("[data-whole] .key")?.textContent);
  return pair.fold;
}

class Fold {
  #doc;
  #hidden;
  #folds = [];

  constructor(doc, key) {
    this.#doc = doc;
    const [from, to] = (doc?.dataset.shown ?? "0 0").split(" ").map(Number);
    const parts = [...(doc?.children ?? [])];
    const at = (part) => Number((part.matches("[data-at]") ? part : part.querySelector("[data-at]"))?.dataset.at ?? 0);
    // What begins before the first paragraph that is open, but goes on into it, stays open too: code with a blank line.
    const before = parts.filter((part, place) => place + 1 < parts.length && at(parts[place + 1]) <= from);
    const after = parts.filter((part) => at(part) >= to);
    this.#hidden = [...before, ...after];
    if (before.length) this.#folds.push(this.#bar(before.length, "before", key, (bar) => doc.prepend(bar)));
    if (after.length) this.#folds.push(this.#bar(after.length, "after", key, (bar) => doc.append(bar)));
    this.show(false);
  }

  get isWhole() {
    return this.#hidden.length === 0;
  }

  show(isOpen) {
    this.isOpen = isOpen;
    for (const part of this.#hidden) part.toggleAttribute("data-folded", !isOpen);
    for (const bar of this.#folds) bar.hidden = isOpen;
  }

  #bar(count, where, key, put) {
    const bar = document.createElement("button");
    bar.type = "button";
    bar.className = "fold";
    bar.dataset.fold = "";
    const cap = document.createElement("kbd");
    cap.className = "key small";
    cap.textContent = key;
    cap.hidden = !key;
    bar.append(`${count} ${count === 1 ? "paragraph" : "paragraphs"} ${where} `, cap);
    put(bar);
    return bar;
  }
}
