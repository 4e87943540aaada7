/** The CommonJS build with its declarations: one call, one refusal, one TypeError. */

import assert = require("node:assert/strict");
import kasuwa = require("kasuwa-client");

const { InvalidRequest, Kasuwa, VERSION } = kasuwa;

async function main(): Promise<void> {
  const baseUrl = process.env["KASUWA_URL"];
  const shop: kasuwa.Kasuwa = new Kasuwa({ mid: "GP0000001", key: "123456789", baseUrl });
  const wallet: kasuwa.WalletReply = await shop.resources.wallet();
  assert.equal(wallet.status, 200);
  await assert.rejects(shop.disburse.verify({ txnRef: "unknown-reference" }), InvalidRequest);
  const request: unknown = { amount: 5, bankcode: "058", accountnumber: "0000000000" };
  await assert.rejects(shop.disburse.transfer(request as kasuwa.DisburseTransferRequest), TypeError);
  console.log(`commonjs ${VERSION}`);
}

void main();
