/**
 * Calls the methods that it is told on standard input, one JSON object a line, and answers on standard output what
 * each returned or threw, the body that was sent, and the reply as it came. tests/clients/test_typescript.py drives it.
 */

import { createInterface } from "node:readline";
import { Kasuwa, Refused } from "kasuwa-client";
import { SERVICE } from "./service.js";

interface Order {
  readonly path: string;
  readonly method: string;
  readonly request: object;
}

interface Wire {
  sent: unknown;
  http: number;
  headers: Record<string, string>;
  text: string;
}

let wire: Wire | undefined;
const [mid = "", key = ""] = process.argv.slice(2);
const shop = new Kasuwa({
  mid,
  key,
  baseUrl: SERVICE,
  fetch: async (url, init) => {
    const response = await fetch(url, init);
    const text = await response.text();
    wire = {
      sent: JSON.parse(String(init.body)),
      http: response.status,
      headers: Object.fromEntries(response.headers),
      text,
    };
    return new Response(text, { status: response.status, headers: response.headers });
  },
});

async function obey({ path, method, request }: Order): Promise<object> {
  const paths = shop as unknown as Record<string, Record<string, (request: object) => PromiseLike<unknown>>>;
  try {
    return { returned: await paths[path]?.[method]?.(request), wire };
  } catch (error) {
    if (!(error instanceof Refused)) {
      throw error;
    }
    return { refused: { name: error.name, reply: error.reply }, wire };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await obey(JSON.parse(line) as Order))}\n`);
}
