/** Options of the client and of single calls. */

import type { Hook } from "./hooks.js";

/** A function with the signature of the global `fetch`, for proxies, tracing and tests. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface KasuwaOptions {
  /** Merchant id. */
  readonly mid: string;
  /** Merchant key. It is sent with every request and shown nowhere. */
  readonly key: string;
  /** Address of the service. Default `http://127.0.0.1:8080`. */
  readonly baseUrl?: string | undefined;
  /** Seconds that one attempt may take. Default 30: the service itself gives up on a rail after ten. */
  readonly timeoutSeconds?: number | undefined;
  /** Seconds that a call may take with all its attempts. Default 90. */
  readonly deadlineSeconds?: number | undefined;
  /** Number of further attempts after the first. Default 3. Only what is safe is repeated. */
  readonly maxRetries?: number | undefined;
  /**
   * Whether the client makes an orderRef or Idempotency-Key for a write that has none, so that it can be repeated
   * safely. Default true. Without one, a write whose answer is lost is not repeated.
   */
  readonly makeReferences?: boolean | undefined;
  /** Functions that receive the events of calls. They never see the key or other secrets. */
  readonly hooks?: readonly Hook[] | undefined;
  /** Tells the test environment how the outside behaves, such as `rr=91;delay=5`. */
  readonly scenario?: string | undefined;
  /** Further headers of every request. */
  readonly headers?: { readonly [name: string]: string } | undefined;
  /** Sends the requests. Default: the global `fetch`. */
  readonly fetch?: Fetch | undefined;
}

/** Options of a single call. */
export interface CallOptions {
  /** Aborts the call. If a write was already sent, its outcome is then unknown. */
  readonly signal?: AbortSignal | undefined;
  readonly timeoutSeconds?: number | undefined;
  readonly deadlineSeconds?: number | undefined;
  readonly maxRetries?: number | undefined;
  /** Idempotency-Key of a write: 1 to 255 ASCII characters. The same key and request are executed once in 24 hours. */
  readonly idempotencyKey?: string | undefined;
  /** `x-request-id` of the call. By default the client makes one. */
  readonly requestId?: string | undefined;
  /** Tells the test environment how the outside behaves, such as `rr=91;delay=5`. */
  readonly scenario?: string | undefined;
  /** Further headers. */
  readonly headers?: { readonly [name: string]: string } | undefined;
}
