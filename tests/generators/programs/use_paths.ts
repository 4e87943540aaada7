// Uses the types that openapi-typescript makes of /openapi.json: `node use_paths.js URL MID KEY`.
// The field `action` tells the requests of a path apart.

import type { paths } from "./kasuwa-paths";

type Body<P extends keyof paths> = paths[P] extends { put: { requestBody: { content: { "application/json": infer B } } } } ? B : never;

const [url, mid, key] = process.argv.slice(2) as [string, string, string];

async function put<P extends keyof paths>(path: P, body: Body<P>): Promise<unknown> {
  const headers = { mid, key, "content-type": "application/json" };
  const reply = await fetch(new URL(path, url), { method: "PUT", headers, body: JSON.stringify(body) });
  return reply.json();
}

// The type narrows by the discriminator: only a transfer has an amount.
export function amountOf(body: Body<"/disburse">): string | number | undefined {
  if (body.action !== "transfer") return body.txnRef;
  return "data" in body ? body.data.length : body.amount;
}

export function wrong(): void {
  // @ts-expect-error there is no such action
  void put("/disburse", { action: "destroy" });
  // @ts-expect-error the fields of another action
  void put("/disburse", { action: "verify", amount: "1" });
}

async function main(): Promise<void> {
  const order = { amount: "10.00", bankcode: "058", accountnumber: "0000000000" };
  const bulk = await put("/disburse", { action: "transfer", type: "bulk", data: [order] });
  const wallet = await put("/resources", { inquire: "wallet" });
  console.log(JSON.stringify({ bulk, wallet }));
}

void main();
