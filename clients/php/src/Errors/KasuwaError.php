<?php

declare(strict_types=1);

namespace Kasuwa\Errors;

/**
 * Parent of all errors of the client:
 *
 *     KasuwaError
 *     ├── ServiceUnreachable       nothing was sent, or a read got no reply
 *     ├── UnexpectedReply          a reply that the service did not write, such as a proxy's refusal
 *     ├── OutcomeUnknown           the operation may or may not have been executed
 *     │   ├── UnreadableOutcome    status 201 of a write: the service asks the rail again
 *     │   └── StillPending         wait() ran out of time
 *     ├── InvalidSignature         an event that the service did not sign
 *     └── Refused                  the service replied with an error: one class per status
 *
 * Wrong arguments throw an InvalidArgumentException, or PHP's own TypeError, before anything is sent. A message never
 * holds a secret.
 */
class KasuwaError extends \RuntimeException
{
    /** The method that was called, such as `disburse.transfer`. */
    public readonly ?string $action;
    /** `x-request-id` of the request, which the service writes to its log. */
    public readonly ?string $requestId;
    /** The orderRef that was sent, also if the client made it. */
    public readonly ?string $orderRef;
    /** The Idempotency-Key that was sent, also if the client made it. */
    public readonly ?string $idempotencyKey;
    /** The merchant's own reference of a payment. */
    public readonly ?string $customer_txnref;

    public function __construct(string $message, ?CallFacts $call = null, ?\Throwable $previous = null)
    {
        parent::__construct($message, 0, $previous);
        $this->action = $call?->action;
        $this->requestId = $call?->requestId;
        $this->orderRef = $call?->orderRef;
        $this->idempotencyKey = $call?->idempotencyKey;
        $this->customer_txnref = $call?->customer_txnref;
    }
}
