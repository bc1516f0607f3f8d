// The images of the app: uploaded here, shown by pages, QR codes and previews of links.

import { classes, html, useEffect, useRef, useState } from "../core/ui.js";
import * as api from "../core/api.js";
import { app } from "../core/session.js";
import { useList, usePolling } from "../core/load.js";
import { bytes, moment } from "../core/format.js";
import { missing, tell } from "../core/refusals.js";
import { note } from "../core/notes.js";
import { w } from "../core/words.js";
import { Button, Copy, More, Says, Screen, Shown, State } from "../parts/basics.js";
import { ask } from "../parts/dialog.js";
import { Thumb } from "../parts/assetpicker.js";

const types = ["image/png", "image/jpeg"];
const most = { bytes: 1 << 20, side: 4096, pixels: 16_000_000 };

/** What is wrong with a file, before it is sent. @param {File} file @returns {Promise<string>} empty when nothing is */
async function wrong(file) {
  if (!types.includes(file.type)) return w.images.wrongType(file.name);
  if (file.size > most.bytes) return w.images.tooLarge(file.name, bytes(file.size));
  try {
    const { width, height } = await createImageBitmap(file);
    return width > most.side || height > most.side || width * height > most.pixels ? w.images.tooWide(file.name, w.images.size(width, height)) : "";
  } catch {
    return w.images.unreadable(file.name);
  }
}

export default function Images() {
  const list = useList("/assets", { appId: app.value.id }, 48);
  return html`<${Screen} title=${w.images.title} lead=${w.images.lead}>
    <${Upload} done=${list.reload} none=${list.rows?.length === 0} />
    <${Shown} of=${list}>${(rows) => html`<ul class="gallery">${rows.map((a) => html`<${Tile} key=${a.id} asset=${a} changed=${(now) => list.change(a.id, now)} again=${list.reload} />`)}</ul><${More} list=${list} />`}<//><//>`;
}

/** @param {{done: () => void, none: boolean}} props */
function Upload({ done, none }) {
  const [over, setOver] = useState(false);
  const [at, setAt] = useState("");
  const [problems, setProblems] = useState(([]));
  const field = useRef(null);
  // A file that is dropped beside the place for it would replace the dashboard.
  useEffect(() => {
    const keep = (e) => e.preventDefault();
    ["dragover", "drop"].forEach((t) => addEventListener(t, keep));
    return () => ["dragover", "drop"].forEach((t) => removeEventListener(t, keep));
  }, []);

  /** @param {FileList} files */
  async function send(files) {
    const refused = [];
    let sent = 0;
    setProblems([]);
    for (const file of files) {
      setAt(file.name);
      const why = await wrong(file);
      if (why) {
        refused.push(why);
        continue;
      }
      const body = new FormData();
      body.set("appId", app.value.id);
      body.set("file", file);
      await api.post("/assets", body).then(() => sent++, (err) => refused.push(w.images.refused(file.name, err.details?.[0]?.message ?? tell(err))));
    }
    setAt("");
    setProblems(refused);
    if (sent) note(w.images.uploaded(sent));
    if (sent) done();
  }
  return html`<div class=${classes("drop stack tight", over && "over")} onDragOver=${(e) => (e.preventDefault(), setOver(true))} onDragLeave=${() => setOver(false)}
      onDrop=${(e) => (e.preventDefault(), setOver(false), at || send(e.dataTransfer.files))}>
      <p>${none ? html`<strong>${w.images.none}</strong><br />${w.images.noneText}` : w.images.drop}</p>
      <div><${Button} icon="import" kind=${none ? "main-action" : ""} busy=${at !== ""} onClick=${() => field.current.click()}>${w.images.choose}<//></div>
      <input class="unseen" type="file" multiple accept=${types.join()} ref=${field} tabindex="-1" aria-label=${w.images.choose} onChange=${(e) => send(e.target.files).then(() => (e.target.value = ""))} />
      <p class="muted small" role="status">${at ? w.images.uploading(at) : w.images.rules}</p></div>
    ${problems.length > 0 && html`<${Says} kind="bad"><ul role="alert">${problems.map((p) => html`<li>${p}</li>`)}</ul><//>`}`;
}

/** @param {{asset: any, changed: (asset: any) => void, again: () => void}} props changed gets null for an image that is gone */
function Tile({ asset, changed, again }) {
  const path = "/assets/" + api.seg(asset.id);
  const deleting = asset.state === "deleting";
  usePolling(async () => {
    if (!deleting) return true;
    return api.get(path).then((now) => now.state !== "deleting" && (changed(now), true), (err) => missing(err) && (changed(null), true));
  }, [asset.state]);
  async function remove() {
    let refused = /** @type {any} */ (null);
    const run = () => api.remove(path, asset.revision).catch((err) => {
      refused = err;
      throw err;
    });
    const done = await ask({ title: w.images.deleteTitle, text: w.images.deleteText, action: w.delete, run });
    if (done) note(w.deleted);
    if (done) changed(null);
    // One whose deletion was begun and not ended is followed.
    else if (refused && !refused.dependencies?.length) again();
  }
  const size = w.images.size(asset.width, asset.height);
  return html`<li class="card flush"><${Thumb} asset=${asset} /><div class="row nowrap spread tight"><div class="grow"><div class="number">${size}</div><div class="muted small" title=${moment(asset.createdAt)}>${bytes(asset.byteSize)}</div></div>
    ${deleting ? html`<${State} of="deleting" />` : html`<${Copy} text=${asset.url} label=${w.images.copy} /><${Button} slim kind="plain" icon="trash" aria-label=${`${w.images.delete}: ${size}`} onClick=${remove} />`}</div></li>`;
}
