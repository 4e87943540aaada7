/** The Web Crypto API of the runtime: global in Node 20, Deno, Bun and Workers; in Node 18 a module. */

let loaded: Promise<Crypto> | undefined;

export function webCrypto(): Promise<Crypto> {
  loaded ??= loadCrypto();
  return loaded;
}

async function loadCrypto(): Promise<Crypto> {
  const global = (globalThis as { crypto?: Crypto }).crypto;
  if (global?.subtle !== undefined) {
    return global;
  }
  // A variable, so that bundlers for runtimes without Node's modules do not look for it.
  const name = "node:crypto";
  const module = (await import(/* webpackIgnore: true */ /* @vite-ignore */ name)) as { webcrypto: Crypto };
  return module.webcrypto;
}

/** Returns a reference that was not used before. */
export async function newReference(): Promise<string> {
  return `kc-${(await webCrypto()).randomUUID().replaceAll("-", "")}`;
}
