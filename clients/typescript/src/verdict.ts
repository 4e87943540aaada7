/** What an attempt means: done, refused, or unknown; and whether it is safe to send the request again. */

import {
  type CallFacts,
  type FieldError,
  type KasuwaError,
  OutcomeUnknown,
  type Refusal,
  Refused,
  ServiceUnreachable,
  UnexpectedReply,
  UnreadableOutcome,
} from "./errors.js";
import type { Answer, NoAnswer } from "./exchange.js";
import { STATUS_ERRORS } from "./generated/statuses.js";
import type { Body, Operation } from "./operation.js";
import { RateLimited } from "./rate_limit.js";

/** A request that is ready to be sent any number of times. */
export interface PreparedCall {
  readonly operation: Operation;
  readonly body: Body;
  readonly text: string;
  readonly headers: { readonly [name: string]: string };
  readonly facts: CallFacts & { readonly action: string; readonly requestId: string };
  /** Whether it may be sent again although an earlier attempt may have been executed. */
  readonly isRepeatable: boolean;
}

export type Verdict = Done | Failed;

/** The request was executed, and `body` is the reply. */
export interface Done {
  readonly kind: "done";
  readonly body: object;
  readonly answer: Answer;
}

/** The attempt ended with an error. */
export interface Failed {
  readonly kind: "failed";
  readonly error: KasuwaError;
  readonly mayRetry: boolean;
  /** The service decided on the operation: the outcome of earlier attempts is known too. */
  readonly isDecided: boolean;
  readonly retryAfterSeconds?: number | undefined;
}

// The words of a reply with status 204 that does not know the outcome. Every other refusal means that nothing was done.
const OUTCOME_NOT_KNOWN = /outcome is not known/i;
const DONE: ReadonlySet<number> = new Set([200, 202]);
const UNREADABLE = 201;
const ERROR = 204;
// Statuses of checks that are made before the operation is looked at.
const BEFORE_OPERATION: ReadonlySet<number> = new Set([101, 102, 103]);

export function judge(call: PreparedCall, outcome: Answer | NoAnswer): Verdict {
  if (outcome.kind === "no answer") {
    return judgeFailure(call, outcome);
  }
  const { body, httpStatus } = outcome;
  if (typeof body !== "object" || body === null) {
    return judgeForeign(call, outcome, "the reply is not JSON");
  }
  const { status } = body as { status?: unknown };
  if (typeof status === "number") {
    return judgeStatus(call, outcome, body, status);
  }
  return httpStatus === 200 && hasNoStatus(call.operation, body, status)
    ? { kind: "done", body, answer: outcome }
    : judgeForeign(call, outcome, "it has no status");
}

/** Returns whether a reply of the action has no numeric status: a map, an array, or a lookup with a text as status. */
function hasNoStatus(operation: Operation, body: object, status: unknown): boolean {
  if (Array.isArray(body)) {
    return operation.replyForm === "array";
  }
  return operation.replyForm === "map" || (typeof status === "string" && operation.writes !== true);
}

function judgeFailure(call: PreparedCall, failure: NoAnswer): Failed {
  const reason = `${failure.isTimeout ? "no reply in time" : describe(failure.error)} (${failure.origin})`;
  if (failure.mayHaveArrived && call.operation.writes === true) {
    return unknown(call, reason, failure.error);
  }
  const message = failure.mayHaveArrived ? "The service did not reply" : "The service cannot be reached";
  const error = new ServiceUnreachable(`${message}: ${reason}`, call.facts, failure.error);
  return { kind: "failed", error, mayRetry: true, isDecided: false };
}

function unknown(call: PreparedCall, reason: string, cause?: Error): Failed {
  const message = `It is not known whether the request was executed: ${reason}`;
  const error = new OutcomeUnknown(message, call.facts, { cause });
  return { kind: "failed", error, mayRetry: call.isRepeatable, isDecided: false };
}

/** Judges a reply that the service did not write. A proxy that answers 3xx or 4xx has not passed the request on. */
function judgeForeign(call: PreparedCall, answer: Answer, reason: string): Failed {
  const { httpStatus } = answer;
  if (httpStatus === 429) {
    return rateLimited(call, answer, "Too many requests");
  }
  const text = `${reason} (HTTP ${httpStatus})`;
  const isRefusal = httpStatus >= 300 && httpStatus < 500;
  if (call.operation.writes === true && !isRefusal) {
    return unknown(call, text);
  }
  const error = new UnexpectedReply(`The service did not write the reply: ${text}`, call.facts, httpStatus);
  return { kind: "failed", error, mayRetry: !isRefusal, isDecided: false };
}

function judgeStatus(call: PreparedCall, answer: Answer, body: object, status: number): Verdict {
  if (DONE.has(status)) {
    return { kind: "done", body, answer };
  }
  const refusal = readRefusal(answer, status);
  if (answer.httpStatus === 429) {
    return rateLimited(call, answer, refusal.message);
  }
  if (status === UNREADABLE && call.operation.writes === true) {
    const error = new UnreadableOutcome(refusal.message, call.facts, { state: body });
    return { kind: "failed", error, mayRetry: false, isDecided: true };
  }
  if (status === ERROR && call.operation.writes === true && OUTCOME_NOT_KNOWN.test(refusal.message)) {
    return unknown(call, refusal.message);
  }
  const mayRetry = status === ERROR && answer.httpStatus === 503;
  return {
    kind: "failed",
    error: new (STATUS_ERRORS[status] ?? Refused)(refusal, call.facts),
    mayRetry,
    isDecided: !BEFORE_OPERATION.has(status) && !mayRetry,
    retryAfterSeconds: answer.retryAfterSeconds,
  };
}

function rateLimited(call: PreparedCall, answer: Answer, message: string): Failed {
  const { retryAfterSeconds } = answer;
  const error = new RateLimited({ ...readRefusal(answer, ERROR), message }, call.facts, retryAfterSeconds);
  return { kind: "failed", error, mayRetry: true, isDecided: false, retryAfterSeconds };
}

function readRefusal(answer: Answer, status: number): Refusal {
  const { message, code, doc_url, errors } = (answer.body ?? {}) as { [name: string]: unknown };
  return {
    status,
    message: typeof message === "string" ? message : `The service answered with status ${status}`,
    code: typeof code === "string" ? code : "",
    docUrl: typeof doc_url === "string" ? doc_url : "",
    errors: Array.isArray(errors) ? (errors as FieldError[]) : [],
    reply: answer.body,
    httpStatus: answer.httpStatus,
  };
}

/** Returns what went wrong with a connection: the text of the innermost error, such as `connect ECONNREFUSED …`. */
export function describe(error: Error): string {
  const { cause } = error;
  if (cause instanceof Error) {
    return describe(cause);
  }
  const { code } = error as { code?: unknown };
  return error.message !== "" ? error.message : typeof code === "string" ? code : error.name;
}
