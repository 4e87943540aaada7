/** A hook that makes OpenTelemetry spans. The client does not import OpenTelemetry: the application passes a tracer. */

import type { CallEvent, Hook, ReplyReceived, RequestSent } from "./hooks.js";

type Attributes = Record<string, string | number>;

/** What is used of a `Span` of `@opentelemetry/api`. */
export interface TracedSpan {
  setAttributes(attributes: Attributes): unknown;
  setStatus(status: { code: number }): unknown;
  end(): void;
}

/** What is used of a `Tracer` of `@opentelemetry/api`. */
export interface SpanStarter {
  startSpan(name: string, options: { kind: number; attributes: Attributes }): TracedSpan;
}

/** `SpanKind.CLIENT` and `SpanStatusCode.ERROR`. */
const CLIENT = 2;
const ERROR = 2;
const SUCCESSES: readonly unknown[] = [200, 202];

/**
 * Returns a hook that makes a span of each attempt, below the span that is active where the call is made. Spans have
 * references and statuses, and no other field of a request or a reply.
 *
 * @param tracer A tracer of `@opentelemetry/api`, such as `trace.getTracer("shop")`.
 */
export function tracingHook(tracer: SpanStarter): Hook {
  // Several spans are open under one name if concurrent calls were given the same requestId.
  const open = new Map<string, TracedSpan[]>();
  return (event: CallEvent) => {
    const name = `${event.requestId} ${event.attempt}`;
    if (event.kind === "requestSent") {
      const span = tracer.startSpan(`kasuwa ${event.action}`, { kind: CLIENT, attributes: sentAttributes(event) });
      open.set(name, [...(open.get(name) ?? []), span]);
      return;
    }
    const [span, ...others] = open.get(name) ?? [];
    if (event.kind === "retrying" || span === undefined) {
      return;
    }
    if (others.length > 0) {
      open.set(name, others);
    } else {
      open.delete(name);
    }
    if (event.kind === "replyReceived") {
      noteReply(span, event);
    } else {
      span.setAttributes({ "error.type": "no_reply", "kasuwa.reason": event.reason });
      span.setStatus({ code: ERROR });
    }
    span.end();
  };
}

function sentAttributes(event: RequestSent): Attributes {
  const orderRef = field(event.body, "orderRef");
  return {
    "http.request.method": "PUT",
    "url.path": event.path,
    "kasuwa.action": event.action,
    "kasuwa.attempt": event.attempt,
    "kasuwa.request_id": event.requestId,
    ...(typeof orderRef === "string" ? { "kasuwa.order_ref": orderRef } : {}),
  };
}

function noteReply(span: TracedSpan, event: ReplyReceived): void {
  span.setAttributes({ "http.response.status_code": event.httpStatus });
  const status = field(event.body, "status");
  if (event.httpStatus < 400 && (typeof status !== "number" || SUCCESSES.includes(status))) {
    return;
  }
  const code = field(event.body, "code");
  span.setAttributes({
    "error.type": typeof code === "string" ? code : String(event.httpStatus),
    ...(typeof status === "number" ? { "kasuwa.status": status } : {}),
  });
  span.setStatus({ code: ERROR });
}

function field(body: unknown, name: string): unknown {
  return typeof body === "object" && body !== null ? (body as { [name: string]: unknown })[name] : undefined;
}
