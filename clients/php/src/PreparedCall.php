<?php

declare(strict_types=1);

namespace Kasuwa;

use Kasuwa\Errors\CallFacts;

/** A request that is ready to be sent any number of times. */
final class PreparedCall
{
    /**
     * @param array<string, mixed> $body
     * @param array<string, string> $headers
     * @param bool $isRepeatable Whether it may be sent again although an earlier attempt may have been executed.
     */
    public function __construct(
        public readonly Operation $operation,
        public readonly array $body,
        public readonly string $text,
        public readonly array $headers,
        public readonly CallFacts $facts,
        public readonly bool $isRepeatable,
    ) {
    }
}
