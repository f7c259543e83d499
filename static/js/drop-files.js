// A place to drop a folder, a zip or files, around the file field of a form. A folder and several files are packed as
// one zip, which keeps their paths. Files that will be read are counted, hidden ones beside them. Without this script
// the field takes files, and the server packs them.
import { pack } from "./packing.js";

const HIDDEN = /(?:^|\/)((?:\.[^/]*|node_modules|__MACOSX|__pycache__)\/|(?:\.|~\$)[^/]*$|Thumbs\.db$|desktop\.ini$)/;
const ALL_HIDDEN = "There is no file in it that is not hidden.";
const NAMES_THE_COMMIT = /(^|\/)\.git\/(HEAD|packed-refs$|refs\/)/;

// The folder or name that hides a file, as the server says it; none for a file that is shown.
function hiddenBy({ path }) {
  return HIDDEN.exec(path)?.[1];
}

function counted(names) {
  const numbers = {};
  for (const name of names) numbers[name] = (numbers[name] ?? 0) + 1;
  return numbers;
}

// Adds the files of an entry to those found. Of hidden files the path is enough.
async function find(entry, found) {
  const path = entry.fullPath.slice(1);
  if (entry.isFile) {
    const isPacked = !hiddenBy({ path }) || NAMES_THE_COMMIT.test(path);
    found.push({ path, file: isPacked && (await new Promise((take, refuse) => entry.file(take, refuse))) });
    return;
  }
  const reader = entry.createReader();
  for (let some = null; some?.length !== 0; ) {
    some = await new Promise((take, refuse) => reader.readEntries(take, refuse));
    for (const inner of some) await find(inner, found);
  }
}

async function filesIn(entries) {
  const found = [];
  for (const entry of entries) await find(entry, found);
  return found;
}

function sizeOf(bytes) {
  // As the preview writes it.
  return bytes < 1_048_576 ? `${(bytes / 1_024).toFixed(1)} KB` : `${(bytes / 1_048_576).toFixed(1)} MB`;
}

function hiddenWords(count) {
  if (!count) return "";
  return count === 1 ? "; 1 hidden file is not read" : `; ${count} hidden files are not read`;
}

function nameOf(files) {
  const tops = new Set(files.map(({ path }) => (path.includes("/") ? path.split("/")[0] : "")));
  const [top] = tops;
  return tops.size === 1 && top ? `${top}.zip` : `${files.length} files.zip`;
}

class Drop {
  constructor(place) {
    this.place = place;
    this.field = place.querySelector("[data-drop-field]");
    this.folder = place.querySelector("[data-drop-folder]");
    this.words = place.querySelector("[data-drop-words]");
    this.field.addEventListener("change", () => this.showLoose([...this.field.files]));
    this.folder.addEventListener("change", () => this.take(fromFolder(this.folder.files)));
    place.querySelector("[data-drop-choose]").addEventListener("click", () => this.folder.click());
    place.addEventListener("dragover", (event) => this.#over(event, true));
    place.addEventListener("dragleave", (event) => this.#over(event, false));
    place.addEventListener("drop", (event) => this.#dropped(event));
    for (const part of place.querySelectorAll("[data-needs-script]")) part.hidden = false;
  }

  #over(event, isOver) {
    event.preventDefault();
    this.place.classList.toggle("is-over", isOver);
  }

  async #dropped(event) {
    this.#over(event, false);
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
    const loose = [...event.dataTransfer.files].map((file) => ({ path: file.name, file }));
    this.place.setAttribute("aria-busy", "true");
    try {
      await this.take(entries.length ? await filesIn(entries) : loose);
    } finally {
      this.place.removeAttribute("aria-busy");
    }
  }

  // Puts { path, file } into the form's field: one file as it is, more as one zip.
  async take(given) {
    const files = given.filter((file) => !hiddenBy(file));
    if (files.length === 0) return this.say(ALL_HIDDEN);
    const hidden = counted(given.map(hiddenBy).filter(Boolean));
    const commit = given.filter(({ path }) => NAMES_THE_COMMIT.test(path));
    this.place.setAttribute("aria-busy", "true");
    try {
      const one = given.length === 1 && !files[0].path.includes("/");
      const packed = one ? "" : await pack([...files, ...commit], hidden);
      const file = one ? files[0].file : new File([packed], nameOf(files), { type: "application/zip" });
      const chosen = new DataTransfer();
      chosen.items.add(file);
      this.field.files = chosen.files;
      this.show([file], files.length, given.length - files.length);
    } catch (error) {
      this.say(error.message);
    } finally {
      this.place.removeAttribute("aria-busy");
    }
  }

  // The files in the field, which the server packs.
  showLoose(files) {
    const shown = files.filter(({ name }) => !hiddenBy({ path: name }));
    if (files.length && !shown.length) this.say(ALL_HIDDEN);
    else this.show(shown, shown.length, files.length - shown.length);
  }

  show(files, count, hidden) {
    const bytes = files.reduce((sum, file) => sum + file.size, 0);
    const most = Number(this.place.dataset.mostBytes);
    const isNamed = files.length === 1 && files[0].name !== `${count} files.zip`;
    const what = isNamed ? files[0].name : `${count} files`;
    const inside = isNamed && count > 1 ? `, ${count} files` : "";
    if (!files.length) this.say("");
    else if (bytes > most) this.say(`${what} has ${sizeOf(bytes)}; at most ${sizeOf(most)} are taken at once. Divide it.`);
    else this.say(`${what}${inside}, ${sizeOf(bytes)}${hiddenWords(hidden)}`);
  }

  say(words) {
    this.words.textContent = words;
  }
}

function fromFolder(files) {
  return [...files].map((file) => ({ path: file.webkitRelativePath || file.name, file }));
}

for (const place of document.querySelectorAll("[data-drop]")) new Drop(place);
