/** Proofs of postings: checks them against a signed close, without the service. */

import { blake2b256 } from "./blake2b.js";
import { InvalidProof } from "./errors.js";
import type {
  Proof,
  ProofClose,
  ProofGroup,
  ProofHead,
  ProofPosting,
  ProofReply,
  Statement,
} from "./generated/statements.js";
import { webCrypto } from "./webcrypto.js";

type Bytes = Uint8Array<ArrayBuffer>;

const HEX = /^([0-9a-f]{2})*$/;

/**
 * Checks all proofs of a reply of `resources.proof`. Returns the groups of postings that they prove. Throws InvalidProof
 * if one does not hold, or is pending.
 *
 * @param reply The reply, or the same read from a file.
 * @param key The operator's public key in hexadecimal, or several.
 */
export async function verifyProof(reply: ProofReply, key: string | readonly string[]): Promise<ProofGroup[]> {
  return guard(async () => {
    if (reply.format !== "kasuwa proof 1" || !Array.isArray(reply.data) || reply.data.length === 0) {
      throw new InvalidProof("The reply has no proof");
    }
    const proven: ProofGroup[] = [];
    for (const proof of reply.data as readonly Proof[]) {
      proven.push(...(await provenGroups(proof, key)));
    }
    return proven;
  });
}

/**
 * Checks a statement that was asked for with `proof`: its movements are exactly those of the proven postings, so none is left
 * out, and its balances and totals follow from them. Returns the groups of postings. Throws InvalidProof, which names the
 * figure, if something does not hold. A statement of several pages is proven by all of them, in order.
 */
export async function verifyStatement(
  statement: Statement | readonly Statement[],
  key: string | readonly string[],
): Promise<ProofGroup[]> {
  return guard(async () => {
    const pages: readonly Statement[] = Array.isArray(statement) ? statement : [statement];
    const account = pages[0]?.account ?? null;
    const groups: ProofGroup[] = [];
    const moves: Move[] = [];
    for (const page of pages) {
      if (page.proof === null || account === null) {
        throw new InvalidProof("The statement has no proof");
      }
      const proven = await provenGroups(page.proof, key);
      const expected = proven.flatMap((group) => group.postings.flatMap((posting) => movesOf(group, posting, account)));
      checkMovements(page, expected);
      groups.push(...proven);
      moves.push(...expected);
    }
    checkOrder(pages);
    checkHead(pages, groups);
    checkBalances(pages, moves);
    checkTotals(pages, moves);
    return groups;
  });
}

/** Turns the error of a malformed document into InvalidProof. */
async function guard(check: () => Promise<ProofGroup[]>): Promise<ProofGroup[]> {
  try {
    return await check();
  } catch (error) {
    if (error instanceof InvalidProof) {
      throw error;
    }
    throw new InvalidProof(`The document is incomplete or malformed: ${String(error)}`);
  }
}

async function provenGroups(proof: Proof, key: string | readonly string[]): Promise<ProofGroup[]> {
  const { head, close, groups, start, index, path } = proof;
  if (proof.state !== "closed") {
    throw new InvalidProof("The proof is pending: ask for it again after the next close");
  }
  if (head === null || close === null || start === null || index === null) {
    throw new InvalidProof("The proof is incomplete");
  }
  await checkSignature(close, key);
  const leaf = await hashLeaf(headBytes(head));
  if ((await climb(leaf, index, close.tree_size, path)) !== close.root) {
    throw new InvalidProof("The head is not in the close's tree");
  }
  let value = fromHex(start);
  let reached: number | undefined;
  for (const group of groups) {
    if (reached !== undefined && group.number !== reached + 1) {
      throw new InvalidProof(`The group before posting ${group.number} is missing`);
    }
    value = extend(value, head.merchant_id, group);
    reached = lastOf(group);
  }
  await checkEnd(proof, head, value, reached);
  const proven = groups.filter((group) => proof.first <= group.number && group.number <= proof.last);
  const [first, last] = [proven[0], proven[proven.length - 1]];
  if (first === undefined || last === undefined || first.number !== proof.first || lastOf(last) !== proof.last) {
    throw new InvalidProof("The proof does not contain the postings that it claims to prove");
  }
  return proven;
}

function lastOf(group: ProofGroup): number {
  return group.number + group.postings.length - 1;
}

