/** The service that the tests run against, and merchants of their own. tests/clients starts it and audits the books. */

import { appendFileSync } from "node:fs";
import { Kasuwa, type KasuwaOptions } from "kasuwa-client";

function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined) {
    throw new Error(`${name} is not set: run tests/clients/test_typescript.py`);
  }
  return value;
}

export const SERVICE = setting("KASUWA_URL");

export interface Shop {
  readonly client: Kasuwa;
  readonly mid: string;
  readonly key: string;
}

/** Makes a merchant with a funded wallet. Its mid is written to a file, so that its books are audited at the end. */
export async function openShop(options: Partial<KasuwaOptions> = {}): Promise<Shop> {
  const demo = new Kasuwa({ mid: "GP0000001", key: "123456789", baseUrl: SERVICE });
  const { mid, key } = await demo.sandbox.newMerchant({ name: "Ada Stores" });
  appendFileSync(setting("KASUWA_MERCHANTS_FILE"), `${mid}\n`);
  return { client: new Kasuwa({ mid, key, baseUrl: SERVICE, ...options }), mid, key };
}

/** Returns the balance of the NGN wallet in kobo. */
export async function walletOf(client: Kasuwa): Promise<number> {
  const { data } = await client.resources.wallet();
  const naira = data.find((line) => line.currency === "NGN");
  return Math.round(Number(naira?.balance) * 100);
}

export const TRANSFER = { amount: "1500.00", bankcode: "058", accountnumber: "0000000000" } as const;
// An ordinary transfer of 1,500.00 with its fee of 10.00 and VAT of 0.75, in kobo.
export const TRANSFER_COST = 151_075;
// The bank answers `pending` until the test says otherwise.
export const PENDING_ACCOUNT = "0000000020";
