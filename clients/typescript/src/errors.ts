/**
 * Errors that calls throw:
 *
 *     KasuwaError
 *     ├── ServiceUnreachable       nothing was sent, or a read got no reply
 *     ├── UnexpectedReply          a reply that the service did not write, such as a proxy's refusal
 *     ├── OutcomeUnknown           the operation may or may not have been executed
 *     │   ├── UnreadableOutcome    status 201 of a write: the service asks the rail again
 *     │   └── StillPending         wait() ran out of time
 *     ├── InvalidSignature         an event that the service did not sign
 *     ├── InvalidProof             a proof of postings that does not hold
 *     └── Refused                  the service replied with an error: one class per status
 *
 * Wrong arguments throw a TypeError before anything is sent. A message never holds a secret.
 */

import type { ErrorCode, FieldCode } from "./generated/error_codes.js";

/** One fault of a request: the field, nested ones as a path, and what is wrong with it. */
export interface FieldError {
  readonly field: string;
  readonly reason: string;
  /** What is wrong, for programs. */
  readonly code?: FieldCode | (string & {});
  /** What was sent, as text; `***` for a secret. Undefined for an object or an array. */
  readonly value?: string;
}

/** The facts about a call that every error carries. */
export interface CallFacts {
  /** The method that was called, such as `disburse.transfer`. */
  readonly action?: string | undefined;
  /** `x-request-id` of the request, which the service writes to its log. */
  readonly requestId?: string | undefined;
  /** The orderRef that was sent, also if the client made it. */
  readonly orderRef?: string | undefined;
  /** The Idempotency-Key that was sent, also if the client made it. */
  readonly idempotencyKey?: string | undefined;
  /** The merchant's own reference of a payment. */
  readonly customer_txnref?: string | undefined;
}

/** Parent of all errors of the client. */
export class KasuwaError extends Error {
  override readonly name: string = "KasuwaError";
  readonly action: string | undefined;
  readonly requestId: string | undefined;
  readonly orderRef: string | undefined;
  readonly idempotencyKey: string | undefined;
  readonly customer_txnref: string | undefined;

  constructor(message: string, call: CallFacts = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.action = call.action;
    this.requestId = call.requestId;
    this.orderRef = call.orderRef;
    this.idempotencyKey = call.idempotencyKey;
    this.customer_txnref = call.customer_txnref;
  }
}

/** The service could not be reached and nothing was executed, or a read got no reply. */
export class ServiceUnreachable extends KasuwaError {
  override readonly name: string = "ServiceUnreachable";
}

/** The reply is not one of the service, and nothing was executed. A proxy or a wrong address may be the cause. */
export class UnexpectedReply extends KasuwaError {
  override readonly name: string = "UnexpectedReply";
  readonly httpStatus: number;

  constructor(message: string, call: CallFacts, httpStatus: number) {
    super(message, call);
    this.httpStatus = httpStatus;
  }
}

/** An event is not signed with any of the keys, or is too old. */
export class InvalidSignature extends KasuwaError {
  override readonly name: string = "InvalidSignature";
}

/** A proof does not hold, or is pending. The message says why. */
export class InvalidProof extends KasuwaError {
  override readonly name: string = "InvalidProof";
}

/** A reply that refuses a request. */
export interface Refusal {
  /** Status of the contract, for example 301 (insufficient funds). */
  readonly status: number;
  readonly message: string;
  /** What is wrong, for programs. Empty if the service has no codes yet. */
  readonly code: ErrorCode | (string & {});
  /** The page about the code. */
  readonly docUrl: string;
  readonly errors: readonly FieldError[];
  /** The parsed body of the reply. */
  readonly reply: unknown;
  readonly httpStatus: number;
}

/** The service replied with an error. Statuses that this version does not know throw this class itself. */
export class Refused extends KasuwaError implements Refusal {
  override readonly name: string = "Refused";
  readonly status: number;
  readonly code: ErrorCode | (string & {});
  readonly docUrl: string;
  readonly errors: readonly FieldError[];
  readonly reply: unknown;
  readonly httpStatus: number;

  constructor(refusal: Refusal, call: CallFacts = {}) {
    super(refusal.message, call);
    this.status = refusal.status;
    this.code = refusal.code;
    this.docUrl = refusal.docUrl;
    this.errors = refusal.errors;
    this.reply = refusal.reply;
    this.httpStatus = refusal.httpStatus;
  }
}

/**
 * The operation may or may not have been executed: its answer was lost, or the service does not know the outcome
 * itself. Verify by your reference, or send the same request again with the same `orderRef` or `idempotencyKey`: it is
 * not executed twice. A request with a new reference could move the money a second time.
 */
export class OutcomeUnknown extends KasuwaError {
  override readonly name: string = "OutcomeUnknown";
  /** The last known state, as the service replied it. Undefined if there is none. */
  readonly state: unknown;

  constructor(message: string, call: CallFacts = {}, details: { state?: unknown; cause?: unknown } = {}) {
    super(message, call, details.cause);
    this.state = details.state;
  }
}

/** Status 201 of a write: the rail's answer could not be read. `state` is the reply, and `wait` accepts this error. */
export class UnreadableOutcome extends OutcomeUnknown {
  override readonly name: string = "UnreadableOutcome";
  readonly status = 201;
}

/** The outcome was not final when the time of `wait` was over. `state` is the last reply of verify. */
export class StillPending extends OutcomeUnknown {
  override readonly name: string = "StillPending";
}
