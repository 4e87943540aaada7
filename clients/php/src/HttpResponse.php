<?php

declare(strict_types=1);

namespace Kasuwa;

/** A complete answer. */
final class HttpResponse
{
    /** @param array<string, string> $headers Names in lower case. */
    public function __construct(
        public readonly int $status,
        public readonly array $headers,
        public readonly string $body,
    ) {
    }

    /** Returns the seconds of a `retry-after` header, which is a number or a date, or null if it has none. */
    public function retryAfterSeconds(): ?float
    {
        $text = trim($this->headers['retry-after'] ?? '');
        if (is_numeric($text)) {
            return max(0.0, (float) $text);
        }
        $time = $text === '' ? false : strtotime($text);
        return $time === false ? null : max(0.0, $time - microtime(true));
    }
}
