// The counts on the screen: sent, unsent, left, preloaded; grades that could not be sent, and refused ones.

const at = (name) => document.querySelector(`[data-${name}]`);
const many = (count) => (count === 1 ? "One grade" : `${count} grades`);
const pairs = (count) => (count === 1 ? "1 pair" : `${count} pairs`);

// `share` is the number of pairs planned for this person. After it they grade pairs of others' shares.
export function showCounts({ done, share, waiting, unsent, isAgain, ahead }) {
  const place = done + waiting + (isAgain ? 0 : 1);
  const isPast = place > share;
  const left = isPast ? `your share of ${share} is done` : `${share - done - waiting} to go`;
  at("place").textContent = place;
  at("of").textContent = isPast ? "past your" : "of";
  at("total").textContent = share;
  at("own").textContent = [`${done} sent`, ...(waiting ? [`${waiting} unsent`] : []), left].join(", ");
  at("ahead").textContent = pairs(ahead);
  at("unsent").classList.toggle("all-sent", unsent === 0);
  at("unsent-words").textContent = unsent ? `${unsent} unsent` : "all sent";
  at("progress-strip-title").textContent = `${done} of ${share} pairs sent, ${waiting} waiting to be sent, ${left}`;
  showTicks(done, waiting, Math.max(share, done + waiting));
}

function showTicks(done, waiting, all) {
  const ticks = [...at("progress-strip").querySelectorAll("rect")];
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

export function showFailing({ count, isFailing, needsSignIn, retry, words }) {
  at("failing").hidden = !(isFailing && count);
  const it = count === 1 ? "It is" : "They are";
  at("failing-words").textContent = needsSignIn
    ? `${many(count)} could not be sent: you are signed out. ${it} saved here; sign in again in another tab.`
    : `${many(count)} could not be sent. ${it} saved here and sent again every ${seconds(retry)}.${words && ` ${words}`}`;
}

function seconds(milliseconds) {
  const count = Math.round(milliseconds / 1000);
  return count === 1 ? "1 second" : `${count} seconds`;
}

// The server's answer is final; its reason for each rejected grade is shown until it has been read.
export function showRefused(box, refused) {
  box.hidden = refused.length === 0;
  box.querySelector("[data-refused-list]").replaceChildren(
    ...refused.map(({ query, grade, reason }) => {
      const given = grade === null ? "“can’t judge”" : `grade ${grade}`;
      return Object.assign(document.createElement("li"), { textContent: `${query}, ${given} was not accepted: ${reason}` });
    }),
  );
}