/** Checks that the chain ends at the head, or at a mark of the head. */
async function checkEnd(proof: Proof, head: ProofHead, value: Bytes, reached: number | undefined): Promise<void> {
  if (proof.mark === null) {
    if (reached !== head.posting_seq || toHex(value) !== head.posting_head) {
      throw new InvalidProof("The groups do not lead to the head");
    }
    return;
  }
  const leaf = await hashLeaf(textBytes("kasuwa mark 1", reached, toHex(value)));
  if ((await climb(leaf, proof.mark.index, head.mark_count, proof.mark.path)) !== head.mark_root) {
    throw new InvalidProof("The groups do not lead to a mark of the head");
  }
}

async function checkSignature(close: ProofClose, key: string | readonly string[]): Promise<void> {
  const keys = (typeof key === "string" ? [key] : key).map((text) => text.toLowerCase());
  if (!keys.includes(close.public_key)) {
    throw new InvalidProof(`Close ${close.number} is signed by another key: ${close.public_key}`);
  }
  const signed = textBytes(
    "kasuwa close 1",
    close.number,
    close.closed_at,
    close.tree_size,
    close.root,
    close.previous,
  );
  const { subtle } = await webCrypto();
  const publicKey = await subtle.importKey("raw", fromHex(close.public_key), { name: "Ed25519" }, false, ["verify"]);
  if (!(await subtle.verify({ name: "Ed25519" }, publicKey, fromHex(close.signature), signed))) {
    throw new InvalidProof(`The signature of close ${close.number} is wrong`);
  }
}

// --- bytes and hashes ---------------------------------------------------------------------------------------------

/** Fields as texts that each end with a NUL byte. Numbers are whole and written in decimal digits. */
function textBytes(...fields: readonly unknown[]): Bytes {
  let text = "";
  for (const field of fields) {
    if (typeof field !== "string" && !Number.isSafeInteger(field)) {
      throw new InvalidProof("A field is neither a text nor a whole number");
    }
    const part = String(field);
    if (part.includes("\0")) {
      throw new InvalidProof("A field contains a NUL character");
    }
    text += `${part}\0`;
  }
  return new TextEncoder().encode(text);
}

function headBytes(head: ProofHead): Bytes {
  return textBytes(
    "kasuwa head 1",
    head.merchant_id,
    head.posting_seq,
    head.posting_head,
    head.mark_count,
    head.mark_root,
    head.event_seq,
    head.event_head,
    head.audit_seq,
    head.audit_head,
  );
}

/** The value of the chain after a group. */
function extend(value: Bytes, merchantId: number, group: ProofGroup): Bytes {
  const { number, at, reference, postings } = group;
  const lead = textBytes("kasuwa group 1", merchantId, number, at, reference, postings.length);
  const lines = postings.map((p) => textBytes(p.debit_account, p.credit_account, p.amount_minor, p.debit_after, p.credit_after, p.kind));
  return new Uint8Array(blake2b256(concatenate([value, lead, ...lines])));
}

function concatenate(parts: readonly Bytes[]): Bytes {
  const joined = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}

async function sha256(...parts: readonly Bytes[]): Promise<Bytes> {
  return new Uint8Array(await (await webCrypto()).subtle.digest("SHA-256", concatenate(parts)));
}

function hashLeaf(data: Bytes): Promise<Bytes> {
  return sha256(new Uint8Array([0]), data);
}

/** The root that an inclusion proof leads to, in hexadecimal (RFC 6962, section 2.1.1). */
async function climb(leaf: Bytes, index: number, size: number, path: readonly string[]): Promise<string> {
  if (!Number.isSafeInteger(index) || !Number.isSafeInteger(size) || index < 0 || index >= size) {
    throw new InvalidProof("An index is outside of its tree");
  }
  let value = leaf;
  let used = 0;
  for (let [place, width] = [index, size]; width > 1; place = Math.floor(place / 2), width = Math.ceil(width / 2)) {
    const isRight = place % 2 === 1;
    if (!isRight && place + 1 >= width) {
      continue;
    }
    const other = path[used++];
    if (other === undefined) {
      throw new InvalidProof("An inclusion proof is too short");
    }
    const node = new Uint8Array([1]);
    value = isRight ? await sha256(node, fromHex(other), value) : await sha256(node, value, fromHex(other));
  }
  if (used !== path.length) {
    throw new InvalidProof("An inclusion proof is too long");
  }
  return toHex(value);
}

