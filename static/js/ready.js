// Loaded blocking in <head>, so that no early input is lost. Keys, and clicks on buttons that need a script, are
// recorded until every script has run and are then replayed in order. After that the root has `data-ready`. Parts that
// the server is loading have aria-busy.
(() => {
  const root = document.documentElement;
  const TEXT = "textarea, select, [contenteditable], input:not([type=checkbox], [type=radio], [type=button], [type=submit])";
  const NEEDS_A_SCRIPT = "button[type=button]:not([command])";
  const recorded = [];
  const typed = new Set();

  function isOurs({ key, ctrlKey, altKey, metaKey, target }) {
    if (key === "Enter" && ctrlKey) return true;
    if (ctrlKey || altKey || metaKey) return false;
    if (target.matches?.(TEXT)) return key === "Escape";
    return key.length === 1 || key === "Enter" || key === "Escape" || key.startsWith("Arrow");
  }

  function keepKey(event) {
    if (event.isComposing || !isOurs(event)) return;
    event.stopImmediatePropagation();
    // The space bar scrolls and presses, which needs no script; any other letter would be looked for in the page.
    if (event.key.length === 1 && event.key !== " ") event.preventDefault();
    recorded.push(event);
  }

  function keepClick(event) {
    const button = event.target.closest?.(NEEDS_A_SCRIPT);
    if (!button) return;
    event.stopImmediatePropagation();
    recorded.push({ button });
  }

  const keepTyped = ({ target }) => typed.add(target);

  // Where the first keys led into a field, the next ones are words.
  function pressAgain({ key, code, ctrlKey, shiftKey, target }) {
    const at = document.activeElement ?? document.body;
    if (key.length === 1 && at.matches(TEXT) && at !== target) document.execCommand("insertText", false, key);
    else at.dispatchEvent(new KeyboardEvent("keydown", { key, code, ctrlKey, shiftKey, bubbles: true, cancelable: true }));
  }

  function answer() {
    removeEventListener("keydown", keepKey, true);
    removeEventListener("click", keepClick, true);
    removeEventListener("input", keepTyped, true);
    for (const field of typed) if (field.isConnected) field.dispatchEvent(new Event("input", { bubbles: true }));
    for (const one of recorded) {
      if (one.button) one.button.click();
      else pressAgain(one);
    }
    root.dataset.ready = "";
  }

  addEventListener("keydown", keepKey, true);
  addEventListener("click", keepClick, true);
  addEventListener("input", keepTyped, true);
  // On the window it comes after whatever the scripts of the page, htmx among them, do on the document.
  addEventListener("DOMContentLoaded", answer);

  const asked = new WeakMap();
  function count(place, step) {
    const underWay = (asked.get(place) ?? 0) + step;
    asked.set(place, underWay);
    if (underWay > 0) place.setAttribute("aria-busy", "true");
    else place.removeAttribute("aria-busy");
  }
  document.addEventListener("htmx:beforeSend", ({ detail: { xhr, target } }) => {
    count(target, 1);
    xhr.addEventListener("loadend", () => count(target, -1), { once: true });
  });
})();
