// A toast lives 8 seconds, longer while the pointer or the focus is on it. Only for a result with Undo.

const LIFE = 8000;

function live(toast) {
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

document.querySelectorAll(".toast").forEach(live);
document.addEventListener("htmx:load", (event) => {
  if (event.target.matches?.(".toast")) live(event.target);
});
