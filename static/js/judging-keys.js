// Choosing a key is pressing it: a field with data-cap takes the character that is typed in place of its old one.

for (const cap of document.querySelectorAll("[data-cap]")) {
  cap.addEventListener("focus", () => cap.select());
  cap.addEventListener("pointerup", () => cap.select());
  cap.addEventListener("input", ({ data }) => {
    cap.value = ([...(data ?? cap.value).trim()].at(-1) ?? "").toLowerCase();
    cap.select();
  });
}
