// Marked evidence: spans [start, end) in code points of the block's text. Every leaf of the text holds exactly the
// slice that begins at its data-at, so a selection becomes offsets by counting, never by searching.

const LEAF = "[data-at]";
const points = (text) => [...text].length;

// The selection inside `doc` as a span, edges trimmed of blanks, or null.
export function selected(doc) {
  const selection = getSelection();
  if (!doc || selection.rangeCount === 0 || selection.isCollapsed) return null;
  const range = selection.getRangeAt(0);
  const leaves = [...doc.querySelectorAll(LEAF)].filter((leaf) => range.intersectsNode(leaf) && leaf.getClientRects().length);
  const parts = leaves.map((leaf) => within(leaf, range)).filter(Boolean);
  return parts.length ? [parts[0][0], parts.at(-1)[1]] : null;
}

function within(leaf, range) {
  const whole = document.createRange();
  whole.selectNodeContents(leaf);
  const from = range.compareBoundaryPoints(Range.START_TO_START, whole) > 0 ? lengthBefore(leaf, range.startContainer, range.startOffset) : 0;
  const to = range.compareBoundaryPoints(Range.END_TO_END, whole) < 0 ? lengthBefore(leaf, range.endContainer, range.endOffset) : leaf.textContent.length;
  const text = leaf.textContent.slice(from, to);
  if (!text.trim()) return null;
  const start = Number(leaf.dataset.at) + points(leaf.textContent.slice(0, from)) + points(text) - points(text.trimStart());
  return [start, start + points(text.trim())];
}

function lengthBefore(leaf, node, offset) {
  const before = document.createRange();
  before.setStart(leaf, 0);
  before.setEnd(node, offset);
  return before.toString().length;
}

// The place in the text nodes of a leaf, counted as the browser counts.
export function pointAt(leaf, offset) {
  const walker = document.createTreeWalker(leaf, NodeFilter.SHOW_TEXT);
  let left = offset;
  let node = walker.nextNode();
  for (let next = node; next; next = walker.nextNode()) {
    node = next;
    if (left <= next.length) break;
    left -= next.length;
  }
  return [node, Math.min(left, node.length)];
}

// The part of a span that lies in the leaf where it begins, as a range of the page; null where nothing of it is shown.
export function rangeOf(doc, [start, end]) {
  const leaf = [...doc.querySelectorAll(LEAF)].findLast((one) => Number(one.dataset.at) <= start);
  if (!leaf?.textContent) return null;
  const letters = [...leaf.textContent];
  const offset = (point) => letters.slice(0, point - Number(leaf.dataset.at)).join("").length;
  const range = document.createRange();
  range.setStart(...pointAt(leaf, offset(start)));
  range.setEnd(...pointAt(leaf, offset(end)));
  return range;
}

// Add a span, joining what it meets; a span that is marked already is taken away.
export function toggle(spans, [start, end]) {
  const holder = spans.find(([from, to]) => from <= start && end <= to);
  if (holder) {
    const rest = [[holder[0], start], [end, holder[1]]].filter(([from, to]) => from < to);
    return [...spans.filter((span) => span !== holder), ...rest].sort((a, b) => a[0] - b[0]);
  }
  const met = spans.filter(([from, to]) => from <= end && start <= to);
  const joined = [Math.min(start, ...met.map((span) => span[0])), Math.max(end, ...met.map((span) => span[1]))];
  return [...spans.filter((span) => !met.includes(span)), joined].sort((a, b) => a[0] - b[0]);
}

// Paint the spans into the text.
export function paint(doc, spans) {
  for (const leaf of doc?.querySelectorAll(LEAF) ?? []) {
    const letters = [...leaf.textContent];
    const at = Number(leaf.dataset.at);
    const nodes = [];
    let done = 0;
    for (const [from, to] of spans) {
      const start = Math.max(from - at, done);
      const end = Math.min(to - at, letters.length);
      if (start >= end) continue;
      nodes.push(letters.slice(done, start).join(""), mark(letters.slice(start, end).join("")));
      done = end;
    }
    leaf.replaceChildren(...nodes, letters.slice(done).join(""));
    leaf.normalize();
  }
}

function mark(text) {
  const element = document.createElement("mark");
  element.textContent = text;
  return element;
}

// What to read first, as a span: what `m` marks when nothing is selected.
export function bestOf(doc) {
  return doc?.dataset.best ? doc.dataset.best.split(" ").map(Number) : null;
}
