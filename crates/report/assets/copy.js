// Buttons that copy the command beside them.

function setUpCopying() {
  for (const button of document.querySelectorAll("[data-copy]")) {
    const command = button.parentElement.querySelector("code");
    button.hidden = false;
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(command.textContent);
        button.textContent = "copied";
      } catch {
        // The browser does not allow it here: the reader copies what is selected.
        getSelection().selectAllChildren(command);
      }
    });
  }
}
