/** Descriptions of actions that the generated methods hand to the caller. */

import type { Shape } from "./exact.js";

/**
 * How a request whose answer did not arrive may be sent again: always (`read`), with the same orderRef, with the same
 * Idempotency-Key, or not at all.
 */
export type Repeat = "read" | "order_ref" | "idempotency_key" | "never";

export interface Operation {
  /** The method that calls it, such as `disburse.transfer`. */
  readonly name: string;
  readonly path: string;
  /** Body fields that select the action, with their values. */
  readonly select: { readonly [field: string]: string };
  readonly repeat: Repeat;
  readonly writes?: true;
  readonly acceptsIdempotencyKey?: true;
  /** The field with a list of orders that each have an orderRef. */
  readonly orders?: string;
  /** The form of a reply that has no status: a map or an array. */
  readonly replyForm?: "map" | "array";
  /** Exact fields of the request. */
  readonly request?: Shape;
  /** Exact fields of the reply. */
  readonly reply?: Shape;
}

/** A JSON object of your own making. */
export interface JsonObject {
  readonly [name: string]: unknown;
}

/** A request body. */
export type Body = Record<string, unknown>;
