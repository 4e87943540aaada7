/** Calls to a running service: replies, refusals, lists, waiting. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import {
  AuthenticationError,
  type ClientRecord,
  ERROR_CODES,
  InsufficientFunds,
  InvalidRequest,
  Kasuwa,
  KasuwaError,
  metadataOf,
  NotValidated,
  OutcomeUnknown,
  Refused,
  StillPending,
  UnreadableOutcome,
} from "kasuwa-client";
import { openShop, PENDING_ACCOUNT, SERVICE, TRANSFER, TRANSFER_COST, walletOf } from "./service.js";

type ErrorClass<Kind> = new (...parts: never[]) => Kind;

async function thrown<Kind extends Error>(call: Promise<unknown>, kind: ErrorClass<Kind>): Promise<Kind> {
  const error: unknown = await call.then(
    () => assert.fail("the call did not throw"),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof kind, inspect(error));
  return error;
}

test("a transfer gets an orderRef, moves the money once and can be verified", async () => {
  const { client } = await openShop();
  const before = await walletOf(client);
  const transfer = await client.disburse.transfer(TRANSFER);
  assert.equal(transfer.txnStatus, "successful");
  assert.match(transfer.orderRef, /^kc-[0-9a-f]{32}$/);
  const again = await client.disburse.transfer({ ...TRANSFER, orderRef: transfer.orderRef });
  assert.equal(again.txnRef, transfer.txnRef);
  assert.equal(before - (await walletOf(client)), TRANSFER_COST);
  const state = await client.disburse.verify({ txnRef: transfer.txnRef });
  assert.deepEqual([state.amount, state.fee, state.vat], ["1500.00", "10.00", "0.75"]);
});

test("a reply has metadata, and other objects have none", async () => {
  const { client } = await openShop();
  const funded = await client.sandbox.fundWallet({ amount: "10.00" }, { requestId: "request-17" });
  const metadata = metadataOf(funded);
  assert.deepEqual([metadata?.httpStatus, metadata?.requestId, metadata?.attempts], [200, "request-17", 1]);
  assert.match(metadata?.idempotencyKey ?? "", /^kc-/);
  assert.equal(metadataOf({ ...funded }), undefined);
});

test("an Idempotency-Key of the caller is executed once", async () => {
  const { client } = await openShop();
  const before = await walletOf(client);
  await client.sandbox.fundWallet({ amount: "10.00" }, { idempotencyKey: "funding 1" });
  await client.sandbox.fundWallet({ amount: "10.00" }, { idempotencyKey: "funding 1" });
  assert.equal((await walletOf(client)) - before, 1000);
  const cancel = client.cashcode.cancel({ orderRef: "cash-1" }, { idempotencyKey: "cancel 1" });
  assert.match((await thrown(cancel, TypeError)).message, /cashcode\.cancel takes none/);
});

test("every order of a bulk gets an orderRef", async () => {
  const { client } = await openShop();
  const bulk = await client.disburse.transferBulk({ data: [TRANSFER, { ...TRANSFER, orderRef: "mine" }] });
  const [made, mine] = bulk.data.map((order) => order.orderRef);
  assert.match(made ?? "", /^kc-/);
  assert.equal(mine, "mine");
  const state = await client.disburse.wait(bulk);
  assert.equal(state.txnStatus, "successful");
  assert.equal(state.data?.length, 2);
});

test("an amount that is a number is refused before anything is sent", async () => {
  const sent: unknown[] = [];
  const { client } = await openShop({ hooks: [(event) => sent.push(event)] });
  const limits = { per_day: 5, categories: ["5411"] };
  const request: unknown = { billing: {}, currency: "USD", amount: 10, limits };
  const call = client.virtualcard.create(request as Parameters<typeof client.virtualcard.create>[0]);
  const error = await thrown(call, TypeError);
  assert.match(error.message, /^amount: pass an amount as a string such as "1500\.00", not a number; limits\.per_day/);
  const schedule: unknown = { payment_schedule: { "30-11-2030": 5 }, total: "5.00" };
  const charge = { token: "x", installment: schedule } as Parameters<typeof client.payment.chargeToken>[0];
  const nested = await thrown(client.payment.chargeToken(charge), TypeError);
  assert.match(nested.message, /^installment\.payment_schedule\.30-11-2030: pass/);
  assert.deepEqual(sent, []);
});

test("hooks see references whole, and card numbers not at all", async () => {
  const seen: string[] = [];
  const { client } = await openShop({ hooks: [(event) => seen.push(inspect(event, { depth: null }))] });
  const card = "4111111111111111";
  const orderRef = `kc-e04f72114974e${card}abc`;
  await client.disburse.transfer({ ...TRANSFER, orderRef, narration: `for ${card}` });
  assert.equal(seen.length, 2);
  assert.ok(seen.every((event) => event.includes(orderRef)), seen.join());
  assert.ok(seen[0]?.includes("for ***"), seen.join());
});

test("amounts of replies are texts, also those that are numbers on the wire", async () => {
  const { client } = await openShop();
  const charged = await client.payment.chargeBankTransfer({ amount: "2500.10" });
  await client.sandbox.payAccount({ accountNumber: charged.accountNumber ?? "", amount: "2500.10" });
  const payment = await client.payment.wait(charged);
  assert.equal(payment.chargedAmount, "2500.10");
  const card = await client.virtualcard.create({
    billing: { address: "12 Marina Road", name: "Ada Obi", city: "Lagos", state: "Lagos", postal_code: 101241 },
    amount: "10",
    currency: "USD",
  });
  const lines = await client.virtualcard.transactions({ reference: card.card_data.reference }).all();
  assert.ok(lines.length >= 2);
  for (const line of lines) {
    assert.match(line.amount, /^\d+\.\d\d$/);
    assert.match(line.effect, /^-?\d+\.\d\d$/);
  }
});

test("refusals are errors of their status", async () => {
  const { client } = await openShop();
  const funds = await thrown(client.disburse.transfer({ ...TRANSFER, amount: "9999999.00" }), InsufficientFunds);
  assert.equal(funds.status, 301);
  assert.equal(funds.action, "disburse.transfer");
  assert.match(funds.orderRef ?? "", /^kc-/);
  assert.equal((funds.reply as { status: number }).status, 301);
  const invalid = await thrown(client.disburse.transfer({ ...TRANSFER, bankcode: "x", amount: "0" }), InvalidRequest);
  assert.deepEqual(invalid.errors.map((fault) => fault.field).sort(), ["amount", "bankcode"]);
  assert.equal(invalid.name, "InvalidRequest");
  assert.equal(invalid.code, "field_invalid");
  assert.match(invalid.docUrl, /\/docs\/reference\/errors\.html#field_invalid$/);
  assert.deepEqual(invalid.errors.map((fault) => `${fault.code} ${fault.value}`).sort(), ["amount_zero 0", "field_invalid x"]);
  assert.ok(ERROR_CODES.includes("insufficient_funds") && funds.code === "insufficient_funds");
  assert.ok(invalid instanceof Refused && invalid instanceof KasuwaError && !(invalid instanceof OutcomeUnknown));
  assert.match(invalid.requestId ?? "", /^kc-/);
  const code = await client.payment.chargeAccount({
    amount: "500.00",
    account: { accountnumber: "0000000000", bankcode: "058" },
  });
  await thrown(client.payment.validate({ txnRef: code.txnRef, otp: "000000", validate: "account" }), NotValidated);
});

test("a wrong key is an AuthenticationError, and the key is shown nowhere", async () => {
  const client = new Kasuwa({ mid: "GP0000001", key: "secret-of-the-shop", baseUrl: SERVICE });
  const error = await thrown(client.resources.wallet(), AuthenticationError);
  const shown = inspect(error, { depth: 9, showHidden: true }) + inspect(client, { depth: 9 }) + JSON.stringify(client);
  assert.ok(!shown.includes("secret-of-the-shop"), shown);
});

test("a list is one page or all records", async () => {
  const { client } = await openShop();
  for (const number of [1, 2, 3, 4, 5]) {
    const phone = `0803123456${number}`;
    await client.clients.create({ data: { firstname: "Ada", lastname: `Obi${"i".repeat(number)}`, phone } });
  }
  const page = await client.clients.list({ limit: 2 });
  assert.deepEqual([page.data.length, page.total, page.offset], [2, 5, 0]);
  const seen: ClientRecord[] = [];
  for await (const record of client.clients.list({ limit: 2 })) {
    seen.push(record);
    if (seen.length === 3) {
      // A new record moves the others: none may appear twice, and none may be missing.
      await client.clients.create({ data: { firstname: "Bola", lastname: "Ade", phone: "08039876543" } });
    }
  }
  assert.deepEqual(seen.map((record) => record.phone?.slice(-1)), ["5", "4", "3", "2", "1"]);
  assert.equal(new Set(seen.map((record) => record.client_id)).size, 5);
  assert.equal((await client.clients.list({ limit: 2 }).all(3)).length, 3);
  assert.deepEqual(await client.resources.recurrents().all(), []);
});

test("a list that is refused throws from await and from for await", async () => {
  const { client } = await openShop();
  const request = { savings_id: "SV-unknown" };
  await thrown(Promise.resolve(client.investments.statement(request)), InvalidRequest);
  await thrown(client.investments.statement(request).all(), InvalidRequest);
});

test("the event feed continues after the last event", async () => {
  const { client } = await openShop();
  for (let count = 0; count < 5; count += 1) {
    await client.disburse.transfer(TRANSFER);
  }
  const sequences = (await client.resources.eventFeed({ limit: 2 }).all()).map((event) => event.sequence);
  assert.deepEqual(sequences, [1, 2, 3, 4, 5]);
});

test("a list by cursor is read to its end", async () => {
  const { client } = await openShop();
  const made: string[] = [];
  for (let count = 0; count < 5; count += 1) {
    made.unshift((await client.disburse.transfer(TRANSFER)).txnRef);
  }
  const list = client.resources.transactions({ limit: 2, kind: "transfer" });
  assert.deepEqual((await list).data.map((line) => line.txnRef), made.slice(0, 2));
  assert.deepEqual((await list.all()).map((line) => line.txnRef), made);
  assert.deepEqual(await client.resources.transactions({ kind: "bill" }).all(), []);
});

test("wait returns the final state, or throws StillPending", async () => {
  const { client } = await openShop();
  const transfer = await client.disburse.transfer({ ...TRANSFER, accountnumber: PENDING_ACCOUNT });
  assert.equal(transfer.txnStatus, "pending");
  const pending = await thrown(client.disburse.wait(transfer, { seconds: 0.3 }), StillPending);
  assert.ok(pending instanceof OutcomeUnknown);
  assert.equal((pending.state as { txnStatus: string }).txnStatus, "pending");
  const waiting = client.disburse.wait(transfer.orderRef, { seconds: 30 });
  await client.sandbox.settle({ txnRef: transfer.txnRef, outcome: "failed" });
  assert.equal((await waiting).txnStatus, "failed");
  assert.equal((await client.disburse.wait(pending)).txnStatus, "failed");
  await thrown(client.bills.wait({}), TypeError);
});

test("a wait that is aborted throws the reason", async () => {
  const { client } = await openShop();
  const transfer = await client.disburse.transfer({ ...TRANSFER, accountnumber: PENDING_ACCOUNT });
  const reason = await thrown(client.disburse.wait(transfer, { signal: AbortSignal.timeout(300) }), Error);
  assert.equal(reason.name, "TimeoutError");
});

test("an answer that the bank garbled is an UnreadableOutcome that can be waited for", async () => {
  const { client } = await openShop();
  const garbled = client.withOptions({ scenario: "rr=ZZ" });
  const error = await thrown(garbled.disburse.transfer(TRANSFER), UnreadableOutcome);
  assert.ok(error instanceof OutcomeUnknown);
  assert.equal((error.state as { txnStatus: string }).txnStatus, "pending");
  await client.sandbox.settle({ orderRef: error.orderRef ?? "", outcome: "successful" });
  assert.equal((await client.disburse.wait(error)).txnStatus, "successful");
});

test("loans and savings are waited for by their transfer or payment", async () => {
  const { client } = await openShop();
  const bankAccount = { account_number: "0000000000", bank_code: "058" };
  const data = { firstname: "Ada", lastname: "Obi", phone: "08031234567", bankAccount };
  const { client_id } = (await client.clients.create({ data, status: "active" })).data;
  const interestSettings = { interestRate: "24", interestFrequency: "annualized" } as const;
  const asked = await client.loans.request({ client_id, amount: "12000.00", period: 12, interestSettings });
  const loan = await client.loans.process({ loan_id: asked.data.loan_id ?? "", status: "approve" });
  const disbursed = await client.loans.wait(loan);
  assert.deepEqual([disbursed.txnStatus, disbursed.loan_id], ["successful", loan.loan_id]);
  const card = { card_no: "5123450000000008", expiry_month: "12", expiry_year: "30", ccv: "000" };
  const repayment = await client.loans.repay({ loan_id: loan.loan_id ?? "", payment_method: "card", card });
  await client.loans.validate({ txnRef: repayment.txnRef ?? "", otp: "123456" });
  const repaid = await client.loans.wait(repayment);
  assert.deepEqual([repaid.txnStatus, repaid.loan_id], ["successful", loan.loan_id]);
});

test("options of a call, of the client and of withOptions", async () => {
  const { client, mid, key } = await openShop();
  const seen: Headers[] = [];
  const fetched: typeof fetch = (url, init) => {
    seen.push(new Headers(init?.headers));
    return fetch(url, init);
  };
  const plain = new Kasuwa({ mid, key, baseUrl: SERVICE, fetch: fetched, headers: { "X-Trace": "a", MID: "x" } });
  const other = plain.withOptions({ headers: { "x-span": "b" }, scenario: "rr=91" });
  await other.resources.wallet({}, { headers: { "x-trace": "c" }, scenario: "rr=00" });
  await plain.resources.wallet();
  const names = ["x-trace", "x-span", "x-sandbox-scenario", "mid"];
  assert.deepEqual(seen.map((headers) => names.map((name) => headers.get(name))), [
    ["c", "b", "rr=00", mid],
    ["a", null, null, mid],
  ]);
  assert.notEqual(client, client.withOptions({}));
  assert.deepEqual([client.mid, client.baseUrl], [mid, SERVICE]);
  assert.equal(new Kasuwa({ mid, key }).baseUrl, "http://127.0.0.1:8080");
  assert.throws(() => client.withOptions({ timeoutSeconds: -1 }), TypeError);
  await thrown(client.disburse.transfer(TRANSFER, { headers: { "x-trace": "line\nbreak" } }), TypeError);
  await thrown(client.disburse.transfer(TRANSFER, { idempotencyKey: "" }), TypeError);
});

test("wrong options are refused without quoting them", () => {
  const right = { mid: "GP0000001", key: "123", baseUrl: SERVICE };
  const wrong = [
    { ...right, key: "line\nbreak" },
    { ...right, mid: "" },
    { ...right, baseUrl: "127.0.0.1:8080" },
    { ...right, baseUrl: "http://ada:pass@127.0.0.1" },
    { ...right, timeoutSeconds: 0 },
    { ...right, maxRetries: 1.5 },
    { ...right, headers: { "x-trace": "line\nbreak" } },
    { ...right, headers: { "x trace": "a" } },
  ];
  for (const options of wrong) {
    assert.throws(() => new Kasuwa(options), (error: Error) => {
      return error instanceof TypeError && !/break|pass@/.test(error.message);
    });
  }
});
