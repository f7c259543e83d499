// The preview of documents. A changed option is read again, which swaps the button that imports: a click on it waits
// for the reading, and counts if the button still says what was clicked.

const reading = document.getElementById("reading");
let changes = 0;
let sent = 0;
const isBehind = () => sent !== changes;

// One request follows the other: two at once could be stored in either order. An answer to choices that have changed
// meanwhile is not drawn, since it would put the earlier ones back; the request that waited for it sends the latest.
reading.closest(".desk").addEventListener("change", () => (changes += 1), true);
reading.addEventListener("htmx:beforeRequest", () => (sent = changes));
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.requestConfig.elt === reading && isBehind()) detail.shouldSwap = false;
});

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
    // The button has been swapped by then.
    const afterRequest = () => {
      if (isBehind()) return;
      reading.removeEventListener("htmx:afterRequest", afterRequest);
      if (finish().textContent === words) finish().form.requestSubmit(finish());
    };
    reading.addEventListener("htmx:afterRequest", afterRequest);
  },
  true,
);
