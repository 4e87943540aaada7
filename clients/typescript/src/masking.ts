/** Masks secrets in what hooks see: card numbers, security codes, PINs, OTPs, tokens and keys. */

import { SECRET_FIELDS } from "./generated/secrets.js";

const MASK = "***";

// Further fields of replies, and of headers.
const FURTHER_FIELDS = ["cardtoken", "qr_code", "qr_image", "hash", "authorization", "proxy-authorization", "cookie"];
const MASKED_FIELDS: ReadonlySet<string> = new Set([...SECRET_FIELDS, ...FURTHER_FIELDS]);
// Identifiers of the service and of this client. They are no secrets, although the digits of some have the check digit
// of a card number: references of payments, ids of events, and references that the client makes.
const REFERENCE = String.raw`GP[0-9]{17}[A-Z](?![0-9A-Za-z])|\bevt_[0-9]{8,18}[0-9a-f]{12}\b|\bkc-[0-9a-f]{32}\b`;
// Runs of digits that may be a card number, also with spaces or hyphens between them.
const CARD_LIKE = "(?<![0-9])[0-9](?:[ -]?[0-9]){11,18}(?![0-9])";
const REFERENCE_OR_CARD = new RegExp(`(${REFERENCE})|${CARD_LIKE}`, "g");

/** Returns a copy of a JSON value in which secrets are replaced by asterisks. */
export function maskSecrets(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(maskSecrets);
  }
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).map(([name, inner]) => [name, maskField(name, inner)] as const);
    return Object.fromEntries(entries);
  }
  if (typeof value === "string") {
    return value.replace(REFERENCE_OR_CARD, (found: string, reference?: string) =>
      reference === undefined && isCardNumber(found.replace(/[ -]/g, "")) ? MASK : found,
    );
  }
  return typeof value === "number" && isCardNumber(String(value)) ? MASK : value;
}

export function maskHeaders(headers: { readonly [name: string]: string }): { [name: string]: string } {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(maskField(name, value))]));
}

function maskField(name: string, value: unknown): unknown {
  const isSecret = MASKED_FIELDS.has(name.toLowerCase()) && value !== null && value !== undefined;
  return isSecret ? MASK : maskSecrets(value);
}

/** Returns whether digits have the length and the check digit of a card number. */
function isCardNumber(digits: string): boolean {
  if (!/^[0-9]{12,19}$/.test(digits)) {
    return false;
  }
  const doubled = [...digits].reverse().map((digit, index) => Number(digit) * (1 + (index % 2)));
  return doubled.reduce((sum, value) => sum + (value > 9 ? value - 9 : value), 0) % 10 === 0;
}
