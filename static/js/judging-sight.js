// Whether a grade can be about the pair in sight: the press that gave it began when the pair had been on screen for a
// moment, by a key that is not held, with no pointer down elsewhere. Until then the form has aria-busy.

const MOMENT = 250;

export class Sight {
  #form;
  #since = Infinity;
  #timer = null;
  #began = null;
  #isHeld = false;
  #down = new Set();

  constructor(form) {
    this.#form = form;
    const letGo = ({ pointerId }) => this.#down.delete(pointerId);
    const on = (name, listener) => addEventListener(name, listener, { capture: true, passive: true });
    on("keydown", ({ key, repeat, timeStamp }) => {
      this.#isHeld = repeat && key === "Enter"; // on a button that has the focus; all other keys are those of keys.js
      if (!repeat) this.#began = timeStamp;
    });
    on("keyup", () => {
      this.#isHeld = false;
      this.#began = null;
    });
    on("pointerdown", ({ pointerId, button, timeStamp }) => {
      this.#began = timeStamp;
      if (button === 0) this.#down.add(pointerId);
    });
    on("pointerup", letGo);
    on("pointercancel", letGo);
    // A release outside of the page, or over a menu of the browser, is not heard.
    on("pointermove", (event) => event.buttons === 0 && letGo(event));
    addEventListener("blur", () => this.#down.clear());
  }

  // Another pair is in the page. A page that is not in sight paints nothing, so its moment does not begin.
  restart() {
    clearTimeout(this.#timer);
    this.#since = Infinity;
    this.#form.setAttribute("aria-busy", "true");
    const painted = () => {
      this.#since = performance.now() + MOMENT;
      this.#timer = setTimeout(() => this.#form.removeAttribute("aria-busy"), MOMENT);
    };
    requestAnimationFrame(() => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(painted);
    });
  }

  // Why the press that leads to this event does not count; "" if it does. Assistive technology may click without any press.
  refusal({ timeStamp }) {
    const began = this.#began ?? timeStamp;
    this.#began = null;
    if (this.#isHeld) return "a key that is held down counts once";
    if (this.#down.size > 0) return "a finger or the mouse button was still down";
    return began < this.#since ? "the pair had only just appeared" : "";
  }
}
