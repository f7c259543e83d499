// Highlights the query's words in the text by a custom highlight, if the browser has them; the text is not changed.
// Evidence is marked in gold; these words only get a dotted line, so that nobody confuses the two. A project may
// disable the switch; its setting is remembered in this browser.

const NAME = "query-words";
const STEM = 6;
// Words that say nothing, of the languages that have stop words in Karat; any other word is lit, however short: ssh, s3, ip.
const COMMON = new Set(
  (
    "about after also an and any are as at be been but by can did do does for from had has have he her him his how if in into is it its may me my " +
    "no nor not of off on or our out she so that the their them there they these this to too up us was we were what when where which while who " +
    "why will with yet you your am auf aus bei bis da das dem den der des die du ein er es für ich im ist mit nur ob sie um und uns vom von vor " +
    "wer wie wir wo zu zum zur au aux ce ces de en est et il ils je la le les lui ma mes mon ne nos ou où par pas qu que qui sa se ses si sur " +
    "ta te tu un une al del el ha las lo los mi por sus su una ya yo"
  ).split(" "),
);
// Where a script has no blanks, two neighbouring characters are a word, as in Karat's own search.
const RUN = "[\\p{sc=Han}\\p{sc=Hira}\\p{sc=Kana}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmr}\\p{sc=Mymr}ー]";
const WORD = new RegExp(`(${RUN}+)|(?:(?!${RUN})[\\p{L}\\p{N}\\p{M}])+`, "gu");
const ONLY_GRAMMAR = /^\p{sc=Hira}+$/u;

const stem = (word) => word.toLowerCase().slice(0, STEM);

function* wordsOf(text) {
  for (const { 0: run, 1: isWithoutBlanks, index } of text.matchAll(WORD)) {
    if (!isWithoutBlanks) {
      if (run.length > 1 && !COMMON.has(run.toLowerCase())) yield { word: run, index };
      continue;
    }
    const letters = [...run];
    let at = index;
    for (let place = 0; place + 1 < letters.length; place += 1) {
      const word = letters[place] + letters[place + 1];
      if (!ONLY_GRAMMAR.test(word)) yield { word, index: at };
      at += letters[place].length;
    }
  }
}

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
  const wanted = new Set([...wordsOf(query)].map(({ word }) => stem(word)));
  const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (!node.parentElement.closest(".doc") || node.parentElement.closest(".fold")) continue;
    for (const { word, index } of wordsOf(node.data)) {
      if (!wanted.has(stem(word))) continue;
      const range = new Range();
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      yield range;
    }
  }
}
