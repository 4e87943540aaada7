<?php

declare(strict_types=1);

namespace Kasuwa;

/** Masks secrets in what is logged or dumped: card numbers, security codes, PINs, OTPs, tokens and keys. */
final class Masking
{
    private const MASK = '***';
    /** Further fields of replies, and of headers. */
    private const FURTHER_FIELDS = [
        'cardtoken',
        'qr_code',
        'qr_image',
        'hash',
        'authorization',
        'proxy-authorization',
        'cookie',
    ];
    /**
     * Identifiers of the service and of this client. They are no secrets, although the digits of some have the check
     * digit of a card number: references of payments, ids of events, and references that the client makes.
     */
    private const REFERENCE =
        'GP[0-9]{17}[A-Z](?![0-9A-Za-z])|\bevt_[0-9]{8,18}[0-9a-f]{12}\b|\bkc-[0-9a-f]{32}\b';
    /** Runs of digits that may be a card number, also with spaces or hyphens between them. */
    private const CARD_LIKE = '(?<![0-9])[0-9](?:[ -]?[0-9]){11,18}(?![0-9])';

    /** Returns a copy of a JSON value in which secrets are replaced by asterisks. */
    public static function mask(mixed $value): mixed
    {
        if (is_array($value)) {
            $masked = [];
            foreach ($value as $name => $inner) {
                $isSecret = $inner !== null && self::isSecret((string) $name);
                $masked[$name] = $isSecret ? self::MASK : self::mask($inner);
            }
            return $masked;
        }
        if (is_string($value)) {
            return preg_replace_callback(
                '/(' . self::REFERENCE . ')|' . self::CARD_LIKE . '/',
                static fn (array $found): string => !isset($found[1]) && self::isCardNumber($found[0])
                    ? self::MASK
                    : $found[0],
                $value,
            );
        }
        return is_int($value) && self::isCardNumber((string) $value) ? self::MASK : $value;
    }

    private static function isSecret(string $name): bool
    {
        $lower = strtolower($name);
        return in_array($lower, SecretFields::NAMES, true) || in_array($lower, self::FURTHER_FIELDS, true);
    }

    /** Returns whether a text has the length and the check digit of a card number. */
    private static function isCardNumber(string $text): bool
    {
        $digits = str_replace([' ', '-'], '', $text);
        if (preg_match('/^[0-9]{12,19}$/D', $digits) !== 1) {
            return false;
        }
        $sum = 0;
        foreach (str_split(strrev($digits)) as $index => $digit) {
            $doubled = (int) $digit * (1 + $index % 2);
            $sum += $doubled > 9 ? $doubled - 9 : $doubled;
        }
        return $sum % 10 === 0;
    }
}
