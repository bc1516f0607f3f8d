// A tag, a folder or a campaign is merged into another one: that one gets all links.

import { html, useState } from "../core/ui.js";
import * as api from "../core/api.js";
import { useForm } from "../core/form.js";
import { choices, useCatalog } from "../core/catalog.js";
import { moveAll } from "../core/moving.js";
import { bare } from "../core/format.js";
import { note } from "../core/notes.js";
import { w } from "../core/words.js";
import { Button, Problem, Says, Send, Waiting } from "./basics.js";
import { Select } from "./fields.js";
import { Dialog } from "./dialog.js";

/** @param {{kind: "tags" | "folders" | "campaigns", from: any, close: () => void, done: () => void}} props */
export function Merge({ kind, from, close, done }) {
  const all = useCatalog(kind);
  const others = (all ?? []).filter((x) => x.id !== from.id);
  const [moved, setMoved] = useState(-1);
  const [left, setLeft] = useState(/** @type {any[]} */ ([]));
  const form = useForm({ into: "" }, async ({ into }) => {
    setLeft([]);
    setMoved(0);
    try {
      const refused = await moveAll(kind, from.id, into, w.names.moving(from.name), setMoved);
      if (refused.length) return setLeft(refused);
      const path = `/${kind}/${from.id}`;
      await api.remove(path, (await api.get(path)).revision);
    } finally {
      setMoved(-1);
    }
    note(w.names.merged(from.name, others.find((x) => x.id === into)?.name ?? ""));
    done();
  });
  if (!all) return html`<${Dialog} title=${from.name} close=${close}><${Waiting} /><//>`;
  const of = from.linkCount ?? 0;
  return html`<${Dialog} title=${from.name} close=${close}><form class="stack" onSubmit=${form.submit}>
    <p>${w.names[kind].mergeText(from.name)}</p>
    ${others.length ? html`<${Select} label=${w.names.into} empty=${w.names.choose} required options=${choices(others)} disabled=${form.busy} ...${form.bind("into")} />` : html`<${Says}>${w.names.nothingElse}<//>`}
    ${moved >= 0 && html`<div role="status" class="stack tight"><progress aria-label=${w.names.merge} max=${of || undefined} value=${of ? moved : undefined} /><span class="small muted">${w.names.merging(moved, of)}</span></div>`}
    ${left.length > 0 && html`<${Says} kind="bad"><p><strong>${w.names.left(left.length)}</strong></p><p>${w.names.leftText}</p><ul>${left.slice(0, 20).map((f) => html`<li>${bare(f.link)}: ${f.message}</li>`)}</ul><//>`}
    <${Problem} error=${form.problem} fields=${form.errors} />
    <div class="row end"><${Button} onClick=${close}>${w.cancel}<//>${others.length > 0 && html`<${Send} form=${form} kind="danger">${w.names.mergeAction}<//>`}</div></form><//>`;
}
