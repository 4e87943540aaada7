<?php

declare(strict_types=1);

namespace Kasuwa\Errors;

/** The service could not be reached and nothing was executed, or a read got no reply. */
class ServiceUnreachable extends KasuwaError
{
}
