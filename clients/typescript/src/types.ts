import type { Operations } from "./operations.js";

/** The id of an operation of the contract, such as `"createLinks"`. */
export type OperationId = keyof Operations;

/**
 * What an operation takes, as one object: the parameters of its path and its query by their names, `body`, and
 * `revision`, which is what If-Match needs.
 */
export type Args<Id extends OperationId> = Operations[Id]["args"];

/** What an operation answers as `data`. */
export type Data<Id extends OperationId> = Operations[Id]["data"];

/** The parameters of a call: the arguments may be left out where all of them may. */
export type Input<Id extends OperationId, Options> = {} extends Args<Id>
  ? [args?: Args<Id>, options?: Options]
  : [args: Args<Id>, options?: Options];

/** The operations that answer one page of a list at a time. */
export type PageId = { [Id in OperationId]: Operations[Id] extends { page: true } ? Id : never }[OperationId];

/** The operations whose pages are arrays. */
export type ListId = { [Id in PageId]: Data<Id> extends readonly unknown[] ? Id : never }[PageId];

/** One item of a list. */
export type Item<Id extends ListId> = Data<Id> extends readonly (infer One)[] ? One : never;

/** The arguments with which the items of an import are a file. */
export type CsvArgs = Args<"getImportsImportIdItems"> & { format: "csv" };
