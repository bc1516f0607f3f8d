// The design of a page as sections that open: texts, look, logo, variables.

import { html, useState } from "../core/ui.js";
import { w } from "../core/words.js";
import { member } from "../core/form.js";
import { Button } from "./basics.js";
import { Area, Check, Group, Select, Text } from "./fields.js";
import { AssetPicker } from "./assetpicker.js";
import { Colour } from "./colour.js";
import { actions } from "./config.js";

/** What of a section's fields has a mistake. @param {Record<string, string>} errors @param {string} begin */
const wrongIn = (errors, begin) => Object.entries(errors).some(([name, text]) => text && name.startsWith(begin));

/** A section is made when it is first opened, and opens by itself for a mistake in it. @param {{title: string, open?: boolean, children: () => any}} props */
function Section({ title, open = false, children }) {
  const [seen, setSeen] = useState(open);
  const [opened, setOpened] = useState(open);
  if (open && !opened) setOpened(true);
  return html`<details class="card" open=${opened} onToggle=${(e) => e.currentTarget.open && setSeen(true)}><summary>${title}</summary>${(seen || opened) && html`<div class="stack">${children()}</div>`}</details>`;
}

/**
 * @typedef {{form: import("../core/form.js").Form, errors: Record<string, string>, schema: any, limits: any, base: string}} Designed
 * schema is that of the configuration; errors are of the form and of what was checked while typing
 */

/** @param {Designed} props */
export function Design(props) {
  const { errors, form } = props;
  const { details } = form.values.config.content;
  return html`<${Section} title=${w.template.texts} open>${() => html`<${Texts} ...${props} />`}<//>
    <${Section} title=${w.template.details} open=${details.length > 0 || wrongIn(errors, "config.content.details")}>${() => html`<${Details} ...${props} />`}<//>
    <${Section} title=${w.template.looks} open=${wrongIn(errors, "config.appearance.")}>${() => html`<${Looks} ...${props} />`}<//>
    <${Section} title=${w.template.logo} open=${wrongIn(errors, "config.appearance.logoAssetId")}>${() => html`<${AssetPicker} label=${w.template.logo} none=${w.template.appLogo} error=${errors["config.appearance.logoAssetId"]}
      value=${form.values.config.appearance?.logoAssetId ?? ""} choose=${(id) => form.set("config.appearance.logoAssetId", id)} />`}<//>
    <${Section} title=${w.template.variables} open=${wrongIn(errors, "config.variables")}>${() => html`<${Variables} ...${props} />`}<//>`;
}

/** What a field has, with the mistakes that were found while typing. @param {Designed} props */
const binder = ({ form, errors }) => (name) => ({ ...form.bind("config." + name), error: errors["config." + name] });

/** @param {Designed} props */
function Texts(props) {
  const bind = binder(props);
  const { content } = props.schema.properties;
  const keys = props.form.values.config.variables.map((v) => v.key).filter(Boolean);
  return html`<${Text} label=${w.template.heading} hint=${w.template.headingHint} maxlength=${content.properties.heading.maxLength} ...${bind("content.heading")} />
    <${Area} label=${w.template.text} hint=${w.template.textHint} maxlength=${content.properties.supportingText.maxLength} ...${bind("content.supportingText")} />
    ${keys.length > 0 && html`<p class="muted small">${w.template.uses(keys.map((k) => `{{${k}}}`).join(", "))}</p>`}
    <${Group} legend=${w.template.actions}><p class="muted small">${w.template.actionsHint}</p><div class="pair">${actions[props.base].map((a) => html`<${Text} label=${w.template.action[a]}
      maxlength=${content.properties.actionLabels.additionalProperties.maxLength} ...${bind("content.actionLabels." + a)} />`)}</div><//>`;
}

