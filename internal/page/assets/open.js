// Tries to open the app once, and goes to the fallback if the page is still seen
// after that. A visitor who comes back finds the state in the history, and chooses.
const fallback = document.querySelector("[data-fallback]");
let timer;
const stay = () => clearTimeout(timer);
const start = () => {
  if (document.visibilityState !== "visible") return stay();
  if (history.state) return;
  history.replaceState("tried", "");
  if (fallback) timer = setTimeout(() => { location.href = fallback.href }, 1500);
  location.href = document.getElementById("open").href;
};
document.addEventListener("visibilitychange", start);
document.addEventListener("click", stay);
addEventListener("pagehide", stay);
start();
