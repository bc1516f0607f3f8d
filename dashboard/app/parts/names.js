// Tags, folders and campaigns are alike: names that links are under.

import { html, useEffect, useState } from "../core/ui.js";
import * as api from "../core/api.js";
import { href, refine } from "../core/router.js";
import { app } from "../core/session.js";
import { useList, useSettled } from "../core/load.js";
import { refresh } from "../core/catalog.js";
import { orNull, useForm } from "../core/form.js";
import { filterOf, moveAll } from "../core/moving.js";
import { attempt, note } from "../core/notes.js";
import { w } from "../core/words.js";
import { Button, Empty, More, Problem, Screen, Send, Shown, State } from "./basics.js";
import { Area, Choose, Text } from "./fields.js";
import { Dialog, Menu, ask } from "./dialog.js";
import { Merge } from "./merge.js";

/**
 * What is special about a kind.
 * @typedef {{kind: import("../core/catalog.js").Kind & ("tags" | "folders" | "campaigns"), icon: string, place?: (id: string) => string, columns?: string[], cells?: (x: any) => any,
 *   fields?: (form: import("../core/form.js").Form) => any, input?: (values: any) => any}} About
 */

/** Where a name leads: a page of its own, or its links. @param {About} about @param {string} id */
const placeOf = (about, id) => about.place?.(id) ?? href("/links", { [filterOf[about.kind]]: id });

/** @param {{about: About, query: Record<string, string>}} props */
export function Names({ about, query }) {
  const { kind } = about;
  const words = w.names[kind];
  const { q, archived } = query;
  const list = useList("/" + kind, { appId: app.value.id, q, archived });
  const [edited, setEdited] = useState(null);
  const [merged, setMerged] = useState(null);
  const changed = () => {
    setEdited(null);
    setMerged(null);
    list.reload();
    refresh(kind).catch(() => {});
  };
  const fresh = html`<${Button} kind="main-action" icon="plus" onClick=${() => setEdited({})}>${words.new}<//>`;
  return html`<${Screen} title=${words.title} lead=${words.lead} actions=${fresh}>
    <${Filters} query=${query} />
    ${edited && html`<${Edit} about=${about} of=${edited} close=${() => setEdited(null)} done=${changed} />`}
    ${merged && html`<${Merge} kind=${kind} from=${merged} close=${() => setMerged(null)} done=${changed} />`}
    <${Shown} of=${list}>${(rows) => rows.length
      ? html`<div class="card flush menus"><${Rows} about=${about} rows=${rows} edit=${setEdited} merge=${setMerged} changed=${changed} /></div><${More} list=${list} />`
      : q || archived
        ? html`<${Empty} icon="search" title=${w.names.noMatch}><${Button} href=${"#/" + kind}>${w.names.showAll}<//><//>`
        : html`<${Empty} icon=${about.icon} title=${words.none}><p>${words.noneText}</p>${fresh}<//>`}<//>
  <//>`;
}

/** @param {{query: Record<string, string>}} props */
function Filters({ query }) {
  const [q, setQ] = useState(query.q ?? "");
  const settled = useSettled(q, 250);
  useEffect(() => {
    if (settled.trim() !== (query.q ?? "")) refine({ q: settled.trim() });
  }, [settled]);
  useEffect(() => {
    if (!query.q) setQ("");
  }, [query.q]);
  return html`<div class="row"><label class="grow searching"><span class="unseen">${w.names.search}</span><input class="input" type="search" data-search placeholder=${w.names.search} value=${q}
      onInput=${(e) => setQ(e.target.value)} /></label>
    <${Choose} class="slim" aria-label=${w.names.shown} options=${Object.entries(w.names.archived).sort()} value=${query.archived ?? ""} onChange=${(e) => refine({ archived: e.target.value })} /></div>`;
}

