/** Makes calls: prepares the request, sends it, and repeats it where that is safe, within a deadline. */

import { OutcomeUnknown } from "./errors.js";
import { checkExact, convertExact } from "./exact.js";
import { type Answer, exchange, type NoAnswer } from "./exchange.js";
import type { CallEvent, Hook } from "./hooks.js";
import { maskHeaders, maskSecrets } from "./masking.js";
import type { Body, Operation } from "./operation.js";
import type { CallOptions, Fetch, KasuwaOptions } from "./options.js";
import { describe, type Done, type Failed, judge, type PreparedCall } from "./verdict.js";
import { VERSION } from "./version.js";
import { newReference } from "./webcrypto.js";

const BASE_URL = "http://127.0.0.1:8080";
const SCENARIO_HEADER = "x-sandbox-scenario";
const TIMEOUT_SECONDS = 30;
const DEADLINE_SECONDS = 90;
const MAX_RETRIES = 3;
const FIRST_PAUSE_SECONDS = 0.25;
const MAX_PAUSE_SECONDS = 8;
// Visible ASCII characters and spaces between them: what a header may carry.
const HEADER_VALUE = /^(?! )[\x20-\x7e]{1,255}(?<! )$/;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;

/** What is known of a reply besides its fields. */
export interface ReplyMetadata {
  readonly httpStatus: number;
  /** `x-request-id`: name it when you ask the operator about the request. */
  readonly requestId: string;
  /** The Idempotency-Key that was sent, also if the client made it. */
  readonly idempotencyKey: string | undefined;
  /** Number of attempts that were made, the last one included. */
  readonly attempts: number;
}

const metadata = new WeakMap<object, ReplyMetadata>();

/** Returns the metadata of a reply that a method of the client returned, or undefined for any other object. */
export function metadataOf(reply: object): ReplyMetadata | undefined {
  return metadata.get(reply);
}

/** The limits of a call. */
interface CallLimits {
  readonly timeoutSeconds: number;
  readonly endsAtMilliseconds: number;
  readonly maxRetries: number;
  readonly signal: AbortSignal | undefined;
}

export class Caller {
  readonly mid: string;
  readonly baseUrl: string;
  readonly #key: string;
  readonly #options: KasuwaOptions;
  readonly #fetch: Fetch;
  readonly #hooks: readonly Hook[];

  constructor(options: KasuwaOptions) {
    this.mid = headerText("mid", options.mid);
    this.#key = headerText("key", options.key);
    this.baseUrl = parseBaseUrl(options.baseUrl ?? BASE_URL);
    this.#options = options;
    checkLimits(options);
    lowerNames(options.headers);
    // Called as a function of the global object: some runtimes refuse another receiver.
    this.#fetch = options.fetch ?? ((url, init) => globalThis.fetch(url, init));
    this.#hooks = options.hooks ?? [];
  }

  /** Makes a call and returns its reply. Throws a KasuwaError, a TypeError for wrong arguments, or the abort reason. */
  async call(operation: Operation, request: object, options: CallOptions = {}): Promise<unknown> {
    const limits = this.#limitsOf(options);
    throwIfAborted(limits.signal);
    const call = await this.#prepare(operation, request, options);
    let unknown: OutcomeUnknown | undefined;
    for (let attempt = 1; ; attempt += 1) {
      const verdict = judge(call, await this.#attempt(call, attempt, limits));
      if (verdict.kind === "done") {
        return finish(call, verdict, attempt);
      }
      // An earlier attempt may have been executed. A later one that never got to the operation says nothing of it.
      if (verdict.error instanceof OutcomeUnknown && !verdict.isDecided) {
        unknown = verdict.error;
      }
      const error = verdict.isDecided ? verdict.error : (unknown ?? verdict.error);
      const pause = pauseAfter(attempt, verdict);
      const isOver = performance.now() + pause * 1000 >= limits.endsAtMilliseconds;
      if (!verdict.mayRetry || attempt > limits.maxRetries || isOver || isAborted(limits.signal)) {
        throw finalError(error, verdict, limits.signal);
      }
      this.#tell(() => ({ kind: "retrying", ...about(call, attempt), pauseSeconds: pause, error: verdict.error.name }));
      await sleep(pause * 1000, limits.signal);
      if (isAborted(limits.signal)) {
        throw finalError(error, verdict, limits.signal);
      }
    }
  }

  #limitsOf(options: CallOptions): CallLimits {
    checkLimits(options);
    const deadlineSeconds = options.deadlineSeconds ?? this.#options.deadlineSeconds ?? DEADLINE_SECONDS;
    return {
      timeoutSeconds: options.timeoutSeconds ?? this.#options.timeoutSeconds ?? TIMEOUT_SECONDS,
      endsAtMilliseconds: performance.now() + deadlineSeconds * 1000,
      maxRetries: options.maxRetries ?? this.#options.maxRetries ?? MAX_RETRIES,
      signal: options.signal,
    };
  }

