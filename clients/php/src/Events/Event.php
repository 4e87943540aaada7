<?php

declare(strict_types=1);

namespace Kasuwa\Events;

use Kasuwa\Result;

/**
 * An event whose signature is valid. The same event may arrive several times, and events may arrive out of order:
 * remember the `eventId`s that you have handled, and ask `verify` for the state before you fulfill an order.
 */
abstract class Event extends Result
{
    /**
     * @param string|null $eventId `webhook-id`: the same for every delivery of an event. Null if the delivery has none.
     * @param \DateTimeImmutable|null $sentAt The time of this delivery. Null if it has none.
     */
    public function __construct(
        \stdClass $payload,
        public readonly ?string $eventId,
        public readonly ?\DateTimeImmutable $sentAt,
    ) {
        parent::__construct($payload);
    }
}
