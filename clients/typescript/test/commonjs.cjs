// A smoke test of the CommonJS build: one call, one refusal, one TypeError.
"use strict";

const assert = require("node:assert/strict");
const { InvalidRequest, Kasuwa, VERSION } = require("kasuwa-client");

async function main() {
  const shop = new Kasuwa({ mid: "GP0000001", key: "123456789", baseUrl: process.env.KASUWA_URL });
  assert.equal((await shop.resources.wallet()).status, 200);
  await assert.rejects(shop.disburse.verify({ txnRef: "unknown-reference" }), InvalidRequest);
  await assert.rejects(shop.disburse.transfer({ amount: 5, bankcode: "058", accountnumber: "0000000000" }), TypeError);
  console.log(`commonjs ${VERSION}`);
}

main();
