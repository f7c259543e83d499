// The text of a block in the page. Every leaf, [data-at], contains exactly the slice of the text that begins at its
// code-point offset, with Markdown's markup hidden in <i>. So offsets are counted, never searched.

export const points = (text) => [...text].length;
export const leavesOf = (doc) => [...(doc?.querySelectorAll("[data-at]") ?? [])].filter((leaf) => leaf.getClientRects().length);
const startOf = (leaf) => Number(leaf.dataset.at);

function nodesOf(leaf) {
  const walker = document.createTreeWalker(leaf, NodeFilter.SHOW_TEXT);
  const nodes = [];
  while (walker.nextNode()) nodes.push(walker.currentNode);
  return nodes;
}

function isSeen(node) {
  const sign = node.parentElement.closest("i");
  return !sign || sign.getClientRects().length > 0;
}

/** The part of `range` inside a leaf, as a span of the text from the first to the last visible letter; or null. */
export function spanIn(leaf, range) {
  let at = startOf(leaf);
  let span = null;
  for (const node of nodesOf(leaf)) {
    const from = node === range.startContainer ? range.startOffset : 0;
    const to = node === range.endContainer ? range.endOffset : node.length;
    const words = range.intersectsNode(node) && isSeen(node) ? node.data.slice(from, to) : "";
    if (words.trim()) {
      const start = at + points(node.data.slice(0, from));
      span = [span?.[0] ?? start + points(words) - points(words.trimStart()), start + points(words.trimEnd())];
    }
    at += points(node.data);
  }
  return span;
}

/** Wrap the spans in the leaves, around any elements there. */
export function paint(doc, spans) {
  for (const mark of doc?.querySelectorAll("mark") ?? []) mark.replaceWith(...mark.childNodes);
  doc?.normalize();
  for (const leaf of doc?.querySelectorAll("[data-at]") ?? []) {
    let at = startOf(leaf);
    for (const node of nodesOf(leaf)) {
      const letters = [...node.data];
      const met = spans.filter(([from, to]) => from < at + letters.length && at < to);
      if (met.length) node.replaceWith(...painted(letters, met.map(([from, to]) => [Math.max(0, from - at), Math.min(letters.length, to - at)])));
      at += letters.length;
    }
  }
}

function painted(letters, places) {
  const parts = [];
  let done = 0;
  for (const [from, to] of places) {
    if (done < from) parts.push(letters.slice(done, from).join(""));
    const mark = document.createElement("mark");
    mark.textContent = letters.slice(from, to).join("");
    parts.push(mark);
    done = to;
  }
  if (done < letters.length) parts.push(letters.slice(done).join(""));
  return parts;
}

/** The part of a span in its first leaf, as a range of the page; null if nothing of it is visible. */
export function rangeOf(doc, [start, end]) {
  const leaf = [...doc.querySelectorAll("[data-at]")].findLast((one) => startOf(one) <= start);
  if (!leaf?.textContent) return null;
  const letters = [...leaf.textContent];
  const offset = (point) => letters.slice(0, Math.max(0, point - startOf(leaf))).join("").length;
  return rangeAt(nodesOf(leaf), offset(start), offset(end));
}

function rangeAt(nodes, start, end) {
  const range = document.createRange();
  range.setStart(...pointAt(nodes, start, true));
  range.setEnd(...pointAt(nodes, end, false));
  return range;
}

// A start is before a letter, an end after one: at the border of two nodes these are different places.
function pointAt(nodes, offset, isStart) {
  let left = offset;
  for (const node of nodes) {
    if (left < node.length || (!isStart && left === node.length)) return [node, left];
    left -= node.length;
  }
  return [nodes.at(-1), nodes.at(-1).length];
}

/** The sentences of all leaves in order, each as a range; for code and unwrapped lines, the lines. */
export function sentencesOf(doc) {
  return leavesOf(doc).flatMap((leaf) => {
    const nodes = nodesOf(leaf).filter(isSeen);
    const words = nodes.map((node) => node.data).join("");
    return cut(leaf.matches("pre, .fixed-lines") ? words : words.replaceAll("\n", " ")).map(([from, to]) => rangeAt(nodes, from, to));
  });
}

function cut(words) {
  if (!words.trim()) return [];
  const whole = [{ segment: words, index: 0 }];
  const segments = globalThis.Intl?.Segmenter ? [...new Intl.Segmenter("en", { granularity: "sentence" }).segment(words)] : whole;
  return segments
    .filter(({ segment }) => segment.trim())
    .map(({ segment, index }) => [index + segment.length - segment.trimStart().length, index + segment.trimEnd().length]);
}

/** Select the range and scroll to it. */
export function select(range) {
  getSelection().removeAllRanges();
  getSelection().addRange(range);
  range.startContainer.parentElement.scrollIntoView({ block: "nearest" });
}
