// The page of a new edition: the keys c and a belong to the change in focus, and the foot follows the choices,
// which are stored as they are made.

const MINUTE = 60_000;
const AGAIN = 5000;
const format = new Intl.NumberFormat("en-US");

function radios(change) {
  return [...change.querySelectorAll("input[type=radio]")];
}

function makeCurrent(change) {
  for (const other of document.querySelectorAll(".edition-change.best")) {
    other.classList.remove("best");
    delete other.dataset.current;
    for (const radio of radios(other)) delete radio.dataset.key;
  }
  change.classList.add("best");
  change.dataset.current = "";
  for (const radio of radios(change)) {
    radio.dataset.key = radio.value === "carry" ? "c" : "a";
    radio.dataset.keyLabel = radio.value === "carry" ? "Carry along" : "Judge again";
  }
}

// The same words as apps/editions/core/workload.py.
function words(milliseconds) {
  const minutes = Math.max(1, Math.floor(milliseconds / MINUTE + 0.5));
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
  return [hours ? `${hours} h` : "", rest ? `${rest} min` : ""].filter(Boolean).join(" ");
}

function timeOf(pairs, work) {
  if (pairs === 0) return "";
  const low = words(pairs * Number(work.dataset.pairLow));
  const high = words(pairs * Number(work.dataset.pairHigh));
  return `, ${low === high ? `about ${low}` : `${low} to ${high}`} for one person`;
}

function gradesJudgedAgain() {
  return [...document.querySelectorAll(".edition-change[data-item]")]
    .filter((change) => change.querySelector("input[value=again]")?.checked)
    .reduce((sum, change) => sum + Number(change.dataset.grades), 0);
}

// Stores each choice as soon as it is made, in order; one that got no answer is sent again until it is stored.
function keeper(form, warning) {
  const waiting = [];
  let isLost = false;
  let isRunning = false;
  const announce = () => {
    form.dataset.holds = waiting.length ? "unsaved" : "saved";
    warning.hidden = !isLost;
  };
  const send = async (fields) => {
    const body = new URLSearchParams(fields);
    const headers = { "X-CSRFToken": form.elements.csrfmiddlewaretoken.value };
    try {
      const answer = await fetch(form.dataset.decide, { method: "POST", body, headers, redirect: "manual", keepalive: true });
      return answer.status === 204;
    } catch {
      return false;
    }
  };
  const flush = async () => {
    if (isRunning) return;
    isRunning = true;
    while (waiting.length && (await send(waiting[0]))) waiting.shift();
    isRunning = false;
    isLost = waiting.length > 0;
    announce();
    if (isLost) setTimeout(flush, AGAIN);
  };
  addEventListener("beforeunload", (event) => {
    if (isLost && !isTaking) event.preventDefault();
  });
  let isTaking = false;
  form.addEventListener("submit", () => {
    isTaking = true; // the form has every choice that the page shows
  });
  return (fields) => {
    waiting.push(fields);
    announce();
    flush();
  };
}

function number(element) {
  return Number(element.textContent.replaceAll(",", ""));
}

const work = document.querySelector("[data-work]");
if (work) {
  const foot = work.parentElement;
  const [along, again, toJudge] = ["along", "again", "toJudge"].map((name) =>
    work.querySelector(`[data-${name === "toJudge" ? "to-judge" : name}]`),
  );
  // What the page does not show, and pairs with a result already, stay as the server counted them.
  const hidden = { along: number(along) + gradesJudgedAgain(), again: number(again) - gradesJudgedAgain() };
  const update = () => {
    const chosen = gradesJudgedAgain();
    const pairs = hidden.again + chosen + Number(work.dataset.new);
    along.textContent = format.format(hidden.along - chosen);
    again.textContent = format.format(hidden.again + chosen);
    toJudge.textContent = format.format(pairs);
    work.querySelector("[data-along-noun]").textContent = hidden.along - chosen === 1 ? "grade" : "grades";
    work.querySelector("[data-to-judge-noun]").textContent = pairs === 1 ? "pair" : "pairs";
    work.querySelector("[data-time]").textContent = timeOf(pairs, work);
    for (const element of foot.querySelectorAll("[data-with-pairs]")) element.hidden = pairs === 0;
    for (const element of foot.querySelectorAll("[data-without-pairs]")) element.hidden = pairs > 0;
  };
  const first = document.querySelector(".edition-change[data-item]");
  if (first) makeCurrent(first);
  document.addEventListener("focusin", (event) => {
    const change = event.target.closest?.(".edition-change[data-item]");
    if (change) makeCurrent(change);
  });
  const keep = keeper(document.querySelector("#take"), foot.querySelector("[data-unstored]"));
  document.addEventListener("change", (event) => {
    const change = event.target.closest?.(".edition-change[data-item]");
    if (event.target.form?.id !== "take" || !change) return;
    update();
    keep({ version: change.dataset.version, text: change.dataset.text, choice: event.target.value });
  });
}
