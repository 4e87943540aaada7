<?php

declare(strict_types=1);

namespace Kasuwa;

/** What is known of a reply besides its fields. */
final class ReplyMetadata
{
    /**
     * @param string $requestId `x-request-id`: name it when you ask the operator about the request.
     * @param string|null $idempotencyKey The Idempotency-Key that was sent, also if the client made it.
     * @param int $attempts Number of attempts that were made, the last one included.
     */
    public function __construct(
        public readonly int $httpStatus,
        public readonly string $requestId,
        public readonly ?string $idempotencyKey,
        public readonly int $attempts,
    ) {
    }
}
