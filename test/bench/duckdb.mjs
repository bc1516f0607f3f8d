// Answers each line of SQL about events, the files that the first argument
// names, with the milliseconds that DuckDB took with one thread.
import { createInterface } from 'node:readline';
import { DuckDBInstance } from '../duckdb/node_modules/@duckdb/node-api/lib/index.js';

const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
const connection = await instance.connect();
await connection.run(`SET TimeZone = 'UTC'; CREATE VIEW events AS SELECT * FROM read_parquet('${process.argv[2]}')`);
for await (const sql of createInterface({ input: process.stdin })) {
  const started = performance.now();
  await connection.runAndReadAll(sql);
  console.log(performance.now() - started);
}
