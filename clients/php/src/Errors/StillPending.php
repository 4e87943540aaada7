<?php

declare(strict_types=1);

namespace Kasuwa\Errors;

/** The outcome was not final when the time of `wait` was over. `$state` is the last reply of verify. */
class StillPending extends OutcomeUnknown
{
}
