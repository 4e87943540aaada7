<?php

declare(strict_types=1);

namespace Kasuwa;

/** An attempt without a complete answer. */
final class TransportFailure extends \RuntimeException
{
    /** @param bool $mayHaveArrived False only if the request cannot have reached the service. */
    public function __construct(
        string $message,
        public readonly bool $mayHaveArrived,
        public readonly bool $isTimeout = false,
        ?\Throwable $previous = null,
    ) {
        parent::__construct($message, 0, $previous);
    }
}
