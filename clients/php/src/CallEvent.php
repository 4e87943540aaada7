<?php

declare(strict_types=1);

namespace Kasuwa;

/** An event of a call that hooks receive, for logs and metrics. Secrets are masked. */
final class CallEvent implements \JsonSerializable
{
    /** An attempt begins: details are `path`, `headers` and `body`. */
    public const REQUEST_SENT = 'requestSent';
    /** An attempt got a complete answer: details are `httpStatus`, `seconds` and `body`, null if it is not JSON. */
    public const REPLY_RECEIVED = 'replyReceived';
    /** An attempt ended without a complete answer: details are `seconds` and `reason`. */
    public const ATTEMPT_FAILED = 'attemptFailed';
    /**
     * The request is sent again after a pause: details are `pauseSeconds`, and as `error` the name of the class that
     * the attempt alone would have thrown.
     */
    public const RETRYING = 'retrying';

    /**
     * @param string $action The method that was called, such as `disburse.transfer`.
     * @param int $attempt Counted from 1.
     * @param string $requestId `x-request-id`, the same for all attempts of a call.
     * @param array<string, mixed> $details
     */
    public function __construct(
        public readonly string $kind,
        public readonly string $action,
        public readonly int $attempt,
        public readonly string $requestId,
        public readonly array $details,
    ) {
    }

    /** @return array<string, mixed> all of it, as the context of a line in a log */
    public function jsonSerialize(): array
    {
        $facts = ['kind' => $this->kind, 'action' => $this->action, 'attempt' => $this->attempt];
        return [...$facts, 'requestId' => $this->requestId, ...$this->details];
    }
}
