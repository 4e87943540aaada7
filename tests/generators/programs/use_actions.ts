// Uses the types that openapi-typescript makes of /openapi-actions.json: `node use_actions.js URL MID KEY`.
// Prints what the service replied as one JSON object.

import type { components, paths, webhooks } from "./kasuwa-actions";

type Action = Exclude<keyof paths, "/healthz" | "/readyz">;
type Body<A extends Action> = paths[A]["put"]["requestBody"]["content"]["application/json"];
type Reply<A extends Action> = paths[A]["put"]["responses"][200]["content"]["application/json"];
type ErrorBody = components["schemas"]["ErrorBody"];

const [url, mid, key] = process.argv.slice(2) as [string, string, string];

async function put<A extends Action>(action: A, body: Body<A>): Promise<Reply<A>> {
  const address = new URL(action, url);
  const headers = { mid, key, "content-type": "application/json" };
  const reply = await fetch(address, { method: "PUT", headers, body: JSON.stringify(body) });
  return (await reply.json()) as Reply<A>;
}

function isError(reply: object): reply is ErrorBody {
  return "status" in reply && "message" in reply && !("txnStatus" in reply);
}

async function main(): Promise<void> {
  const sent = await put("/disburse#transfer", {
    action: "transfer",
    amount: "1500.00",
    bankcode: "058",
    accountnumber: "0000000000",
  });
  if (isError(sent)) throw new Error(sent.message);
  const state: "successful" | "failed" | "pending" | "processing" = sent.txnStatus;
  const verified = await put("/disburse#verify", { action: "verify", txnRef: sent.txnRef });
  if (isError(verified)) throw new Error(verified.message);
  const refused = await put("/disburse#transfer", {
    action: "transfer",
    amount: "0",
    bankcode: "058",
    accountnumber: "0000000000",
  });
  if (!isError(refused)) throw new Error("was accepted");
  const faults = (refused.errors ?? []).map((fault) => fault.field);
  const banks = await put("/resources#banks", { inquire: "banks" });
  console.log(JSON.stringify({ state, txnRef: sent.txnRef, amount: verified.amount, status: refused.status, faults, banks }));
}

// What the types refuse. An expected error that is none fails the compilation.
export function wrong(event: webhooks["transfer"]["post"]["requestBody"]["content"]["application/json"]): void {
  // @ts-expect-error the action of another operation
  void put("/disburse#transfer", { action: "verify", amount: "1", bankcode: "058", accountnumber: "0000000000" });
  // @ts-expect-error a required field is missing
  void put("/disburse#transfer", { action: "transfer", amount: "1", bankcode: "058" });
  // @ts-expect-error there is no such field
  void put("/disburse#verify", { action: "verify", reference: "x" });
  // @ts-expect-error there is no such state
  if (event.txnStatus === "expired") return;
  const orderRef: string = event.orderRef;
  void orderRef;
}

void main();
