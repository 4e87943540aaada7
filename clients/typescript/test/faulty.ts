/** A server between client and service that loses, delays, cuts or replaces answers, one behavior per request. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { SERVICE } from "./service.js";

/** An answer that is sent instead of the service's. An object is sent as JSON. */
export interface Instead {
  readonly http: number;
  readonly body: string | object;
  readonly headers?: Record<string, string>;
}

/**
 * `forward` passes the request and its answer on. `lose` passes the request on and closes the connection without an
 * answer. `half` sends half of the answer. `hang` never answers. `refuse` closes without passing the request on.
 */
export type Behavior = "forward" | "lose" | "half" | "hang" | "refuse" | Instead;

export interface Received {
  readonly headers: IncomingMessage["headers"];
  readonly body: Record<string, unknown>;
}

export class FaultyServer {
  readonly received: Received[] = [];
  readonly #behaviors: Behavior[];
  readonly #server: Server;

  private constructor(behaviors: readonly Behavior[]) {
    this.#behaviors = [...behaviors];
    this.#server = createServer((request, response) => {
      this.#handle(request, response).catch((error: unknown) => response.destroy(error as Error));
    });
  }

  /** Starts a server. Requests after those that have a behavior are forwarded. */
  static async start(...behaviors: Behavior[]): Promise<FaultyServer> {
    const made = new FaultyServer(behaviors);
    await new Promise<void>((resolve) => made.#server.listen(0, "127.0.0.1", resolve));
    return made;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) {
      pieces.push(piece as Buffer);
    }
    const text = Buffer.concat(pieces).toString();
    this.received.push({ headers: request.headers, body: JSON.parse(text) as Record<string, unknown> });
    const behavior = this.#behaviors.shift() ?? "forward";
    if (typeof behavior === "object") {
      const body = typeof behavior.body === "string" ? behavior.body : JSON.stringify(behavior.body);
      response.writeHead(behavior.http, behavior.headers).end(body);
    } else if (behavior === "refuse") {
      response.destroy();
    } else if (behavior !== "hang") {
      await this.#forward(request, text, response, behavior);
    }
  }

  async #forward(request: IncomingMessage, text: string, response: ServerResponse, behavior: Behavior): Promise<void> {
    const { host: _host, connection: _connection, "content-length": _length, ...headers } = request.headers;
    const answer = await fetch(SERVICE + (request.url ?? ""), {
      method: "PUT",
      headers: headers as Record<string, string>,
      body: text,
    });
    const body = Buffer.from(await answer.arrayBuffer());
    if (behavior === "lose") {
      response.destroy();
      return;
    }
    response.writeHead(answer.status, { "content-type": "application/json", "content-length": String(body.length) });
    if (behavior === "half") {
      response.write(body.subarray(0, body.length / 2), () => response.destroy());
    } else {
      response.end(body);
    }
  }
}
