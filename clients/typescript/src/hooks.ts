/** The events of a call that hooks receive, for logs and metrics. Secrets are masked. */

interface About {
  /** The method that was called, such as `disburse.transfer`. */
  readonly action: string;
  /** Counted from 1. */
  readonly attempt: number;
  /** `x-request-id`, the same for all attempts of a call. */
  readonly requestId: string;
}

/** An attempt begins. */
export interface RequestSent extends About {
  readonly kind: "requestSent";
  readonly path: string;
  readonly headers: { readonly [name: string]: string };
  readonly body: unknown;
}

/** An attempt got a complete reply. */
export interface ReplyReceived extends About {
  readonly kind: "replyReceived";
  readonly httpStatus: number;
  readonly seconds: number;
  /** Undefined if it is not JSON. */
  readonly body: unknown;
}

/** An attempt ended without a complete reply. */
export interface AttemptFailed extends About {
  readonly kind: "attemptFailed";
  readonly seconds: number;
  readonly reason: string;
}

/** The request is sent again after a pause. `attempt` is the one that failed. */
export interface Retrying extends About {
  readonly kind: "retrying";
  readonly pauseSeconds: number;
  /** Name of the error class that the attempt alone would have thrown. */
  readonly error: string;
}

export type CallEvent = RequestSent | ReplyReceived | AttemptFailed | Retrying;

/** A function that receives the events of calls. An error that it throws, or a promise that it rejects, is ignored. */
export type Hook = (event: CallEvent) => void;