function fromHex(text: string): Bytes {
  if (!HEX.test(text)) {
    throw new InvalidProof("A hash is not written in hexadecimal");
  }
  return new Uint8Array((text.match(/../g) ?? []).map((pair) => Number.parseInt(pair, 16)));
}

function toHex(bytes: Bytes): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// --- statements ---------------------------------------------------------------------------------------------------

/** A movement that a posting proves. */
interface Move {
  readonly own: string;
  readonly dateCreated: string;
  readonly kind: string;
  readonly reference: string;
  readonly counterparty: string;
  readonly amount: bigint;
  readonly balance: bigint;
}

/** The movements of a posting on an account, or on those of a loan or savings account: first what left. */
function movesOf(group: ProofGroup, posting: ProofPosting, account: string): Move[] {
  const isOne = account.includes(":");
  const moves: Move[] = [];
  const add = (own: string, other: string, after: string, sign: bigint): void => {
    if (own === account || (!isOne && isOfProduct(own, account))) {
      moves.push({
        own,
        dateCreated: timeText(group.at),
        kind: posting.kind,
        reference: group.reference,
        counterparty: other,
        amount: sign * BigInt(posting.amount_minor) * (own.startsWith("loan_credit:") ? -1n : 1n),
        balance: BigInt(after),
      });
    }
  };
  if (!(isOne && posting.credit_account === account)) {
    add(posting.debit_account, posting.credit_account, posting.debit_after, -1n);
  }
  add(posting.credit_account, posting.debit_account, posting.credit_after, 1n);
  return moves;
}

function checkMovements(page: Statement, moves: readonly Move[]): void {
  check(page.data.length === moves.length, "data: the movements are not those of the proven postings");
  moves.forEach((move, n) => {
    const shown = page.data[n];
    for (const field of ["dateCreated", "kind", "reference", "counterparty"] as const) {
      check(shown?.[field] === move[field], `data.${n}.${field}: it is not that of the proven postings`);
    }
    check(shown?.amount === money(move.amount), `data.${n}.amount: it is not that of the proven postings`);
  });
}

/** Checks that the pages follow one another, and that none follows the last. */
function checkOrder(pages: readonly Statement[]): void {
  pages.forEach((page, n) => {
    const following = pages[n + 1];
    if (following === undefined) {
      check(page.next_cursor === null, "next_cursor: other pages follow: give all pages");
      return;
    }
    const last = page.proof?.last ?? 0;
    check(page.next_cursor?.split(".")[2] === String(last), "next_cursor: it does not lead to the next page");
    check(following.proof?.first === last + 1, "A page is missing, or they are in another order");
    check(following.totals === null, "totals: only the first page has them");
  });
}

const COMMON = ["status", "message", "currency", "account", "opening_balance", "closing_balance", "link", "expires"] as const;

/** Checks what the pages say of the whole statement besides its balances and totals. */
function checkHead(pages: readonly Statement[], groups: readonly ProofGroup[]): void {
  const [first] = pages;
  if (first === undefined || first.account === null) {
    throw new InvalidProof("The statement has no proof");
  }
  const { account, currency, message } = first;
  for (const field of COMMON) {
    check(pages.every((page) => page[field] === first[field]), `${field}: it differs between pages`);
  }
  const names = groups.flatMap((group) => group.postings.flatMap((p) => [p.debit_account, p.credit_account]));
  const own = account.includes(":") ? [account] : names.filter((name) => isOfProduct(name, account));
  const kind = account.split(":")[0] ?? "";
  const titles = kind === "wallet" ? [`Wallet in ${currency}`] : [`Savings ${account}`, `Loan ${account}`];
  const wrong = "it is not that of the account, or of a statement with a proof";
  check(first.status === 200, `status: ${wrong}`);
  check(own.every((name) => name.slice(name.lastIndexOf(":") + 1) === currency), `currency: ${wrong}`);
  check(titles.includes(message) || kind === "card" || kind === "beneficiary", `message: ${wrong}`);
  check(first.link === null, `link: ${wrong}`);
  check(first.expires === null, `expires: ${wrong}`);
}

/** Checks the balance after each movement, before the first and after the last. Of a loan, which has several accounts, only
 * the differences are proven. */
