<?php

declare(strict_types=1);

namespace Kasuwa;

/**
 * A reply, or an object inside one. Its fields are read as properties with the names of the contract: `$reply->txnRef`.
 * The documentation of each class lists them.
 *
 * The fields are kept as they came, those that this version does not know too. Amounts and rates are texts, also where
 * they are numbers on the wire. A field of the class that the reply lacks is null.
 */
abstract class Result implements \JsonSerializable
{
    /** The fields: `''`, `amount` or `decimal`, or the class of an object or of the objects of a list. */
    protected const FIELDS = [];

    /** @var array<string, mixed> */
    private readonly array $fields;

    public function __construct(\stdClass $reply, private readonly ?ReplyMetadata $metadata = null)
    {
        $fields = [];
        foreach (get_object_vars($reply) as $name => $value) {
            $fields[$name] = self::read($value, static::FIELDS[$name] ?? '');
        }
        $this->fields = $fields;
    }

    /** Returns what is known of the reply besides its fields, or null for an object inside a reply. */
    public function metadata(): ?ReplyMetadata
    {
        return $this->metadata;
    }

    /** @return array<string, mixed> the fields; objects inside are arrays too */
    public function toArray(): array
    {
        return array_map(self::unwrap(...), $this->fields);
    }

    /** @throws \LogicException for a name that is neither a field of the class nor in the reply */
    public function __get(string $name): mixed
    {
        if (array_key_exists($name, $this->fields)) {
            return $this->fields[$name];
        }
        if (!array_key_exists($name, static::FIELDS)) {
            throw new \LogicException(static::class . " has no field $name");
        }
        return null;
    }

    public function __isset(string $name): bool
    {
        return isset($this->fields[$name]);
    }

    public function __set(string $name, mixed $value): void
    {
        throw new \LogicException(static::class . ' cannot be changed');
    }

    public function jsonSerialize(): mixed
    {
        return $this->fields === [] ? new \stdClass() : $this->fields;
    }

    /** @return array<string, mixed> the fields without secrets */
    public function __debugInfo(): array
    {
        return Masking::mask($this->toArray());
    }

    /** Returns a value with arrays in the place of objects. */
    public static function plain(mixed $value): mixed
    {
        return $value instanceof \stdClass || is_array($value) ? array_map(self::plain(...), (array) $value) : $value;
    }

    private static function read(mixed $value, string $kind): mixed
    {
        if ($kind === 'amount' || $kind === 'decimal') {
            return is_array($value) || $value instanceof \stdClass
                ? array_map(static fn (mixed $one): mixed => Exact::text($one, $kind), (array) $value)
                : Exact::text($value, $kind);
        }
        if ($kind !== '' && is_array($value)) {
            return array_map(static fn (mixed $one): mixed => self::read($one, $kind), $value);
        }
        return $kind !== '' && $value instanceof \stdClass ? new $kind($value) : self::plain($value);
    }

    private static function unwrap(mixed $value): mixed
    {
        if ($value instanceof self) {
            return $value->toArray();
        }
        return is_array($value) ? array_map(self::unwrap(...), $value) : $value;
    }
}
