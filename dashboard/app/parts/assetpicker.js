// An image of the app, or none.

import { html, useId, useState } from "../core/ui.js";
import { app } from "../core/session.js";
import { useList } from "../core/load.js";
import { w } from "../core/words.js";
import { Shown, More } from "./basics.js";
import { Icon } from "./icon.js";

/** An image in small. Where the browser cannot load it, its place is kept. @param {{asset: any}} props */
export function Thumb({ asset }) {
  const [failed, setFailed] = useState(false);
  if (failed) return html`<span class="thumb"><${Icon} name="image" /></span>`;
  return html`<img class="thumb" loading="lazy" alt="" width=${asset.width} height=${asset.height} src=${asset.url} onError=${() => setFailed(true)} />`;
}

/** @param {{label: string, hint?: string, error?: string, none: string, value: string, choose: (id: string) => void}} props none is the text of no image */
export function AssetPicker({ label, hint, error, none, value, choose }) {
  const list = useList("/assets", { appId: app.value.id, state: "active" }, 24);
  const name = useId();
  /** @param {string} id @param {any} picture @param {string} text */
  const option = (id, picture, text) => html`<label class="picture" key=${id}><input type="radio" class="pick" name=${name} checked=${value === id} onChange=${() => choose(id)} />${picture}<span class="small">${text}</span></label>`;
  return html`<fieldset class="field" role="radiogroup" aria-describedby=${error ? name + "-error" : undefined}><legend class="legend">${label}</legend>
    ${hint && html`<span class="hint">${hint}</span>`}
    <${Shown} of=${list}>${(rows) => html`<div class="pictures">${option("", html`<span class="thumb"><${Icon} name="close" /></span>`, none)}
        ${value && !rows.some((a) => a.id === value) && option(value, html`<span class="thumb"><${Icon} name="image" /></span>`, "…")}
        ${rows.map((a) => option(a.id, html`<${Thumb} asset=${a} />`, w.images.size(a.width, a.height)))}</div>
      ${rows.length === 0 && html`<p class="muted small">${w.images.noneYet} <a href="#/images">${w.images.upload}</a></p>`}<${More} list=${list} />`}<//>
    ${error && html`<span class="error" id=${name + "-error"}>${error}</span>`}</fieldset>`;
}
