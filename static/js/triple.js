// `v` shows the wordings side by side; actions that end a triple open a dialog; the form of a chosen action gets the focus.
import { isTextField } from "./text-fields.js";

const toggle = document.querySelector("[data-side-by-side]");
toggle?.addEventListener("click", () => {
  const isSide = toggle.getAttribute("aria-pressed") !== "true";
  toggle.setAttribute("aria-pressed", String(isSide));
  for (const part of document.querySelectorAll("[data-pair]")) part.hidden = !isSide;
  for (const part of document.querySelectorAll("[data-merged]")) part.hidden = isSide;
});

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-dialog]");
  const dialog = link && document.getElementById(link.dataset.dialog);
  if (!dialog || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  dialog.showModal();
  dialog.addEventListener("close", () => link.focus(), { once: true });
});

const doing = document.querySelector("[data-doing]");
const first = [...(doing?.elements ?? [])].find((field) => field.matches("input:not([type=hidden]), textarea, select"));
if (first) (isTextField(first) ? first : (doing.querySelector(":checked") ?? first)).focus();
