// Turns a selection inside [data-doc] into code-point offsets of the pinned text, and moves by sentence.
// Each [data-at] leaf holds exactly the slice of the text that begins at its offset.

const points = (text) => [...text].length;
const leavesOf = (doc) => [...doc.querySelectorAll("[data-at]")];

function clipped(range, leaf) {
  const part = document.createRange();
  part.selectNodeContents(leaf);
  if (range.compareBoundaryPoints(Range.START_TO_START, part) > 0) part.setStart(range.startContainer, range.startOffset);
  if (range.compareBoundaryPoints(Range.END_TO_END, part) < 0) part.setEnd(range.endContainer, range.endOffset);
  return part;
}

function spanIn(leaf, part) {
  const before = document.createRange();
  before.selectNodeContents(leaf);
  before.setEnd(part.startContainer, part.startOffset);
  const text = part.toString();
  const start = Number(leaf.dataset.at) + points(before.toString()) + points(text) - points(text.trimStart());
  return [start, start + points(text.trim())];
}

/** One span for each paragraph that the selection touches; none when nothing inside `doc` is selected. */
export function selectedSpans(doc) {
  const selection = getSelection();
  if (!selection.rangeCount || selection.isCollapsed) return [];
  const range = selection.getRangeAt(0);
  return leavesOf(doc)
    .filter((leaf) => range.intersectsNode(leaf))
    .map((leaf) => spanIn(leaf, clipped(range, leaf)))
    .filter(([start, end]) => end > start);
}

function sentencesOf(leaf) {
  if (!Intl.Segmenter) return [[0, leaf.textContent.length]];
  const cutter = new Intl.Segmenter("en", { granularity: "sentence" });
  return [...cutter.segment(leaf.textContent)]
    .filter(({ segment }) => segment.trim())
    .map(({ index, segment }) => [index, index + segment.trimEnd().length]);
}

function place(leaf, index) {
  const walker = document.createTreeWalker(leaf, NodeFilter.SHOW_TEXT);
  let left = index;
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (left <= node.length) return [node, left];
    left -= node.length;
  }
  return [leaf, leaf.childNodes.length];
}

/** Select the sentence `step` away from the selected one; without a selection, the first one. */
export function selectSentence(doc, step) {
  const all = leavesOf(doc).flatMap((leaf) => sentencesOf(leaf).map(([start, end]) => ({ leaf, start, end })));
  if (all.length === 0) return;
  const [current] = selectedSpans(doc);
  const at = current
    ? all.findLastIndex(({ leaf, start }) => Number(leaf.dataset.at) + points(leaf.textContent.slice(0, start)) <= current[0])
    : -1;
  const { leaf, start, end } = all[current ? Math.min(all.length - 1, Math.max(0, at + step)) : 0];
  const range = document.createRange();
  range.setStart(...place(leaf, start));
  range.setEnd(...place(leaf, end));
  const selection = getSelection();
  selection.removeAllRanges();
  selection.addRange(range);
  leaf.scrollIntoView({ block: "nearest" });
}

/** Move the end of the selection by a sentence or a word; a selection that would vanish stays. */
export function extendSelection(doc, step, unit) {
  const selection = getSelection();
  const range = selection.getRangeAt(0).cloneRange();
  if (unit === "sentence") selection.extend(...sentenceEnd(doc, range, step));
  else selection.modify("extend", step > 0 ? "forward" : "backward", "word");
  if (!selectedSpans(doc).length || !doc.contains(selection.focusNode)) {
    selection.removeAllRanges();
    selection.addRange(range);
  }
}

/** Where the sentence behind the selection's end stops, or (step -1) the one before its last. */
function sentenceEnd(doc, range, step) {
  const ends = leavesOf(doc).flatMap((leaf) => sentencesOf(leaf).map(([, end]) => place(leaf, end)));
  const isBehind = ([node, offset]) => range.comparePoint(node, offset) > 0;
  const isWithin = ([node, offset]) => range.comparePoint(node, offset) === 0 && !(node === range.endContainer && offset === range.endOffset);
  return (step > 0 ? ends.find(isBehind) : ends.findLast(isWithin)) ?? [range.endContainer, range.endOffset];
}
