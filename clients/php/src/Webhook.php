<?php

declare(strict_types=1);

namespace Kasuwa;

use Kasuwa\Errors\InvalidSignature;
use Kasuwa\Events\Event;
use Kasuwa\Events\EventKind;
use Kasuwa\Events\UnknownEvent;

/** Webhook events: checks that they are genuine, and signs some for unit tests. */
final class Webhook
{
    private const TOLERANCE_SECONDS = 300;
    private const HASH_HEADER = 'service-hash';
    /** Appended to the name of that header: the hash by the key before the newest one, while a key is being rolled. */
    private const PREVIOUS_SUFFIX = '-previous';
    private const SECRET_PREFIX = 'whsec_';

    /**
     * Checks the signatures of an event in constant time and returns it: an object of the class of its kind.
     *
     * @param string $rawBody The body exactly as it was received: `file_get_contents('php://input')`. A body that was
     *     parsed and written again has another signature.
     * @param array<string, mixed> $headers The headers in any case, as `getallheaders()` has them, or `$_SERVER`.
     * @param string|list<string> $key The merchant's key, or several while a key is being rolled.
     * @param float $toleranceSeconds How old, or how far in the future, a delivery may be. It limits replays.
     * @param string $hashHeader Name of the header with the service hash, if the operator has named it differently.
     * @param bool $acceptServiceHashAlone Whether deliveries without the Standard Webhooks headers are accepted. Such a
     *     delivery has no time, so whoever has recorded it can send it again at any time.
     * @param int|null $now The present in Unix time, for tests.
     *
     * @throws InvalidSignature if none of the keys signed it, it was changed, or it is too old
     */
    public static function verifyEvent(
        string $rawBody,
        array $headers,
        #[\SensitiveParameter] string|array $key,
        float $toleranceSeconds = self::TOLERANCE_SECONDS,
        string $hashHeader = self::HASH_HEADER,
        bool $acceptServiceHashAlone = false,
        ?int $now = null,
    ): Event {
        $keys = self::readKeys($key);
        $id = self::readHeader($headers, 'webhook-id');
        $timestamp = self::readHeader($headers, 'webhook-timestamp');
        $signature = self::readHeader($headers, 'webhook-signature');
        $hash = self::readHeader($headers, $hashHeader);
        if ($signature !== '') {
            self::checkSignature("$id.$timestamp.$rawBody", $signature, $keys);
            self::checkTime($id, $timestamp, $toleranceSeconds, $now ?? time());
        } elseif (!$acceptServiceHashAlone) {
            throw new InvalidSignature('The delivery has no webhook-signature header');
        } elseif ($hash === '') {
            throw new InvalidSignature("The delivery has neither a webhook-signature nor a $hashHeader header");
        }
        $previous = self::readHeader($headers, $hashHeader . self::PREVIOUS_SUFFIX);
        $isHashed = self::isServiceHash($rawBody, $hash, $keys) || self::isServiceHash($rawBody, $previous, $keys);
        if ($hash !== '' && !$isHashed) {
            throw new InvalidSignature("The $hashHeader header does not fit the body and the key");
        }
        $sentAt = $signature === '' ? null : new \DateTimeImmutable("@$timestamp");
        $payload = json_decode($rawBody);
        if (!$payload instanceof \stdClass) {
            throw new InvalidSignature('The body is signed, but is not a JSON object');
        }
        $kind = is_string($payload->kind ?? null) ? EventKind::tryFrom($payload->kind) : null;
        $class = $kind?->eventClass() ?? UnknownEvent::class;
        return new $class($payload, $id === '' ? null : $id, $sentAt);
    }

