/** Decides whether a payment covers an amount. */

import type { Amount } from "./exact.js";

/** What an order costs. */
export interface Price {
  readonly amount: Amount;
  /** Default `NGN`. */
  readonly currency?: string | undefined;
}

interface Payment {
  readonly txnStatus: string;
  readonly currency: string;
  readonly chargedAmount: Amount;
  readonly refundedAmount?: Amount | null;
}

/** Decimals that amounts are compared with. Currencies have fewer. */
const DECIMALS = 4;

/** Returns whether a payment is successful, in the currency of the price, and was charged with at least the price. */
export function covers(payment: Payment, price: Price): boolean {
  const wanted = scaled(price.amount);
  if (wanted === undefined || wanted === 0n) {
    throw new TypeError('amount: pass a string such as "1500.00", above zero');
  }
  const charged = scaled(payment.chargedAmount) ?? 0n;
  const refunded = scaled(payment.refundedAmount ?? "0") ?? 0n;
  const isCurrency = payment.currency === (price.currency ?? "NGN");
  return payment.txnStatus === "successful" && isCurrency && charged - refunded >= wanted;
}

/** Returns an amount as a whole number of its smallest decimal, or undefined if it is not an exact amount. */
function scaled(amount: unknown): bigint | undefined {
  const found = typeof amount === "string" ? /^([0-9]{1,15})(?:\.([0-9]{1,4}))?$/.exec(amount) : null;
  return found === null ? undefined : BigInt(`${found[1]}${(found[2] ?? "").padEnd(DECIMALS, "0")}`);
}
