/** A program for every runtime: what the client uses of Node.js, Deno and Bun. Prints one line. It needs no test runner. */

import { InvalidRequest, Kasuwa, OutcomeUnknown, signEvent, verifyEvent } from "kasuwa-client";

async function thrownBy(call: Promise<unknown>): Promise<unknown> {
  try {
    await call;
    return undefined;
  } catch (error) {
    return error;
  }
}

const seen: string[] = [];
const shop = Kasuwa.fromEnvironment(undefined, { hooks: [(event) => seen.push(event.kind)] });
const transfer = await shop.disburse.transfer({ amount: "10.00", bankcode: "058", accountnumber: "0000000000" });
const { txnStatus } = await shop.disburse.wait(transfer, { seconds: 60 });
const refused = await thrownBy(shop.disburse.verify({ txnRef: "unknown-reference" }));
const clients: unknown[] = [];
for await (const client of shop.clients.list({ limit: 1 })) {
  clients.push(client);
}
const away = new Kasuwa({ mid: "GP1", key: "secret", baseUrl: "http://127.0.0.1:9", maxRetries: 0 });
const failed = await thrownBy(away.resources.banks());
const gone = await thrownBy(shop.resources.banks({}, { signal: AbortSignal.abort(new RangeError("gone")) }));
const { body, headers } = await signEvent({ kind: "transfer", txnRef: "1" }, "secret");
const event = await verifyEvent(body, headers, "secret");
const results = {
  txnStatus,
  refused: refused instanceof InvalidRequest && refused.code,
  isListed: clients.length === 0,
  failed: (failed as Error).name,
  isKnown: !(failed instanceof OutcomeUnknown),
  isAborted: gone instanceof RangeError,
  event: event.kind,
  hooks: seen.slice(0, 2),
};
console.log(JSON.stringify(results));
