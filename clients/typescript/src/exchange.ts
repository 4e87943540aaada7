/** One attempt: sends a request with `fetch` and reads the whole answer. Decides nothing about what it means. */

import type { Fetch } from "./options.js";

/** A complete answer. `body` is undefined if it is not JSON. */
export interface Answer {
  readonly kind: "answer";
  readonly httpStatus: number;
  readonly body: unknown;
  readonly requestId: string | undefined;
  readonly retryAfterSeconds: number | undefined;
}

/** No complete answer. `mayHaveArrived` is false only if the request cannot have reached the service. */
export interface NoAnswer {
  readonly kind: "no answer";
  readonly mayHaveArrived: boolean;
  readonly isTimeout: boolean;
  readonly error: Error;
  /** Scheme, host and port that were called. */
  readonly origin: string;
}

export interface Attempt {
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  readonly body: string;
  readonly timeoutMilliseconds: number;
  readonly signal: AbortSignal | undefined;
}

export async function exchange(fetch: Fetch, attempt: Attempt): Promise<Answer | NoAnswer> {
  const controller = new AbortController();
  const abort = (): void => controller.abort(attempt.signal?.reason);
  let isTimeout = false;
  const timer = setTimeout(() => {
    isTimeout = true;
    controller.abort();
  }, attempt.timeoutMilliseconds);
  attempt.signal?.addEventListener("abort", abort, { once: true });
  let isAnswered = false;
  try {
    const response = await fetch(attempt.url, {
      method: "PUT",
      headers: { ...attempt.headers },
      body: attempt.body,
      signal: controller.signal,
      // A redirected request would carry the merchant's key to another address.
      redirect: "manual",
    });
    isAnswered = true;
    const text = await response.text();
    return {
      kind: "answer",
      httpStatus: response.status,
      body: parseJson(text),
      requestId: response.headers.get("x-request-id") ?? undefined,
      retryAfterSeconds: parseRetryAfter(response.headers.get("retry-after")),
    };
  } catch (thrown) {
    const error = thrown instanceof Error ? thrown : new Error("the request failed", { cause: thrown });
    const { origin } = new URL(attempt.url);
    const hasArrived = isAnswered || isTimeout || mayHaveArrived(error);
    return { kind: "no answer", mayHaveArrived: hasArrived, isTimeout, error, origin };
  } finally {
    clearTimeout(timer);
    attempt.signal?.removeEventListener("abort", abort);
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Returns the seconds of a `retry-after` header, which is a number or a date. */
export function parseRetryAfter(header: string | null): number | undefined {
  if (header === null || header.trim() === "") {
    return undefined;
  }
  const seconds = Number(header);
  const wait = Number.isNaN(seconds) ? (Date.parse(header) - Date.now()) / 1000 : seconds;
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}

// Errors of connecting, before any byte of the request is sent: of Node.js and undici, then of Bun.
const NOT_CONNECTED: ReadonlySet<string> = new Set([
  ...["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EAI_FAIL", "EHOSTUNREACH", "ENETUNREACH", "EHOSTDOWN", "ENETDOWN"],
  ...["EADDRNOTAVAIL", "UND_ERR_CONNECT_TIMEOUT", "ERR_INVALID_URL"],
  ...["CERT_HAS_EXPIRED", "CERT_NOT_YET_VALID", "DEPTH_ZERO_SELF_SIGNED_CERT", "SELF_SIGNED_CERT_IN_CHAIN"],
  ...["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "UNABLE_TO_VERIFY_LEAF_SIGNATURE", "ERR_TLS_CERT_ALTNAME_INVALID"],
  ...["ConnectionRefused", "FailedToOpenSocket"],
]);

// The same in words, of errors without a code: ports that `fetch` refuses to use, and connecting in Deno.
const NOT_CONNECTED_TEXT = /^bad port$|requests to port \d+ are blocked|client error \(connect\)/i;

/** Returns false if an error of `fetch` says that no connection was made. Any other error leaves it open. */
function mayHaveArrived(error: unknown): boolean {
  if (typeof error !== "object" || error === null) {
    return true;
  }
  const { code, cause, errors, message } = error as { [name in "code" | "cause" | "errors" | "message"]?: unknown };
  if (typeof code === "string" && code !== "") {
    return !NOT_CONNECTED.has(code);
  }
  if (Array.isArray(errors) && errors.length > 0) {
    return errors.some(mayHaveArrived);
  }
  if (typeof message === "string" && NOT_CONNECTED_TEXT.test(message)) {
    return false;
  }
  return cause === undefined ? true : mayHaveArrived(cause);
}