    /**
     * Returns the body and the headers of a delivery as the service would send them, signed in both ways: for unit
     * tests of what receives events, without a server.
     *
     * @param array<string, mixed>|string $payload The fields of the event, or a body that is ready.
     * @param string|list<string> $key The merchant's key, or several, the newest first, while a key is being rolled.
     * @param string $eventId The `webhook-id`, the same for each delivery of one event.
     *
     * @return array{string, array<string, string>}
     */
    public static function signEvent(
        array|string $payload,
        #[\SensitiveParameter] string|array $key,
        string $eventId = 'evt_00000001',
        string $hashHeader = self::HASH_HEADER,
        ?int $now = null,
    ): array {
        $body = is_string($payload) ? $payload : json_encode($payload, JSON_THROW_ON_ERROR);
        $timestamp = (string) ($now ?? time());
        $signatures = $hashes = [];
        foreach (self::readKeys($key) as $one) {
            $hmac = hash_hmac('sha256', "$eventId.$timestamp.$body", $one, true);
            $signatures[] = 'v1,' . base64_encode($hmac);
            $hashes[] = hash('sha512', $body . $one);
        }
        $headers = [
            'content-type' => 'application/json',
            $hashHeader => $hashes[0],
            'webhook-id' => $eventId,
            'webhook-timestamp' => $timestamp,
            'webhook-signature' => implode(' ', $signatures),
        ];
        if (isset($hashes[1])) {
            $headers[$hashHeader . self::PREVIOUS_SUFFIX] = $hashes[1];
        }
        return [$body, $headers];
    }

    /**
     * Returns the bytes of the keys, which may also be in the form that Standard Webhooks libraries take.
     *
     * @param string|array<mixed> $key
     *
     * @return non-empty-list<string>
     */
    private static function readKeys(#[\SensitiveParameter] string|array $key): array
    {
        $keys = [];
        foreach ((array) $key as $one) {
            if (!is_string($one) || $one === '') {
                break;
            }
            $isSecret = str_starts_with($one, self::SECRET_PREFIX);
            $bytes = $isSecret ? base64_decode(substr($one, strlen(self::SECRET_PREFIX)), true) : $one;
            if ($bytes === false || $bytes === '') {
                throw new \InvalidArgumentException('key: a secret that begins with whsec_ must continue in Base64');
            }
            $keys[] = $bytes;
        }
        if ($keys === [] || count($keys) !== count((array) $key)) {
            throw new \InvalidArgumentException('key: pass a text that is not empty, or several');
        }
        return $keys;
    }

    /** @param array<string, mixed> $headers */
    private static function readHeader(array $headers, string $name): string
    {
        foreach ($headers as $found => $value) {
            // $_SERVER has the header webhook-id as HTTP_WEBHOOK_ID.
            $plain = preg_replace('/^http-/', '', strtolower(strtr((string) $found, '_', '-')));
            if ($plain === strtolower($name)) {
                $text = is_array($value) ? reset($value) : $value;
                return is_string($text) ? trim($text) : '';
            }
        }
        return '';
    }

    /** @param list<string> $keys */
    private static function checkSignature(string $message, string $header, array $keys): void
    {
        $isGenuine = false;
        foreach ($keys as $key) {
            $expected = hash_hmac('sha256', $message, $key, true);
            foreach (preg_split('/\s+/', $header) as $part) {
                $given = str_starts_with($part, 'v1,') ? base64_decode(substr($part, 3), true) : false;
                // All pairs are compared, so that the time does not tell which key or signature was right.
                $isGenuine = ($given !== false && hash_equals($expected, $given)) || $isGenuine;
            }
        }
        if (!$isGenuine) {
            throw new InvalidSignature('The webhook-signature header does not fit the body and the key');
        }
    }

    private static function checkTime(string $id, string $timestamp, float $tolerance, int $now): void
    {
        if ($id === '' || preg_match('/^[0-9]{1,12}$/D', $timestamp) !== 1) {
            throw new InvalidSignature('The webhook-id or webhook-timestamp header is missing or not valid');
        }
        // Written so that a tolerance that is not a number accepts nothing.
        if (!(abs($now - (int) $timestamp) <= $tolerance)) {
            throw new InvalidSignature("The delivery is more than $tolerance seconds old, or from the future");
        }
    }

    /** @param list<string> $keys */
    private static function isServiceHash(string $body, string $given, array $keys): bool
    {
        $isGenuine = false;
        foreach ($keys as $key) {
            $isGenuine = hash_equals(hash('sha512', $body . $key), strtolower($given)) || $isGenuine;
        }
        return $isGenuine;
    }
}
