// A place to drop a folder, a zip or files, around the file field of a form. A folder and several files are packed as
// one zip, which keeps their paths. Without this script the field takes files, and the server packs them.
import { pack } from "./packing.js";

const LEFT_OUT = /(^|\/)(\.(?!git\/(HEAD|packed-refs$|refs\/))|node_modules\/|__MACOSX\/|__pycache__\/)/;

async function filesIn(entry) {
  if (entry.isFile) {
    const file = await new Promise((take, refuse) => entry.file(take, refuse));
    return [{ path: entry.fullPath.slice(1), file }];
  }
  const reader = entry.createReader();
  const found = [];
  for (;;) {
    const some = await new Promise((take, refuse) => reader.readEntries(take, refuse));
    if (some.length === 0) return found;
    for (const inner of some) if (!LEFT_OUT.test(`${inner.fullPath.slice(1)}${inner.isFile ? "" : "/"}`) || inner.name === ".git") found.push(...(await filesIn(inner)));
  }
}

function sizeOf(bytes) {
  // As the preview writes it.
  return bytes < 1_048_576 ? `${(bytes / 1_024).toFixed(1)} KB` : `${(bytes / 1_048_576).toFixed(1)} MB`;
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
    this.field.addEventListener("change", () => this.show([...this.field.files]));
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
      await this.take(entries.length ? (await Promise.all(entries.map(filesIn))).flat() : loose);
    } finally {
      this.place.removeAttribute("aria-busy");
    }
  }

  // Puts { path, file } into the form's field: one file as it is, more as one zip.
  async take(given) {
    const files = given.filter(({ path }) => !LEFT_OUT.test(path));
    if (files.length === 0) return this.say("There is no file in it that is not hidden.");
    this.place.setAttribute("aria-busy", "true");
    try {
      const one = files.length === 1 && !files[0].path.includes("/");
      const file = one ? files[0].file : new File([await pack(files)], nameOf(files), { type: "application/zip" });
      const chosen = new DataTransfer();
      chosen.items.add(file);
      this.field.files = chosen.files;
      this.show([file], files.length);
    } catch (error) {
      this.say(error.message);
    } finally {
      this.place.removeAttribute("aria-busy");
    }
  }

  show(files, count = files.length) {
    const bytes = files.reduce((sum, file) => sum + file.size, 0);
    const most = Number(this.place.dataset.mostBytes);
    const isNamed = files.length === 1 && files[0].name !== `${count} files.zip`;
    const what = isNamed ? files[0].name : `${count} files`;
    const inside = isNamed && count > 1 ? `, ${count} files` : "";
    if (!files.length) this.say("");
    else if (bytes > most) this.say(`${what} has ${sizeOf(bytes)}; at most ${sizeOf(most)} are taken at once. Divide it.`);
    else this.say(`${what}${inside}, ${sizeOf(bytes)}`);
  }

  say(words) {
    this.words.textContent = words;
  }
}

function fromFolder(files) {
  return [...files].map((file) => ({ path: file.webkitRelativePath || file.name, file }));
}

for (const place of document.querySelectorAll("[data-drop]")) new Drop(place);
