// The pages of a link.

import { html } from "../core/ui.js";
import * as api from "../core/api.js";
import { href } from "../core/router.js";
import { useLoad } from "../core/load.js";
import { bare } from "../core/format.js";
import { w } from "../core/words.js";
import { Screen, Shown, Tabs } from "../parts/basics.js";
import { LinkPages } from "../parts/linkpages.js";
import { tabsOf } from "./link.js";

/** @param {{id: string}} props */
export default function Pages({ id }) {
  const path = "/links/" + api.seg(id);
  const link = useLoad((s) => api.get(path, {}, s), [id]);
  return html`<${Screen} title=${link.value ? link.value.title || bare(link.value) : w.linkPages.title} crumb=${{ href: "#/links", text: w.nav.links }}>
    <${Tabs} label=${w.link.parts} places=${tabsOf(id)} at=${href(path + "/pages")} /><${Shown} of=${link}>${(l) => html`<${LinkPages} link=${l} />`}<//><//>`;
}
