// Whether somebody who types is writing words: there, keys are no shortcuts.
const NOT_TEXT = new Set(["checkbox", "radio", "button", "submit", "reset", "range", "color", "file", "image"]);

export function isTextField(element) {
  if (!element) return false;
  if (element.isContentEditable) return true;
  if (element.tagName === "INPUT") return !NOT_TEXT.has(element.type);
  return element.tagName === "TEXTAREA" || element.tagName === "SELECT";
}
