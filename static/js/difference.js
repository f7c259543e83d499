// One answer to a difference: a grade is chosen by its key and sent by enter. The button says what it will do.

const form = document.querySelector("[data-difference]");
const send = form.querySelector("[data-send]");
const how = form.querySelector("[data-how]");
const grades = [...form.querySelectorAll("input[name=grade]")];
const cant = [...form.querySelectorAll("[data-cant]")];
const why = document.getElementById("id_reason");
const GUARD_MS = 250; // a key that was meant for the pair before does nothing here
const shown = performance.now();

function chosen() {
  return grades.find((input) => input.checked)?.value;
}

function show() {
  const grade = chosen();
  const isKept = grade === form.dataset.own;
  const words = grade === "x" ? "can’t judge" : grade;
  send.firstChild.textContent = grade === undefined ? "Choose a grade " : isKept ? `Keep ${words} ` : `Change to ${words} `;
  send.setAttribute("aria-disabled", String(grade === undefined));
  how.textContent = grade !== undefined && !isKept && !why.value.trim() ? "Write a word why (n). Agreement counts the first grades." : "Agreement counts the first grades.";
}

if (send) {
  document.addEventListener("keydown", (event) => {
    if (performance.now() - shown < GUARD_MS) event.stopImmediatePropagation();
  }, true);
  for (const input of grades) input.addEventListener("change", () => {
    if (input.value !== "x") for (const reason of cant) reason.checked = false;
    show();
  });
  for (const input of cant) input.addEventListener("change", () => {
    grades.find((grade) => grade.value === "x").checked = true;
    input.closest("details").open = false;
    show();
  });
  why.addEventListener("input", show);
  form.addEventListener("submit", (event) => {
    const isChanged = chosen() !== undefined && chosen() !== form.dataset.own;
    if (chosen() === undefined || (isChanged && !why.value.trim())) {
      event.preventDefault();
      show();
      if (isChanged) why.focus();
      if (isChanged) why.scrollIntoView({ block: "center" }); // on a phone the keys stand before it
    }
  });
  addEventListener("pageshow", show);
  show();
}
