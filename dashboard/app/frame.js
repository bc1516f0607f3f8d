// The inside of the phone: it writes the page that the dashboard sends.
//
// This page is served with a policy of its own: inline styles are allowed, and scripts only from files of this
// origin. What is written cannot run a script: innerHTML runs no script elements, and the policy refuses
// handlers in attributes, javascript: addresses, frames and forms. A sandbox attribute would add nothing to
// that: it must allow scripts for this file, and the origin as browsers differ in what 'self' is without one.

/** @param {MessageEvent} e */
function write(e) {
  if (e.source !== parent || e.origin !== location.origin || typeof e.data?.html !== "string") return;
  const page = new DOMParser().parseFromString(e.data.html, "text/html").documentElement;
  const shown = document.documentElement;
  const top = shown.scrollTop;
  for (const name of ["lang", "dir"]) shown.setAttribute(name, page.getAttribute(name) ?? "");
  shown.innerHTML = page.innerHTML;
  shown.scrollTop = top;
  // The page's own script shows this button to visitors.
  document.getElementById("copy")?.removeAttribute("hidden");
}

// A preview leads nowhere.
for (const type of ["click", "auxclick", "submit"]) addEventListener(type, (e) => e.preventDefault(), true);
addEventListener("message", write);
if (parent !== window) parent.postMessage({ ready: true }, location.origin);
