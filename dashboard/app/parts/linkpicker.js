// A link, found by typing a part of its address or title.

import { html, useState } from "../core/ui.js";
import * as api from "../core/api.js";
import { app } from "../core/session.js";
import { useLoad, useSettled } from "../core/load.js";
import { bare } from "../core/format.js";
import { w } from "../core/words.js";
import { Field } from "./fields.js";
import { Icon } from "./icon.js";

/** @param {{label: string, hint?: string, error?: string, link?: any, choose: (link: any) => void}} props link is the one that is chosen; without it the field begins anew after each choice */
export function LinkPicker({ label, hint, error, link, choose }) {
  const [text, setText] = useState("");
  const [open, setOpen] = useState(false);
  const [at, setAt] = useState(0);
  const q = useSettled(text.trim(), 250);
  const found = useLoad((s) => (open ? api.page("/links", { appId: app.value.id, q, archived: "false", order: "createdAt:desc", limit: 8 }, s).then((p) => p.data) : Promise.resolve([])), [q, open]);
  const options = (open && found.value) || [];
  // Enter takes nothing that was found for what was typed before.
  const current = q === text.trim() && !found.busy;

  /** @param {any} l */
  function take(l) {
    choose(l);
    setText("");
    setAt(0);
    setOpen(false);
  }
  /** @param {KeyboardEvent} e */
  function keys(e) {
    if (e.key === "ArrowDown" || e.key === "ArrowUp") {
      setOpen(true);
      setAt((at + (e.key === "ArrowDown" ? 1 : options.length - 1)) % Math.max(1, options.length));
    } else if (e.key === "Enter" && open) current && options[at] && take(options[at]);
    else if (e.key === "Escape" && open) setOpen(false);
    else return;
    e.preventDefault();
    e.stopPropagation();
  }
  if (link) {
    return html`<div class="field"><span class="legend">${label}</span><div class="chips"><span class="tag"><span class="cut">${bare(link)}</span>
      <button type="button" aria-label=${w.picker.take(bare(link))} onClick=${() => choose(null)}><${Icon} name="close" /></button></span></div></div>`;
  }
  return html`<${Field} label=${label} hint=${hint} error=${error}>${(a) => html`<div class="menu start"><input class="input" type="text" role="combobox" autocomplete="off" spellcheck=${false} maxlength="200"
      ...${a} aria-autocomplete="list" aria-expanded=${String(options.length > 0)} aria-controls=${a.id + "-list"} aria-activedescendant=${options[at] ? a.id + "-" + at : undefined} value=${text} placeholder=${w.picker.search}
      onKeyDown=${keys} onFocus=${() => setOpen(true)} onBlur=${() => setOpen(false)} onInput=${(e) => (setText(e.target.value), setAt(0), setOpen(true))} />
    ${options.length > 0 && html`<ul role="listbox" class="found" id=${a.id + "-list"} aria-label=${label}>${options.map((l, i) => html`<li role="option" id=${a.id + "-" + i} aria-selected=${String(i === at)} class="option"
      onPointerDown=${(e) => (e.preventDefault(), take(l))}><div class="cut">${bare(l)}</div>${l.title && html`<div class="cut muted small">${l.title}</div>`}</li>`)}</ul>`}
    <span class="muted small" role="status">${open && q && current && options.length === 0 ? w.picker.none : ""}</span></div>`}<//>`;
}
