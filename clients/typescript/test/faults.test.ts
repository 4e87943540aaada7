/** Lost, late, cut and foreign answers: what is repeated, how often it is executed, and which error remains. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { inspect } from "node:util";
import {
  AuthenticationError,
  type CallEvent,
  InsufficientFunds,
  InvalidRequest,
  Kasuwa,
  type KasuwaOptions,
  metadataOf,
  OutcomeUnknown,
  RateLimited,
  Refused,
  ServiceError,
  ServiceUnreachable,
  UnexpectedReply,
} from "kasuwa-client";
import { type Behavior, FaultyServer } from "./faulty.js";
import { openShop, TRANSFER, TRANSFER_COST, walletOf } from "./service.js";

interface Setup {
  readonly server: FaultyServer;
  readonly client: Kasuwa;
  readonly direct: Kasuwa;
}

/** Makes a merchant whose client talks to the service through a server with these behaviors. */
async function behind(
  context: TestContext,
  behaviors: Behavior[],
  options: Partial<KasuwaOptions> = {},
): Promise<Setup> {
  const server = await FaultyServer.start(...behaviors);
  context.after(() => server.stop());
  const { client: direct, mid, key } = await openShop();
  return { server, direct, client: new Kasuwa({ mid, key, baseUrl: server.url, ...options }) };
}

async function errorOf(call: PromiseLike<unknown>): Promise<unknown> {
  return call.then(
    (reply) => assert.fail(`the call returned ${inspect(reply)}`),
    (reason: unknown) => reason,
  );
}

function reply(status: number, message: string, http = 200): Behavior {
  return { http, body: { status, message } };
}

const UNKNOWN = reply(204, "The outcome is not known; verify by your reference before you send it again", 500);
const NOT_REACHED = reply(204, "The service cannot be reached for a moment; nothing was changed, try again", 503);

for (const behavior of ["lose", "half", UNKNOWN] as const) {
  const name = typeof behavior === "string" ? behavior : "an unknown outcome";
  test(`a transfer is repeated with its orderRef and executed once: ${name}`, async (context) => {
    const { server, client, direct } = await behind(context, [behavior]);
    const before = await walletOf(direct);
    const transfer = await client.disburse.transfer(TRANSFER);
    assert.equal(transfer.txnStatus, "successful");
    assert.equal(metadataOf(transfer)?.attempts, 2);
    assert.equal(before - (await walletOf(direct)), TRANSFER_COST);
    const [first, second] = server.received;
    assert.deepEqual(second?.body, first?.body);
    assert.equal(second?.headers["x-request-id"], first?.headers["x-request-id"]);
  });
}

test("a write without orderRef is repeated with its Idempotency-Key and executed once", async (context) => {
  const { server, client, direct } = await behind(context, ["lose", "half"]);
  const before = await walletOf(direct);
  await client.sandbox.fundWallet({ amount: "25.00" });
  assert.equal((await walletOf(direct)) - before, 2500);
  const keys = server.received.map((request) => request.headers["idempotency-key"]);
  assert.equal(keys.length, 3);
  assert.equal(new Set(keys).size, 1);
});

test("a bulk is repeated as it was, and executed once", async (context) => {
  const { server, client, direct } = await behind(context, ["lose"]);
  const before = await walletOf(direct);
  await direct.disburse.wait(await client.disburse.transferBulk({ data: [TRANSFER, TRANSFER] }));
  assert.equal(before - (await walletOf(direct)), 2 * TRANSFER_COST);
  assert.deepEqual(server.received[0]?.body, server.received[1]?.body);
});

test("a write without any reference is not repeated", async (context) => {
  const { server, client, direct } = await behind(context, ["lose", "lose"], { makeReferences: false });
  const before = await walletOf(direct);
  assert.ok((await errorOf(client.sandbox.fundWallet({ amount: "25.00" }))) instanceof OutcomeUnknown);
  assert.equal((await walletOf(direct)) - before, 2500);
  assert.ok((await errorOf(client.sandbox.advance({ seconds: 1 }))) instanceof OutcomeUnknown);
  assert.equal(server.received.length, 2);
});

test("a read is repeated, and never an OutcomeUnknown", async (context) => {
  const { server, client } = await behind(context, ["lose", "half", UNKNOWN, "refuse", "refuse"], { maxRetries: 1 });
  const unreachable = await errorOf(client.resources.wallet());
  assert.ok(unreachable instanceof ServiceUnreachable);
  assert.ok(unreachable.message.includes(`(${client.baseUrl})`), unreachable.message);
  assert.ok((await errorOf(client.resources.wallet())) instanceof ServiceError);
  assert.ok((await errorOf(client.resources.wallet())) instanceof ServiceUnreachable);
  assert.equal(server.received.length, 5);
  assert.equal((await client.resources.wallet()).status, 200);
});

