// The search box of the bar: arrows walk from the field over what was found, Escape goes back to the field.
const form = document.querySelector("[data-finder]");

function step(event) {
  const field = form.querySelector("input");
  const links = [...form.querySelectorAll("#finder-list a")];
  const at = links.indexOf(document.activeElement);
  if (event.key === "ArrowDown" && links.length) {
    event.preventDefault();
    links[Math.min(at + 1, links.length - 1)].focus();
  } else if (event.key === "ArrowUp" && at >= 0) {
    event.preventDefault();
    (links[at - 1] ?? field).focus();
  } else if (event.key === "Escape" && at >= 0) {
    event.preventDefault();
    field.focus();
  }
}

form?.addEventListener("keydown", step);
