/** Functions that the methods of the generated classes call. */

import type { Caller } from "./caller.js";
import { OutcomeUnknown } from "./errors.js";
import { List, type ListKind } from "./lists.js";
import type { Operation } from "./operation.js";
import type { CallOptions } from "./options.js";
import { type WaitOptions, waitUntilFinal } from "./waiting.js";

export async function callAction<Reply>(
  caller: Caller,
  operation: Operation,
  request: object,
  options: CallOptions | undefined,
): Promise<Reply> {
  return (await caller.call(operation, request, options)) as Reply;
}

export function listRecords<Reply, Item>(
  caller: Caller,
  operation: Operation,
  kind: ListKind,
  request: object,
  options: CallOptions | undefined,
): List<Reply, Item> {
  return new List(caller, operation, kind, request, options);
}

/** An object that has one of these fields, such as a reply. */
export type Named<Field extends string> = { readonly [name in Field]?: string | null | undefined };

/** How `wait` of a path names a transaction to its verify action. */
export interface WaitReferences {
  readonly verify: Operation;
  /** Fields of a reply that may name the transaction. The first that is present counts. */
  readonly fields: readonly string[];
  /** The field that a reference given as text is sent as. */
  readonly textField: string;
}

export async function waitFor<State extends { readonly txnStatus?: string | undefined }>(
  caller: Caller,
  references: WaitReferences,
  transaction: string | object,
  options: WaitOptions | undefined,
): Promise<State> {
  const { verify } = references;
  const request = referenceOf(references, transaction);
  const about = { name: verify.name, orderRef: request["orderRef"] };
  return waitUntilFinal((limits) => callAction<State>(caller, verify, request, limits), about, options);
}

/** Returns the request that verifies a transaction, which is a reference, a reply, or the error OutcomeUnknown. */
function referenceOf(references: WaitReferences, transaction: unknown): { [field: string]: string } {
  if (typeof transaction === "string") {
    return { [references.textField]: transaction };
  }
  const { state } = transaction as { state?: unknown };
  const found = transaction instanceof OutcomeUnknown && isObject(state) ? state : transaction;
  for (const name of references.fields) {
    const value = isObject(found) ? found[name] : undefined;
    if (typeof value === "string" && value !== "") {
      return { [name]: value };
    }
  }
  throw new TypeError(`transaction: pass a reference, or an object with ${references.fields.join(" or ")}`);
}

/** Returns whether a transaction is a payment. References of payments alone have no bars. */
export function isPayment(transaction: Named<"txnRef">): boolean {
  return !(transaction.txnRef ?? "").includes("|");
}

function isObject(value: unknown): value is { [field: string]: unknown } {
  return typeof value === "object" && value !== null;
}
