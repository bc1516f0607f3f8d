// The QR codes that are kept, and the studio where they are made.

import { html, useEffect, useState } from "../core/ui.js";
import * as api from "../core/api.js";
import { href, refine } from "../core/router.js";
import { app } from "../core/session.js";
import { useList, useLoad, useSettled } from "../core/load.js";
import { ago, bare, moment, number } from "../core/format.js";
import { note } from "../core/notes.js";
import { w } from "../core/words.js";
import { Button, Card, Empty, More, Screen, Shown } from "../parts/basics.js";
import { Menu, ask } from "../parts/dialog.js";
import { isColour } from "../parts/colour.js";
import { Naming } from "../parts/naming.js";
import { Studio } from "../parts/studio.js";

/** @param {{query: Record<string, string>}} props linkId: the codes of one link; edit: the code that is changed; make: a new one */
export default function QrCodes({ query }) {
  if (query.edit) return html`<${Existing} key=${query.edit} id=${query.edit} linkId=${query.linkId} />`;
  return html`<${Of} key=${query.linkId} query=${query} />`;
}

/** @param {{id: string}} props */
function Existing({ id }) {
  const of = useLoad(async (s) => {
    const code = await api.get("/qr-codes/" + api.seg(id), {}, s);
    return { code, link: await api.get("/links/" + api.seg(code.linkId), {}, s) };
  }, [id]);
  return html`<${Screen} title=${of.value?.code.name ?? w.qrcodes.title} crumb=${{ href: "#/qr-codes", text: w.nav.qrcodes }}>
    <${Shown} of=${of}>${(v) => html`<${Studio} key=${v.code.revision} code=${v.code} link=${v.link} saved=${(code) => of.set({ ...v, code })} again=${of.reload} />`}<//><//>`;
}

/** @param {{query: Record<string, string>}} props */
function Of({ query }) {
  const { linkId, make } = query;
  const of = useLoad(async (s) => ({ link: linkId ? await api.get("/links/" + api.seg(linkId), {}, s) : null }), [linkId]);
  const link = of.value?.link;
  const list = useList("/qr-codes", make ? null : { appId: app.value.id, q: query.q, linkId });
  if (make) {
    return html`<${Screen} title=${w.qrcodes.create} crumb=${{ href: href("/qr-codes", { linkId }), text: w.nav.qrcodes }}><${Shown} of=${of}>${() => html`<${Studio} link=${link} />`}<//><//>`;
  }
  const create = html`<${Button} kind="main-action" icon="plus" href=${href("/qr-codes", { linkId, make: 1 })}>${w.qrcodes.create}<//>`;
  return html`<${Screen} title=${link ? w.qrcodes.of(bare(link)) : w.qrcodes.title} lead=${w.qrcodes.lead} actions=${create}
      crumb=${link ? { href: href("/links/" + api.seg(linkId)), text: w.edit.back } : undefined}>
    <${Search} q=${query.q ?? ""} />
    <${Shown} of=${list}>${(rows) => rows.length
      ? html`<${Card}><ul class="list">${rows.map((c) => html`<${Row} key=${c.id} code=${c} changed=${(now) => list.change(c.id, now)} linkId=${linkId} />`)}</ul><//><${More} list=${list} />`
      : query.q
        ? html`<${Empty} icon="search" title=${w.qrcodes.noMatch}><${Button} href="#/qr-codes">${w.qrcodes.all}<//><//>`
        : html`<${Empty} icon="qr" title=${w.qrcodes.none}><p>${w.qrcodes.noneText}</p><div class="row">${create}${linkId && html`<${Button} href="#/qr-codes">${w.qrcodes.all}<//>`}</div><//>`}<//>
    ${linkId && list.rows?.length ? html`<p><a href="#/qr-codes">${w.qrcodes.all}</a></p>` : null}<//>`;
}

/** @param {{q: string}} props */
function Search({ q }) {
  const [text, setText] = useState(q);
  const settled = useSettled(text.trim(), 250);
  useEffect(() => {
    if (settled !== q) refine({ q: settled });
  }, [settled]);
  return html`<div class="row"><label class="searching"><span class="unseen">${w.qrcodes.search}</span><input class="input" type="search" data-search placeholder=${w.qrcodes.search} value=${text} onInput=${(e) => setText(e.target.value)} /></label></div>`;
}

/** @param {{code: any, changed: (code: any) => void, linkId?: string}} props changed gets null for a code that is deleted */
function Row({ code, changed, linkId }) {
  const [naming, setNaming] = useState(false);
  const path = "/qr-codes/" + api.seg(code.id);
  const remove = async () => {
    if (!(await ask({ title: w.qrcodes.deleteTitle(code.name), text: w.qrcodes.deleteText, action: w.delete, run: () => api.remove(path, code.revision) }))) return;
    note(w.deleted);
    changed(null);
  };
  const save = async (name) => changed(await api.patch(path, { name }, { revision: code.revision }));
  return html`<li class="row nowrap spread"><${Glyph} code=${code} />
    <div class="grow"><a class="cut" href=${href("/qr-codes", { edit: code.id })}><strong>${code.name}</strong></a>
      <p class="muted small">${code.format.toUpperCase()} · ${w.qrcodes.pixels(number(code.size))} · <a href=${href("/links/" + api.seg(code.linkId))}>${w.qrcodes.toLink}</a>${linkId ? "" : ` · ${code.linkId.split(":")[0]}`}</p></div>
    <time class="muted small" datetime=${code.updatedAt} title=${moment(code.updatedAt)}>${ago(code.updatedAt)}</time>
    <${Menu} label=${w.moreActions}><li><a href=${href("/qr-codes", { edit: code.id })}>${w.edit.edit}</a></li>
      ${["png", "svg"].map((f) => html`<li><a href=${api.address(path + "/download", { format: f })} download=${`${code.name.replace(/[^\p{L}\p{N}-]+/gu, "_")}.${f}`}>${w.qrcodes.as(f.toUpperCase())}</a></li>`)}
      <li><button onClick=${() => setNaming(true)}>${w.qrcodes.rename}</button></li><li><button class="bad" onClick=${remove}>${w.delete}</button></li><//>
    ${naming && html`<${Naming} title=${w.qrcodes.rename} label=${w.qrcodes.name} name=${code.name} send=${save} close=${() => setNaming(false)} />`}</li>`;
}

/** The colours of a code. @param {{code: any}} props */
const Glyph = ({ code: { foreground, background } }) => html`<svg class="glyph" viewBox="0 0 9 9" aria-hidden="true"><rect width="9" height="9" rx="1" fill=${isColour(background) ? background : "#ffffff"} />
  <path fill=${foreground} fill-rule="evenodd" d="M1 1h3v3H1zM2 2v1h1V2zM5 1h3v3H5zM6 2v1h1V2zM1 5h3v3H1zM2 6v1h1V6zM5 5h1v1H5zM7 5h1v1H7zM6 6h1v1H6zM5 7h1v1H5zM7 7h1v1H7z" /></svg>`;
