// Reading a search log: words are chosen with the arrow keys and masked; the words of a query are changed in place;
// `s` chooses the first near query, and once more the next.

const GUARD_MS = 250; // a key that was meant for the query before does nothing here: nothing is decided unseen
const decide = document.getElementById("decide");
document.addEventListener("keydown", (event) => {
  if (decide?.ariaBusy === "true" && !event.target.matches("input, textarea")) event.stopImmediatePropagation();
}, true);
if (decide) setTimeout(() => (decide.ariaBusy = "false"), GUARD_MS);

const words = [...document.querySelectorAll("[data-word]")];
const masking = document.getElementById("masking");
const edit = document.getElementById("edit");
let first = Math.max(0, words.findIndex((word) => word.matches(".doubt")));
let last = first;

function show() {
  const picked = words.slice(first, last + 1);
  for (const word of words) word.classList.toggle("picked", !masking.hidden && picked.includes(word));
  const text = picked.map((word) => word.textContent).join(" ").replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, "");
  masking.querySelector("[data-picked]").value = text;
  masking.querySelector("[data-shown]").textContent = text;
}

function setMasking(isOn) {
  masking.hidden = !isOn;
  for (const part of document.querySelectorAll("[data-in-mask]")) part.hidden = !isOn;
  for (const part of document.querySelectorAll("[data-out-mask]")) part.hidden = isOn;
  show();
}

function move(step, isWider) {
  if (isWider && step > 0) last = Math.min(words.length - 1, last + 1);
  else if (isWider) first = Math.max(0, first - 1);
  else first = last = Math.min(words.length - 1, Math.max(0, (step > 0 ? last : first) + step));
  show();
}

if (masking) {
  document.querySelector("[data-mask]").addEventListener("click", () => words.length && setMasking(true));
  document.querySelector("[data-leave]").addEventListener("click", () => setMasking(false));
  for (const button of document.querySelectorAll("[data-move]")) {
    button.addEventListener("click", () => move(Number(button.dataset.move), false));
  }
  document.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (masking.hidden || !step || !event.shiftKey) return;
    event.preventDefault();
    move(step, true);
  }, true);
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || edit.hidden || event.target.matches("input, textarea")) return;
    event.preventDefault(); // one level back: the words that were changed stay in the field, and the page too
    event.stopImmediatePropagation();
    edit.hidden = true;
  }, true);
  for (const word of words) {
    word.addEventListener("click", () => {
      first = last = words.indexOf(word);
      setMasking(true);
    });
  }
  document.querySelector("[data-edit]").addEventListener("click", () => {
    edit.hidden = false;
    edit.querySelector("textarea").focus();
  });
  const note = document.getElementById("note");
  note.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing) return;
    event.preventDefault(); // it would keep the query: the note goes with the key that is pressed next
    note.blur();
  });
  for (const form of document.querySelectorAll("form:has([value='keep'], [value='same'])")) {
    if (form !== decide) form.addEventListener("formdata", (event) => event.formData.set("note", note.value));
  }
  const same = [...document.querySelectorAll("[data-same]")];
  let chosen = -1;
  document.querySelector("[data-choose-same]").addEventListener("click", () => {
    if (!same.length) return;
    chosen = (chosen + 1) % same.length;
    same[chosen].focus();
  });
}
