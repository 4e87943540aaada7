<?php

declare(strict_types=1);

namespace Kasuwa;

/** The description of an action that the generated methods hand to the caller. */
final class Operation
{
    /**
     * @param string $name The method that calls it, such as `disburse.transfer`.
     * @param array<string, string> $select Body fields that select the action, with their values.
     * @param array<string, mixed> $shape What is exact or an object in the request: see Exact.
     * @param string $reply The class of the reply, or of the records of an array; `map` for a map of texts.
     * @param string|null $orders The field with a list of orders that each have an orderRef.
     */
    public function __construct(
        public readonly string $name,
        public readonly string $path,
        public readonly array $select,
        public readonly string $reply,
        public readonly Repeat $repeat = Repeat::Read,
        public readonly bool $writes = false,
        public readonly bool $acceptsIdempotencyKey = false,
        public readonly bool $repliesArray = false,
        public readonly array $shape = [],
        public readonly ?string $orders = null,
    ) {
    }
}
