// To choose a key, press it: a field with data-cap replaces its character by the typed one.

for (const cap of document.querySelectorAll("[data-cap]")) {
  cap.addEventListener("focus", () => cap.select());
  cap.addEventListener("pointerup", () => cap.select());
  cap.addEventListener("input", ({ data }) => {
    cap.value = ([...(data ?? cap.value).trim()].at(-1) ?? "").toLowerCase();
    cap.select();
  });
}
