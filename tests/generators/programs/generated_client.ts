// Uses the client that openapi-generator (typescript-fetch) makes of /openapi-actions.json:
// `node generated_client.js URL MID KEY`. Prints what the service replied as one JSON object.

import { Configuration, DisburseApi } from "./generated";
import type { DisburseTransferRequest } from "./generated";

const [url, mid, key] = process.argv.slice(2) as [string, string, string];
const keys: Record<string, string> = { mid, key };
const disburse = new DisburseApi(new Configuration({ basePath: url, apiKey: (name) => keys[name] ?? "" }));

function transferOf(amount: string): DisburseTransferRequest {
  return { action: "transfer", amount, bankcode: "058", accountnumber: "0000000000" };
}

async function main(): Promise<void> {
  const transfer = await disburse.disburseTransfer({ disburseTransferRequest: transferOf("1500.00") });
  const request = { action: "verify", txnRef: transfer.txnRef } as const;
  const verify = await disburse.disburseVerify({ disburseVerifyRequest: request });
  const refused = await disburse.disburseTransfer({ disburseTransferRequest: transferOf("0") });
  console.log(JSON.stringify({ transfer, verify, refused }));
}

void main();
