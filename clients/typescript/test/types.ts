/** Statements about the types. The compiler checks them, and nothing runs. */

import type {
  Amount,
  BulkTransferReply,
  ClientRecord,
  Kasuwa,
  KasuwaEvent,
  LoanSummary,
  OutcomeUnknown,
  TransferReply,
  TransferState,
} from "kasuwa-client";

declare const shop: Kasuwa;
declare const lost: OutcomeUnknown;

export async function checkTypes(): Promise<void> {
  const transfer: TransferReply = await shop.disburse.transfer({
    amount: "1500.00",
    bankcode: "058",
    accountnumber: "0000000000",
    narration: null,
    sender_name: undefined,
  });
  const amount: Amount = "1500.00";
  // @ts-expect-error an amount is not a number
  await shop.disburse.transfer({ amount: 1500, bankcode: "058", accountnumber: "0000000000" });
  // @ts-expect-error the field is called accountnumber
  await shop.disburse.transfer({ amount, bankcode: "058", accountNumber: "0000000000" });
  // @ts-expect-error accountnumber is required
  await shop.disburse.transfer({ amount, bankcode: "058" });
  // @ts-expect-error transfers are made in NGN alone
  await shop.disburse.transfer({ amount, bankcode: "058", accountnumber: "0000000000", currency: "USD" });
  // @ts-expect-error an amount inside a list is not a number either
  await shop.disburse.transferBulk({ data: [{ amount: 1500, bankcode: "058", accountnumber: "0000000000" }] });
  // @ts-expect-error nor one inside an object
  await shop.virtualcard.limits({ reference: "x", limits: { per_day: 100 } });
  // @ts-expect-error wallet takes no fields
  await shop.resources.wallet({ currency: "NGN" });
  // @ts-expect-error a reply cannot be changed
  transfer.txnStatus = "failed";
  // @ts-expect-error a reply has no such field
  transfer.txnState;
  // @ts-expect-error states are texts of the contract
  transfer.txnStatus === "done";
  // @ts-expect-error options have no such name
  await shop.disburse.transfer({ amount, bankcode: "058", accountnumber: "0000000000" }, { timeout: 5 });

  const bulk: BulkTransferReply = await shop.disburse.transferBulk({ data: [] });
  const states: TransferState[] = [
    await shop.disburse.wait(transfer, { seconds: 60 }),
    await shop.disburse.wait(bulk),
    await shop.disburse.wait(lost),
    await shop.disburse.wait("order-1042"),
  ];
  states.push();
  // @ts-expect-error a client is not a transaction
  await shop.disburse.wait({ client_id: "CL1" });

  const page = await shop.clients.list({ limit: 10 });
  const total: number = page.total;
  for await (const client of shop.clients.list()) {
    const record: ClientRecord = client;
    const name: string | undefined = record.firstname;
    void [name, total];
  }
  const loans: LoanSummary[] = await shop.loans.list({ state: "active" }).all();
  const owed: Amount | undefined = loans[0]?.outstanding.total;
  void owed;
  const banks: { readonly [code: string]: string } = await shop.resources.banks();
  void banks;
}

export function checkEvents(event: KasuwaEvent): string | undefined {
  const charged: Amount = event.chargedAmount;
  // @ts-expect-error not every kind has an orderRef
  const anyRef: string = event.orderRef;
  // @ts-expect-error there is no such kind
  if (event.kind === "payout") {
    return charged;
  }
  switch (event.kind) {
    case "transfer":
    case "bill": {
      const orderRef: string = event.orderRef;
      return orderRef;
    }
    case "payment":
      // @ts-expect-error a payment has no orderRef
      void event.orderRef;
      return event.customer_txnref;
    case "deposit":
    case "cashout":
      return event.savings_id;
    case "unknown": {
      const sent: string | undefined = event.sentKind;
      const field: unknown = event["dividend"];
      return typeof field === "string" ? field : sent;
    }
    default:
      return anyRef;
  }
}
