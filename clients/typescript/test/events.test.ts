/** Events as the service sends them, and what is not genuine. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { InvalidSignature, type KasuwaEvent, signEvent, verifyEvent } from "kasuwa-client";
import { openShop, TRANSFER } from "./service.js";

interface Delivery {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly key: string;
  readonly orderRef: string;
}

/** Makes a transfer and returns the event that the service sends about it. */
async function deliveredEvent(context: TestContext): Promise<Delivery> {
  let deliver: (found: { headers: IncomingHttpHeaders; body: Buffer }) => void;
  const delivered = new Promise<{ headers: IncomingHttpHeaders; body: Buffer }>((resolve) => {
    deliver = resolve;
  });
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => {
      response.end();
      deliver({ headers: request.headers, body: Buffer.concat(pieces) });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  context.after(() => server.close());
  const { client, key } = await openShop();
  await client.sandbox.webhook({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events` });
  const { orderRef } = await client.disburse.transfer(TRANSFER);
  return { ...(await delivered), key, orderRef };
}

test("an event of the service is verified, and nothing else is", async (context) => {
  const { headers, body, key, orderRef } = await deliveredEvent(context);
  const event = await verifyEvent(body, headers, key);
  assert.ok(event.kind === "transfer");
  assert.equal(event.orderRef, orderRef);
  assert.deepEqual([event.txnStatus, event.chargedAmount], ["successful", "1500.00"]);
  assert.match(event.eventId ?? "", /^evt_/);
  assert.equal(event.sentAt?.getTime(), Number(headers["webhook-timestamp"]) * 1000);

  const all = new Headers(Object.entries(headers).map(([name, value]) => [name, String(value)]));
  assert.deepEqual(await verifyEvent(body.toString(), all, ["newer-key", key]), event);
  const capitals = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]));
  assert.deepEqual(await verifyEvent(new Uint8Array(body).buffer, capitals, key), event);

  const rolled = { ...headers, "service-hash": "0".repeat(128), "service-hash-previous": headers["service-hash"] };
  assert.deepEqual(await verifyEvent(body, rolled, key), event);

  const changed = Buffer.from(body.toString().replace("1500.00", "9500.00"));
  const sentAt = event.sentAt?.getTime() ?? 0;
  const later = { now: new Date(sentAt + 301_000) };
  const forged = { ...headers, "service-hash": "0".repeat(128) };
  const refused: readonly Parameters<typeof verifyEvent>[] = [
    [changed, headers, key],
    [body, headers, "another-key"],
    [body, headers, ["one-key", "another-key"]],
    [body, headers, key, { toleranceSeconds: Number.NaN }],
    [body, headers, key, later],
    [body, headers, key, { now: new Date(sentAt - 301_000) }],
    [body, forged, key],
    [body, { ...headers, "service-hash": "xyz" }, key],
    [body, { ...headers, "webhook-id": "evt_other" }, key],
    [body, { ...headers, "webhook-timestamp": String(Number(headers["webhook-timestamp"]) + 1) }, key],
    [body, { ...headers, "webhook-signature": "v1,AAAA" }, key],
    [body, { ...headers, "webhook-signature": "v1,%%%" }, key],
    [body, { "service-hash": headers["service-hash"] }, key],
    [body, {}, key],
  ];
  for (const [index, parts] of refused.entries()) {
    await assert.rejects(verifyEvent(...parts), InvalidSignature, `case ${index}`);
  }
  assert.deepEqual(await verifyEvent(body, headers, key, { ...later, toleranceSeconds: 600 }), event);
  const secret = `whsec_${Buffer.from(key).toString("base64")}`;
  assert.deepEqual(await verifyEvent(body, headers, secret), event);
  const alone = { "service-hash": headers["service-hash"] };
  const old = await verifyEvent(body, alone, key, { acceptServiceHashAlone: true });
  assert.deepEqual(old, { ...event, eventId: undefined, sentAt: undefined });
  await assert.rejects(verifyEvent(changed, alone, key, { acceptServiceHashAlone: true }), InvalidSignature);
  await assert.rejects(verifyEvent(body, {}, key, { acceptServiceHashAlone: true }), InvalidSignature);
  for (const wrong of [[], ["", key], "whsec_", [key, "whsec_"], "whsec_%"]) {
    await assert.rejects(verifyEvent(body, headers, wrong), TypeError);
  }
  await assert.rejects(verifyEvent(JSON.parse(body.toString()) as string, headers, key), TypeError);
});

/** Returns the event of a payload, signed with the service hash alone. */
async function readPayload(payload: object): Promise<KasuwaEvent> {
  const body = JSON.stringify(payload);
  const hash = createHash("sha512").update(`${body}key`).digest("hex");
  return verifyEvent(body, { "service-hash": hash }, "key", { acceptServiceHashAlone: true });
}

test("an event of an unknown kind, or of none, is readable", async () => {
  const payload = { status: 200, txnStatus: "failed", txnRef: "GP1", chargedAmount: "0.00", satellite: "5" };
  for (const kind of ["satellite", undefined, "toString"]) {
    const event = await readPayload({ ...payload, kind });
    assert.ok(event.kind === "unknown");
    assert.deepEqual([event.sentKind, event.txnRef, event["satellite"]], [kind, "GP1", "5"]);
  }
  const bill = await readPayload({ ...payload, kind: "bill", commission: "75.00" });
  assert.ok(bill.kind === "bill");
  assert.equal(bill.commission, "75.00");
  assert.ok(!("sentKind" in bill));
});

void test("a signed event is verified, and no other key verifies it", async () => {
  const payload = { kind: "transfer", txnStatus: "successful", txnRef: "GP|FD|1" };
  const { body, headers } = await signEvent(payload, ["newer-key", "older-key"], { eventId: "evt_1" });
  for (const signer of ["newer-key", ["older-key", "newer-key"]]) {
    const event = await verifyEvent(body, headers, signer);
    assert.deepEqual([event.txnRef, event.eventId], ["GP|FD|1", "evt_1"]);
  }
  const alone = await signEvent(body, "newer-key");
  const hash = { "service-hash": alone.headers["service-hash"] ?? "" };
  assert.ok(await verifyEvent(alone.body, hash, "newer-key", { acceptServiceHashAlone: true }));
  await assert.rejects(verifyEvent(body, headers, "stranger"), InvalidSignature);
  const old = await signEvent(payload, "key", { now: new Date(0) });
  await assert.rejects(verifyEvent(old.body, old.headers, "key"), InvalidSignature);
});
