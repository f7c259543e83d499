// Only the fields that the kind of gate uses are shown and sent. Without this script all are shown.

const form = document.querySelector("[data-gate]");

function setUsed(name, isUsed) {
  const control = form.elements[name];
  control.closest(".field").hidden = !isUsed;
  control.disabled = !isUsed;
}

function showUsedFields() {
  const isComparison = form.elements.kind.value === "no_worse_than";
  const isCost = form.elements.figure.value.trim() === "cost";
  setUsed("baseline", isComparison);
  setUsed("on", !isComparison && !isCost);
  setUsed("slice", !isCost);
}

if (form) {
  form.addEventListener("input", showUsedFields);
  window.addEventListener("pageshow", showUsedFields);
  showUsedFields();
}
