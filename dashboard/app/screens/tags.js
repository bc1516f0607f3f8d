// The tags of the app.

import { html } from "../core/ui.js";
import { Names } from "../parts/names.js";

/** @param {{query: Record<string, string>}} props */
export default ({ query }) => html`<${Names} about=${{ kind: "tags", icon: "tag" }} query=${query} />`;