function checkBalances(pages: readonly Statement[], moves: readonly Move[]): void {
  const [page, first] = [pages[0], moves[0]];
  const isAbsolute = page?.account?.includes(":") === true || !moves.some((move) => move.own.startsWith("loan_"));
  if (page === undefined || (isAbsolute && first === undefined)) {
    throw new InvalidProof("opening_balance: no movement proves it");
  }
  let value = isAbsolute && first !== undefined ? first.balance - first.amount : minorOf(page.opening_balance);
  check(page.opening_balance === money(value), "opening_balance: it is not that of the proven postings");
  const shown = pages.flatMap((each) => each.data.map((movement) => movement.balance));
  moves.forEach((move, n) => {
    value = isAbsolute ? move.balance : value + move.amount;
    check(shown[n] === money(value), `data.${n}.balance: it is not that of the proven postings`);
  });
  check(page.closing_balance === money(value), "closing_balance: it is not that of the proven postings");
}

const CLASSES = ["collected", "fees", "vat", "refunds", "disputes", "reserve", "payouts", "interest", "tax", "other"];

/** Checks the totals of the first page. A period with very many postings has none. */
function checkTotals(pages: readonly Statement[], moves: readonly Move[]): void {
  const totals = pages[0]?.totals ?? null;
  if (totals === null) {
    return;
  }
  const sums = new Map<string, { amount: bigint; count: number }>();
  for (const move of moves) {
    const name = classOf(move.kind, move.counterparty, move.amount);
    const { amount, count } = sums.get(name) ?? { amount: 0n, count: 0 };
    sums.set(name, { amount: amount + move.amount, count: count + 1 });
  }
  const kinds = JSON.stringify(CLASSES.filter((name) => sums.has(name)));
  check(JSON.stringify(totals.map((line) => line.kind)) === kinds, "totals: the kinds are not those of the movements");
  totals.forEach((line, n) => {
    const sum = sums.get(line.kind);
    check(line.amount === money(sum?.amount ?? 0n), `totals.${n}.amount: it is not the sum of the movements`);
    check(line.count === sum?.count, `totals.${n}.count: it is not the number of the movements`);
  });
}

const REFUNDS = ["refund", "card refund", "returned to the payer", "paid back"];
const COLLECTED = ["payment", "settlement", "inbound transfer", "collection", "late payment"];

/** The kind under which the totals count a movement. */
function classOf(kind: string, counterparty: string, amount: bigint): string {
  const [sort = "", owner = ""] = counterparty.split(":");
  if (sort === "tax" || kind.startsWith("tax ")) {
    return owner.startsWith("vat") ? "vat" : "tax";
  }
  if (kind === "VAT on fee") {
    return "vat";
  }
  if (kind === "interest" || kind.startsWith("interest ")) {
    return "interest";
  }
  if (["dispute", "dispute advance", "dispute debt"].includes(kind)) {
    return "disputes";
  }
  if (["reserve", "reserve released"].includes(kind)) {
    return "reserve";
  }
  if (sort === "income" || kind.endsWith(" fee")) {
    return "fees";
  }
  if (REFUNDS.some((word) => kind.startsWith(word))) {
    return "refunds";
  }
  if (COLLECTED.includes(kind) || (kind === "split" && amount > 0n)) {
    return "collected";
  }
  const isPayout = ["rail", "beneficiary"].includes(sort) || ["split", "savings cash-out", "card purchase"].includes(kind);
  return amount < 0n && isPayout ? "payouts" : "other";
}

function check(holds: boolean, otherwise: string): void {
  if (!holds) {
    throw new InvalidProof(otherwise);
  }
}

function isOfProduct(name: string, productId: string): boolean {
  const [kind = "", owner] = name.split(":");
  return (kind === "savings" || kind.startsWith("loan_")) && owner === productId;
}

function money(minor: bigint): string {
  const size = minor < 0n ? -minor : minor;
  return `${minor < 0n ? "-" : ""}${size / 100n}.${String(size % 100n).padStart(2, "0")}`;
}

function minorOf(text: string): bigint {
  const value = BigInt(text.replace(".", ""));
  check(money(value) === text, `${text} is not an amount`);
  return value;
}

function timeText(microseconds: number): string {
  return new Date(Math.floor(microseconds / 1000)).toISOString();
}
