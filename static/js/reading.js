// The preview of documents. A changed option is read again, which swaps the button that imports: a click on it waits
// for the reading, and counts if the button still says what was clicked.

const reading = document.getElementById("reading");
const finish = () => document.querySelector("#finish button");
let pressed = null;

document.addEventListener("pointerdown", (event) => {
  pressed = event.target.closest("#finish button");
});

// A button that was swapped between press and release gets no click of its own.
document.addEventListener("pointerup", (event) => {
  const now = event.target.closest("#finish button");
  if (pressed && now && !pressed.isConnected && pressed.textContent === now.textContent) now.click();
  pressed = null;
});

document.addEventListener(
  "submit",
  (event) => {
    if (!event.target.closest("#finish") || !reading.classList.contains("htmx-request")) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    const words = finish().textContent;
    reading.addEventListener(
      "htmx:afterRequest", // the button has been swapped by then
      () => {
        if (finish().textContent === words) finish().form.requestSubmit(finish());
      },
      { once: true },
    );
  },
  true,
);
