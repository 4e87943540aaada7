<?php

declare(strict_types=1);

namespace Kasuwa;

/** Options of a single call. Those that are null are as the client has them. */
final class CallOptions
{
    /**
     * @param string|null $idempotencyKey Idempotency-Key of a write: 1 to 255 ASCII characters. The same key and
     *     request are executed once in 24 hours.
     * @param string|null $requestId `x-request-id` of the call. By default the client makes one.
     * @param string|null $scenario Tells the test environment how the outside behaves, such as `rr=91;delay=5`.
     * @param array<string, string> $headers Further headers.
     *
     * @throws \InvalidArgumentException if an option is wrong
     */
    public function __construct(
        public readonly ?string $idempotencyKey = null,
        public readonly ?string $requestId = null,
        public readonly ?string $scenario = null,
        public readonly array $headers = [],
        public readonly ?float $timeoutSeconds = null,
        public readonly ?float $deadlineSeconds = null,
        public readonly ?int $maxRetries = null,
    ) {
        foreach (['timeoutSeconds' => $timeoutSeconds, 'deadlineSeconds' => $deadlineSeconds] as $name => $seconds) {
            if ($seconds !== null && !($seconds > 0 && $seconds <= 86_400)) {
                throw new \InvalidArgumentException("$name: pass a number of seconds above zero, at most 86,400");
            }
        }
        if ($maxRetries !== null && $maxRetries < 0) {
            throw new \InvalidArgumentException('maxRetries: pass a whole number, not negative');
        }
        Headers::check(['idempotencyKey' => $idempotencyKey, 'requestId' => $requestId, 'scenario' => $scenario]);
        Headers::lowerNames($headers);
    }
}