test("an unknown outcome can be verified by the error", async (context) => {
  const { client, direct } = await behind(context, ["lose"], { maxRetries: 0 });
  const error = await errorOf(client.disburse.transfer(TRANSFER));
  assert.ok(error instanceof OutcomeUnknown);
  assert.match(error.message, /^It is not known whether the request was executed: /);
  assert.match(error.orderRef ?? "", /^kc-/);
  assert.equal((await direct.disburse.wait(error)).txnStatus, "successful");
});

test("a service that is away for a moment does not end a wait", async (context) => {
  const { server, client, direct } = await behind(context, ["refuse", NOT_REACHED], { maxRetries: 0 });
  const transfer = await direct.disburse.transfer(TRANSFER);
  assert.equal((await client.disburse.wait(transfer)).txnStatus, "successful");
  assert.equal(server.received.length, 3);
  await assert.rejects(client.disburse.wait("unknown-reference"), InvalidRequest);
});

test("a later refusal says nothing of an earlier attempt", async (context) => {
  const laters = [reply(101, "Merchant authentication failed", 401), NOT_REACHED, { http: 429, body: "slow down" }];
  for (const later of laters) {
    const { server, client } = await behind(context, ["lose", later], { maxRetries: 1 });
    const error = await errorOf(client.disburse.transfer(TRANSFER));
    assert.ok(error instanceof OutcomeUnknown, inspect(error));
    assert.equal(server.received.length, 2);
  }
  const { client } = await behind(context, [UNKNOWN, reply(301, "Insufficient funds")]);
  assert.ok((await errorOf(client.disburse.transfer(TRANSFER))) instanceof InsufficientFunds);
});

test("no connection is ServiceUnreachable, and the request is repeated", async () => {
  const events: CallEvent[] = [];
  const { mid, key } = await openShop();
  const server = await FaultyServer.start();
  const { url } = server;
  await server.stop();
  const client = new Kasuwa({ mid, key, baseUrl: url, maxRetries: 1, hooks: [(event) => events.push(event)] });
  const error = await errorOf(client.cashcode.cancel({ orderRef: "cash-1" }));
  assert.ok(error instanceof ServiceUnreachable && !(error instanceof OutcomeUnknown));
  assert.match(error.message, /ECONNREFUSED/);
  const kinds = ["requestSent", "attemptFailed", "retrying", "requestSent", "attemptFailed"];
  assert.deepEqual(events.map((event) => event.kind), kinds);
  // A port that fetch refuses to use.
  const blocked = client.withOptions({ baseUrl: "http://127.0.0.1:9", maxRetries: 0 });
  assert.ok((await errorOf(blocked.cashcode.cancel({ orderRef: "cash-1" }))) instanceof ServiceUnreachable);
});

test("a service that is away for a moment is asked again, also without a reference", async (context) => {
  const limit: Behavior = { http: 429, body: { status: 204, message: "Too many" }, headers: { "retry-after": "1" } };
  const pauses: number[] = [];
  const hook = (event: CallEvent): void => void (event.kind === "retrying" && pauses.push(event.pauseSeconds));
  const { server, client } = await behind(context, [NOT_REACHED, limit], { makeReferences: false, hooks: [hook] });
  await client.sandbox.fundWallet({ amount: "25.00" });
  assert.equal(server.received.length, 3);
  assert.deepEqual(pauses.map((seconds) => seconds >= 1), [false, true]);
});

test("a rate limit beyond the deadline is RateLimited at once", async (context) => {
  const limit: Behavior = { http: 429, body: { status: 204, message: "Too many" }, headers: { "retry-after": "120" } };
  const { server, client } = await behind(context, [limit]);
  const error = await errorOf(client.resources.wallet());
  assert.ok(error instanceof RateLimited && error instanceof ServiceError);
  assert.equal(error.retryAfterSeconds, 120);
  assert.equal(server.received.length, 1);
});

test("a timeout is an OutcomeUnknown of a write and ServiceUnreachable of a read", async (context) => {
  const { client } = await behind(context, ["hang", "hang"], { maxRetries: 0, timeoutSeconds: 0.2 });
  const error = await errorOf(client.disburse.transfer(TRANSFER));
  assert.ok(error instanceof OutcomeUnknown);
  assert.match(error.message, /no reply in time/);
  assert.ok((await errorOf(client.resources.wallet())) instanceof ServiceUnreachable);
});

test("the deadline ends all attempts together", async (context) => {
  const { server, client } = await behind(context, ["hang", "hang", "hang", "hang"]);
  const limits = { timeoutSeconds: 0.2, deadlineSeconds: 0.5, maxRetries: 100 };
  assert.ok((await errorOf(client.disburse.transfer(TRANSFER, limits))) instanceof OutcomeUnknown);
  assert.ok(server.received.length <= 3);
});

