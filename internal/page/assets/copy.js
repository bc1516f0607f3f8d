// Shows the button that copies: without scripts there is only the field.
const button = document.getElementById("copy"), field = document.getElementById("field");
const said = document.getElementById("copied");
button.hidden = false;
button.addEventListener("click", async () => {
  said.textContent = "";
  field.select();
  try {
    await navigator.clipboard.writeText(field.value);
  } catch {
    if (!document.execCommand("copy")) return;
  }
  said.textContent = button.dataset.copied;
});
