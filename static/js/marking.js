// Turns a selection inside [data-doc] into code-point offsets of the pinned text, and moves by sentence.
import { leavesOf, select, sentencesOf, spanIn } from "./blocktext.js";

/** One span for each paragraph that the selection touches; none when nothing inside `doc` is selected. */
export function selectedSpans(doc) {
  const selection = getSelection();
  if (!selection.rangeCount || selection.isCollapsed) return [];
  const range = selection.getRangeAt(0);
  return leavesOf(doc)
    .filter((leaf) => range.intersectsNode(leaf))
    .map((leaf) => spanIn(leaf, range))
    .filter(Boolean);
}

/** Select the sentence `step` away from the selected one; without a selection, the first one. */
export function selectSentence(doc, step) {
  const all = sentencesOf(doc);
  if (all.length === 0) return;
  const isSelected = selectedSpans(doc).length > 0;
  const now = isSelected && getSelection().getRangeAt(0);
  const at = now ? all.findLastIndex((one) => one.compareBoundaryPoints(Range.START_TO_START, now) <= 0) : -1;
  select(all[now ? Math.min(all.length - 1, Math.max(0, at + step)) : 0]);
}

/** Move the end of the selection by a sentence or a word; a selection that would become empty stays. */
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
  const ends = sentencesOf(doc).map(({ endContainer, endOffset }) => [endContainer, endOffset]);
  const isBehind = ([node, offset]) => range.comparePoint(node, offset) > 0;
  const isWithin = ([node, offset]) => range.comparePoint(node, offset) === 0 && !(node === range.endContainer && offset === range.endOffset);
  return (step > 0 ? ends.find(isBehind) : ends.findLast(isWithin)) ?? [range.endContainer, range.endOffset];
}
