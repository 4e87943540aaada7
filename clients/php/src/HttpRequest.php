<?php

declare(strict_types=1);

namespace Kasuwa;

/** One attempt: what is sent. */
final class HttpRequest
{
    /**
     * @param array<string, string> $headers Names in lower case.
     * @param bool $isRepeatable Whether it may be sent twice. If not, it must go over a new connection: curl sends a
     *     request again by itself when a connection that it kept turns out to be closed.
     */
    public function __construct(
        public readonly string $url,
        public readonly array $headers,
        public readonly string $body,
        public readonly float $timeoutSeconds,
        public readonly bool $isRepeatable,
    ) {
    }

    /** @return array<string, mixed> what is shown when it is dumped: no secret */
    public function __debugInfo(): array
    {
        $shown = ['url' => $this->url, 'headers' => Masking::mask($this->headers)];
        return [...$shown, 'body' => Masking::mask(json_decode($this->body, true))];
    }
}
