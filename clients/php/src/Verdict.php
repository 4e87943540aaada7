<?php

declare(strict_types=1);

namespace Kasuwa;

use Kasuwa\Errors\KasuwaError;

/** What an attempt means: done, if there is no error, or failed. */
final class Verdict
{
    /**
     * @param bool $isDecided The service decided on the operation: the outcome of earlier attempts is known too.
     */
    public function __construct(
        public readonly ?KasuwaError $error = null,
        public readonly bool $mayRetry = false,
        public readonly bool $isDecided = false,
        public readonly ?float $retryAfterSeconds = null,
    ) {
    }
}
