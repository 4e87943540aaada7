/** Lists: one page as a promise, or all records as an async iterator. */

import type { Caller } from "./caller.js";
import type { Body, Operation } from "./operation.js";
import type { CallOptions } from "./options.js";

/**
 * How a list continues: at `offset` plus the `limit` of the reply, the same for a reply that is a bare array, after a
 * sequence number, or with the `next_cursor` of the reply.
 */
export type Paging = "offset" | "array" | "feed" | "cursor";

export interface ListKind {
  readonly paging: Paging;
  readonly isNewestFirst: boolean;
}

interface Page {
  readonly records: readonly unknown[];
  /** Number of records of the whole list, if the reply says it. */
  readonly total?: number;
  /** Fields that ask for the next page, or undefined if this is the last one. */
  readonly next: Body | undefined;
}

/**
 * A list that is read when it is used. `await list` returns one page as the service replies it. `for await` yields all
 * records, and asks for further pages as they are needed. `all()` collects them in an array.
 *
 * In a list that is newest first, a record that is added while you iterate moves the others to later places. The
 * records that a page then repeats are dropped.
 */
export class List<Reply, Item> implements Promise<Reply>, AsyncIterable<Item> {
  readonly [Symbol.toStringTag] = "List";
  readonly #read: (changes: Body) => Promise<unknown>;
  readonly #kind: ListKind;
  readonly #request: Body;
  #first: Promise<Reply> | undefined;

  constructor(caller: Caller, operation: Operation, kind: ListKind, request: object, options?: CallOptions) {
    this.#read = (changes) => caller.call(operation, { ...request, ...changes }, options);
    this.#kind = kind;
    this.#request = request as Body;
  }

  then<Result1 = Reply, Result2 = never>(
    onFulfilled?: ((value: Reply) => Result1 | PromiseLike<Result1>) | null,
    onRejected?: ((reason: unknown) => Result2 | PromiseLike<Result2>) | null,
  ): Promise<Result1 | Result2> {
    return this.#firstPage().then(onFulfilled, onRejected);
  }

  catch<Result = never>(
    onRejected?: ((reason: unknown) => Result | PromiseLike<Result>) | null,
  ): Promise<Reply | Result> {
    return this.#firstPage().catch(onRejected);
  }

  finally(onFinally?: (() => void) | null): Promise<Reply> {
    return this.#firstPage().finally(onFinally);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    let reply: unknown = await this.#firstPage();
    let read = Number(this.#request["offset"] ?? 0);
    let total: number | undefined;
    for (;;) {
      const page = this.#readPage(reply, read);
      read += page.records.length;
      const repeated = this.#kind.isNewestFirst ? Math.max(0, (page.total ?? 0) - (total ?? page.total ?? 0)) : 0;
      total = page.total;
      yield* page.records.slice(repeated) as readonly Item[];
      if (page.next === undefined) {
        return;
      }
      reply = await this.#read(page.next);
    }
  }

  /** Returns all records, or the first `limit` of them. */
  async all(limit = Number.POSITIVE_INFINITY): Promise<Item[]> {
    const records: Item[] = [];
    if (limit > 0) {
      for await (const record of this) {
        records.push(record);
        if (records.length >= limit) {
          break;
        }
      }
    }
    return records;
  }

  #firstPage(): Promise<Reply> {
    this.#first ??= this.#read({}) as Promise<Reply>;
    return this.#first;
  }

  #readPage(reply: unknown, start: number): Page {
    if (this.#kind.paging === "array") {
      const records = reply as readonly unknown[];
      // An array does not say how many there are: the list ends with an empty page. With an id there is one record.
      const isLast = records.length === 0 || (this.#request["id"] ?? "") !== "";
      return { records, next: isLast ? undefined : { offset: start + records.length } };
    }
    if (this.#kind.paging === "feed") {
      const { data, last, more } = reply as { data: readonly unknown[]; last: number; more: boolean };
      return { records: data, next: more ? { after: last } : undefined };
    }
    if (this.#kind.paging === "cursor") {
      // A page can be empty although others follow.
      const { data, next_cursor: cursor } = reply as { data: readonly unknown[]; next_cursor: string | null };
      return { records: data, next: cursor === null ? undefined : { cursor } };
    }
    const { data, total, offset } = reply as { data: readonly unknown[]; total: number; offset: number };
    const end = offset + data.length;
    return { records: data, total, next: data.length === 0 || end >= total ? undefined : { offset: end } };
  }
}