/** @param {Designed} props */
function Details(props) {
  const { form, limits } = props;
  const bind = binder(props);
  const { details } = form.values.config.content;
  const set = (list) => form.set("config.content.details", list);
  return html`${details.map((_, i) => html`<div class="row nowrap slug"><div class="grow pair"><${Text} label=${w.template.label} maxlength="80" ...${bind(`content.details.${i}.label`)} />
      <${Text} label=${w.template.value} maxlength="1000" ...${bind(`content.details.${i}.value`)} /></div>
      <${Button} kind="plain" icon="trash" aria-label=${w.template.removeDetail(i + 1)} onClick=${() => set(details.filter((_, n) => n !== i))} /></div>`)}
    <div class="row"><${Button} slim icon="plus" disabled=${details.length >= limits.details} onClick=${() => set([...details, { label: "", value: "" }])}>${w.template.addDetail}<//></div>`;
}

/** @param {Designed} props */
function Looks(props) {
  const { form, errors, schema } = props;
  const bind = binder(props);
  const look = schema.properties.appearance.properties;
  /** @param {string} name @param {string} label @param {any} words */
  const select = (name, label, words) => html`<${Select} label=${label} empty=${w.template.official} options=${look[name].enum.map((v) => [v, words[v] ?? v])} ...${bind("appearance." + name)} />`;
  const palette = (scheme) => html`<${Group} legend=${w.template[scheme]}>${Object.keys(look[scheme].properties).map((c) => {
    const name = `config.appearance.${scheme}.${c}`;
    return html`<${Colour} label=${w.template.colours[c] ?? c} name=${name} empty=${w.template.official} error=${errors[name]} value=${member(form.values, name)} set=${(v) => form.set(name, v)} />`;
  })}<//>`;
  return html`<div class="pair">${select("fontFamily", w.template.font, w.template.fonts)}${select("radius", w.template.radius, w.template.radii)}${select("spacing", w.template.spacing, w.template.spacings)}</div>
    <p class="muted small">${w.template.coloursHint}</p><div class="pair">${palette("light")}${palette("dark")}</div>`;
}

/** @param {Designed} props */
function Variables(props) {
  const { form, errors, limits } = props;
  const bind = binder(props);
  const { variables } = form.values.config;
  const set = (list) => form.set("config.variables", list);
  return html`<p class="muted small">${w.template.variablesHint}</p>
    ${variables.map((v, i) => {
      const at = `variables.${i}.`;
      const check = bind(at + "required");
      return html`<fieldset class="card stack tight"><legend class="unseen">${v.key || w.template.key}</legend><div class="pair">
        <${Text} label=${w.template.key} class="mono" hint=${errors[`config.${at}key`] ? undefined : w.template.keyHint} maxlength="40" ...${bind(at + "key")} /><${Text} label=${w.template.label} maxlength="80" ...${bind(at + "label")} />
        <${Select} label=${w.template.type} options=${["text", "number", "boolean"].map((t) => [t, w.template.types[t]])} ...${bind(at + "type")} />
        ${v.type === "text" && html`<${Text} label=${w.template.most} type="number" min="1" max="4000" ...${bind(at + "maxLength")} />`}
        ${v.type === "boolean" ? html`<${Select} label=${w.template.default} empty=${w.none} options=${[["true", w.template.yes], ["false", w.template.no]]} ...${bind(at + "defaultValue")} />`
          : html`<${Text} label=${w.template.default} inputmode=${v.type === "number" ? "decimal" : undefined} maxlength="4000" ...${bind(at + "defaultValue")} />`}</div>
        <div class="row spread"><${Check} label=${w.template.required} ...${check} value=${check.value === true} />
        <${Button} slim kind="plain" icon="trash" aria-label=${w.template.removeVariable(v.key)} onClick=${() => set(variables.filter((_, n) => n !== i))} /></div></fieldset>`;
    })}
    <div class="row"><${Button} slim icon="plus" disabled=${variables.length >= limits.variables} onClick=${() => set([...variables, { key: "", label: "", type: "text", maxLength: "", defaultValue: "" }])}>${w.template.addVariable}<//></div>`;
}
