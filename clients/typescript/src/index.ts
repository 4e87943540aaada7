/** Typed client of the Kasuwa API. Start with the class `Kasuwa`. */

export { metadataOf, type ReplyMetadata } from "./caller.js";
export { Kasuwa } from "./client.js";
export { connect, type Connection } from "./connect.js";
export {
  type CallFacts,
  type FieldError,
  InvalidProof,
  InvalidSignature,
  KasuwaError,
  OutcomeUnknown,
  type Refusal,
  Refused,
  ServiceUnreachable,
  StillPending,
  UnexpectedReply,
  UnreadableOutcome,
} from "./errors.js";
export type { DeliveryFacts } from "./delivery.js";
export {
  type HeadersLike,
  type SignedEvent,
  signEvent,
  type SignEventOptions,
  verifyEvent,
  type VerifyEventOptions,
} from "./events.js";
export type { Amount, Decimal } from "./exact.js";
export { ERROR_CODES, type ErrorCode, FIELD_CODES, type FieldCode } from "./generated/error_codes.js";
export type * from "./generated/events.js";
export * from "./generated/paths.js";
export type { AttemptFailed, CallEvent, Hook, ReplyReceived, RequestSent, Retrying } from "./hooks.js";
export { eventListener, type EventListenerOptions, type ListenerRequest, type ListenerResponse } from "./listener.js";
export type { List } from "./lists.js";
export { maskSecrets } from "./masking.js";
export type { JsonObject } from "./operation.js";
export type { CallOptions, Fetch, KasuwaOptions } from "./options.js";
export type { Price } from "./paid.js";
export { verifyProof, verifyStatement } from "./proofs.js";
export { RateLimited } from "./rate_limit.js";
export type { CalendarDate, Time } from "./times.js";
export { type SpanStarter, type TracedSpan, tracingHook } from "./tracing.js";
export { VERSION } from "./version.js";
export { isFinal, type WaitOptions } from "./waiting.js";
