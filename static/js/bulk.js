// Selecting rows of the board: one tick for all of the page, space for the row with the focus, the number, and which
// actions fit. A preview is of what was selected: it goes when that changes. All else is a form that works without.

const form = document.querySelector("[data-bulk]");

function start() {
  const rows = [...form.querySelectorAll("tbody input[name=triple]")];
  const all = form.querySelector("[data-all-rows]");
  const which = form.querySelector("input[name=which]");
  const bar = form.querySelector("[data-bar]");
  const shownWhich = which.value;
  const shown = rows.filter((row) => row.checked);

  function selected() {
    return rows.filter((row) => row.checked);
  }

  function isAsShown() {
    return which.value === shownWhich && rows.every((row) => row.checked === shown.includes(row));
  }

  function show() {
    const number = selected().length;
    const isAll = which.value === "all";
    all.checked = number > 0 && number === rows.length;
    all.indeterminate = number > 0 && number < rows.length;
    bar.hidden = number === 0;
    if (isAll) return;
    form.querySelector("[data-selected]").textContent = `${number} selected`;
    form.querySelector("[data-number]").textContent = number ? `${number} selected.` : "";
    form.querySelector("[data-of-page]")?.remove();
    form.querySelector("[data-pick]").classList.toggle("is-chosen", number > 0);
    const kinds = new Set(selected().map((row) => row.closest("tr").dataset.kind));
    for (const button of bar.querySelectorAll("[data-fits]")) {
      const fits = button.dataset.fits.split(" ").filter(Boolean);
      const isOff = fits.length > 0 && !fits.some((kind) => kinds.has(kind));
      button.setAttribute("aria-disabled", String(isOff));
      const why = button.querySelector("[data-off]");
      if (why) why.hidden = !isOff;
    }
  }

  function changed() {
    which.value = "page";
    for (const part of bar.querySelectorAll(".bulk-does, .bulk-go")) part.hidden = !isAsShown();
    form.querySelector("[data-page-only]").hidden = false;
    show();
  }

  all.hidden = false;
  const hint = form.querySelector("[data-space]");
  if (hint) hint.hidden = false;
  all.addEventListener("change", () => {
    for (const row of rows) row.checked = all.checked;
    changed();
  });
  form.addEventListener("change", (event) => {
    if (rows.includes(event.target)) changed();
    else if (event.target.closest(".bulk-fields") && event.target.matches("select, input[type=checkbox]")) {
      form.requestSubmit(bar.querySelector("[data-again]"));
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== " " || event.ctrlKey || event.altKey || event.metaKey) return;
    const row = event.target.closest?.("[data-bulk] tbody tr");
    if (!row || !event.target.matches("a[data-item]")) return;
    event.preventDefault();
    const tick = row.querySelector("input[name=triple]");
    tick.checked = !tick.checked;
    changed();
  });
  addEventListener("pageshow", show); // a browser restores ticks after going back
  bar.querySelector("[data-do]")?.scrollIntoView({ block: "nearest" });
}

if (form) start();