  async #prepare(operation: Operation, request: object, options: CallOptions): Promise<PreparedCall> {
    if (typeof request !== "object" || request === null || Array.isArray(request)) {
      throw new TypeError("request: pass the fields as an object");
    }
    checkExact(request, operation.request);
    const body: Body = { ...operation.select, ...request, ...operation.select };
    let idempotencyKey = options.idempotencyKey;
    if (this.#options.makeReferences ?? true) {
      await makeOrderRefs(operation, body);
      if (operation.repeat === "idempotency_key") {
        idempotencyKey ??= await newReference();
      }
    }
    if (idempotencyKey !== undefined && operation.acceptsIdempotencyKey !== true) {
      throw new TypeError(`idempotencyKey: ${operation.name} takes none`);
    }
    const requestId = options.requestId ?? (await newReference());
    const orderRef = operation.repeat === "order_ref" ? textOf(body["orderRef"]) : undefined;
    return {
      operation,
      body,
      text: JSON.stringify(body),
      headers: this.#headers(requestId, idempotencyKey, options),
      facts: {
        action: operation.name,
        requestId,
        orderRef,
        idempotencyKey,
        customer_txnref: textOf(body["customer_txnref"]),
      },
      isRepeatable: operation.repeat === "read" || orderRef !== undefined || idempotencyKey !== undefined,
    };
  }

  #headers(requestId: string, idempotencyKey: string | undefined, options: CallOptions): Record<string, string> {
    const scenario = options.scenario ?? this.#options.scenario;
    return {
      ...lowerNames(this.#options.headers),
      ...lowerNames(options.headers),
      ...(scenario === undefined ? {} : { [SCENARIO_HEADER]: headerText("scenario", scenario) }),
      accept: "application/json",
      "content-type": "application/json",
      "user-agent": `kasuwa-client-typescript/${VERSION}`,
      "x-request-id": headerText("requestId", requestId),
      ...(idempotencyKey === undefined ? {} : { "idempotency-key": headerText("idempotencyKey", idempotencyKey) }),
      mid: this.mid,
      key: this.#key,
    };
  }

  async #attempt(call: PreparedCall, attempt: number, limits: CallLimits): Promise<Answer | NoAnswer> {
    const path = `/${call.operation.path}`;
    this.#tell(() => ({
      kind: "requestSent",
      ...about(call, attempt),
      path,
      headers: maskHeaders(call.headers),
      body: maskSecrets(call.body),
    }));
    const startedAt = performance.now();
    const outcome = await exchange(this.#fetch, {
      url: this.baseUrl + path,
      headers: call.headers,
      body: call.text,
      timeoutMilliseconds: Math.max(1, Math.min(limits.timeoutSeconds * 1000, limits.endsAtMilliseconds - startedAt)),
      signal: limits.signal,
    });
    const seconds = (performance.now() - startedAt) / 1000;
    this.#tell(() =>
      outcome.kind === "answer"
        ? {
            kind: "replyReceived",
            ...about(call, attempt),
            seconds,
            httpStatus: outcome.httpStatus,
            body: maskSecrets(outcome.body),
          }
        : { kind: "attemptFailed", ...about(call, attempt), seconds, reason: describe(outcome.error) },
    );
    return outcome;
  }

  /** Tells the hooks. One that fails must not fail the call: a payment could be taken for refused. */
  #tell(makeEvent: () => CallEvent): void {
    for (const hook of this.#hooks) {
      try {
        Promise.resolve(hook(makeEvent()) as unknown).catch(() => undefined);
      } catch {
        // Ignored, as documented at Hook.
      }
    }
  }
}

