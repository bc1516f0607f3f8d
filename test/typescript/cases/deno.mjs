// Runs the checks in Deno: deno run deno.mjs, with what they need as JSON in its input.
import * as client from "./node_modules/@waymarkhq/client/dist/index.js";
import { check } from "./anywhere.mjs";

console.log(JSON.stringify(await check(client, await new Response(Deno.stdin.readable).json())));
