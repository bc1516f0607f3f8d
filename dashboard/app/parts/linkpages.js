// Which pages a link has on phones, and what it shows in their variables.

import { html } from "../core/ui.js";
import * as api from "../core/api.js";
import { app } from "../core/session.js";
import { useForm } from "../core/form.js";
import { useLoad } from "../core/load.js";
import { note } from "../core/notes.js";
import { w } from "../core/words.js";
import { Card, Problem, Send, Shown } from "./basics.js";
import { Area, Select, Text } from "./fields.js";

const bases = (["android", "ios", "recovery"]);

/** A choice as one value of a field. @param {import("./choice.js").Choice} choice */
const keyOf = (choice) => (!choice ? "inherit" : choice.mode === "custom" ? `${choice.templateId}:${choice.version}` : choice.mode);

/** @param {string} key */
function choiceOf(key) {
  const [templateId, version] = key.split(":");
  return version ? { mode: "custom", templateId, version: Number(version) } : { mode: key };
}

/** @param {{link: any}} props */
export function LinkPages({ link }) {
  const path = "/links/" + api.seg(link.id);
  const of = useLoad(async (s) => {
    // The values of the variables have the revision of the choices: both are read at once, and the link is read
    // again only when it changed meanwhile.
    const chosen = await api.get(path + "/template-selection", {}, s);
    const now = chosen.revision === link.revision ? link : await api.get(path, {}, s);
    return { chosen: { ...chosen, revision: now.revision }, data: now.templateData };
  }, [link.id]);
  const choices = useLoad((s) => api.all("/template-choices", { appId: app.value.id }, s), [app.value.id]);
  return html`<${Shown} of=${of}>${(v) => html`<${Shown} of=${choices}>${(c) => html`<${Chosen} key=${v.chosen.revision} path=${path} chosen=${v.chosen} data=${v.data} choices=${c} again=${of.reload} saved=${of.set} />`}<//>`}<//>`;
}

/** @param {{path: string, chosen: any, data: any, choices: any[], again: () => void, saved: (v: any) => void}} props */
function Chosen({ path, chosen, data, choices, again, saved }) {
  const before = Object.fromEntries(bases.map((b) => [b, keyOf(chosen.selection[b])]));
  const texts = Object.fromEntries(Object.entries(data).map(([k, v]) => [k, String(v)]));
  const find = (key) => choices.find((c) => `${c.templateId}:${c.version}` === key);
  const form = useForm({ templateSelection: before, templateData: texts }, async (v) => {
    const changed = bases.filter((b) => v.templateSelection[b] !== before[b]);
    const now = await api.patch(path, { templateSelection: Object.fromEntries(changed.map((b) => [b, choiceOf(v.templateSelection[b])])), templateData: values(v.templateData) }, { revision: chosen.revision });
    note(w.linkPages.saved);
    saved({ chosen: await api.get(path + "/template-selection"), data: now.templateData });
  }, { guard: true });
  const { templateSelection, templateData } = form.values;
  /** What visitors get of a base with the choice in the form, "" while only the server knows. @param {string} b */
  const effective = (b) => (templateSelection[b] === before[b] ? keyOf(chosen.effective[b]) : templateSelection[b] === "inherit" ? "" : templateSelection[b]);
  /** @type {Map<string, any>} */
  const variables = new Map();
  for (const b of bases) for (const v of find(effective(b))?.variables ?? []) variables.set(v.key, { ...v, needed: v.required && v.defaultValue === undefined && effective(b) === templateSelection[b] });
  const stray = Object.keys(texts).filter((k) => !variables.has(k));

  /** The values as the API takes them; what is empty is no value. @param {Record<string, string>} of */
  function values(of) {
    const kept = Object.entries(of).filter(([, v]) => v !== "");
    return Object.fromEntries(kept.map(([k, v]) => {
      const type = variables.get(k)?.type ?? typeof data[k];
      return [k, type === "number" && v.trim() && Number.isFinite(Number(v)) ? Number(v) : type === "boolean" ? v === "true" : v];
    }));
  }
  const name = (key) => {
    if (key === "official") return w.linkPages.official;
    const c = find(key);
    return c ? w.linkPages.version(c.name, c.version) : w.linkPages.version(w.linkPages.archived, Number(key.split(":")[1]));
  };
  /** @param {string} b */
  const options = (b) => {
    const own = choices.filter((c) => c.baseTemplateId === b).map((c) => [`${c.templateId}:${c.version}`, w.linkPages.version(c.name, c.version)]);
    const gone = before[b].includes(":") && !find(before[b]) ? [[before[b], name(before[b])]] : [];
    return [["inherit", w.linkPages.inherit], ["official", w.linkPages.official], ...gone, ...own];
  };
  /** @param {string} key @param {any} v the variable, undefined for one that no page has */
  const field = (key, v) => {
    const bound = form.bind("templateData." + key);
    const hint = !v ? w.linkPages.stray : v.needed ? w.linkPages.required : v.defaultValue === undefined ? w.linkPages.notNeeded : w.linkPages.byDefault(String(v.defaultValue));
    const label = v?.label ?? key;
    if (v?.type === "boolean") return html`<${Select} label=${label} hint=${hint} empty=${w.none} options=${[["true", w.template.yes], ["false", w.template.no]]} ...${bound} />`;
    if ((v?.maxLength ?? 200) > 200) return html`<${Area} label=${label} hint=${hint} maxlength=${v.maxLength} ...${bound} />`;
    return html`<${Text} label=${label} hint=${hint} inputmode=${v?.type === "number" ? "decimal" : undefined} maxlength=${v?.maxLength} ...${bound} />`;
  };
  const error = (b) => ["", ".templateId", ".version"].map((end) => form.errors[`templateSelection.${b}${end}`]).find(Boolean);
  return html`<form class="stack" onSubmit=${form.submit} novalidate><${Card}><div class="stack"><p class="muted">${w.linkPages.text}${choices.length === 0 && html` ${w.linkPages.none} <a href="#/templates">${w.linkPages.make}</a>`}</p>
      ${bases.map((b) => html`<${Select} label=${w.templates.bases[b]} options=${options(b)} ...${form.bind("templateSelection." + b)} error=${error(b)} hint=${templateSelection[b] === "inherit" && effective(b) && w.linkPages.now(name(effective(b)))} />`)}</div><//>
    ${variables.size + stray.length > 0 && html`<${Card} title=${w.linkPages.values}><div class="stack"><p class="muted small">${w.linkPages.valuesText}</p>${[...variables.values()].map((v) => field(v.key, v))}${stray.map((k) => field(k, undefined))}</div><//>`}
    <div class="sticky stack tight"><${Problem} error=${form.problem} fields=${form.errors} again=${again} />
      <div class="row end"><${Send} form=${form}>${w.save}<//></div></div></form>`;
}
