/** Proofs of postings, with the vectors that the service's own verifier is tested with. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { InvalidProof, type ProofReply, type Statement, verifyProof, verifyStatement } from "kasuwa-client";
import { openShop, TRANSFER } from "./service.js";

interface Vector {
  readonly name: string;
  readonly key: string;
  readonly document: ProofReply | Statement | readonly Statement[];
  readonly proven: readonly number[] | null;
}

const VECTORS = JSON.parse(readFileSync("test/proof_vectors.json", "utf8")) as readonly Vector[];

async function verify(vector: Vector): Promise<readonly number[]> {
  const { document, key } = vector;
  const isProof = !Array.isArray(document) && !("proof" in document);
  const groups = isProof
    ? await verifyProof(document as ProofReply, key)
    : await verifyStatement(document as Statement | readonly Statement[], key);
  return groups.map((group) => group.number);
}

test("a proof holds only if nothing was changed", async () => {
  assert.ok(VECTORS.length > 50);
  for (const vector of VECTORS) {
    if (vector.proven === null) {
      await assert.rejects(verify(vector), InvalidProof, vector.name);
    } else {
      assert.deepEqual(await verify(vector), vector.proven, vector.name);
    }
  }
});

test("the proof of a transfer holds after the next close", async () => {
  const { client: shop } = await openShop();
  const { txnRef } = await shop.disburse.transfer(TRANSFER);
  const pending = await shop.resources.proof({ reference: txnRef });
  const { public_key } = await shop.sandbox.close();
  await assert.rejects(verifyProof(pending, public_key), InvalidProof);
  const [group] = await verifyProof(await shop.resources.proof({ reference: txnRef }), public_key);
  assert.equal(group?.reference, txnRef);
});
