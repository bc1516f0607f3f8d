// What the columns of a file become, with the first rows beside them.

import { html } from "../core/ui.js";
import { fields } from "../core/importing.js";
import { w } from "../core/words.js";
import { Card } from "./basics.js";
import { Choose } from "./fields.js";

const rows = 3;

/** @param {string} f */
const nameOf = (f) => w.imports.fields[f] ?? w.fields[f] ?? w.edit[f] ?? f;

/** @param {any} v */
const text = (v) => (v === null || v === undefined ? "" : typeof v === "object" ? JSON.stringify(v) : String(v));

/**
 * @param {{file: import("../core/importing.js").File, product: string, mapping: Record<string, string>, choose: (mapping: Record<string, string>) => void}} props product is a name, or empty
 */
export function Mapping({ file, product, mapping, choose }) {
  // A field comes from one column: where it is chosen for another, the one before loses it.
  const set = (column, field) =>
    choose(Object.fromEntries([...Object.entries(mapping).filter(([c, f]) => c !== column && f !== field), ...(field ? [[column, field]] : [])]));
  return html`<${Card} title=${w.imports.rows(file.name, file.rows.length)}><div class="stack">
    <p class="muted">${product ? w.imports.from(product) : w.imports.fromUnknown}</p>
    ${file.guessed && html`<p class="says warn">${w.imports.guessed}</p>`}
    <table class="table folds"><thead><tr><th>${w.imports.column}</th><th>${w.imports.example}</th><th>${w.imports.becomes}</th></tr></thead>
      <tbody>${file.columns.map((c) => html`<tr key=${c}><th scope="row" class="wide"><code>${c}</code></th>
        <td class="wide sample muted small">${file.rows.slice(0, rows).map((r) => text(r.values[c])).filter(Boolean).map((t) => html`<p>${t}</p>`)}</td>
        <td class="wide"><${Choose} class="slim" aria-label=${`${c}: ${w.imports.becomes}`} empty=${w.imports.ignored} options=${fields.map((f) => [f, nameOf(f)])} value=${mapping[c] ?? ""}
          onChange=${(e) => set(c, e.target.value)} /></td></tr>`)}</tbody></table></div><//>`;
}
