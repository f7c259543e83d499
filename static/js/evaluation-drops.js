// Drops are explained by key: a, f and w act on the row with the focus, at first the first open one. A decision that
// needs an explanation prompts for it in its field, and enter sends it. The next open row gets the focus at once;
// answers arrive in order, and a refused one restores its row.

const table = document.querySelector("[data-drops]");
const UNSENT = "The decision could not be sent. Nothing is lost: press again.";
let meant = null;

const rows = () => [...table.querySelectorAll("[data-item]")];
const isOpen = (row) => !row.querySelector('[aria-pressed="true"]');

function giveKeys(row) {
  for (const button of table.querySelectorAll("[data-drop-key]")) {
    if (row?.contains(button)) button.dataset.key = button.dataset.dropKey;
    else delete button.dataset.key;
  }
}

function showPrompt(row, words) {
  row.querySelector("[data-asked]").textContent = words;
}

function focusNext(row) {
  const all = rows();
  const at = all.indexOf(row);
  const next = [...all.slice(at + 1), ...all.slice(0, at)].find(isOpen);
  giveKeys(next ?? row);
  const here = document.activeElement;
  if (here !== document.body && !row.contains(here)) return;
  (next?.querySelector(".id") ?? document.querySelector("[data-then]") ?? row.querySelector(".id")).focus();
}

function show(row, pressed) {
  for (const button of row.querySelectorAll("[data-drop-key]")) button.setAttribute("aria-pressed", button.value === pressed);
}

// Stored in the form before htmx reads it: a queued request is sent later, when its button is no longer the submitter.
function storeDecision(form, decision) {
  const field = form.querySelector('input[name="decision"]') ?? form.appendChild(document.createElement("input"));
  Object.assign(field, { type: "hidden", name: "decision", value: decision });
}

function onSubmit(event) {
  const row = event.target.closest("[data-item]");
  if (!event.target.hasAttribute("hx-post")) return;
  row.dataset.was = row.querySelector('[aria-pressed="true"]')?.value ?? "";
  storeDecision(event.target, event.submitter.value);
  show(row, event.submitter.value);
  showPrompt(row, "");
  focusNext(row);
}

function refused(row, message) {
  show(row, row.dataset.was);
  row.querySelector("[data-why]").focus();
  if (message) document.getElementById("drops-said").replaceChildren(message);
}

function onEnter(event) {
  if (event.key !== "Enter" || event.ctrlKey || !event.target.matches("[data-why]")) return;
  event.preventDefault();
  const row = event.target.closest("[data-item]");
  const button = row.contains(meant) ? meant : row.querySelector('[aria-pressed="true"]');
  (button ?? row.querySelector("[data-drop-key]"))[button ? "click" : "focus"]();
}

if (table) {
  giveKeys(rows().find(isOpen) ?? rows()[0]);
  table.addEventListener("focusin", (event) => giveKeys(event.target.closest("[data-item]")));
  table.addEventListener("click", (event) => {
    meant = event.target.closest("[data-drop-key]") ?? meant;
  }, true);
  table.addEventListener("invalid", (event) => {
    event.preventDefault();
    showPrompt(event.target.closest("[data-item]"), meant?.dataset.asks ?? "");
    event.target.focus();
  }, true);
  table.addEventListener("keydown", onEnter);
  table.addEventListener("submit", onSubmit, true);
  document.addEventListener("htmx:load", (event) => {
    if (event.target.matches?.("[data-item]")) focusNext(event.target);
  });
  // An error message is shown below the table; the row does not change.
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (event.detail.xhr.status < 400 || !table.contains(event.target)) return;
    event.detail.target = document.getElementById("drops-said");
    event.detail.swapOverride = "innerHTML";
    event.detail.shouldSwap = true;
    refused(event.target.closest("[data-item]"));
  });
  table.addEventListener("htmx:sendError", (event) => {
    event.stopPropagation(); // shown here, not in a toast
    const message = document.createElement("p");
    message.className = "notice bad";
    message.setAttribute("role", "alert");
    message.textContent = UNSENT;
    refused(event.target.closest("[data-item]"), message);
  });
}
