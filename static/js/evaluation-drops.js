// Drops are explained by key: a, f and w belong to the row that has the focus, at first to the first open one. A decision
// that needs words asks for them where they are written, and enter sends it. The next open row has the focus at once;
// answers come in their order, and one that is refused gives its row back as it was.

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
  (next?.querySelector("a") ?? document.querySelector("[data-then]") ?? row.querySelector("a")).focus();
}

function show(row, pressed) {
  for (const button of row.querySelectorAll("[data-drop-key]")) button.setAttribute("aria-pressed", button.value === pressed);
}

// Kept in the form before htmx reads it: what waits for the answer before it is sent when no button is pressed any more.
function keep(form, decision) {
  const kept = form.querySelector('input[name="decision"]') ?? form.appendChild(document.createElement("input"));
  Object.assign(kept, { type: "hidden", name: "decision", value: decision });
}

function onSubmit(event) {
  const row = event.target.closest("[data-item]");
  if (!event.target.hasAttribute("hx-post")) return;
  row.dataset.was = row.querySelector('[aria-pressed="true"]')?.value ?? "";
  keep(event.target, event.submitter.value);
  show(row, event.submitter.value);
  showPrompt(row, "");
  focusNext(row);
}

function refused(row, said) {
  show(row, row.dataset.was);
  row.querySelector("[data-why]").focus();
  if (said) document.getElementById("drops-said").replaceChildren(said);
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
  // A refusal stands below the table; the row stays as it is.
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (event.detail.xhr.status < 400 || !table.contains(event.target)) return;
    event.detail.target = document.getElementById("drops-said");
    event.detail.swapOverride = "innerHTML";
    event.detail.shouldSwap = true;
    refused(event.target.closest("[data-item]"));
  });
  table.addEventListener("htmx:sendError", (event) => {
    event.stopPropagation(); // said here, not in a toast
    const said = document.createElement("p");
    said.className = "notice bad";
    said.setAttribute("role", "alert");
    said.textContent = UNSENT;
    refused(event.target.closest("[data-item]"), said);
  });
}
