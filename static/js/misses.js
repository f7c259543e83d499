// Marked words of the returned passage go with "also right".
const form = document.querySelector("#say");
const quote = form.querySelector("[data-quote]");
const returned = document.querySelector("[data-returned]");
const hint = document.querySelector("[data-marked]");
const usual = hint?.textContent;

document.addEventListener("selectionchange", () => {
  const selection = getSelection();
  const isInside = returned && selection.rangeCount > 0 && returned.contains(selection.getRangeAt(0).commonAncestorContainer);
  if (!isInside) return;
  quote.value = selection.toString().trim();
  if (hint) hint.textContent = quote.value ? hint.dataset.marked : usual;
});
