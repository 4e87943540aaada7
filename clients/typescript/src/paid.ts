/** Decides whether a payment covers an amount. */

import { Refused } from "./errors.js";
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
  readonly payment_method: string;
  readonly chargedAmount: Amount;
  readonly refundedAmount?: Amount | null;
}

/** Decimals that amounts are compared with. Currencies have fewer. */
const DECIMALS = 4;
/** Status of a refused reference. */
const INVALID_REQUEST = 104;
/** What `verify` also shows, and no payer has paid: a refund, and a movement of the merchant's own wallet. */
const NOT_PAYMENTS = ["refund", "wallet"];

/**
 * Returns whether `verify` finds a successful payment in the currency of the price that was charged with at least the
 * price. False if it refuses the reference.
 */
export async function isCovered(verify: () => Promise<Payment>, price: Price): Promise<boolean> {
  const wanted = scaled(price.amount);
  if (wanted === undefined || wanted === 0n) {
    throw new TypeError('amount: pass a string such as "1500.00", above zero');
  }
  let found: Payment;
  try {
    found = await verify();
  } catch (error) {
    if (error instanceof Refused && error.status === INVALID_REQUEST) {
      return false;
    }
    throw error;
  }
  const charged = scaled(found.chargedAmount) ?? 0n;
  const refunded = scaled(found.refundedAmount ?? "0") ?? 0n;
  const isPayment = found.txnStatus === "successful" && !NOT_PAYMENTS.includes(found.payment_method);
  return isPayment && found.currency === (price.currency ?? "NGN") && charged - refunded >= wanted;
}

/** Returns an amount as a whole number of its smallest decimal, or undefined if it is not an exact amount. */
function scaled(amount: unknown): bigint | undefined {
  const found = typeof amount === "string" ? /^([0-9]{1,15})(?:\.([0-9]{1,4}))?$/.exec(amount) : null;
  return found === null ? undefined : BigInt(`${found[1]}${(found[2] ?? "").padEnd(DECIMALS, "0")}`);
}
