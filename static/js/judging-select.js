// Selecting words without a pointer: a key selects the next sentence; then the arrows move the end of the selection by
// a word, with shift its beginning, and up and down go from sentence to sentence.

import { select, sentencesOf } from "./blocktext.js";

export function isSelecting(doc) {
  const selection = getSelection();
  return Boolean(doc) && selection.rangeCount > 0 && !selection.isCollapsed && doc.contains(selection.anchorNode);
}

// Select the sentence after (or before) the selected one; with nothing selected, the best paragraph's first.
export function selectSentence(doc, step = 1) {
  const sentences = doc ? sentencesOf(doc) : [];
  if (sentences.length === 0) return false;
  const best = Number(doc.dataset.best?.split(" ")[0] ?? 0);
  const leafOf = (sentence) => sentence.startContainer.parentElement.closest("[data-at]");
  let place = Math.max(0, sentences.findIndex((sentence) => Number(leafOf(sentence).dataset.at) >= best));
  if (isSelecting(doc)) {
    const now = getSelection().getRangeAt(0);
    const at = sentences.findLastIndex((sentence) => sentence.compareBoundaryPoints(Range.START_TO_START, now) <= 0);
    place = Math.min(sentences.length - 1, Math.max(0, at + step));
  }
  select(sentences[place]);
  return true;
}

// Move the end of the selection, or its beginning, by a word, to the side that the arrow shows.
function stretch(isStart, step) {
  const selection = getSelection();
  const { startContainer, startOffset, endContainer, endOffset } = selection.getRangeAt(0);
  if (isStart) selection.setBaseAndExtent(endContainer, endOffset, startContainer, startOffset);
  else selection.setBaseAndExtent(startContainer, startOffset, endContainer, endOffset);
  selection.modify("extend", step > 0 ? "right" : "left", "word");
}

// Whether the key was handled.
export function moveSelection(doc, { key, shiftKey }) {
  if (!isSelecting(doc)) return false;
  if (key === "ArrowRight" || key === "ArrowLeft") stretch(shiftKey, key === "ArrowRight" ? 1 : -1);
  else if (key === "ArrowDown" || key === "ArrowUp") selectSentence(doc, key === "ArrowDown" ? 1 : -1);
  else if (key === "Escape") getSelection().removeAllRanges();
  else return false;
  return true;
}
