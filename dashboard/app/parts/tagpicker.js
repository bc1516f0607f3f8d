// Tags of a link: chosen from those there are, or made by typing a new name.

import { html, useId, useRef, useState } from "../core/ui.js";
import * as api from "../core/api.js";
import { app } from "../core/session.js";
import { refresh, useCatalog } from "../core/catalog.js";
import { attempt } from "../core/notes.js";
import { w } from "../core/words.js";
import { Icon } from "./icon.js";

/** @param {{chosen: string[], choose: (ids: string[]) => void}} props */
export function TagPicker({ chosen, choose }) {
  const all = useCatalog("tags") ?? [];
  const [text, setText] = useState("");
  const [open, setOpen] = useState(false);
  const [at, setAt] = useState(0);
  const box = useRef(null);
  const id = useId();
  const wanted = text.trim().toLowerCase();
  const found = all.filter((t) => !t.archived && !chosen.includes(t.id) && t.name.toLowerCase().includes(wanted)).slice(0, 8);
  const fresh = wanted && !all.some((t) => t.name.toLowerCase() === wanted);
  const options = [...found.map((t) => ({ id: t.id, text: t.name })), ...(fresh ? [{ id: "", text: w.edit.newTag(text.trim()) }] : [])];

  /** @param {{id: string}} o */
  const take = (o) => attempt(async () => {
    const picked = o.id || (await api.post("/tags", { appId: app.value.id, name: text.trim() })).id;
    if (!o.id) await refresh("tags");
    choose([...chosen, picked]);
    setText("");
    setAt(0);
  });
  /** @param {KeyboardEvent} e */
  function keys(e) {
    if (e.key === "ArrowDown" || e.key === "ArrowUp") setAt((at + (e.key === "ArrowDown" ? 1 : options.length - 1)) % Math.max(1, options.length));
    else if (e.key === "Enter" && open && options[at]) take(options[at]);
    else if (e.key === "Escape" && open) setOpen(false);
    else if (e.key === "Backspace" && !text) return choose(chosen.slice(0, -1));
    else return;
    e.preventDefault();
    e.stopPropagation();
  }
  return html`<div class="field" ref=${box}><label for=${id}>${w.nav.tags}</label>
    ${chosen.length > 0 && html`<div class="chips">${chosen.map((c) => html`<span class="tag">${all.find((t) => t.id === c)?.name ?? "…"}
      <button type="button" aria-label=${w.edit.untag(all.find((t) => t.id === c)?.name ?? "")} onClick=${() => choose(chosen.filter((x) => x !== c))}><${Icon} name="close" /></button></span>`)}</div>`}
    <div class="menu start"><input class="input" id=${id} role="combobox" autocomplete="off" maxlength="100" aria-expanded=${String(open && options.length > 0)} aria-controls=${id + "-list"}
      aria-activedescendant=${open && options[at] ? id + "-" + at : undefined} value=${text} placeholder=${w.edit.tagsHint} onKeyDown=${keys} onFocus=${() => setOpen(true)} onBlur=${() => setOpen(false)}
      onInput=${(e) => (setText(e.target.value), setAt(0), setOpen(true))} />
      ${open && options.length > 0 && html`<ul role="listbox" id=${id + "-list"} aria-label=${w.nav.tags}>${options.map((o, i) => html`<li role="option" id=${id + "-" + i} aria-selected=${String(i === at)} class="option"
        onPointerDown=${(e) => (e.preventDefault(), take(o))}>${o.text}</li>`)}</ul>`}</div></div>`;
}
