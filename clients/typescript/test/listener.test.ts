/** What an application needs to receive events: eventListener, isPaid, and a client from the environment. */

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { type EventListenerOptions, eventListener, Kasuwa, type KasuwaEvent } from "kasuwa-client";
import { openShop } from "./service.js";

const BODY = JSON.stringify({ txnStatus: "successful", txnRef: "GP|FD|1", kind: "transfer", orderRef: "a" });
const client = new Kasuwa({ mid: "GP0000001", key: "merchant-key" });

function signed(key = "merchant-key"): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac("sha256", key).update(`evt_1.${timestamp}.${BODY}`).digest("base64");
  return { "webhook-id": "evt_1", "webhook-timestamp": timestamp, "webhook-signature": `v1,${signature}` };
}

/** Serves a listener and returns a function that sends it a POST request. */
async function serve(
  context: TestContext,
  receive: (event: KasuwaEvent) => unknown,
  options: EventListenerOptions,
): Promise<(path: string, init?: RequestInit) => Promise<string>> {
  const server = createServer(eventListener(client, receive, options));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  context.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  return async (path, init) => {
    const reply = await fetch(`http://127.0.0.1:${port}${path}`, { method: "POST", ...init });
    return `${reply.status} ${await reply.text()}`;
  };
}

test("a listener passes genuine events on, and nothing else", async (context) => {
  const lines: string[] = [];
  const seen: string[] = [];
  const receive = (event: KasuwaEvent): string => {
    seen.push(event.kind);
    return `thanks for ${event.txnRef}`;
  };
  const routes = { "/orders": async (item: string) => `one ${item}`, "/broken": () => assert.fail("the details") };
  const send = await serve(context, receive, { routes, log: (line) => lines.push(line) });
  assert.equal(await send("/events?a=b", { body: BODY, headers: signed() }), "200 thanks for GP|FD|1\n");
  assert.equal(await send("/events", { body: BODY, headers: signed("another") }).then((text) => text.slice(0, 3)), "400");
  assert.equal(
    await send("/events", { body: BODY }),
    "400 rejected: The delivery has no webhook-signature header\n",
  );
  assert.equal(await send("/orders", { body: "é" }), "200 one é\n");
  assert.equal(await send("/broken", { body: "x" }), "500 failed\n");
  assert.equal(await send("/elsewhere", { body: "x" }), "404 there is nothing at this path\n");
  assert.equal(await send("/toString", { body: "x" }), "404 there is nothing at this path\n");
  assert.equal(await send("/events", { method: "GET" }), "405 use POST\n");
  assert.match(await send("/events", { body: "x".repeat(1_048_577) }), /^413 /);
  assert.deepEqual(seen, ["transfer"]);
  assert.equal(lines[0], "POST /events: 200 thanks for GP|FD|1");
  assert.ok(lines.some((line) => line.includes("the details")));
  assert.ok(!lines.join().includes("merchant-key"));
});

test("a function that fails is answered with 500, so that the event comes again", async (context) => {
  const send = await serve(context, () => Promise.reject(new Error("busy")), { path: "/hooks" });
  assert.equal(await send("/hooks", { body: BODY, headers: signed() }), "500 failed\n");
});

test("a payment is paid if it covers the price in its currency", async () => {
  const { client: shop } = await openShop();
  const payment = await shop.payment.chargeBankTransfer({ amount: "200.00" });
  const isPaid = (amount: string, currency?: string): Promise<boolean> =>
    shop.payment.isPaid(payment.txnRef, { amount, currency });
  assert.equal(await isPaid("200.00"), false);
  await shop.sandbox.payAccount({ accountNumber: payment.accountNumber ?? "", amount: "200.00" });
  assert.deepEqual(await Promise.all([isPaid("200"), isPaid("199.99"), isPaid("200.00", "NGN")]), [true, true, true]);
  assert.deepEqual(await Promise.all([isPaid("200.01"), isPaid("200.00", "USD")]), [false, false]);
  await shop.payment.refund({ txnRef: payment.txnRef, amount: "50.00" });
  assert.deepEqual(await Promise.all([isPaid("200.00"), isPaid("150.00")]), [false, true]);
  for (const wrong of ["", "0", "-1", "1e3", 200 as unknown as string]) {
    await assert.rejects(isPaid(wrong), TypeError);
  }
});

test("what is no payment is not paid", async () => {
  const { client: shop } = await openShop();
  const transfer = await shop.disburse.transfer({ amount: "20.00", bankcode: "058", accountnumber: "0000000000" });
  const payment = await shop.payment.chargeBankTransfer({ amount: "200.00" });
  await shop.sandbox.payAccount({ accountNumber: payment.accountNumber ?? "", amount: "200.00" });
  const refund = await shop.payment.refund({ txnRef: payment.txnRef, amount: "120.00" });
  for (const reference of [transfer.txnRef, String(refund.refundRef), "GP00000000020260101A", "nothing"]) {
    assert.equal(await shop.payment.isPaid(reference, { amount: "1.00" }), false);
    await assert.rejects(shop.payment.isPaid(reference, { amount: "0" }), TypeError);
  }
  assert.equal(await shop.payment.isPaid(payment.txnRef, { amount: "1.00" }), true);
});

test("a client is made from the environment", async () => {
  assert.throws(() => Kasuwa.fromEnvironment({ KASUWA_MID: "GP0000007" }), /not set.*: KASUWA_KEY, KASUWA_URL$/);
  const environment = { KASUWA_MID: "GP0000007", KASUWA_KEY: "merchant-key", KASUWA_URL: "http://127.0.0.1:1" };
  const made = Kasuwa.fromEnvironment(environment, { maxRetries: 0 });
  assert.deepEqual([made.mid, made.baseUrl], ["GP0000007", "http://127.0.0.1:1"]);
  assert.equal((await made.verifyEvent(BODY, signed())).txnRef, "GP|FD|1");
  assert.ok(!JSON.stringify(made).includes("merchant-key"));
});
