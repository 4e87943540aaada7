<?php

declare(strict_types=1);

namespace Kasuwa;

/** Texts that can be sent as headers. Errors do not quote them, because one may be the key. */
final class Headers
{
    /** Visible ASCII characters and spaces between them. */
    private const VALUE = '/^(?! )[\x20-\x7e]{1,255}(?<! )$/D';
    private const NAME = "/^[!#$%&'*+.^_`|~0-9a-z-]+$/D";

    /**
     * @param array<string, string|null> $values Texts by what they are. Null is none.
     *
     * @throws \InvalidArgumentException for one that cannot be sent
     */
    public static function check(array $values): void
    {
        foreach ($values as $name => $value) {
            if ($value !== null && preg_match(self::VALUE, $value) !== 1) {
                throw new \InvalidArgumentException("$name: pass a string of 1 to 255 ASCII characters");
            }
        }
    }

    /**
     * Returns headers with their names in lower case.
     *
     * @param array<string, string> $headers
     *
     * @return array<string, string>
     *
     * @throws \InvalidArgumentException for those that cannot be sent
     */
    public static function lowerNames(array $headers): array
    {
        $lowered = [];
        foreach ($headers as $name => $value) {
            $lower = strtolower((string) $name);
            if (preg_match(self::NAME, $lower) !== 1) {
                throw new \InvalidArgumentException('headers: a name may have letters, digits and hyphens');
            }
            if (!is_string($value)) {
                throw new \InvalidArgumentException("headers.$lower: pass a string of 1 to 255 ASCII characters");
            }
            self::check(["headers.$lower" => $value]);
            $lowered[$lower] = $value;
        }
        return $lowered;
    }
}
