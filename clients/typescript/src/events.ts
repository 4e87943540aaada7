/** Webhook events: checks that they are genuine, and signs some for unit tests. */

import type { DeliveryFacts } from "./delivery.js";
import { InvalidSignature } from "./errors.js";
import { EVENT_KINDS, type KasuwaEvent } from "./generated/events.js";
import { webCrypto } from "./webcrypto.js";

/** Headers of a request, as `fetch`, Node.js, Express and others have them. */
export type HeadersLike =
  | { get(name: string): string | null | undefined }
  | { readonly [name: string]: string | readonly string[] | undefined };

export interface VerifyEventOptions {
  /** How old, or how far in the future, a delivery may be. It limits replays. Default 300. */
  readonly toleranceSeconds?: number | undefined;
  /** Name of the header with the service hash, if the operator has named it differently. */
  readonly hashHeader?: string | undefined;
  /**
   * Whether deliveries without the Standard Webhooks headers are accepted. Such a delivery has no time, so whoever has
   * recorded it can send it again at any time. Default false.
   */
  readonly acceptServiceHashAlone?: boolean | undefined;
  /** The present, for tests. */
  readonly now?: Date | undefined;
}

type Bytes = Uint8Array<ArrayBuffer>;

const TOLERANCE_SECONDS = 300;
const HASH_HEADER = "service-hash";
/** Appended to the name of that header: the hash by the key before the newest one, while a key is being rolled. */
const PREVIOUS_SUFFIX = "-previous";
const SECRET_PREFIX = "whsec_";

/**
 * Checks the signatures of an event in constant time and returns it, typed by its kind. Throws InvalidSignature if none of the keys signed
 * it, it was changed, or it is too old.
 *
 * @param rawBody The body exactly as it was received. A body that was parsed and written again has another signature.
 * @param headers The headers of the delivery, in any case.
 * @param key The merchant's key, or several while a key is being rolled.
 */
export async function verifyEvent(
  rawBody: string | Uint8Array | ArrayBuffer,
  headers: HeadersLike,
  key: string | readonly string[],
  options: VerifyEventOptions = {},
): Promise<KasuwaEvent> {
  const body = bytesOf(rawBody);
  const keys = readKeys(key);
  const id = readHeader(headers, "webhook-id");
  const timestamp = readHeader(headers, "webhook-timestamp");
  const signature = readHeader(headers, "webhook-signature");
  const hashHeader = options.hashHeader ?? HASH_HEADER;
  const hash = readHeader(headers, hashHeader);
  if (signature !== "") {
    await checkSignature(concatenate(encode(`${id}.${timestamp}.`), body), signature, keys);
    checkTime(id, timestamp, options);
  } else if (options.acceptServiceHashAlone !== true) {
    throw new InvalidSignature("The delivery has no webhook-signature header");
  } else if (hash === "") {
    throw new InvalidSignature(`The delivery has neither a webhook-signature nor a ${hashHeader} header`);
  }
  const previousHash = readHeader(headers, hashHeader + PREVIOUS_SUFFIX);
  const isHashed = (await isServiceHash(body, hash, keys)) || (await isServiceHash(body, previousHash, keys));
  if (hash !== "" && !isHashed) {
    throw new InvalidSignature(`The ${hashHeader} header does not fit the body and the key`);
  }
  const hasTime = signature !== "";
  return readEvent(parsePayload(body), {
    eventId: id === "" ? undefined : id,
    sentAt: hasTime ? new Date(Number(timestamp) * 1000) : undefined,
  });
}

export interface SignEventOptions {
  /** The `webhook-id`, the same for each delivery of one event. Default `evt_00000001`. */
  readonly eventId?: string | undefined;
  /** Name of the header with the service hash, if the operator has named it differently. */
  readonly hashHeader?: string | undefined;
  /** The time of the delivery. Default: the present. */
  readonly now?: Date | undefined;
}

