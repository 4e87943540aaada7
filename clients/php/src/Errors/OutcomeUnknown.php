<?php

declare(strict_types=1);

namespace Kasuwa\Errors;

use Kasuwa\Result;

/**
 * The operation may or may not have been executed: its answer was lost, or the service does not know the outcome
 * itself. Verify by your reference, or send the same request again with the same `orderRef` or `idempotencyKey`: it is
 * not executed twice. A request with a new reference could move the money a second time.
 */
class OutcomeUnknown extends KasuwaError
{
    /** @param Result|null $state The last known state, as the service replied it. Null if there is none. */
    public function __construct(
        string $message,
        CallFacts $call,
        public readonly ?Result $state = null,
        ?\Throwable $previous = null,
    ) {
        parent::__construct($message, $call, $previous);
    }
}
