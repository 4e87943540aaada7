<?php

declare(strict_types=1);

namespace Kasuwa\Errors;

/** The reply is not one of the service, and nothing was executed. A proxy or a wrong address may be the cause. */
class UnexpectedReply extends KasuwaError
{
    public function __construct(string $message, CallFacts $call, public readonly int $httpStatus)
    {
        parent::__construct($message, $call);
    }
}
