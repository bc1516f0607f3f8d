// The campaigns of the app.

import { html } from "../core/ui.js";
import { href } from "../core/router.js";
import { Names } from "../parts/names.js";
import { campaignCells, campaignColumns, campaignFields, campaignInput } from "../parts/campaign.js";

/** @param {{query: Record<string, string>}} props */
export default ({ query }) => html`<${Names} query=${query} about=${{
  kind: "campaigns", icon: "flag", place: (id) => href("/campaigns/" + id), columns: campaignColumns(), cells: campaignCells, fields: campaignFields, input: campaignInput,
}} />`;
