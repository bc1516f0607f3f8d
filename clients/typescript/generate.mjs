// Makes src/schemas.ts and src/operations.ts of the contract: node generate.mjs [folder]
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import openapiTS, { astToString } from "openapi-typescript";
import ts from "typescript";
import { parse } from "yaml";

const here = import.meta.dirname;
const folder = process.argv[2] ?? join(here, "src");
const contract = parse(await readFile(join(here, "../../api/openapi.yaml"), "utf8"));
const made = "// Made of api/openapi.yaml by `npm run generate`.\n\n";

// The schemas are written by openapi-typescript. A part of a form that is a file is a Blob.
const blob = ts.factory.createTypeReferenceNode("Blob");
const { schemas } = contract.components;
const nodes = await openapiTS(
  { openapi: contract.openapi, info: contract.info, paths: {}, components: { schemas } },
  {
    // What has a default may still be left out of a body.
    defaultNonNullable: false,
    transform: (schema) => (schema.contentMediaType === "application/octet-stream" ? blob : undefined),
  },
);
const text = astToString(nodes.filter((node) => node.name?.text === "components"));
await writeFile(join(folder, "schemas.ts"), made + text.replace("export interface", "/** The schemas of the contract. */\nexport interface"));

const resolved = (x) => (x?.$ref ? x.$ref.split("/").slice(1).reduce((at, name) => at[name], contract) : x);
const schemaName = (content) => content?.schema.$ref?.split("/").at(-1);

// scalar returns the type of a parameter in a path or a query.
function scalar(schema) {
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  const type = { string: "string", integer: "number", boolean: "boolean" }[schema.type];
  if (!type) throw new Error(`a parameter of type ${schema.type}`);
  return type;
}

// member returns a line of an interface, below its comment.
const member = (indent, name, optional, type, comment) =>
  (comment ? `${indent}/** ${comment.trim().replace(/\s+/g, " ")} */\n` : "") + `${indent}${name}${optional ? "?" : ""}: ${type};\n`;

// args returns the type of what an operation takes.
function args(operation, body) {
  let lines = "";
  for (const parameter of (operation.parameters ?? []).map(resolved)) {
    if (parameter.in !== "header") {
      lines += member("      ", parameter.name, !parameter.required, scalar(parameter.schema), parameter.description);
    } else if (parameter.name === "If-Match") {
      lines += member("      ", "revision", !parameter.required, "string", "The revision that was last read.");
    }
  }
  if (body) {
    const [content] = Object.values(operation.requestBody.content);
    lines += member("      ", "body", !operation.requestBody.required, `Schemas[${JSON.stringify(schemaName(content))}]`);
  }
  return lines ? `{\n${lines}    }` : "{}";
}

let types = "";
let table = "";
for (const [path, item] of Object.entries(contract.paths)) {
  for (const [method, operation] of Object.entries(item)) {
    const content = Object.entries(operation.responses).find(([status]) => status.startsWith("2"))[1].content;
    const json = schemaName(content?.["application/json"]);
    const sent = Object.keys(operation.requestBody?.content ?? {})[0];
    const data = json ? `Schemas["${json}"]["data"]` : content ? "Blob" : "undefined";
    const comment = [operation.summary + ".", ...(operation.description ?? "").split("\n")].filter((line) => line.trim());
    types += `  /**\n${comment.map((line) => `   * ${line.trim()}\n`).join("")}   */\n`;
    types += `  ${operation.operationId}: {\n    args: ${args(operation, sent)};\n    data: ${data};\n`;
    if (json && schemas[json].properties.pagination) types += `    page: true;\n`;
    types += "  };\n";
    const kind = sent === "multipart/form-data" ? ', "form"' : content && !json ? ', "file"' : "";
    table += `  ${operation.operationId}: ["${method.toUpperCase()}", "${path}"${kind}],\n`;
  }
}
await writeFile(join(folder, "operations.ts"), `${made}import type { components } from "./schemas.js";

/** The schemas of the contract by their names, such as \`Schemas["Link"]\`. */
export type Schemas = components["schemas"];

/** Each operation of the contract: what it takes, what its data is, and whether that is a page of a list. */
export interface Operations {
${types}}

/** How an operation is called. A form is sent as multipart; the answer that is a file has no envelope. */
export type Route = readonly [method: string, path: string, kind?: "form" | "file"];

/** How each operation of the contract is called. */
export const operations: Readonly<Record<keyof Operations, Route>> = {
${table}};
`);