/** A delivery as the service would send it. */
export interface SignedEvent {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Returns a delivery of an event, signed in both ways: for unit tests of what receives events, without a server.
 *
 * @param payload The fields of the event, or a body that is ready.
 * @param key The merchant's key, or several, the newest first, while a key is being rolled.
 */
export async function signEvent(
  payload: Readonly<Record<string, unknown>> | string,
  key: string | readonly string[],
  options: SignEventOptions = {},
): Promise<SignedEvent> {
  const { subtle } = await webCrypto();
  const text = typeof payload === "string" ? payload : JSON.stringify(payload);
  const body = encode(text);
  const keys = readKeys(key);
  const id = options.eventId ?? "evt_00000001";
  const timestamp = String(Math.floor((options.now ?? new Date()).getTime() / 1000));
  const message = concatenate(encode(`${id}.${timestamp}.`), body);
  const signatures: string[] = [];
  const hashes: string[] = [];
  for (const one of keys) {
    const hmac = await subtle.importKey("raw", one, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
    signatures.push(`v1,${toBase64(new Uint8Array(await subtle.sign("HMAC", hmac, message)))}`);
    hashes.push(toHex(new Uint8Array(await subtle.digest("SHA-512", concatenate(body, one)))));
  }
  const hashHeader = options.hashHeader ?? HASH_HEADER;
  const [newest = "", previous] = hashes;
  const headers: Record<string, string> = {
    "content-type": "application/json",
    [hashHeader]: newest,
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": signatures.join(" "),
  };
  if (previous !== undefined) {
    headers[`${hashHeader}-previous`] = previous;
  }
  return { body: text, headers };
}

/** Returns the event of a payload. One of a kind that this version does not know is an UnknownEvent. */
function readEvent(payload: Record<string, unknown>, delivery: DeliveryFacts): KasuwaEvent {
  const isKnown = EVENT_KINDS.has(payload["kind"]);
  const kind = isKnown ? {} : { kind: "unknown", sentKind: payload["kind"] };
  return { ...payload, ...kind, ...delivery } as KasuwaEvent;
}

/** Returns the bytes of the keys, which may also be in the form that Standard Webhooks libraries take. */
function readKeys(key: string | readonly string[]): Bytes[] {
  const keys = typeof key === "string" ? [key] : [...key];
  if (keys.length === 0 || !keys.every((one) => typeof one === "string" && one !== "")) {
    throw new TypeError("key: pass a text that is not empty, or several");
  }
  return keys.map((one) => (one.startsWith(SECRET_PREFIX) ? secretBytes(one) : encode(one)));
}

function secretBytes(secret: string): Bytes {
  const bytes = fromBase64(secret.slice(SECRET_PREFIX.length));
  if (bytes === undefined || bytes.length === 0) {
    throw new TypeError(`key: a secret that begins with ${SECRET_PREFIX} must continue in Base64`);
  }
  return bytes;
}

function readHeader(headers: HeadersLike, name: string): string {
  if (typeof headers.get === "function") {
    return ((headers as { get(name: string): string | null | undefined }).get(name) ?? "").trim();
  }
  for (const [found, value] of Object.entries(headers as Record<string, string | readonly string[] | undefined>)) {
    if (found.toLowerCase() === name.toLowerCase() && value !== undefined) {
      return (typeof value === "string" ? value : (value[0] ?? "")).trim();
    }
  }
  return "";
}

/** Throws InvalidSignature unless one of the keys made one of the signatures. */
async function checkSignature(message: Bytes, header: string, keys: readonly Bytes[]): Promise<void> {
  const { subtle } = await webCrypto();
  const given = header.split(/\s+/).map((part) => (part.startsWith("v1,") ? fromBase64(part.slice(3)) : undefined));
  let isGenuine = false;
  for (const key of keys) {
    const hmac = await subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
    const expected = new Uint8Array(await subtle.sign("HMAC", hmac, message));
    for (const signature of given) {
      // All pairs are compared, so that the time does not tell which key or signature was right.
      const isEqual = signature !== undefined && equalBytes(expected, signature);
      isGenuine = isEqual || isGenuine;
    }
  }
  if (!isGenuine) {
    throw new InvalidSignature("The webhook-signature header does not fit the body and the key");
  }
}

function checkTime(id: string, timestamp: string, options: VerifyEventOptions): void {
  if (id === "" || !/^[0-9]{1,12}$/.test(timestamp)) {
    throw new InvalidSignature("The webhook-id or webhook-timestamp header is missing or not valid");
  }
  const tolerance = options.toleranceSeconds ?? TOLERANCE_SECONDS;
  const now = (options.now ?? new Date()).getTime() / 1000;
  // Written so that a tolerance that is not a number accepts nothing.
  if (!(Math.abs(now - Number(timestamp)) <= tolerance)) {
    throw new InvalidSignature(`The delivery is more than ${tolerance} seconds old, or from the future`);
  }
}

async function isServiceHash(body: Bytes, given: string, keys: readonly Bytes[]): Promise<boolean> {
  const { subtle } = await webCrypto();
  const hash = fromHex(given);
  let isGenuine = false;
  for (const key of keys) {
    const expected = new Uint8Array(await subtle.digest("SHA-512", concatenate(body, key)));
    isGenuine = equalBytes(expected, hash) || isGenuine;
  }
  return isGenuine;
}

function parsePayload(body: Uint8Array): Record<string, unknown> {
  let payload: unknown;
  try {
    payload = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    payload = undefined;
  }
  if (typeof payload !== "object" || payload === null || Array.isArray(payload)) {
    throw new InvalidSignature("The body is signed, but is not a JSON object");
  }
  return payload as Record<string, unknown>;
}

/** Compares in a time that depends on the lengths alone, not on where the bytes differ. */
function equalBytes(left: Uint8Array, right: Uint8Array): boolean {
  let difference = left.length ^ right.length;
  for (let index = 0; index < left.length; index += 1) {
    difference |= (left[index] ?? 0) ^ (right[index] ?? 0);
  }
  return difference === 0;
}

function encode(text: string): Bytes {
  return new TextEncoder().encode(text);
}

function bytesOf(body: string | Uint8Array | ArrayBuffer): Bytes {
  if (typeof body === "string") {
    return encode(body);
  }
  if (body instanceof Uint8Array || body instanceof ArrayBuffer) {
    return new Uint8Array(body);
  }
  throw new TypeError("rawBody: pass the body as it came, as bytes or a string, not a parsed object");
}

function concatenate(first: Uint8Array, second: Uint8Array): Bytes {
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

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function toBase64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}

/** Returns the bytes of a Base64 text, or undefined if it is not one. */
function fromBase64(text: string): Bytes | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
