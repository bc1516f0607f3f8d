// An import that is checked, under way, or done.

import { html, useEffect, useState } from "../core/ui.js";
import * as api from "../core/api.js";
import { app } from "../core/session.js";
import { forSpreadsheet } from "../core/csv.js";
import { commit, counts, finished, report } from "../core/importrun.js";
import { number } from "../core/format.js";
import { attempt } from "../core/notes.js";
import { w } from "../core/words.js";
import { Button, Card, Problem, Says } from "./basics.js";

/** Gives a file to the browser to keep. @param {string} text @param {string} name */
function download(text, name) {
  const a = document.createElement("a");
  a.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 10000);
}

/** @param {{figures: [string, number][]}} props */
const Figures = ({ figures }) => html`<div class="figures">${figures.map(([name, n]) => html`<${Card}><p class="muted small">${name}</p><p class="figure">${number(n)}</p><//>`)}</div>`;

/**
 * @param {{run: import("../core/importrun.js").Run, changed: (run: any) => void, leave: () => void, change: (() => void) | null}} props change goes back to the columns
 */
export function Running({ run, changed, leave, change }) {
  const appId = app.value.id;
  const [error, setError] = useState(null);
  const [minutes, setMinutes] = useState(0);
  const [reporting, setReporting] = useState(false);
  const { valid, invalid, succeeded, failed, gone } = counts(run);
  const done = finished(run);
  const go = () => {
    setError(null);
    commit(appId, run, changed).catch(setError);
  };
  // What was begun goes on, also after the page was loaded again.
  useEffect(() => {
    if (run.started && !done) go();
    else if (!run.started && valid > 50) {
      api.get(`/apps/${appId}/usage`).then(({ sharedLimits: { app: a } }) => setMinutes(Math.round(valid / a.linkCreatePerMinute.limit)), () => {});
    }
  }, []);
  const save = () => attempt(async () => {
    setReporting(true);
    try {
      const columns = /** @type {const} */ (["row", "state", "address", "destination", "linkId", "message"]);
      const rows = (await report(run)).map((r) => columns.map((c) => (c === "state" ? (w.states[r.state] ?? r.state) : String(r[c]))));
      download(forSpreadsheet([columns.map((c) => w.imports.reportColumns[c]), ...rows]), run.name.replace(/\.\w+$/, "") + "-report.csv");
    } finally {
      setReporting(false);
    }
  });
  const saves = html`<${Button} icon="export" busy=${reporting} onClick=${save}>${reporting ? w.imports.reporting : w.imports.report}<//>`;
  if (!run.started) {
    return html`<h2>${w.imports.checked}</h2><${Figures} figures=${[[w.imports.good, valid], [w.imports.bad, invalid]]} />
      ${minutes > 1 && html`<${Says}>${w.imports.minutes(minutes)}<//>`}
      <${Trouble} run=${run} title=${w.imports.badTitle} all=${invalid} />
      <div class="sticky row end"><${Button} onClick=${leave}>${w.imports.discard}<//>${change && html`<${Button} onClick=${change}>${w.imports.change}<//>`}${invalid > 0 && saves}
        <${Button} kind="main-action" disabled=${valid === 0} onClick=${go}>${valid ? w.imports.commit(valid) : w.imports.nothing}<//></div>`;
  }
  const figures = html`<${Figures} figures=${[[w.imports.made, succeeded], [w.imports.failed, failed], [w.imports.left, invalid]]} />`;
  if (!done) {
    return html`<${Card} title=${w.imports.going(run.name)}><div class="stack" role="status"><progress aria-label=${w.imports.going(run.name)} max=${valid || 1} value=${succeeded + failed} />
        <p>${w.imports.progress(succeeded + failed, valid)}</p><p class="muted small">${w.imports.reload}</p></div><//>
      <${Problem} error=${error} retry=${go} />`;
  }
  return html`<div role="status"><h2>${failed + invalid + gone ? w.imports.partly : w.imports.done}</h2></div>${figures}
    ${gone > 0 && html`<${Says} kind="warn">${w.imports.gone(gone)}<//>`}
    <${Trouble} run=${run} title=${w.imports.refusedTitle} all=${failed + invalid} />
    <div class="row">${saves}<${Button} href="#/links">${w.imports.toLinks}<//><${Button} kind="main-action" onClick=${leave}>${w.imports.again}<//></div>`;
}

/** @param {{run: import("../core/importrun.js").Run, title: string, all: number}} props */
function Trouble({ run, title, all }) {
  const rows = [...run.trouble, ...run.tooLarge.slice(0, 50).map((row) => ({ row, message: w.imports.tooLarge }))];
  if (!rows.length) return null;
  return html`<${Card} title=${title}><div class="stack"><p class="muted">${w.imports.badText}</p>
    <table class="table"><thead><tr><th class="number">${w.imports.row}</th><th>${w.imports.mistake}</th></tr></thead>
      <tbody>${rows.map((t) => html`<tr><td class="number narrow">${number(t.row)}</td><td class="told">${t.message}</td></tr>`)}</tbody></table>
    ${all > rows.length && html`<p class="muted">${w.imports.more(all - rows.length)}</p>`}</div><//>`;
}
