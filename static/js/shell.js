// Loaded by every page: keys, dialogs, toasts, and buttons that show that they are busy.
import "./keys.js";
import "./dialogs.js";
import "./toast.js";
import "./finder.js";

// On narrow screens the pages of a group scroll sideways: scroll to the current one.
const here = document.querySelector(".subnav [aria-current]");
if (here) {
  const menu = here.closest(".subnav");
  const [inner, outer] = [here.getBoundingClientRect(), menu.getBoundingClientRect()];
  menu.scrollLeft += inner.left - outer.left - (outer.width - inner.width) / 2;
}

document.addEventListener("submit", (event) => {
  const button = event.submitter;
  if (!button?.dataset.busy || event.defaultPrevented) return;
  if (button.getAttribute("aria-busy") === "true") {
    event.preventDefault();
    return;
  }
  button.setAttribute("aria-busy", "true");
  button.textContent = button.dataset.busy;
});
