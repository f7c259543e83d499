// Deciding a list: space and a select, and what was written for all stays while one goes from pair to pair.

const form = document.querySelector("[data-decide]");
const send = document.querySelector("[data-decide-now]");
const all = document.querySelector("[data-all]");
const rows = [...document.querySelectorAll("input[name=pairs]")];
const place = document.querySelector("[data-selected]");
const stored = `decide-${form.dataset.decide}`;

function read() {
  try {
    return JSON.parse(sessionStorage.getItem(stored)) ?? {};
  } catch {
    return {};
  }
}

function keep() {
  const values = { reason: form.elements.reason.value, cause: form.elements.error_type.value };
  sessionStorage.setItem(stored, JSON.stringify({ ...values, not: rows.filter((row) => !row.checked).map((row) => row.value) }));
}

function show() {
  const number = rows.filter((row) => row.checked).length;
  if (place) place.textContent = `${number} selected`;
  const words = number ? `Decide ${number} ${number === 1 ? "pair" : "pairs"} ` : rows.length ? "None selected " : "Choose a grade first ";
  send.firstChild.textContent = words;
  send.setAttribute("aria-disabled", String(number === 0));
}

const before = read();
form.elements.reason.value ||= before.reason ?? "";
for (const radio of form.elements.error_type) radio.checked ||= !form.elements.error_type.value && radio.value === before.cause;
for (const row of rows) row.checked = !(before.not ?? []).includes(row.value);

for (const element of [form, ...rows]) element.addEventListener("change", () => {
  keep();
  show();
});
form.addEventListener("input", keep);
form.addEventListener("submit", (event) => {
  if (send.getAttribute("aria-disabled") === "true") event.preventDefault();
  else if (form.elements.reason.value.trim() && form.elements.error_type.value) sessionStorage.removeItem(stored);
});
all?.addEventListener("click", () => {
  const isAll = rows.every((row) => row.checked);
  for (const row of rows) row.checked = !isAll;
  keep();
  show();
});
document.addEventListener("keydown", (event) => {
  const current = document.querySelector(".decide-rows [aria-current] input");
  if (event.key !== " " || !current || event.target !== document.body) return;
  event.preventDefault();
  current.click();
});
if (matchMedia("(width < 64rem)").matches) document.querySelector(".decide-rows").open = false;
show();