function about(call: PreparedCall, attempt: number): { action: string; attempt: number; requestId: string } {
  return { action: call.facts.action, attempt, requestId: call.facts.requestId };
}

function finish(call: PreparedCall, { body, answer }: Done, attempts: number): object {
  convertExact(body, call.operation.reply);
  metadata.set(body, {
    httpStatus: answer.httpStatus,
    requestId: answer.requestId ?? call.facts.requestId,
    idempotencyKey: call.facts.idempotencyKey,
    attempts,
  });
  return body;
}

/** Returns what a call throws. An aborted call throws the reason of its signal, unless more is known of the outcome. */
function finalError(error: Error, verdict: Failed, signal: AbortSignal | undefined): unknown {
  const saysNothing = !verdict.isDecided && !(error instanceof OutcomeUnknown);
  return signal !== undefined && isAborted(signal) && saysNothing ? (signal.reason as unknown) : error;
}

/** Returns the pause before the next attempt, half of it random, and at least what the service asks for. */
function pauseAfter(attempt: number, verdict: Failed): number {
  const longest = Math.min(MAX_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2 ** (attempt - 1));
  return Math.max(longest * (0.5 + Math.random() / 2), verdict.retryAfterSeconds ?? 0);
}

/** Resolves after a time, or as soon as the signal is aborted. */
export function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const finish = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", finish);
      resolve();
    };
    const timer = setTimeout(finish, milliseconds);
    signal?.addEventListener("abort", finish, { once: true });
    if (isAborted(signal)) {
      finish();
    }
  });
}

export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal !== undefined && isAborted(signal)) {
    throw signal.reason;
  }
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

/** Makes the orderRef of a request that has none, or of the orders in it, so that it can be repeated safely. */
async function makeOrderRefs(operation: Operation, body: Body): Promise<void> {
  if (operation.repeat === "order_ref") {
    body["orderRef"] = textOf(body["orderRef"]) ?? (await newReference());
  }
  const orders = operation.orders === undefined ? undefined : body[operation.orders];
  if (operation.orders !== undefined && Array.isArray(orders)) {
    const made = orders.map(async (order: unknown) =>
      isObject(order) ? { ...order, orderRef: textOf(order["orderRef"]) ?? (await newReference()) } : order,
    );
    body[operation.orders] = await Promise.all(made);
  }
}

function isObject(value: unknown): value is Body {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns a text, or undefined for anything else and for the empty text, which counts as absent. */
function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Returns headers with their names in lower case. Throws a TypeError for those that cannot be sent. */
function lowerNames(headers: { readonly [name: string]: string } = {}): Record<string, string> {
  const lowered = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  for (const [name, value] of lowered) {
    if (!HEADER_NAME.test(name)) {
      throw new TypeError("headers: a name may have letters, digits and hyphens");
    }
    headerText(`headers.${name}`, value);
  }
  return Object.fromEntries(lowered);
}

/** Returns a text that can be sent as a header. The error does not quote it, because it may be the key. */
function headerText(name: string, value: unknown): string {
  if (typeof value !== "string" || !HEADER_VALUE.test(value)) {
    throw new TypeError(`${name}: pass a string of 1 to 255 ASCII characters`);
  }
  return value;
}

function parseBaseUrl(text: unknown): string {
  let url: URL;
  try {
    url = new URL(String(text));
  } catch {
    throw new TypeError("baseUrl: pass an address such as http://127.0.0.1:8080");
  }
  if (!["http:", "https:"].includes(url.protocol) || url.username !== "" || url.search !== "" || url.hash !== "") {
    throw new TypeError("baseUrl: pass an http or https address without user, query or fragment");
  }
  return url.origin + url.pathname.replace(/\/+$/, "");
}

function checkLimits(options: KasuwaOptions | CallOptions): void {
  for (const name of ["timeoutSeconds", "deadlineSeconds"] as const) {
    const value = options[name];
    if (value !== undefined && !(Number.isFinite(value) && value > 0 && value <= 86_400)) {
      throw new TypeError(`${name}: pass a number of seconds above zero, at most 86,400`);
    }
  }
  const { maxRetries } = options;
  if (maxRetries !== undefined && !(Number.isInteger(maxRetries) && maxRetries >= 0)) {
    throw new TypeError("maxRetries: pass a whole number, not negative");
  }
}
