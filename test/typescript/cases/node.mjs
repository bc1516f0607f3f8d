// Runs the checks in Node.js: node node.mjs, with what they need as JSON in its input.
import * as client from "@waymarkhq/client";
import { check } from "./anywhere.mjs";

console.log(JSON.stringify(await check(client, await new Response(process.stdin).json())));
