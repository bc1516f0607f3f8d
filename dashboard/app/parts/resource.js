// Where a resource that the API names can be seen.

import { href } from "../core/router.js";

/** Screens of one resource, and lists of those that have none of their own. @type {Record<string, string>} */
const own = { link: "/links/", domain: "/domains/", campaign: "/campaigns/", template: "/templates/", webhook: "/webhooks/" };
/** @type {Record<string, string>} */
const lists = { tag: "/tags", folder: "/folders", asset: "/images", qr_code: "/qr-codes", api_key: "/keys", app: "/app", export: "/exports", import: "/imports", user: "/account", preferences: "/account" };

/** @param {{type: string, id: string}} resource @returns {string} empty where there is no screen */
export const placeOfResource = ({ type, id }) => (own[type] ? href(own[type] + encodeURIComponent(id)) : lists[type] ? href(lists[type]) : "");
