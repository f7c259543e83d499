// A gate asks for no more than its kind uses: the other fields are hidden and not sent. Without this script all are shown.

const form = document.querySelector("[data-gate]");

function show(name, isUsed) {
  const control = form.elements[name];
  control.closest(".field").hidden = !isUsed;
  control.disabled = !isUsed;
}

function tell() {
  const isBeside = form.elements.kind.value === "no_worse_than";
  const isCost = form.elements.figure.value.trim() === "cost";
  show("baseline", isBeside);
  show("on", !isBeside && !isCost);
  show("slice", !isCost);
}

if (form) {
  form.addEventListener("input", tell);
  window.addEventListener("pageshow", tell);
  tell();
}
