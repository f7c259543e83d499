// <button command="show-modal" commandfor="id"> opens a <dialog> by itself in current browsers;
// this does the same in older ones, and closes the person menu when the click lands elsewhere.

const isNative = "command" in HTMLButtonElement.prototype;

document.addEventListener("click", (event) => {
  const button = event.target.closest("button[command][commandfor]");
  if (button && !isNative && button.getAttribute("aria-disabled") !== "true") {
    const dialog = document.getElementById(button.getAttribute("commandfor"));
    if (button.getAttribute("command") === "show-modal") dialog?.showModal();
    if (button.getAttribute("command") === "close") dialog?.close();
  }
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    menu.open = false;
    menu.querySelector("summary").focus();
    event.preventDefault();
  }
});
