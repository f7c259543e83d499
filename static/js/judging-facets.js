// Subtopics of a query: after a grade from 1 on, one key each says which of them the passage answers; then it is sent.
const KEYS = [..."qweryiop"]; // the row below the numbers, without what means something else
const desk = document.querySelector(".desk");
const at = (name) => document.querySelector(`[data-${name}]`);
const isWide = matchMedia("(width >= 64rem)");

export const chosenIn = (box) => [...box.querySelectorAll("input:checked")].map((input) => input.value);

export const facetsIn = (lead) => lead.find((node) => node.matches?.("[data-facets]")) ?? null;

// The grade that waits for its subtopics: of a pair that is open again, the one that was given.
export function waitingGrade({ box, draft, answer }) {
  const grade = draft ?? (answer === null || answer === "x" ? 0 : Number(answer));
  return box && grade > 0 ? grade : null;
}

// What is sent beside an answer: none of them with grade 0, nothing where nobody is asked.
export function facetsWith({ box }, grade) {
  if (!box || grade === null) return undefined;
  return grade > 0 ? chosenIn(box) : [];
}

// Back to what was given, if something else is chosen now.
export function takeFacetsBack(pair) {
  if (!pair?.box || (pair.draft === null && String(chosenIn(pair.box)) === String(pair.facets))) return false;
  pair.draft = null;
  for (const input of pair.box.querySelectorAll("input[name=facets]")) input.checked = pair.facets.includes(input.value);
  return true;
}

function freeKeys() {
  const others = [...document.querySelectorAll("[data-judging] [aria-keyshortcuts], .desk-text [aria-keyshortcuts]")];
  const taken = others.filter((element) => !element.closest("[data-facets], .reason-list")).flatMap((element) => element.getAttribute("aria-keyshortcuts").split(" "));
  return KEYS.filter((key) => !taken.includes(key));
}

export function showFacets(pair) {
  const grade = pair && waitingGrade(pair);
  if (!pair?.box) delete desk.dataset.subtopics;
  else desk.dataset.subtopics = grade ? "after" : "before";
  at("given-grade").hidden = !grade;
  if (!pair?.box) return;
  // Below a wide screen they take the place of the grade keys, under the thumb.
  if (grade && !isWide.matches) at("given-grade").append(pair.box);
  else if (!at("lead").contains(pair.box)) at("lead").replaceChildren(...pair.lead);
  const keys = freeKeys();
  const isOn = Boolean(grade) && !at("reasons").open;
  pair.box.querySelectorAll("input[name=facets]").forEach((input, place) => {
    const cap = input.nextElementSibling;
    cap.hidden = !keys[place];
    cap.textContent = keys[place] ?? "";
    cap.classList.toggle("off", !grade);
    input.disabled = !grade;
    if (isOn && keys[place]) input.setAttribute("aria-keyshortcuts", keys[place]);
    else input.removeAttribute("aria-keyshortcuts");
  });
  if (!grade) return;
  const number = chosenIn(pair.box).length;
  const words = number ? `with ${number} ${number === 1 ? "subtopic" : "subtopics"}` : "no subtopic";
  at("send-words").textContent = number ? `Send ${grade} ${words}` : `Send ${grade}, ${words}`;
  at("given-chip").textContent = at("given-chip").dataset.grade = grade;
  at("given-name").textContent = document.querySelector(`button[name=grade][value="${grade}"] b`).textContent;
  at("last").textContent = "take the grade back";
}

export function onLayoutChange(listener) {
  isWide.addEventListener("change", listener);
  at("reasons").addEventListener("toggle", listener);
}
