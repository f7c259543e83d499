// Highlights the query's words in the text by a custom highlight, if the browser has them; the text is not changed.
// Evidence is marked in gold; these words only get a dotted line, so that nobody confuses the two. A project may
// disable the switch; its setting is remembered in this browser.

const NAME = "query-words";
const STEM = 6;
const SHORT = 4;
const COMMON = new Set("about after also been does from have into that their them there these they this what when where which while will with your".split(" "));
const WORD = /[\p{L}\p{N}]+/gu;

const stem = (word) => word.toLowerCase().slice(0, STEM);

export class Terms {
  #button;
  #storageKey;
  #last = [];
  isOn = false;

  constructor(button, user) {
    this.#button = button;
    this.#storageKey = `karat-lit:${user}`;
    if (!button) return;
    button.hidden = !globalThis.Highlight || !CSS.highlights;
    this.#set(read(this.#storageKey) !== "off");
  }

  toggle() {
    this.#set(!this.isOn);
    try {
      localStorage.setItem(this.#storageKey, this.isOn ? "on" : "off");
    } catch {
      // The setting lasts for this page only.
    }
    this.light(...this.#last);
    return this.isOn;
  }

  light(text, query) {
    this.#last = [text, query];
    if (!globalThis.Highlight || !CSS.highlights) return;
    CSS.highlights.delete(NAME);
    if (this.isOn && text && query) CSS.highlights.set(NAME, new Highlight(...found(text, query)));
  }

  #set(isOn) {
    this.isOn = isOn;
    this.#button.setAttribute("aria-pressed", String(isOn));
  }
}

function read(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

function* found(text, query) {
  const wanted = new Set((query.match(WORD) ?? []).filter((word) => word.length >= SHORT && !COMMON.has(word.toLowerCase())).map(stem));
  const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (!node.parentElement.closest(".doc") || node.parentElement.closest(".fold")) continue;
    for (const word of node.data.matchAll(WORD)) {
      if (word[0].length < SHORT || !wanted.has(stem(word[0]))) continue;
      const range = new Range();
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      yield range;
    }
  }
}
