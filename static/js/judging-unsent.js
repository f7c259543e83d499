// Grades that a closed tab did not send are also sent from the pages around the judging screen.
import { Outbox, roundsKept } from "./judging-outbox.js";
import { showRefused } from "./judging-counts.js";

const place = document.querySelector("[data-unsent-elsewhere]");
const { user, csrf } = place.dataset;
const boxes = roundsKept(user).map(([round, url]) => new Outbox({ user, round, url, csrf }));

function show() {
  const count = boxes.reduce((sum, box) => sum + box.count, 0);
  const line = place.querySelector("[data-kept]");
  line.hidden = count === 0;
  line.querySelector("b").textContent = count === 1 ? "One grade is" : `${count} grades are`;
  showRefused(place.querySelector("[data-refused]"), boxes.flatMap((box) => box.refused));
}

place.querySelector("[data-seen]").addEventListener("click", () => boxes.forEach((box) => box.forgetRefused()));
for (const box of boxes) {
  box.onChange(show);
  box.flush();
}
show();
