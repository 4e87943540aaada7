/** The error of too many requests. */

import type { CallFacts, Refusal } from "./errors.js";
import { ServiceError } from "./generated/statuses.js";

/** HTTP 429: too many requests. The client has waited and tried again before it throws this. */
export class RateLimited extends ServiceError {
  override readonly name: string = "RateLimited";
  /** Seconds to wait, if the reply has it. */
  readonly retryAfterSeconds: number | undefined;

  constructor(refusal: Refusal, call: CallFacts, retryAfterSeconds: number | undefined) {
    super(refusal, call);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
