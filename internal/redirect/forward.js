const forward = () => {
  if (document.visibilityState === "visible") setTimeout(() => location.replace(document.querySelector("a").href), 1000);
};
addEventListener("visibilitychange", forward);
forward();