test("an aborted call throws the reason, or OutcomeUnknown once a write was sent", async (context) => {
  const { server, client } = await behind(context, ["hang", "hang"]);
  const early = await errorOf(client.disburse.transfer(TRANSFER, { signal: AbortSignal.abort() }));
  assert.equal((early as Error).name, "AbortError");
  assert.equal(server.received.length, 0);
  const late = await errorOf(client.disburse.transfer(TRANSFER, { signal: abortedAfter(server, 1) }));
  assert.ok(late instanceof OutcomeUnknown, inspect(late));
  const read = await errorOf(client.resources.wallet({}, { signal: abortedAfter(server, 2) }));
  assert.equal((read as Error).name, "AbortError");
  assert.equal(server.received.length, 2);
});

/** Returns a signal that is aborted once the server has received so many requests. */
function abortedAfter(server: FaultyServer, requests: number): AbortSignal {
  const controller = new AbortController();
  const timer = setInterval(() => {
    if (server.received.length >= requests) {
      clearInterval(timer);
      controller.abort();
    }
  }, 5);
  return controller.signal;
}

test("an answer that is not the service's is not taken for its own", async (context) => {
  const page: Behavior = { http: 502, body: "<html>Bad gateway</html>" };
  const denied: Behavior = { http: 403, body: "<html>Forbidden</html>" };
  const login: Behavior = { http: 200, body: "<html>Sign in to the network</html>" };
  const json: Behavior = { http: 200, body: { status: "ok", error: "sign in" } };
  const behaviors = [page, denied, login, denied, json, denied, page, page];
  const { server, client } = await behind(context, behaviors, { maxRetries: 1 });
  for (const requests of [2, 4, 6]) {
    assert.ok((await errorOf(client.disburse.transfer(TRANSFER))) instanceof OutcomeUnknown);
    assert.equal(server.received.length, requests);
  }
  const error = await errorOf(client.resources.wallet());
  assert.ok(error instanceof UnexpectedReply);
  assert.equal(error.httpStatus, 502);
});

test("a redirect is not followed, so that the key goes nowhere else", async (context) => {
  const elsewhere = await FaultyServer.start();
  context.after(() => elsewhere.stop());
  const redirect: Behavior = { http: 307, body: "", headers: { location: `${elsewhere.url}/disburse` } };
  const { client } = await behind(context, [redirect]);
  assert.ok((await errorOf(client.disburse.transfer(TRANSFER))) instanceof UnexpectedReply);
  assert.equal(elsewhere.received.length, 0);
});

test("strict HTTP codes make no difference, and an unknown status is Refused", async (context) => {
  const answers: readonly [number, number, new (...parts: never[]) => Refused][] = [
    [301, 402, InsufficientFunds],
    [104, 422, InvalidRequest],
    [204, 500, ServiceError],
    [101, 401, AuthenticationError],
    [777, 200, Refused],
  ];
  const { client } = await behind(context, answers.map(([status, http]) => reply(status, "no", http)));
  for (const [status, http, kind] of answers) {
    const error = await errorOf(client.disburse.transfer(TRANSFER));
    assert.ok(error instanceof kind, inspect(error));
    assert.deepEqual([error.status, error.httpStatus, error.message], [status, http, "no"]);
  }
});

test("hooks see no secret, and an error that they throw changes nothing", async (context) => {
  const events: CallEvent[] = [];
  const failing = (): void => {
    throw new Error("a bug in the hook");
  };
  const rejecting = (): Promise<void> => Promise.reject(new Error("another"));
  const hooks = [(event: CallEvent) => void events.push(event), failing, rejecting];
  const { client, server } = await behind(context, ["lose"], { hooks });
  const card = { card_no: "5123450000000008", expiry_month: "12", expiry_year: "30", ccv: "100", pin: "1234" };
  const request = { amount: "1500.00", card, meta: { note: "card 5123 4500 0000 0008, phone 2348031234567" } };
  const begun = await client.payment.initiateCard(request);
  const paid = await client.payment.chargeCard({ ...request, txnRef: begun.txnRef, auth_type: "PIN" });
  assert.equal(paid.txnStatus, "successful");
  const received = JSON.stringify(events);
  const key = String(server.received[0]?.headers["key"]);
  for (const secret of [key, "5123450000000008", "5123 4500 0000 0008", '"1234"', '"100"', paid.cardToken ?? "?"]) {
    assert.ok(!received.includes(secret), secret);
  }
  for (const shown of ["phone 2348031234567", '"amount":"1500.00"', '"key":"***"']) {
    assert.ok(received.includes(shown), shown);
  }
  assert.deepEqual([...new Set(events.map((event) => event.action))], ["payment.initiateCard", "payment.chargeCard"]);
});

test("a custom fetch sends the requests", async () => {
  const { mid, key } = await openShop();
  const urls: string[] = [];
  const client = new Kasuwa({
    mid,
    key,
    baseUrl: "https://kasuwa.example/api/",
    fetch: (url) => {
      urls.push(url);
      return Promise.resolve(new Response('{"status": 200, "data": []}'));
    },
  });
  assert.deepEqual((await client.resources.wallet()).data, []);
  assert.deepEqual(urls, ["https://kasuwa.example/api/resources"]);
});
