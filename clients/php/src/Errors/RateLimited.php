<?php

declare(strict_types=1);

namespace Kasuwa\Errors;

/** HTTP 429: too many requests. The client has waited and tried again before it throws this. */
class RateLimited extends ServiceError
{
    /** @param float|null $retryAfterSeconds Seconds to wait, if the reply has it. */
    public function __construct(Refusal $refusal, CallFacts $call, public readonly ?float $retryAfterSeconds)
    {
        parent::__construct($refusal, $call);
    }
}
