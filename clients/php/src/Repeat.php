<?php

declare(strict_types=1);

namespace Kasuwa;

/** How a request whose answer did not arrive may be sent again. */
enum Repeat
{
    /** Always: it changes nothing. */
    case Read;
    /** With the same orderRef. */
    case OrderRef;
    /** With the same Idempotency-Key. */
    case IdempotencyKey;
    /** Not at all: it may be done twice. */
    case Never;
}
