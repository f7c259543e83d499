// What the screen says of its own work: sent, unsent, to go, ready; what could not be sent, and what was refused.

const at = (name) => document.querySelector(`[data-${name}]`);
const many = (count) => (count === 1 ? "One grade" : `${count} grades`);
const pairs = (count) => (count === 1 ? "1 pair" : `${count} pairs`);

export function showCounts({ done, all, waiting, unsent, isAgain, ahead }) {
  const toGo = Math.max(0, all - done - waiting);
  at("place").textContent = Math.min(all, done + waiting + (isAgain ? 0 : 1));
  at("total").textContent = all;
  at("own").textContent = [`${done} sent`, ...(waiting ? [`${waiting} unsent`] : []), `${toGo} to go`].join(", ");
  at("ahead").textContent = pairs(ahead);
  at("unsent").classList.toggle("sent", unsent === 0);
  at("unsent-words").textContent = unsent ? `${unsent} unsent` : "sent";
  at("strip-title").textContent = `${done} of ${all} pairs sent, ${waiting} waiting to be sent, ${toGo} to go`;
  showTicks(done, waiting, all);
}

function showTicks(done, waiting, all) {
  const ticks = [...at("strip").querySelectorAll("rect")];
  const scale = all > ticks.length ? ticks.length / all : 1;
  const sent = Math.floor(done * scale);
  const filled = Math.floor((done + waiting) * scale);
  ticks.forEach((tick, place) => {
    const kind = place < sent ? "done" : place < filled ? "unsent" : place === filled ? "now" : "todo";
    if (tick.getAttribute("class") === kind) return;
    tick.setAttribute("class", kind);
    tick.setAttribute("y", { todo: 6, now: 0 }[kind] ?? 3);
    tick.setAttribute("height", { todo: 4, now: 10 }[kind] ?? 7);
  });
}

export function showFailing({ count, isFailing, needsSignIn }) {
  at("failing").hidden = !(isFailing && count);
  const it = count === 1 ? "It is" : "They are";
  at("failing-words").textContent = needsSignIn
    ? `${many(count)} could not be sent: you are signed out. ${it} kept here; sign in again in another tab.`
    : `${many(count)} could not be sent. ${it} kept here and tried again every 5 seconds.`;
}

// The server's answer stands; what it said of each grade it did not take stays until it has been read.
export function showRefused(box, refused) {
  box.hidden = refused.length === 0;
  box.querySelector("[data-refused-list]").replaceChildren(
    ...refused.map(({ query, grade, reason }) => {
      const told = grade === null ? "“can’t judge”" : `grade ${grade}`;
      return Object.assign(document.createElement("li"), { textContent: `${query}, ${told} was not taken: ${reason}` });
    }),
  );
}
