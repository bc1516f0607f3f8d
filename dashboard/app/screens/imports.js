// An import: a file is chosen, its columns become fields, all rows are checked, then they are made.

import { classes, html, useEffect, useRef, useState } from "../core/ui.js";
import { app } from "../core/session.js";
import { Unreadable } from "../core/csv.js";
import { readFile, recognise } from "../core/importing.js";
import { keep, kept } from "../core/importrun.js";
import { w } from "../core/words.js";
import { Screen, Says } from "../parts/basics.js";
import { Icon } from "../parts/icon.js";
import { Prepare } from "../parts/prepare.js";
import { Running } from "../parts/importing.js";

export default function Imports() {
  const appId = app.value.id;
  const [run, setRun] = useState(() => kept(appId));
  const [file, setFile] = useState(null);
  useEffect(() => {
    setRun(kept(appId));
    setFile(null);
  }, [appId]);
  const leave = () => {
    keep(appId, null);
    setRun(null);
    setFile(null);
  };
  const checked = (r) => {
    keep(appId, r);
    setRun(r);
  };
  return html`<${Screen} title=${w.nav.imports} lead=${run || file ? "" : w.imports.lead}>
    ${run
      ? html`<${Running} key=${appId} run=${run} changed=${setRun} leave=${leave} change=${file && !run.started ? () => (keep(appId, null), setRun(null)) : null} />`
      : file
        ? html`<${Prepare} file=${file} chosen=${setFile} leave=${leave} checked=${checked} />`
        : html`<${Drop} got=${(f) => setFile({ file: f, ...recognised(f) })} />`}<//>`;
}

/** @param {import("../core/importing.js").File} file */
function recognised(file) {
  const { id, name, mapping, constants } = recognise(file.columns);
  return { product: id === "legacy" ? w.imports.legacy : name, mapping, webOnly: constants.webOnly === true, https: true, domain: null };
}

/** @param {{got: (file: import("../core/importing.js").File) => void}} props */
function Drop({ got }) {
  const [over, setOver] = useState(false);
  const [wrong, setWrong] = useState("");
  const input = useRef(null);
  /** @param {globalThis.File | undefined} f */
  async function read(f) {
    setOver(false);
    if (!f) return;
    setWrong("");
    try {
      got(readFile(await f.arrayBuffer(), f.name));
    } catch (err) {
      if (!(err instanceof Unreadable)) throw err;
      setWrong((err.row ? w.imports.atRow(err.row) + " " : "") + w.imports.reading[err.code]);
      input.current.value = "";
    }
  }
  return html`<label class=${classes("drop", over && "over")} onDragOver=${(e) => (e.preventDefault(), setOver(true))} onDragLeave=${() => setOver(false)}
      onDrop=${(e) => (e.preventDefault(), read(e.dataTransfer.files[0]))}>
      <${Icon} class="pic" name="import" /><strong>${w.imports.drop}</strong><span class="muted">${w.imports.or}</span><span class="button">${w.imports.choose}</span>
      <input class="file" type="file" ref=${input} accept=".csv,.json,.txt,.tsv,text/csv,application/json" aria-label=${w.imports.choose} onChange=${(e) => read(e.target.files[0])} />
      <span class="muted small">${w.imports.known}</span></label>
    ${wrong && html`<div role="alert"><${Says} kind="bad">${wrong}<//></div>`}`;
}
