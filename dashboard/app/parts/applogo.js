// The logo of an app: one of its images, or one that is uploaded for it.

import { html, useState } from "../core/ui.js";
import * as api from "../core/api.js";
import { useList, useLoad } from "../core/load.js";
import { attempt, note } from "../core/notes.js";
import { w } from "../core/words.js";
import { Button, Card, More, Problem, Shown } from "./basics.js";
import { Dialog } from "./dialog.js";
import { Field } from "./fields.js";

/** @param {{appId: string, shared: {path: string, revision: {current: string}, keep: (changes: any) => void}}} props */
export function AppLogo({ appId, shared }) {
  const path = shared.path + "/logo";
  const logo = useLoad((s) => api.get(path, {}, s), [path]);
  const [open, setOpen] = useState(false);
  const set = async (assetId) => {
    const { revision } = await api.put(path, { assetId }, { revision: shared.revision.current });
    shared.keep({ logoAssetId: assetId, revision });
    note(w.appScreen.chosen);
    setOpen(false);
    logo.reload();
  };
  const take = () => attempt(async () => {
    await api.remove(path, shared.revision.current);
    shared.keep(await api.get(shared.path));
    note(w.appScreen.taken);
    logo.reload();
  });
  return html`<${Card} title=${w.appScreen.logo}><div class="stack"><p class="muted">${w.appScreen.logoText}</p><${Shown} of=${logo}>${(l) => html`<div class="row">
      ${l.url ? html`<${Picture} key=${l.url} url=${l.url} alt=${w.appScreen.picture} />` : html`<p class="muted">${w.appScreen.noLogo}</p>`}
      <${Button} icon="image" onClick=${() => setOpen(true)}>${l.assetId ? w.appScreen.change : w.appScreen.choose}<//>
      ${l.assetId && html`<${Button} kind="plain" onClick=${take}>${w.appScreen.take}<//>`}</div>
    ${open && html`<${Choice} appId=${appId} current=${l.assetId} choose=${set} close=${() => setOpen(false)} />`}`}<//></div><//>`;
}

/** An image of another host. Where the browser may not show it, a link opens it. @param {{url: string, alt: string}} props */
export function Picture({ url, alt }) {
  const [unseen, setUnseen] = useState(false);
  if (unseen) return html`<p class="small"><span class="muted">${w.appScreen.unseen}</span> <a href=${url} target="_blank" rel="noopener noreferrer">${w.appScreen.openImage}</a></p>`;
  return html`<img class="logo" width="96" height="96" alt=${alt} src=${url} onError=${() => setUnseen(true)} />`;
}

/** @param {{appId: string, current: string | null, choose: (assetId: string) => Promise<void>, close: () => void}} props */
function Choice({ appId, current, choose, close }) {
  const images = useList("/assets", { appId, state: "active" }, 24);
  const [unseen, setUnseen] = useState(/** @type {Record<string, boolean>} */ ({}));
  const [problem, setProblem] = useState(null);
  const [busy, setBusy] = useState(false);
  const run = (work) => {
    setBusy(true);
    setProblem(null);
    work().catch(setProblem).finally(() => setBusy(false));
  };
  const upload = async (file) => {
    const body = new FormData();
    body.append("appId", appId);
    body.append("file", file);
    const { id } = await api.post("/assets", body);
    images.reload();
    await choose(id);
  };
  return html`<${Dialog} title=${w.appScreen.choose} close=${close}><div class="stack">
    <${Field} label=${w.appScreen.upload} hint=${w.appScreen.uploadHint}>${(a) => html`<input class="input" type="file" accept="image/png,image/jpeg" ...${a}
      onChange=${(e) => e.target.files[0] && run(() => upload(e.target.files[0]))} />`}<//>
    <p class="muted small" role="status">${busy ? w.loading : ""}</p><${Problem} error=${problem} />
    <h3>${w.appScreen.images}</h3>
    <${Shown} of=${images}>${(rows) => rows.length
      ? html`<ul class="tiles">${rows.map((x, i) => html`<li key=${x.id}><button type="button" aria-pressed=${String(x.id === current)} aria-label=${w.appScreen.use(i + 1)} onClick=${() => run(() => choose(x.id))}>
          ${unseen[x.id] ? html`<span class="muted small">${w.appScreen.unseen}</span>` : html`<img class="logo" width="96" height="96" alt="" src=${x.url} onError=${() => setUnseen((u) => ({ ...u, [x.id]: true }))} />`}
          <span class="small number">${x.width} × ${x.height}</span></button></li>`)}</ul><${More} list=${images} />`
      : html`<p class="muted">${w.appScreen.noImages}</p>`}<//>
    <div class="row end"><${Button} onClick=${close}>${w.cancel}<//></div></div><//>`;
}
