<?php

declare(strict_types=1);

namespace Kasuwa\Errors;

/** Status 201 of a write: the rail's answer could not be read. `$state` is the reply, and `wait` accepts this error. */
class UnreadableOutcome extends OutcomeUnknown
{
}
