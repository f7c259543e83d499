// Active and away time on one pair. Away: the page is hidden or out of focus, or nothing was touched for a minute.

const IDLE = 60000;
const TOUCHES = ["keydown", "pointermove", "pointerdown", "wheel", "scroll", "touchstart"];

export class Clock {
  #active = 0;
  #away = 0;
  #since = performance.now();
  #touched = performance.now();
  #isHere = !document.hidden;

  constructor() {
    const touch = () => {
      this.#count();
      this.#touched = performance.now();
    };
    for (const name of TOUCHES) addEventListener(name, touch, { passive: true, capture: true });
    const look = () => {
      this.#count();
      this.#isHere = !document.hidden && document.hasFocus();
      if (this.#isHere) this.#touched = performance.now();
    };
    document.addEventListener("visibilitychange", look);
    addEventListener("blur", look);
    addEventListener("focus", look);
  }

  restart() {
    this.#active = 0;
    this.#away = 0;
    this.#since = performance.now();
    this.#touched = this.#since;
  }

  read() {
    this.#count();
    return { active_ms: Math.round(this.#active), away_ms: Math.round(this.#away) };
  }

  // Whether anything was touched within so many milliseconds.
  isInUse(milliseconds) {
    return this.#isHere && performance.now() - this.#touched < milliseconds;
  }

  #count() {
    const now = performance.now();
    const end = this.#isHere ? Math.min(now, Math.max(this.#since, this.#touched + IDLE)) : this.#since;
    this.#active += end - this.#since;
    this.#away += now - end;
    this.#since = now;
  }
}

export function showPace(root, milliseconds) {
  const seconds = Math.floor(milliseconds / 1000);
  const shown = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  const place = 1 + Math.min(94, (seconds / 240) * 96);
  root.querySelector("[data-clock]").textContent = shown;
  root.querySelector(".needle").setAttribute("d", `M${place.toFixed(1)} 1v10`);
  root.querySelector("title").textContent = `${shown} on this pair; the usual time is 2 to 3 minutes`;
}
