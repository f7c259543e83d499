// Loaded blocking in <head>: sets the remembered theme on the root before the first paint.
(() => {
  const root = document.documentElement;
  const remembered = (() => {
    try {
      return localStorage.getItem("karat-theme");
    } catch {
      return null;
    }
  })();
  if (remembered === "light" || remembered === "dark") root.dataset.theme = remembered;

  document.addEventListener("click", (event) => {
    if (!event.target.closest?.("[data-toggle-theme]")) return;
    const isDark = root.dataset.theme
      ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = isDark ? "light" : "dark";
    try {
      localStorage.setItem("karat-theme", root.dataset.theme);
    } catch {
      // Private windows may refuse to remember; the switch still works for this page.
    }
  });
})();
