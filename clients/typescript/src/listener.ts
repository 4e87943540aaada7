/** A request listener that receives events: for node:http, Express and others with the same kind of handlers. */

import { InvalidSignature } from "./errors.js";
import type { HeadersLike } from "./events.js";
import type { KasuwaEvent } from "./generated/events.js";

/** The part of an incoming request of Node.js that is used. */
export interface ListenerRequest extends AsyncIterable<Uint8Array> {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined };
}

/** The part of a response of Node.js that is used. */
export interface ListenerResponse {
  statusCode: number;
  setHeader(name: string, value: string): unknown;
  end(text: string): unknown;
}

export interface EventListenerOptions {
  /** Where events are received. Default `/events`. */
  readonly path?: string | undefined;
  /** Functions of further paths. They get the body of a POST request as text and return the text of the answer. */
  readonly routes?: { readonly [path: string]: (body: string) => unknown } | undefined;
  /** Called with a line about each request and its answer. */
  readonly log?: ((line: string) => void) | undefined;
}

/** Verifies deliveries: a client, or anything that has its method verifyEvent. */
interface Verifier {
  verifyEvent(rawBody: Uint8Array, headers: HeadersLike): Promise<KasuwaEvent>;
}

type Answer = readonly [status: number, text: string];

const MAX_BODY_BYTES = 1_048_576;

/**
 * Returns a request listener that verifies deliveries and passes their events to a function. The text that `receive`
 * returns, if any, is the answer. If it throws, the answer is HTTP 500 and the service sends the event again later. The
 * same event may arrive several times.
 */
export function eventListener(
  client: Verifier,
  receive: (event: KasuwaEvent) => unknown,
  options: EventListenerOptions = {},
): (request: ListenerRequest, response: ListenerResponse) => void {
  const eventPath = options.path ?? "/events";
  const routes = new Map(Object.entries(options.routes ?? {}));

  async function answerTo(request: ListenerRequest, path: string): Promise<Answer> {
    const route = routes.get(path);
    if (path !== eventPath && route === undefined) {
      return [404, "there is nothing at this path"];
    }
    if (request.method !== "POST") {
      return [405, "use POST"];
    }
    const body = await readBody(request);
    if (body === undefined) {
      return [413, `a body may have ${MAX_BODY_BYTES} bytes`];
    }
    if (path === eventPath || route === undefined) {
      return [200, textOf(await receive(await client.verifyEvent(body, request.headers)))];
    }
    return [200, textOf(await route(new TextDecoder().decode(body)))];
  }

  return (request, response) => {
    const path = (request.url ?? "").replace(/\?.*$/, "");
    answerTo(request, path)
      .catch((error: unknown): Answer => {
        if (error instanceof InvalidSignature) {
          return [400, `rejected: ${error.message}`];
        }
        options.log?.(`${request.method} ${path} failed: ${String(error)}`);
        return [500, "failed"];
      })
      .then(([status, text]) => {
        options.log?.(`${request.method} ${path}: ${status} ${text}`.trimEnd());
        response.statusCode = status;
        response.setHeader("content-type", "text/plain; charset=utf-8");
        response.end(text === "" ? "" : `${text}\n`);
      });
  };
}

/** Returns the body of a request, or undefined if it is too large. */
async function readBody(request: ListenerRequest): Promise<Uint8Array | undefined> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of request) {
    length += piece.length;
    if (length > MAX_BODY_BYTES) {
      return undefined;
    }
    pieces.push(piece);
  }
  const body = new Uint8Array(length);
  let offset = 0;
  for (const piece of pieces) {
    body.set(piece, offset);
    offset += piece.length;
  }
  return body;
}

function textOf(result: unknown): string {
  return result === undefined || result === null ? "" : String(result);
}
