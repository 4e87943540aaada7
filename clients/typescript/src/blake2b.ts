/** BLAKE2b-256 (RFC 7693), without a key. Runtimes have no BLAKE2b of this length. */

const MASK = 0xffffffffffffffffn;
const OUT_BYTES = 32;
const BLOCK_BYTES = 128;

const IV = [
  0x6a09e667f3bcc908n,
  0xbb67ae8584caa73bn,
  0x3c6ef372fe94f82bn,
  0xa54ff53a5f1d36f1n,
  0x510e527fade682d1n,
  0x9b05688c2b3e6c1fn,
  0x1f83d9abfb41bd6bn,
  0x5be0cd19137e2179n,
];

const SIGMA = [
  [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
  [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
  [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
  [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
  [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
  [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
  [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
  [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
  [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
  [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
];

/** The eight mixings of a round: the words of the state that each takes. */
const MIXINGS = [
  [0, 4, 8, 12],
  [1, 5, 9, 13],
  [2, 6, 10, 14],
  [3, 7, 11, 15],
  [0, 5, 10, 15],
  [1, 6, 11, 12],
  [2, 7, 8, 13],
  [3, 4, 9, 14],
] as const;

function rotate(word: bigint, bits: bigint): bigint {
  return ((word >> bits) | (word << (64n - bits))) & MASK;
}

function compress(state: bigint[], block: DataView, length: bigint, isLast: boolean): void {
  const words = Array.from({ length: 16 }, (_, n) => block.getBigUint64(n * 8, true));
  const v = [...state, ...IV];
  const at = (n: number): bigint => v[n] ?? 0n;
  v[12] = at(12) ^ length;
  v[14] = isLast ? at(14) ^ MASK : at(14);
  for (let round = 0; round < 12; round++) {
    const order = SIGMA[round % 10] ?? [];
    MIXINGS.forEach(([a, b, c, d], n) => {
      const x = words[order[2 * n] ?? 0] ?? 0n;
      const y = words[order[2 * n + 1] ?? 0] ?? 0n;
      v[a] = (at(a) + at(b) + x) & MASK;
      v[d] = rotate(at(d) ^ at(a), 32n);
      v[c] = (at(c) + at(d)) & MASK;
      v[b] = rotate(at(b) ^ at(c), 24n);
      v[a] = (at(a) + at(b) + y) & MASK;
      v[d] = rotate(at(d) ^ at(a), 16n);
      v[c] = (at(c) + at(d)) & MASK;
      v[b] = rotate(at(b) ^ at(c), 63n);
    });
  }
  for (let n = 0; n < 8; n++) {
    state[n] = (state[n] ?? 0n) ^ at(n) ^ at(n + 8);
  }
}

export function blake2b256(data: Uint8Array): Uint8Array {
  const state = [...IV];
  state[0] = (state[0] ?? 0n) ^ BigInt(0x01010000 ^ OUT_BYTES);
  let offset = 0;
  do {
    const block = new Uint8Array(BLOCK_BYTES);
    block.set(data.subarray(offset, offset + BLOCK_BYTES));
    offset += BLOCK_BYTES;
    const isLast = offset >= data.length;
    compress(state, new DataView(block.buffer), BigInt(isLast ? data.length : offset), isLast);
  } while (offset < data.length);
  const out = new DataView(new ArrayBuffer(OUT_BYTES));
  for (let n = 0; n < OUT_BYTES / 8; n++) {
    out.setBigUint64(n * 8, state[n] ?? 0n, true);
  }
  return new Uint8Array(out.buffer);
}
