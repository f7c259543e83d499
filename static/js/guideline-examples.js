// Counts the examples of a grade while they are written, and shows the beginning of each beside its number.

const FEW = 5;
const MANY = 10;
const SHOWN = 90;

const textOf = (row) => row.querySelector('[data-part="text"]').value.trim();

function showCount(group) {
  const rows = [...group.querySelectorAll(".example-row")];
  const count = rows.filter((row) => textOf(row)).length;
  const place = group.querySelector("[data-count]");
  if (place.dataset.count !== String(count)) {
    place.dataset.count = count;
    place.textContent = `${count} of ${FEW} to ${MANY}`;
  }
}

function showBeginning(row) {
  const text = textOf(row);
  const shown = text.length > SHOWN ? `${text.slice(0, SHOWN - 1)}…` : text;
  const place = row.querySelector("[data-beginning]");
  place.textContent = shown || "empty";
  place.classList.toggle("faint", !shown);
}

document.querySelectorAll("[data-examples]").forEach((group) => {
  group.addEventListener("input", (event) => {
    const row = event.target.closest(".example-row");
    if (!row) return;
    showBeginning(row);
    showCount(group);
  });
});
