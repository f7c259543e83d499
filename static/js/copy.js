// <button data-copy="id" hidden> copies the text of that element, or each <code> in it on a line of its own. Without
// this script the button stays hidden, and a click on the text selects it.

for (const button of document.querySelectorAll("button[data-copy]")) {
  const source = document.getElementById(button.dataset.copy);
  button.hidden = false;
  button.addEventListener("click", async () => {
    const parts = source.matches("code") ? [source] : [...source.querySelectorAll("code")];
    try {
      await navigator.clipboard.writeText(parts.map((part) => part.textContent.trim()).join("\n"));
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(source);
      button.textContent = "Press ctrl c";
    }
  });
}
