// Every page loads this one: keys, dialogs, toasts, and buttons that say they are busy.
import "./keys.js";
import "./dialogs.js";
import "./toast.js";

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
