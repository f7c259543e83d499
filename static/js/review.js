// Confirm or flag: the two big keys set the form's choice; a reason or a kind means a flag.
import { isTextField } from "./text-fields.js";

const form = document.querySelector("[data-review]");
const send = document.querySelector("[data-send]");
const choices = [...document.querySelectorAll("[data-choose]")];
const words = document.querySelector("[data-flag-words]");
const isChange = send.firstChild.textContent.trim() === "Change verdict";
const chosen = () => form.elements.namedItem("choice").value;
const ticked = (selector) => [...form.querySelectorAll(`${selector}:checked`)];
const labelOf = (input) => input.parentElement.querySelector("b").textContent;

document.documentElement.classList.add("with-script");

// The answer to a verdict is the next screen. It goes by its own address, so that reloading it sends nothing again.
if (form.dataset.address) history.replaceState(history.state, "", form.dataset.address);
const straight = form.querySelector("[data-straight]"); // none in a calibration
if (straight) straight.disabled = false;

function choose(choice) {
  for (const radio of form.elements.namedItem("choice")) radio.checked = radio.value === choice;
  if (choice === "confirm") {
    for (const input of ticked("[data-reason], [data-category]")) input.checked = false;
  }
  show();
}

// One level back for each escape: out of the field (keys.js), the flag undone, then the page. What was written stays.
const inputs = [...form.querySelectorAll("input[type=checkbox], input[type=radio]")];
const isRefused = document.querySelector(".desk-aside > .notice") !== null;
const stored = new Set(isRefused ? [] : inputs.filter((input) => input.defaultChecked));
const isFlagChanged = () => chosen() === "flag" && inputs.some((input) => input.checked !== stored.has(input));

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.repeat || isTextField(event.target) || !isFlagChanged()) return;
  if (document.querySelector("dialog[open], details.menu[open]")) return;
  event.preventDefault();
  for (const input of inputs) input.checked = stored.has(input);
  show();
}, true);

function show() {
  const choice = chosen();
  for (const button of choices) button.setAttribute("aria-pressed", String(button.dataset.choose === choice));
  const named = [...ticked("[data-reason]").map(labelOf), ...ticked("[data-category]").map(labelOf)];
  const label = named.join(", ").replaceAll("Answer ", "").toLowerCase();
  words.textContent = label ? label[0].toUpperCase() + label.slice(1) : "Say what is wrong";
  const verb = { confirm: "Send confirmation", flag: "Send flag" }[choice] ?? "Send";
  send.firstChild.textContent = `${isChange ? "Change to this" : verb} `;
  send.setAttribute("aria-disabled", String(!choice));
}

for (const button of choices) {
  button.addEventListener("click", () => {
    choose(button.dataset.choose);
    if (button.dataset.choose === "flag" && ticked("[data-reason]").length === 0) {
      form.querySelector("[data-reason]").closest("fieldset").scrollIntoView({ block: "nearest" });
    }
  });
}
form.addEventListener("change", (event) => {
  if (event.target.matches("[data-reason], [data-category]") && event.target.checked) choose("flag");
  show();
});
// In a layout with one column the error message is far below the question.
document.querySelector(".desk-aside > .notice")?.scrollIntoView({ block: "nearest" });

let isSent = false;
form.addEventListener("submit", (event) => {
  if (isSent || !chosen()) event.preventDefault();
  else isSent = true;
});
const guide = document.querySelector("[data-guide]"); // none in a calibration
if (guide && matchMedia("(width < 64rem)").matches) guide.open = false;
const note = form.elements.namedItem("note");
const storedNote = isRefused ? "" : note.defaultValue;
addEventListener("beforeunload", (event) => {
  if (!isSent && note.value.trim() !== storedNote.trim()) event.preventDefault();
});
addEventListener("pageshow", () => {
  isSent = false;
});
show();
