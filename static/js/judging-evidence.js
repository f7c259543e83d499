// Marked evidence: spans [start, end) in code points of the block's text.
import { leavesOf, spanIn } from "./blocktext.js";

// The selection inside `doc` as a span, without spaces at its ends, or null.
export function selected(doc) {
  const selection = getSelection();
  if (!doc || selection.rangeCount === 0 || selection.isCollapsed) return null;
  const range = selection.getRangeAt(0);
  const parts = leavesOf(doc).filter((leaf) => range.intersectsNode(leaf)).map((leaf) => spanIn(leaf, range)).filter(Boolean);
  return parts.length ? [parts[0][0], parts.at(-1)[1]] : null;
}

// Add a span, joined with those it touches; a span that is marked already is removed.
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

// The best passage as a span: `m` marks it when nothing is selected.
export function bestOf(doc) {
  return doc?.dataset.best ? doc.dataset.best.split(" ").map(Number) : null;
}
