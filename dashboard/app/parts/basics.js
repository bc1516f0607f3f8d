// Buttons, states, notices: the small things of each screen.

import { classes, html, useEffect, useRef, useState } from "../core/ui.js";
import { explain, overtaken, tell } from "../core/refusals.js";
import { Refusal } from "../core/api.js";
import { w } from "../core/words.js";
import { note } from "../core/notes.js";
import { Icon } from "./icon.js";

/**
 * A button, or a link that looks like one when it has href.
 * @param {any} props kind: "main-action", "danger", "plain"; icon; slim; busy
 */
export function Button({ kind, icon, slim, busy, children, class: c, ...rest }) {
  const name = classes("button", kind, slim && "slim", !children && "icon", c);
  const content = html`${icon && html`<${Icon} name=${icon} />`}${children}`;
  if (rest.href) return html`<a class=${name} ...${rest}>${content}</a>`;
  return html`<button type="button" class=${name} ...${rest} aria-disabled=${busy ? "true" : undefined}
    onClick=${busy ? undefined : rest.onClick}>${content}</button>`;
}

/** The button that sends a form. @param {{form: import("../core/form.js").Form, children: any, kind?: string}} props */
export const Send = ({ form, children, kind = "main-action" }) =>
  html`<${Button} type="submit" kind=${kind} busy=${form.busy}>${form.busy ? w.form.sending : children}<//>`;

/** @param {{text: string, label?: string, slim?: boolean}} props */
export function Copy({ text, label = w.copy, slim = true }) {
  const [done, setDone] = useState(false);
  async function copy() {
    try {
      await navigator.clipboard.writeText(text);
      setDone(true);
      setTimeout(() => setDone(false), 1500);
    } catch {
      note(w.copyFailed, { bad: true });
    }
  }
  return html`<${Button} slim=${slim} kind="plain" icon=${done ? "check" : "copy"} onClick=${copy} aria-label=${done ? w.copied : label}
    title=${label} />`;
}

/** @type {Record<string, string>} */
const colours = {
  active: "good", ready: "good", verified: "good", synced: "good", succeeded: "good", ok: "good", configured: "good", confirmed: "good", applied: "good",
  available: "good", valid: "good", delegated: "good", pending: "warn", scheduled: "warn", running: "warn", queued: "warn", issuing: "warn", suspended: "warn",
  partially_succeeded: "warn", partial: "warn", conflict: "warn", authorization_required: "warn", warning: "warn", removing: "warn", expired: "warn", failed: "bad", blocked: "bad",
  misconfigured: "bad", wrong: "bad", denied: "bad", invalid: "bad", revoked: "bad",
};

/** A state in words and colour. @param {{of: string, text?: string}} props */
export const State = ({ of, text }) =>
  html`<span class=${classes("tag", colours[of])}>${text ?? w.states[of] ?? of.replaceAll("_", " ")}</span>`;

/** @param {{kind?: string, children: any}} props kind: "bad", "warn", "good" */
export const Says = ({ kind, children }) => html`<div class=${classes("says", kind)}>${children}</div>`;

/** What was refused, with the details that no field shows. It is tried again by retry; what somebody else changed meanwhile is loaded by again. @param {{error: any, fields?: Record<string, string>, retry?: () => void, again?: () => void}} props */
export function Problem({ error, fields = {}, retry, again }) {
  const box = useRef(null);
  useEffect(() => box.current?.scrollIntoView({ block: "nearest" }), [error]);
  if (!error) return null;
  const shown = Object.values(fields);
  const rest = error instanceof Refusal ? error.details.filter((d) => !shown.includes(explain(d))) : [];
  return html`<div class="says bad" role="alert" ref=${box}>
    <p>${tell(error)}</p>
    ${rest.length > 0 && html`<ul>${rest.map((d) => html`<li>${d.path && !explain(d).includes(d.path) ? html`<code>${d.path}</code> ` : ""}${explain(d)}</li>`)}</ul>`}
    ${error.dependencies?.length > 0 && html`<p>${error.dependencies.map((d) => w.keptBy(d.type, d.count)).join(" · ")}</p>`}
    ${error.requestId && html`<p class="small">${w.requestId} <code>${error.requestId}</code></p>`}
    ${retry && html`<p><${Button} slim onClick=${retry}>${w.again}<//></p>`}
    ${again && overtaken(error) && html`<p><${Button} slim onClick=${again}>${w.reload}<//></p>`}
  </div>`;
}

export const Waiting = () => html`<p class="wait" role="status">${w.loading}</p>`;

/** What is read: waits, tells what went wrong, or shows the value. @param {{of: {value?: any, rows?: any, error: any, reload: () => void}, children: (value: any) => any}} props */
export function Shown({ of, children }) {
  const value = of.value === undefined ? of.rows : of.value;
  if (of.error) return html`<${Problem} error=${of.error} retry=${of.reload} />`;
  return value === undefined ? html`<${Waiting} />` : children(value);
}

/** A screen that has nothing yet says what to do next. @param {{icon: string, title: string, children?: any}} props */
export const Empty = ({ icon, title, children }) => html`<div class="empty"><${Icon} class="pic" name=${icon} /><h2>${title}</h2>${children}</div>`;

/** @param {{title?: string, actions?: any, children: any, class?: string}} props */
export const Card = ({ title, actions, children, class: c }) => html`<section class=${classes("card", c)}>
  ${title && (actions ? html`<div class="row spread title"><h2>${title}</h2><div class="row">${actions}</div></div>` : html`<h2>${title}</h2>`)}${children}</section>`;

/** Title and actions of a screen. @param {{title: any, crumb?: {href: string, text: string}, lead?: any, actions?: any, children?: any}} props */
export function Screen({ title, crumb, lead, actions, children }) {
  useEffect(() => {
    document.title = (typeof title === "string" ? title + " · " : "") + "Waymark";
  }, [title]);
  return html`<header class="head">
      <div>${crumb && html`<p class="crumb"><a href=${crumb.href}>← ${crumb.text}</a></p>`}<h1 tabindex="-1">${title}</h1>${lead && html`<p class="muted">${lead}</p>`}</div>
      ${actions && html`<div class="row">${actions}</div>`}
    </header>
    <div class="stack fade">${children}</div>`;
}

/** @param {{list: import("../core/load.js").List}} props */
export const More = ({ list }) =>
  list.hasMore ? html`<div class="row"><${Button} onClick=${list.more} busy=${list.busy}>${list.busy ? w.loading : w.more}<//></div>` : null;

/** @param {{places: [string, string][], at: string, label: string}} props addresses and their texts */
export const Tabs = ({ places, at, label }) => html`<nav class="tabs" aria-label=${label}>${places.map(
  ([href, text]) => html`<a href=${href} aria-current=${href === at ? "page" : undefined}>${text}</a>`,
)}</nav>`;
