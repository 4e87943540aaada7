/** Webhook events: checks that they are genuine, and their type. */

import { InvalidSignature } from "./errors.js";
import { webCrypto } from "./webcrypto.js";

/** The body of an event: a transaction became final. */
export interface EventPayload {
  /** Always 200, also for a failed transaction: `txnStatus` has the outcome. */
  readonly status: 200;
  /** The final state of the transaction. It never changes after the event. */
  readonly txnStatus: "successful" | "failed";
  /** Reference of the transaction. Verify it before you act on the event. */
  readonly txnRef: string;
  /** Amount that was charged, paid out or given back, in major units of the currency; 0.00 if it failed. */
  readonly chargedAmount: string;
  /** Currency of the amount. Absent in a test event. */
  readonly currency?: string;
  /** How the money moved, for example `card`, `bank_transfer`, `transfer`, `bill` or `refund`; `test` in a test event. */
  readonly paymentMethod: string;
  /** The environment that sent the event. */
  readonly endpoint: "test" | "live";
  /** Your reference of a transfer, bill or cashcode. */
  readonly orderRef?: string;
  /** Your reference of a payment, if its request had one. */
  readonly customer_txnref?: string;
  /** Of a refund: the txnRef of the payment or purchase that is refunded. */
  readonly refundOf?: string;
  /** The loan that the transaction belongs to. */
  readonly loan_id?: string;
  /** The savings account that the transaction belongs to. */
  readonly savings_id?: string;
  /** Of a card purchase or refund: the reference of the virtual card. */
  readonly reference?: string;
  /** Of a bill: your commission. */
  readonly commission?: string;
  /** Of a payment: the part that its purpose could not use. It can be refunded. */
  readonly unappliedAmount?: string;
  /** Of a payment to a personalized account: your reference of the account. */
  readonly accountReference?: string;
}

/** An event whose signatures were checked. */
export interface VerifiedEvent {
  /** `webhook-id`: the same for every delivery of an event. Store it, and ignore an event that you have handled. */
  readonly id: string;
  /** The time of this delivery. */
  readonly sentAt: Date;
  readonly payload: EventPayload;
}

/** Headers of a request, as `fetch`, Node.js, Express and others have them. */
export type HeadersLike =
  | { get(name: string): string | null | undefined }
  | { readonly [name: string]: string | readonly string[] | undefined };

export interface VerifyEventOptions {
  /** Seconds that the time of an event may differ from now. Default 300. Zero or Infinity does not check it. */
  readonly toleranceSeconds?: number | undefined;
  /** Name of the header with the service hash, if the operator has set another than `service-hash`. */
  readonly hashHeader?: string | undefined;
  /** The current time. Default: the clock. */
  readonly now?: Date | undefined;
}

const TOLERANCE_SECONDS = 300;
const HASH_HEADER = "service-hash";

/**
 * Checks the signatures of an event and returns it. `rawBody` must be the bytes of the request as they came: a body
 * that was parsed and written again has another signature. `key` is the merchant's key, or several while a key is being
 * rolled. Throws InvalidSignature if the event is not genuine, was changed, or is too old.
 */
export async function verifyEvent(
  rawBody: string | Uint8Array | ArrayBuffer,
  headers: HeadersLike,
  key: string | readonly string[],
  options: VerifyEventOptions = {},
): Promise<VerifiedEvent> {
  const body = bytesOf(rawBody);
  const keys = (typeof key === "string" ? [key] : [...key]).filter((one) => one !== "");
  if (keys.length === 0) {
    throw new TypeError("key: pass the merchant's key");
  }
  const signed = readSignature(headers, options.hashHeader ?? HASH_HEADER);
  checkAge(signed.timestamp, options);
  if (!(await isSigned(body, signed, keys))) {
    throw new InvalidSignature("No signature of the event matches: another key signed it, or its body was changed");
  }
  return { id: signed.id, sentAt: new Date(signed.timestamp * 1000), payload: parsePayload(body) };
}

interface EventSignature {
  readonly id: string;
  readonly timestamp: number;
  /** Base64 signatures of version 1. */
  readonly signatures: readonly string[];
  /** The service hash, which is empty if the event has none. It alone would not tell the age of an event. */
  readonly hash: string;
}

