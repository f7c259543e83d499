// Counts the examples of a grade while they are written, shows the beginning of each beside its number, and adds an empty
// place when the last one is used.

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
    place.textContent = `${count} written, ${FEW} to ${MANY} are usual`;
  }
}

function showBeginning(row) {
  const text = textOf(row);
  const shown = text.length > SHOWN ? `${text.slice(0, SHOWN - 1)}…` : text;
  const place = row.querySelector("[data-beginning]");
  place.textContent = shown || "Write an example";
  place.classList.toggle("faint", !shown);
}

function addPlace(group) {
  const more = group.querySelector("[data-more]");
  const last = group.querySelector(".examples > .example-row:nth-last-child(1 of .example-row)");
  if (!more || !textOf(last)) return;
  more.before(more.querySelector(".example-row"));
  if (!more.querySelector(".example-row")) more.remove();
}

document.querySelectorAll("[data-examples]").forEach((group) => {
  group.addEventListener("input", (event) => {
    const row = event.target.closest(".example-row");
    if (!row) return;
    showBeginning(row);
    showCount(group);
    addPlace(group);
  });
});
