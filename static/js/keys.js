// One key, one action: any element with data-key="c" (or aria-keyshortcuts="c") is clicked by that key.
// Never inside text fields, never with ctrl, alt or meta. `?` lists the keys, `j` and `k` walk over
// [data-item], from [data-current] where none has the focus, ctrl+enter sends the field's
// form[data-ctrl-enter], outside of fields the only one there is.
import { isTextField } from "./text-fields.js";

const NAMES = { esc: "escape", "↵": "enter", space: " " };
const SHOWN = { escape: "esc", enter: "↵", " ": "space", arrowup: "↑", arrowdown: "↓" };
const KEYED = "[data-key], [aria-keyshortcuts]";

function keysOf(element) {
  const written = element.dataset.key ?? element.getAttribute("aria-keyshortcuts") ?? "";
  return written
    .toLowerCase()
    .split(/\s+/)
    .filter((key) => key && !key.includes("+"))
    .map((key) => NAMES[key] ?? key);
}

function isReachable(element) {
  return element.checkVisibility() && !element.closest("[inert]"); // what a closed list holds is not seen
}

// A key of the page goes before the same key of the bar: `/` on a page with a search of its own.
function isOfBar(element) {
  return element.closest(".bar") !== null;
}

function scope() {
  return document.querySelector("dialog[open]") ?? document;
}

function find(key) {
  const meant = [...scope().querySelectorAll(KEYED)].filter((element) => isReachable(element) && keysOf(element).includes(key));
  return meant.find((element) => !isOfBar(element)) ?? meant[0];
}

function press(element) {
  if (element.matches(":disabled, [aria-disabled='true']")) {
    element.focus();
    return;
  }
  if (isTextField(element)) {
    element.focus();
    element.select?.();
    return;
  }
  const cap = element.matches(".key") ? element : element.querySelector(".key");
  if (cap) {
    cap.classList.add("down");
    setTimeout(() => cap.classList.remove("down"), 90);
  }
  element.click();
}

function walk(step) {
  const items = [...scope().querySelectorAll("[data-item]")].filter(isReachable);
  if (items.length === 0) return false;
  const focused = items.findIndex((item) => item === document.activeElement || item.contains(document.activeElement));
  const at = focused === -1 ? items.findIndex((item) => "current" in item.dataset) : focused;
  const next = items[Math.min(items.length - 1, Math.max(0, at + step))];
  const target = next.matches("a, button, input, [tabindex]") ? next : (next.querySelector("a, button, input") ?? next);
  target.focus();
  return true;
}

function defaultOf(form) {
  return form.querySelector("[data-default], .primary:not([aria-disabled='true'])");
}

function onlyFormToSend() {
  const forms = [...scope().querySelectorAll("form[data-ctrl-enter]")].filter(isReachable);
  return forms.length === 1 ? forms[0] : null;
}

function labelOf(element) {
  if (element.dataset.keyLabel) return element.dataset.keyLabel;
  const named = element.getAttribute("aria-label") ?? element.querySelector("b")?.textContent;
  if (named) return named.trim();
  if (element.labels?.length) return element.labels[0].firstChild.textContent.trim();
  const copy = element.cloneNode(true);
  copy.querySelectorAll(".key, small, .combo").forEach((part) => part.remove());
  return copy.textContent.trim();
}

function showKeys() {
  const dialog = document.getElementById("keys");
  const list = dialog.querySelector("[data-page-keys]");
  const rows = [...document.querySelectorAll(KEYED)]
    .filter((element) => isReachable(element) && !dialog.contains(element))
    .filter((element) => keysOf(element).every((key) => find(key) === element || !isOfBar(element)));
  list.replaceChildren(
    ...rows.flatMap((element) => {
      const term = document.createElement("dt");
      for (const key of keysOf(element)) {
        const cap = document.createElement("kbd");
        cap.className = "key";
        cap.textContent = SHOWN[key] ?? key;
        term.append(cap);
      }
      const meaning = document.createElement("dd");
      meaning.textContent = labelOf(element);
      return term.childElementCount ? [term, meaning] : [];
    }),
  );
  const form = onlyFormToSend();
  dialog.querySelector("[data-send]").hidden = form === null;
  dialog.querySelector("[data-send-label]").textContent = form ? labelOf(defaultOf(form) ?? form) : "";
  dialog.querySelector("[data-walk]").hidden = document.querySelector("[data-item]") === null;
  dialog.showModal();
}

function leave(field, event) {
  // Browsers clear a search field here; its results would then be shown without the words.
  if (field.type === "search" && scope() === document) event.preventDefault();
  field.blur();
}

function onKeyDown(event) {
  if (event.defaultPrevented || event.isComposing) return;
  const target = event.target;
  if (event.key === "Enter" && event.ctrlKey) {
    const form = isTextField(target) ? target.form : onlyFormToSend();
    if (form?.matches("[data-ctrl-enter]")) {
      event.preventDefault();
      form.requestSubmit(defaultOf(form) ?? undefined);
    }
    return;
  }
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (isTextField(target)) {
    if (event.key === "Escape") leave(target, event);
    return;
  }
  const key = event.key.toLowerCase();
  if (event.repeat && key !== "j" && key !== "k") {
    find(key)?.dispatchEvent(new Event("key-held", { bubbles: true }));
    return;
  }
  if (key === "escape" && document.querySelector("dialog[open], details.menu[open]")) return;
  if ((key === "enter" || key === " ") && target.closest?.("a, button, summary")) return;
  if (key === "?" && scope() === document) {
    event.preventDefault();
    showKeys();
    return;
  }
  const element = find(key);
  if (element) {
    event.preventDefault();
    press(element);
  } else if ((key === "j" && walk(1)) || (key === "k" && walk(-1))) {
    event.preventDefault();
  }
}

document.addEventListener("keydown", onKeyDown);
document.addEventListener("click", (event) => {
  if (event.target.closest("[data-shows-keys]")) showKeys();
  const refused = event.target.closest("a[aria-disabled='true'], button[aria-disabled='true']");
  if (refused) {
    event.preventDefault();
    event.stopImmediatePropagation();
  }
}, true);
