// A QR code is made or changed: its look, and what comes of it.

import { classes, html } from "../core/ui.js";
import * as api from "../core/api.js";
import { go, href } from "../core/router.js";
import { app } from "../core/session.js";
import { useForm } from "../core/form.js";
import { useSettled } from "../core/load.js";
import { bare, decimal } from "../core/format.js";
import { tell } from "../core/refusals.js";
import { note } from "../core/notes.js";
import { w } from "../core/words.js";
import { Button, Card, Problem, Says, Send } from "./basics.js";
import { Check, Select, Text } from "./fields.js";
import { Colour, contrast, isColour, lighter } from "./colour.js";
import { AssetPicker } from "./assetpicker.js";
import { LinkPicker } from "./linkpicker.js";
import { useFile } from "./qr.js";

const standard = { name: "", format: "png", size: 512, margin: 4, foreground: "#000000", background: "#ffffff", errorCorrection: "M", logoAssetId: null };

/** What of the form's values is the look of the code. @param {any} v */
const lookOf = (v) => ({
  format: v.format, size: Number(v.size), margin: Number(v.margin), foreground: v.foreground, background: v.background, errorCorrection: v.errorCorrection, logoAssetId: v.logoAssetId || null,
});

/** The contrast that a camera sees; transparent counts as white. @param {any} v @returns {number | null} null while a colour is not yet one */
function contrastOf({ foreground, background }) {
  const behind = background === "transparent" ? "#ffffff" : background;
  return isColour(foreground) && isColour(behind) ? contrast(foreground, behind) : null;
}

/** @param {{code?: any, link?: any, saved?: (code: any) => void, again?: () => void}} props code is the one that is changed; again loads it anew */
export function Studio({ code, link, saved, again }) {
  const form = useForm({ ...standard, ...code, link: link ?? null }, async (v) => {
    const input = { name: v.name, ...lookOf(v) };
    if (code) saved?.(await api.patch("/qr-codes/" + code.id, input, { revision: code.revision }));
    else go("/qr-codes", { edit: (await api.post("/qr-codes", { appId: app.value.id, linkId: v.link?.id ?? "", ...input })).id });
    note(code ? w.saved : w.qrcodes.kept);
  }, { guard: true });
  const { values: v, errors } = form;
  const clear = v.background === "transparent";
  const ratio = contrastOf(v);
  /** @param {string} id */
  function chooseLogo(id) {
    form.set("logoAssetId", id);
    if (id && "LM".includes(v.errorCorrection)) form.set("errorCorrection", "Q");
  }
  const corrections = ["L", "M", "Q", "H"].filter((c) => !v.logoAssetId || !"LM".includes(c));
  return html`<form class="designer" onSubmit=${form.submit} novalidate><div class="stack"><${Card}><div class="stack">
      ${code ? html`<p class="muted">${w.qrcodes.foot(bare(v.link))}</p>` : html`<${LinkPicker} label=${w.qrcodes.link} error=${errors.linkId} link=${v.link} choose=${(l) => form.set("link", l)} />`}
      <${Text} label=${w.qrcodes.name} hint=${w.qrcodes.nameHint} maxlength="100" ...${form.bind("name")} />
      <div class="pair"><${Colour} label=${w.qrcodes.foreground} value=${v.foreground} error=${errors.foreground} set=${(c) => form.set("foreground", c)} />
        <${Colour} label=${w.qrcodes.background} value=${clear ? "" : v.background} empty=${w.qrcodes.clear} disabled=${clear} error=${errors.background} set=${(c) => form.set("background", c)} /></div>
      <${Check} label=${w.qrcodes.clear} hint=${w.qrcodes.clearHint} value=${clear} onChange=${(e) => form.set("background", e.target.checked ? "transparent" : "#ffffff")} />
      ${ratio !== null && ratio < 3 && html`<${Says} kind="warn">${w.qrcodes.faint(decimal(ratio))}<//>`}
      ${ratio !== null && ratio >= 3 && lighter(v.foreground, clear ? "#ffffff" : v.background) && html`<${Says} kind="warn">${w.qrcodes.inverted}<//>`}
      <div class="pair"><${Select} label=${w.qrcodes.format} hint=${w.qrcodes.formatHint} options=${["png", "svg"].map((f) => [f, f.toUpperCase()])} ...${form.bind("format")} />
        <${Text} label=${w.qrcodes.size} type="number" min="64" max="2048" ...${form.bind("size")} />
        <${Text} label=${w.qrcodes.margin} hint=${w.qrcodes.marginHint} type="number" min="0" max="16" ...${form.bind("margin")} />
        <${Select} label=${w.qrcodes.correction} hint=${v.logoAssetId ? w.qrcodes.logoHint : w.qrcodes.correctionHint} options=${corrections.map((c) => [c, w.qrcodes.corrections[c]])} ...${form.bind("errorCorrection")} /></div>
      <${AssetPicker} label=${w.qrcodes.logo} none=${w.qrcodes.noLogo} value=${v.logoAssetId ?? ""} error=${errors.logoAssetId} choose=${chooseLogo} /></div><//></div>
    <section class="beside" aria-label=${w.qrcodes.preview}><${Card} title=${w.qrcodes.preview}><${Preview} code=${code} values=${v} /><//></section>
    <div class="sticky stack tight whole"><${Problem} error=${form.problem} fields=${errors} again=${again} />
      <div class="row end"><${Button} href=${href("/qr-codes", { linkId: code ? "" : link?.id })}>${w.cancel}<//><${Send} form=${form}>${code ? w.save : w.qrcodes.save}<//></div></div></form>`;
}

/** @param {{code?: any, values: any}} props */
function Preview({ code, values }) {
  const look = useSettled(lookOf(values), 300);
  const { link } = values;
  if (!link) return html`<p class="muted">${w.qrcodes.chooseFirst}</p>`;
  if (!(look.size >= 64 && look.size <= 2048 && look.margin >= 0 && look.margin <= 16)) return html`<${Says} kind="warn">${w.qrcodes.outOfRange}<//>`;
  if ((contrastOf(look) ?? 0) < 3) return html`<p class="muted">${w.qrcodes.faint(decimal(contrastOf(look) ?? 1))}</p>`;
  const kept = code && JSON.stringify(look) === JSON.stringify(lookOf(code));
  const { logoAssetId, format, ...plain } = look;
  const path = kept ? `/qr-codes/${code.id}/download` : `/links/${api.seg(link.id)}/qr`;
  return html`<${Picture} key=${path} path=${path} query=${kept ? {} : plain} link=${link} name=${values.name || link.slug} clear=${look.background === "transparent"} />
    ${logoAssetId && !kept && html`<p class="muted small">${w.qrcodes.logoLater}</p>`}`;
}

/** @param {{path: string, query: any, link: any, name: string, clear: boolean}} props */
function Picture({ path, query, link, name, clear }) {
  const { url, error } = useFile(path, { ...query, format: "svg" });
  const file = name.replace(/[^\p{L}\p{N}-]+/gu, "_");
  if (error) return html`<p class="bad" role="alert">${error.details?.[0]?.message ?? tell(error)}</p>`;
  return html`<div class="stack tight"><img class=${classes("qr big", clear && "clear")} width="280" height="280" alt=${w.qr.alt(link.url)} src=${url || undefined} />
    <div class="row">${["png", "svg"].map((f) => html`<${Button} slim icon="export" href=${api.address(path, { ...query, format: f })} download=${`${file}.${f}`} aria-label=${w.qrcodes.as(f.toUpperCase())}>${f.toUpperCase()}<//>`)}</div></div>`;
}
