/** Waits until a transaction is final, by asking for its state again and again. */

import { sleep, throwIfAborted } from "./caller.js";
import { ServiceUnreachable, StillPending, UnexpectedReply } from "./errors.js";
import { ServiceError } from "./generated/statuses.js";
import type { CallOptions } from "./options.js";

export interface WaitOptions {
  /** Seconds to wait at most. Default 60. */
  readonly seconds?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

const DEFAULT_SECONDS = 60;
const FIRST_PAUSE_MILLISECONDS = 200;
const MAX_PAUSE_MILLISECONDS = 4000;
const PAUSE_GROWTH = 1.6;
// The service is away for a moment: it is asked again until the time is over.
const TRANSIENT = [ServiceUnreachable, UnexpectedReply, ServiceError];
const OPEN_STATES: ReadonlySet<unknown> = new Set([undefined, "pending", "processing"]);

/** Returns whether a transaction is final: it will not change any more. */
export function isFinal(state: { readonly txnStatus?: string | undefined }): boolean {
  return !OPEN_STATES.has(state.txnStatus);
}

/**
 * Calls `verify` until the state that it returns is final, and returns that. Throws StillPending after `seconds`. A
 * service that is away for a moment does not end the wait. Any other error does.
 */
export async function waitUntilFinal<State extends { readonly txnStatus?: string | undefined }>(
  verify: (options: CallOptions) => Promise<State>,
  { name, orderRef }: { readonly name: string; readonly orderRef: string | undefined },
  { seconds = DEFAULT_SECONDS, signal }: WaitOptions = {},
): Promise<State> {
  if (!(Number.isFinite(seconds) && seconds >= 0)) {
    throw new TypeError("seconds: pass a number, not negative");
  }
  const endsAt = performance.now() + seconds * 1000;
  let last: State | undefined;
  let trouble: unknown;
  for (let pause = FIRST_PAUSE_MILLISECONDS; ; pause = Math.min(pause * PAUSE_GROWTH, MAX_PAUSE_MILLISECONDS)) {
    throwIfAborted(signal);
    try {
      last = await verify({ signal, deadlineSeconds: Math.max(1, (endsAt - performance.now()) / 1000) });
      trouble = undefined;
      if (isFinal(last)) {
        return last;
      }
    } catch (error) {
      if (!TRANSIENT.some((kind) => error instanceof kind)) {
        throw error;
      }
      trouble = error;
    }
    const left = endsAt - performance.now();
    if (left <= 0) {
      break;
    }
    await sleep(Math.min(pause, left), signal);
  }
  const facts = { action: name, orderRef };
  throw new StillPending(`The outcome is not final after ${seconds} seconds`, facts, { state: last, cause: trouble });
}
