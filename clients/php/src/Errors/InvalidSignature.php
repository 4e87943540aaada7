<?php

declare(strict_types=1);

namespace Kasuwa\Errors;

/** An event is not signed with any of the keys, or is too old. */
class InvalidSignature extends KasuwaError
{
}
