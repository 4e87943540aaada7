<?php

/** Events as the service sends them, and what is not genuine. The delivery is at DELIVERY_FILE. */

declare(strict_types=1);

require __DIR__ . '/service.php';

use Kasuwa\Errors\InvalidSignature;
use Kasuwa\Events\Event;
use Kasuwa\Events\EventKind;
use Kasuwa\Events\TransferEvent;
use Kasuwa\Events\UnknownEvent;
use Kasuwa\Kasuwa;
use Kasuwa\Webhook;

/** Returns the event of a payload, signed with the service hash alone. */
function readPayload(array $payload): Event
{
    $body = json_encode($payload);
    $headers = ['service-hash' => hash('sha512', "{$body}key")];
    return Webhook::verifyEvent($body, $headers, 'key', acceptServiceHashAlone: true);
}

runTests([
    'an event of the service is verified, and nothing else is' => function (): void {
        ['headers' => $headers, 'body' => $body, 'key' => $key, 'orderRef' => $orderRef] = json_decode(
            file_get_contents(setting('DELIVERY_FILE')),
            true,
        );
        $event = Webhook::verifyEvent($body, $headers, $key);
        same([TransferEvent::class, 'transfer', $orderRef], [$event::class, $event->kind, $event->orderRef]);
        same(EventKind::Transfer, EventKind::tryFrom($event->kind));
        same(['successful', '1500.00'], [$event->txnStatus, $event->chargedAmount]);
        matches('/^evt_/', $event->eventId);
        $sentAt = (int) $headers['webhook-timestamp'];
        same($sentAt, $event->sentAt->getTimestamp());
        same($event->toArray(), (new Kasuwa(mid: 'GP1', key: $key))->verifyEvent($body, $headers)->toArray());

        $server = ['REQUEST_METHOD' => 'POST'];
        foreach ($headers as $name => $value) {
            $server['HTTP_' . strtoupper(strtr($name, '-', '_'))] = $value;
        }
        $lists = array_map(fn (string $value): array => [$value], array_change_key_case($headers, CASE_UPPER));
        $previous = [
            ...$headers,
            'service-hash' => str_repeat('0', 128),
            'service-hash-previous' => $headers['service-hash'],
        ];
        foreach ([$server, $lists, $previous] as $other) {
            same($event->eventId, Webhook::verifyEvent($body, $other, ['newer-key', $key])->eventId);
        }
        same($orderRef, Webhook::verifyEvent($body, $headers, 'whsec_' . base64_encode($key))->orderRef);

        $changed = str_replace('1500.00', '9500.00', $body);
        $alone = ['service-hash' => $headers['service-hash']];
        $refused = [
            [$changed, $headers, $key],
            [$body, $headers, 'another-key'],
            [$body, $headers, ['one-key', 'another-key']],
            [$body, $headers, $key, 'toleranceSeconds' => NAN],
            [$body, $headers, $key, 'now' => $sentAt + 301],
            [$body, $headers, $key, 'now' => $sentAt - 301],
            [$body, [...$headers, 'service-hash' => str_repeat('0', 128)], $key],
            [$body, [...$headers, 'service-hash' => 'xyz'], $key],
            [$body, [...$headers, 'webhook-id' => 'evt_other'], $key],
            [$body, [...$headers, 'webhook-timestamp' => (string) ($sentAt + 1)], $key],
            [$body, [...$headers, 'webhook-signature' => 'v1,AAAA'], $key],
            [$body, [...$headers, 'webhook-signature' => 'v1,%%%'], $key],
            [$body, $alone, $key],
            [$body, [], $key],
            [$changed, $alone, $key, 'acceptServiceHashAlone' => true],
            [$body, [], $key, 'acceptServiceHashAlone' => true],
        ];
        foreach ($refused as $parts) {
            thrown(InvalidSignature::class, fn () => Webhook::verifyEvent(...$parts));
        }
        $later = Webhook::verifyEvent($body, $headers, $key, toleranceSeconds: 600, now: $sentAt + 301);
        same($event->eventId, $later->eventId);
        $old = Webhook::verifyEvent($body, $alone, $key, acceptServiceHashAlone: true);
        same([$orderRef, null, null], [$old->orderRef, $old->eventId, $old->sentAt]);
        foreach ([[], '', ['', $key], 'whsec_%', 'whsec_', [$key, 'whsec_====']] as $wrong) {
            thrown(InvalidArgumentException::class, fn () => Webhook::verifyEvent($body, $headers, $wrong));
        }
    },
    'an event of an unknown kind, or of none, is readable' => function (): void {
        $payload = ['status' => 200, 'txnStatus' => 'failed', 'txnRef' => 'GP1', 'satellite' => '5'];
        foreach (['satellite', null, 7] as $kind) {
            $event = readPayload([...$payload, 'kind' => $kind]);
            same([UnknownEvent::class, $kind, '5'], [$event::class, $event->kind, $event->satellite]);
        }
        same('75.00', readPayload([...$payload, 'kind' => 'bill', 'commission' => '75.00'])->commission);
    },
    'every kind has its class' => function (): void {
        foreach (EventKind::cases() as $kind) {
            same($kind->eventClass(), readPayload(['kind' => $kind->value])::class);
        }
    },
    'a signed event is verified, and no other key verifies it' => function (): void {
        $payload = ['kind' => 'transfer', 'txnStatus' => 'successful', 'txnRef' => 'GP|FD|1'];
        [$body, $headers] = Webhook::signEvent($payload, ['newer-key', 'older-key'], 'evt_1');
        foreach (['newer-key', 'older-key', ['older-key', 'newer-key']] as $signer) {
            $event = Webhook::verifyEvent($body, $headers, $signer);
            same(['GP|FD|1', 'evt_1'], [$event->txnRef, $event->eventId]);
        }
        thrown(InvalidSignature::class, fn () => Webhook::verifyEvent($body, $headers, 'stranger'));
        [$body, $headers] = Webhook::signEvent($payload, 'key', now: 0);
        thrown(InvalidSignature::class, fn () => Webhook::verifyEvent($body, $headers, 'key'));
        [$body, $headers] = Webhook::signEvent('[]', 'key');
        thrown(InvalidSignature::class, fn () => Webhook::verifyEvent($body, $headers, 'key'));
    },
]);
