/** The client: one object per merchant. */

import { Caller } from "./caller.js";
import { type HeadersLike, verifyEvent } from "./events.js";
import type { KasuwaEvent } from "./generated/events.js";
import { KasuwaPaths } from "./generated/paths.js";
import type { KasuwaOptions } from "./options.js";

/**
 * A client of one merchant. It has one object per path with one method per action:
 *
 * ```ts
 * const shop = new Kasuwa({ mid: "GP0000001", key: "…", baseUrl: "http://127.0.0.1:8080" });
 * const transfer = await shop.disburse.transfer({ amount: "1500.00", bankcode: "058", accountnumber: "0000000000" });
 * const final = await shop.disburse.wait(transfer, { seconds: 60 });
 * ```
 *
 * It keeps no connection of its own and needs no closing. It can be shared by any number of concurrent calls.
 */
export class Kasuwa extends KasuwaPaths {
  readonly mid: string;
  readonly baseUrl: string;
  // Private, so that neither the key nor a header is shown when the client is logged.
  readonly #options: KasuwaOptions;

  /** Throws a TypeError if an option is wrong. */
  constructor(options: KasuwaOptions) {
    const caller = new Caller(options);
    super(caller);
    this.mid = caller.mid;
    this.baseUrl = caller.baseUrl;
    this.#options = options;
  }

  /**
   * Returns a client of the merchant that the variables KASUWA_MID, KASUWA_KEY and KASUWA_URL name, by default those of
   * the process. Throws a TypeError that names every variable that is not set.
   */
  static fromEnvironment(
    environment: { readonly [name: string]: string | undefined } = processEnvironment(),
    options: Partial<KasuwaOptions> = {},
  ): Kasuwa {
    const { KASUWA_MID: mid = "", KASUWA_KEY: key = "", KASUWA_URL: baseUrl = "" } = environment;
    const found = { KASUWA_MID: mid, KASUWA_KEY: key, KASUWA_URL: baseUrl };
    const missing = Object.entries(found).filter(([, value]) => value === "").map(([name]) => name);
    if (missing.length > 0) {
      throw new TypeError(`not set in the environment: ${missing.join(", ")}`);
    }
    return new Kasuwa({ mid, key, baseUrl, ...options });
  }

  /**
   * Returns the event of a delivery, typed by its kind. Throws InvalidSignature if it was not signed with the key of
   * this client. The function verifyEvent has options.
   */
  verifyEvent(rawBody: string | Uint8Array | ArrayBuffer, headers: HeadersLike): Promise<KasuwaEvent> {
    return verifyEvent(rawBody, headers, this.#options.key);
  }

  /** Returns a client of the same merchant with other options. Headers are added to those of this client. */
  withOptions(options: Omit<Partial<KasuwaOptions>, "mid" | "key">): Kasuwa {
    const headers = { ...this.#options.headers, ...options.headers };
    return new Kasuwa({ ...this.#options, ...options, headers });
  }
}

/** Returns the environment variables of Node.js, or none in a runtime without them. */
function processEnvironment(): { readonly [name: string]: string | undefined } {
  const { process } = globalThis as { process?: { env?: { readonly [name: string]: string | undefined } } };
  return process?.env ?? {};
}