/** @param {{about: About, rows: any[], edit: (x: any) => void, merge: (x: any) => void, changed: () => void}} props */
function Rows({ about, rows, edit, merge, changed }) {
  const { kind, columns = [], cells } = about;
  const counted = kind !== "tags";
  const path = (x) => `/${kind}/${x.id}`;
  // Also what was refused reads the list again, as somebody else may have changed it.
  const archive = (x) => attempt(() => api.patch(path(x), { archived: !x.archived }, { revision: x.revision })).then(changed);
  const remove = async (x) => {
    const text = w.names[kind].deleteText(x.linkCount);
    if (await ask({ title: w.names.delete(x.name), text, action: w.delete, run: () => empty(x) })) note(w.deleted);
    changed();
  };
  // A folder or a campaign is deleted when no link is in it any more.
  const empty = async (x) => {
    if (x.linkCount) {
      const left = await moveAll(kind, x.id, null, w.names.moving(x.name), () => {});
      if (left.length) throw new api.Refusal(409, { code: "resource_conflict", message: `${w.names.left(left.length)}: ${left[0].message}` }, null);
    }
    await api.remove(path(x), x.revision);
  };
  return html`<table class="table folds"><thead><tr><th>${w.names.name}</th>${columns.map((c) => html`<th>${c}</th>`)}${counted && html`<th class="number"><span class="unseen">${w.names.links}</span></th>`}<th><span class="unseen">${w.moreActions}</span></th></tr></thead>
    <tbody>${rows.map((x) => html`<tr key=${x.id}>
      <th scope="row" class="grow"><div class="row"><a href=${placeOf(about, x.id)}>${x.name}</a>${x.archived && html`<${State} of="archived" />`}</div>
        ${x.description && html`<p class="muted small told">${x.description}</p>`}</th>
      ${cells?.(x)}
      ${counted && html`<td class="number"><a href=${href("/links", { [filterOf[kind]]: x.id })} >${w.names.count(x.linkCount)}</a></td>`}
      <td class="narrow last"><${Menu} label=${w.names.actions(x.name)}>
        <li><button onClick=${() => edit(x)}>${w.names.edit}</button></li><li><a href=${href("/links", { [filterOf[kind]]: x.id })}>${w.names.show}</a></li>
        <li><button onClick=${() => merge(x)}>${w.names.merge}</button></li><li><button onClick=${() => archive(x)}>${x.archived ? w.names.restore : w.names.archive}</button></li>
        <li><button class="bad" onClick=${() => remove(x)}>${w.delete}</button></li><//></td></tr>`)}</tbody></table>`;
}

/** One is made, or changed. @param {{about: About, of: any, close: () => void, done: () => void}} props */
export function Edit({ about, of, close, done }) {
  const { kind, fields, input } = about;
  const [base, setBase] = useState(of);
  const path = `/${kind}/${of.id}`;
  const form = useForm({ name: "", description: "", ...of, utm: { ...of.utm } }, async (v) => {
    const sent = { name: v.name, description: orNull((v.description ?? "").trim()), ...input?.(v) };
    if (of.id) await api.patch(path, sent, { revision: base.revision });
    else await api.post("/" + kind, { appId: app.value.id, ...sent });
    note(of.id ? w.saved : w.names[kind].made(v.name.trim()));
    done();
  });
  const again = () => attempt(async () => {
    const now = await api.get(path);
    setBase(now);
    form.setAll({ ...now, description: now.description ?? "", utm: { ...now.utm } });
    form.clear();
  });
  return html`<${Dialog} title=${of.id ? of.name : w.names[kind].new} close=${close}><form class="stack" onSubmit=${form.submit} novalidate>
    <${Text} label=${w.names.name} maxlength="100" ...${form.bind("name")} />
    <${Area} label=${w.names.description} hint=${w.names.descriptionHint} maxlength="1000" ...${form.bind("description")} />
    ${fields?.(form)}
    <${Problem} error=${form.problem} fields=${form.errors} again=${again} />
    <div class="row end"><${Button} onClick=${close}>${w.cancel}<//><${Send} form=${form}>${of.id ? w.save : w.names[kind].new}<//></div></form><//>`;
}
