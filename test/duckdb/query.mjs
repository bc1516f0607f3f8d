// Prints the rows that DuckDB answers to the statement in argv, as a JSON array of objects.
import { DuckDBInstance } from "@duckdb/node-api";

const instance = await DuckDBInstance.create(":memory:", { threads: "1" });
const connection = await instance.connect();
await connection.run("SET TimeZone = 'UTC'");
const answer = await connection.runAndReadAll(process.argv[2]);
console.log(JSON.stringify(answer.getRowObjectsJson()));
