// The frame around each screen: navigation, notes, what goes on, keys.

import { classes, html, useEffect, useRef, useState } from "../core/ui.js";
import { go, place } from "../core/router.js";
import { app, apps, chooseApp, me, signOut } from "../core/session.js";
import { attempt, dismiss, notes } from "../core/notes.js";
import { cancel, forget, jobs, over } from "../core/jobs.js";
import { w } from "../core/words.js";
import { Button, State } from "./basics.js";
import { Choose } from "./fields.js";
import { Dialog } from "./dialog.js";
import { Icon, Mark } from "./icon.js";

/** @returns {[string, [string, string, string][]][]} the sections: path, icon and name of each screen */
const sections = () => [
  ["", [["/", "home", w.nav.overview], ["/links", "link", w.nav.links], ["/campaigns", "flag", w.nav.campaigns], ["/tags", "tag", w.nav.tags], ["/folders", "folder", w.nav.folders]]],
  [w.nav.make, [["/qr-codes", "qr", w.nav.qrcodes], ["/templates", "page", w.nav.templates], ["/images", "image", w.nav.images], ["/imports", "import", w.nav.imports], ["/exports", "export", w.nav.exports]]],
  [w.nav.settings, [["/domains", "globe", w.nav.domains], ["/app", "app", w.nav.app], ["/keys", "key", w.nav.keys], ["/webhooks", "hook", w.nav.webhooks], ["/activity", "clock", w.nav.activity], ["/system", "server", w.nav.system]]],
];

/** @param {{open: boolean}} props */
function Side({ open }) {
  const at = place.value.path;
  const here = (path) => (path === "/" ? at === "/" : at === path || at.startsWith(path + "/"));
  return html`<aside class=${classes("side", open && "open")} id="side">
    <a class="brand" href="#/"><${Mark} />Waymark</a>
    ${apps.value.length > 0 && html`<${Choose} class="slim" aria-label=${w.nav.chooseApp} value=${app.value?.id}
      options=${[...apps.value.map((a) => [a.id, a.name]), ["", w.nav.newApp]]}
      onChange=${(e) => (e.target.value ? chooseApp(e.target.value) : ((e.target.value = app.value.id), go("/start")))} />`}
    <nav aria-label=${w.nav.label}>${sections().map(([title, screens]) => html`${title && html`<h2>${title}</h2>`}
      <ul>${screens.map(([path, icon, name]) => html`<li><a href=${"#" + path} aria-current=${here(path) ? "page" : undefined}><${Icon} name=${icon} />${name}</a></li>`)}</ul>`)}
    </nav>
    <nav class="foot" aria-label=${w.nav.you}><ul>
      <li><a href="#/account" aria-current=${here("/account") ? "page" : undefined}><${Icon} name="person" /><span class="cut">${me.value?.displayName || me.value?.email || w.nav.account}</span></a></li>
      <li><a href="#/" onClick=${(e) => (e.preventDefault(), signOut())}><${Icon} name="out" />${w.nav.signOut}</a></li>
    </ul></nav>
  </aside>`;
}

/** @param {{children: any}} props */
export function Shell({ children }) {
  const [open, setOpen] = useState(false);
  const [help, setHelp] = useState(false);
  const path = place.value.path;
  const main = useRef(null);
  const first = useRef(true);
  useEffect(() => {
    setOpen(false);
    // A screen reader goes on at the new screen, not at the link that led there.
    if (!first.current) main.current.querySelector("h1, [role=status]")?.focus?.();
    first.current = false;
  }, [path]);
  useEffect(() => {
    /** @param {KeyboardEvent} e */
    function keys(e) {
      const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(/** @type {any} */ (e.target).tagName) || document.querySelector("dialog[open]");
      if (e.key === "Escape") setOpen(false);
      if (typing || e.ctrlKey || e.metaKey || e.altKey) return;
      const field = /** @type {HTMLElement | null} */ (document.querySelector("[data-search]"));
      if (e.key === "/") field ? field.focus() : go("/links", { focus: "search" });
      else if (e.key === "c") go("/links/new");
      else if (e.key === "?") setHelp(true);
      else return;
      e.preventDefault();
    }
    document.addEventListener("keydown", keys);
    return () => document.removeEventListener("keydown", keys);
  }, []);
  return html`<a class="skip" href="#main" onClick=${(e) => (e.preventDefault(), main.current.focus())}>${w.nav.skip}</a>
    <header class="bar"><a class="brand" href="#/"><${Mark} />Waymark</a>
      <div class="row nowrap"><${Button} icon="plus" kind="plain" href="#/links/new" aria-label=${w.nav.create} title=${w.nav.create} />
      <${Button} icon="menu" kind="plain" aria-label=${w.nav.label} aria-expanded=${String(open)} aria-controls="side" onClick=${() => setOpen(!open)} /></div></header>
    <div class="shell"><${Side} open=${open} />
      ${open && html`<button class="veil" aria-label=${w.close} onClick=${() => setOpen(false)} />`}
      <main class="main" id="main" ref=${main} tabindex="-1">${children}</main></div>
    <${Jobs} />
    ${help && html`<${Dialog} title=${w.keys.title} close=${() => setHelp(false)}><dl class="facts">
      ${[["/", w.keys.search], ["c", w.keys.create], ["?", w.keys.help], ["Esc", w.keys.close]].map(([k, text]) => html`<dt><kbd>${k}</kbd></dt><dd>${text}</dd>`)}</dl>
      <div class="row end"><${Button} onClick=${() => setHelp(false)}>${w.close}<//></div><//>`}`;
}

/** What goes on after calls were answered. */
function Jobs() {
  if (!jobs.value.length) return null;
  return html`<section class="jobs" aria-label=${w.jobs.title}><ul>${jobs.value.map((j) => html`<li class="stack tight">
    <div class="row nowrap spread"><a class="cut" href=${"#" + j.to}>${j.title}</a>
      <span class="row nowrap"><${State} of=${j.status} />${over(j) && html`<${Button} slim kind="plain" icon="close" aria-label=${w.close} onClick=${() => forget(j.id)} />`}</span></div>
    ${!over(j) && html`<div class="row nowrap"><progress aria-label=${j.title} max=${j.total} value=${j.done || undefined} />
      <${Button} slim kind="plain" onClick=${() => attempt(() => cancel(j.id))}>${w.jobs.cancel}<//></div>`}
    ${j.error && html`<p class="small bad">${j.error}</p>`}</li>`)}</ul></section>`;
}

/** Short notes, read aloud by screen readers. */
export const Notes = () => html`<div class="notes" role="status" aria-live="polite">${notes.value.map((n) => html`<div class=${classes("noted fade", n.bad && "failed")} key=${n.id}>
  <span class="grow">${n.text}</span>${n.action && html`<button class="act" onClick=${() => (dismiss(n.id), n.action?.run())}>${n.action.label}</button>`}
  <button aria-label=${w.close} onClick=${() => dismiss(n.id)}>×</button></div>`)}</div>`;
