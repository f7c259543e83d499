// Above a list with ticks: one tick for all rows of the page, and the number of those that are ticked.

document.querySelectorAll("[data-select-all]").forEach((label) => {
  const form = label.closest("form");
  const all = label.querySelector("input");
  const rows = [...form.querySelectorAll(`input[type=checkbox][name="${label.dataset.selectAll}"]`)];
  const place = form.querySelector("[data-selected]");

  function showNumber() {
    const number = rows.filter((row) => row.checked).length;
    all.checked = number > 0 && number === rows.length;
    all.indeterminate = number > 0 && number < rows.length;
    place.textContent = number ? `${number} selected` : "";
  }

  label.hidden = rows.length === 0;
  all.addEventListener("change", () => {
    for (const row of rows) row.checked = all.checked;
    showNumber();
  });
  form.addEventListener("change", (event) => {
    if (rows.includes(event.target)) showNumber();
  });
  addEventListener("pageshow", showNumber); // a browser restores ticks after going back
});
