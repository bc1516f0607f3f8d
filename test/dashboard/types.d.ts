// What modules of the dashboard name in JSDoc as import("contract"): the schemas of the contract, of
// which contract.d.ts is made on the spot.
import type { components } from "./contract";

export type Schema = components["schemas"];
