// `v` shows the wordings side by side; the form of a chosen action takes the focus.
import { isTextField } from "./keys.js";

const toggle = document.querySelector("[data-side-by-side]");
toggle?.addEventListener("click", () => {
  const isSide = toggle.getAttribute("aria-pressed") !== "true";
  toggle.setAttribute("aria-pressed", String(isSide));
  for (const part of document.querySelectorAll("[data-pair]")) part.hidden = !isSide;
  for (const part of document.querySelectorAll("[data-merged]")) part.hidden = isSide;
});

const doing = document.querySelector("[data-doing]");
const first = [...(doing?.elements ?? [])].find((field) => field.type !== "hidden");
if (first) {
  const chosen = doing.querySelector(":checked");
  (isTextField(first) ? first : (chosen ?? first)).focus();
}
