// The folders of the app.

import { html } from "../core/ui.js";
import { Names } from "../parts/names.js";

/** @param {{query: Record<string, string>}} props */
export default ({ query }) => html`<${Names} about=${{ kind: "folders", icon: "folder" }} query=${query} />`;
