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

export function toast(text, { undo, label = "Undo" } = {}) {
  document.querySelector(".toast")?.remove();
  const box = document.createElement("div");
  box.className = "toast";
  box.setAttribute("role", "status");
  box.append(text);
  if (undo) {
    const button = document.createElement("button");
    button.className = "button little";
    button.type = "button";
    button.textContent = label;
    button.addEventListener("click", () => {
      box.remove();
      undo();
    });
    box.append(button);
  }
  document.body.append(box);
  live(box);
  return box;
}

document.querySelectorAll(".toast").forEach(live);
document.addEventListener("htmx:load", (event) => {
  if (event.target.matches?.(".toast")) live(event.target);
});
