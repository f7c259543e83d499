// In the table of drops the keys a, f and w belong to the row that has the focus; at first to the first open one.

const table = document.querySelector("[data-drops]");

function give(row) {
  for (const button of table.querySelectorAll("[data-drop-key]")) {
    if (row.contains(button)) button.dataset.key = button.dataset.dropKey;
    else delete button.dataset.key;
  }
}

if (table) {
  const rows = [...table.querySelectorAll("[data-item]")];
  const open = rows.find((row) => !row.querySelector('[aria-pressed="true"]'));
  give(open ?? rows[0]);
  table.addEventListener("focusin", (event) => give(event.target.closest("[data-item]")));
}