function readSignature(headers: HeadersLike, hashHeader: string): EventSignature {
  const names = ["webhook-id", "webhook-timestamp", "webhook-signature"];
  const found = names.map((name) => readHeader(headers, name));
  const [id = "", timestamp = "", signature = ""] = found;
  const missing = names.filter((_, index) => found[index] === "");
  if (missing.length > 0) {
    throw new InvalidSignature(`The event lacks the header ${missing.join(", ")}`);
  }
  if (!/^[0-9]{1,12}$/.test(timestamp)) {
    throw new InvalidSignature("webhook-timestamp is not a number of seconds");
  }
  const versions = signature.split(" ").filter((one) => one.startsWith("v1,"));
  const signatures = versions.map((one) => one.slice(3));
  return { id, timestamp: Number(timestamp), signatures, hash: readHeader(headers, hashHeader) };
}

function readHeader(headers: HeadersLike, name: string): string {
  if (typeof headers.get === "function") {
    return (headers as { get(name: string): string | null | undefined }).get(name) ?? "";
  }
  for (const [found, value] of Object.entries(headers as Record<string, string | readonly string[] | undefined>)) {
    if (found.toLowerCase() === name.toLowerCase() && value !== undefined) {
      return typeof value === "string" ? value : (value[0] ?? "");
    }
  }
  return "";
}

function checkAge(timestamp: number, options: VerifyEventOptions): void {
  const tolerance = options.toleranceSeconds ?? TOLERANCE_SECONDS;
  const now = (options.now ?? new Date()).getTime() / 1000;
  if (tolerance > 0 && Math.abs(now - timestamp) > tolerance) {
    throw new InvalidSignature(`The event is not from the last ${tolerance} s: webhook-timestamp is too old or in the future`);
  }
}

/** Returns whether one key made the signature and the hash. All keys are tried, so that the time does not tell which. */
async function isSigned(body: Uint8Array<ArrayBuffer>, signed: EventSignature, keys: readonly string[]): Promise<boolean> {
  const { subtle } = await webCrypto();
  const message = concatenate(encode(`${signed.id}.${signed.timestamp}.`), body);
  const hash = fromHex(signed.hash);
  const signatures = signed.signatures.map(fromBase64);
  let isGenuine = false;
  for (const key of keys) {
    const secret = encode(key);
    const digest = new Uint8Array(await subtle.digest("SHA-512", concatenate(body, secret)));
    const mac = await subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
    const expected = new Uint8Array(await subtle.sign("HMAC", mac, message));
    const hasHash = signed.hash === "" || equalBytes(digest, hash);
    const hasSignature = signatures.map((found) => equalBytes(expected, found)).includes(true);
    isGenuine = (hasHash && hasSignature) || isGenuine;
  }
  return isGenuine;
}

function parsePayload(body: Uint8Array): EventPayload {
  let payload: unknown;
  try {
    payload = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    payload = undefined;
  }
  if (typeof payload !== "object" || payload === null || Array.isArray(payload)) {
    throw new InvalidSignature("The body of the event is not a JSON object");
  }
  return payload as EventPayload;
}

/** Compares in a time that depends on the lengths alone, not on where the bytes differ. */
function equalBytes(left: Uint8Array, right: Uint8Array): boolean {
  let difference = left.length ^ right.length;
  for (let index = 0; index < left.length; index += 1) {
    difference |= (left[index] ?? 0) ^ (right[index] ?? 0);
  }
  return difference === 0;
}

function encode(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

function bytesOf(body: string | Uint8Array | ArrayBuffer): Uint8Array<ArrayBuffer> {
  if (typeof body === "string") {
    return encode(body);
  }
  if (body instanceof Uint8Array || body instanceof ArrayBuffer) {
    return new Uint8Array(body);
  }
  throw new TypeError("rawBody: pass the body as it came, as bytes or a string, not a parsed object");
}

function concatenate(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(first.length + second.length);
  joined.set(first);
  joined.set(second, first.length);
  return joined;
}

/** Returns the bytes of a hexadecimal text, or none if it is not one. */
function fromHex(text: string): Uint8Array {
  const pairs = /^(?:[0-9a-f]{2})+$/i.test(text) ? (text.match(/../g) ?? []) : [];
  return Uint8Array.from(pairs, (pair) => Number.parseInt(pair, 16));
}

/** Returns the bytes of a Base64 text, or none if it is not one. */
function fromBase64(text: string): Uint8Array {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return new Uint8Array(0);
  }
}
