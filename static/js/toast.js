// A toast lasts 8 seconds, longer while the pointer or the focus is on it. Only for a result with Undo, and for an
// action that failed and left the page unchanged.

const LIFE = 8000;

function startTimer(toast) {
  let timer;
  const start = () => {
    timer = setTimeout(() => toast.remove(), LIFE);
  };
  const stay = () => clearTimeout(timer);
  toast.addEventListener("pointerenter", stay);
  toast.addEventListener("pointerleave", start);
  toast.addEventListener("focusin", stay);
  toast.addEventListener("focusout", start);
  start();
}

document.querySelectorAll(".toast").forEach(startTimer);
document.addEventListener("htmx:load", (event) => {
  if (event.target.matches?.(".toast")) startTimer(event.target);
});

function showToast(words) {
  const toast = Object.assign(document.createElement("div"), { className: "toast", textContent: words });
  toast.setAttribute("role", "alert");
  document.body.append(toast);
  startTimer(toast);
}

document.addEventListener("htmx:responseError", ({ detail: { xhr } }) => {
  if (xhr.status === 503 && xhr.getResponseHeader("Content-Type")?.startsWith("text/plain")) showToast(xhr.responseText);
});
// An answer that refuses has not the part that was asked for: its sentence is shown, and the page stays.
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  const part = detail.requestConfig.elt.closest("[hx-select]")?.getAttribute("hx-select");
  if (detail.xhr.status < 400 || !part) return;
  const answer = new DOMParser().parseFromString(detail.xhr.responseText, "text/html");
  if (answer.querySelector(part)) return;
  detail.shouldSwap = false;
  showToast((answer.querySelector("main p") ?? answer.body).textContent.trim());
});
document.addEventListener("htmx:sendError", () => showToast("The server does not answer, so this was not done. Try again in a moment."));
