// The query's words, lit in the text without touching it: a custom highlight, where the browser has them. Evidence
// is marked in gold; these only get a dotted line, so that nobody takes one for the other.

const NAME = "query-words";
const STEM = 6;
const SHORT = 4;
const COMMON = new Set("about after also been does from have into that their them there these they this what when where which while will with your".split(" "));
const WORD = /[\p{L}\p{N}]+/gu;

const stem = (word) => word.toLowerCase().slice(0, STEM);

export function lightTerms(doc, query) {
  if (!globalThis.Highlight || !CSS.highlights) return;
  CSS.highlights.delete(NAME);
  if (!doc || !query) return;
  const wanted = new Set((query.match(WORD) ?? []).filter((word) => word.length >= SHORT && !COMMON.has(word.toLowerCase())).map(stem));
  const highlight = new Highlight();
  const walker = document.createTreeWalker(doc, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (node.parentElement.closest(".fold")) continue;
    for (const found of node.data.matchAll(WORD)) {
      if (found[0].length < SHORT || !wanted.has(stem(found[0]))) continue;
      const range = new Range();
      range.setStart(node, found.index);
      range.setEnd(node, found.index + found[0].length);
      highlight.add(range);
    }
  }
  CSS.highlights.set(NAME, highlight);
}
