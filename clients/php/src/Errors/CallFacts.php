<?php

declare(strict_types=1);

namespace Kasuwa\Errors;

/** The facts about a call that every error carries. */
final class CallFacts
{
    public function __construct(
        public readonly string $action,
        public readonly string $requestId = '',
        public readonly ?string $orderRef = null,
        public readonly ?string $idempotencyKey = null,
        public readonly ?string $customer_txnref = null,
    ) {
    }
}
