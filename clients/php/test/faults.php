<?php

/**
 * Lost, late, cut and foreign answers: what is repeated, how often it is executed, and which error remains. Each test
 * runs against a server of its own at FAULTY_URL, which tests/clients/test_php_faults.py starts.
 */

declare(strict_types=1);

require __DIR__ . '/service.php';

use Kasuwa\CallEvent;
use Kasuwa\Errors\AuthenticationError;
use Kasuwa\Errors\InsufficientFunds;
use Kasuwa\Errors\OutcomeUnknown;
use Kasuwa\Errors\RateLimited;
use Kasuwa\Errors\ServiceError;
use Kasuwa\Errors\ServiceUnreachable;
use Kasuwa\Errors\UnexpectedReply;
use Kasuwa\HttpResponse;
use Kasuwa\Kasuwa;

/** Returns a merchant, and its client that calls the faulty server. */
function behind(mixed ...$options): array
{
    $shop = openShop();
    return [$shop, $shop->withOptions(...['baseUrl' => setting('FAULTY_URL'), ...$options])];
}

function isExecutedOnce(): void
{
    [$shop, $client] = behind();
    $before = walletOf($shop);
    $transfer = $client->disburse->transfer(...TRANSFER);
    same(['successful', 2], [$transfer->txnStatus, $transfer->metadata()->attempts]);
    same(TRANSFER_COST, $before - walletOf($shop));
}

function throwsUnknown(): void
{
    [$shop, $client] = behind(maxRetries: 0);
    $before = walletOf($shop);
    $error = thrown(OutcomeUnknown::class, fn () => $client->disburse->transfer(...TRANSFER));
    matches('/^It is not known whether the request was executed: /', $error->getMessage());
    same('successful', $shop->disburse->wait($error)->txnStatus);
    same(TRANSFER_COST, $before - walletOf($shop));
}

runTests([
    'lost' => isExecutedOnce(...),
    'half' => isExecutedOnce(...),
    'unknown' => isExecutedOnce(...),
    'away' => isExecutedOnce(...),
    'proxy' => isExecutedOnce(...),
    'lost without retries' => throwsUnknown(...),
    'late' => function (): void {
        [$shop, $client] = behind(timeoutSeconds: 0.5, maxRetries: 0);
        $error = thrown(OutcomeUnknown::class, fn () => $client->disburse->transfer(...TRANSFER));
        matches('~no reply in time \(http://127\.0\.0\.1:\d+\)$~', $error->getMessage());
    },
    'lost, and then refused before the operation' => function (): void {
        [, $client] = behind(maxRetries: 1);
        $error = thrown(OutcomeUnknown::class, fn () => $client->disburse->transfer(...TRANSFER));
        same('disburse.transfer', $error->action);
    },
    'lost, and then refused by the operation' => function (): void {
        [, $client] = behind();
        thrown(InsufficientFunds::class, fn () => $client->disburse->transfer(...TRANSFER));
    },
    'refused by the key alone' => function (): void {
        [, $client] = behind();
        thrown(AuthenticationError::class, fn () => $client->disburse->transfer(...TRANSFER));
    },
    'lost cancel' => function (): void {
        [, $client] = behind();
        thrown(OutcomeUnknown::class, fn () => $client->cashcode->cancel(orderRef: 'cash-1'));
    },
    'lost without references' => function (): void {
        [, $client] = behind(makeReferences: false);
        $error = thrown(OutcomeUnknown::class, fn () => $client->disburse->transfer(...TRANSFER));
        same(null, $error->orderRef);
    },
    'lost read' => function (): void {
        [, $client] = behind(maxRetries: 1);
        $error = thrown(ServiceUnreachable::class, fn () => $client->resources->wallet());
        matches('/^The service did not reply: /', $error->getMessage());
    },
    'redirect' => function (): void {
        [, $client] = behind();
        $error = thrown(UnexpectedReply::class, fn () => $client->disburse->transfer(...TRANSFER));
        same(302, $error->httpStatus);
    },
    'too many requests' => function (): void {
        [, $client] = behind(maxRetries: 1);
        $started = hrtime(true);
        $error = thrown(RateLimited::class, fn () => $client->disburse->transfer(...TRANSFER));
        same([1.0, 429, 'slow down'], [$error->retryAfterSeconds, $error->httpStatus, $error->getMessage()]);
        same(true, $error instanceof ServiceError && hrtime(true) - $started >= 1e9);
    },
    'too long to wait' => function (): void {
        [, $client] = behind(deadlineSeconds: 5);
        same(60.0, thrown(RateLimited::class, fn () => $client->resources->wallet())->retryAfterSeconds);
    },
    'waiting through trouble' => function (): void {
        [$shop, $client] = behind(maxRetries: 0);
        $transfer = $shop->disburse->transfer(...TRANSFER);
        same('successful', $client->disburse->wait($transfer)->txnStatus);
    },
    'a hook sees every attempt' => function (): void {
        $seen = [];
        $hook = function (CallEvent $event) use (&$seen): void {
            $seen[] = "{$event->kind} {$event->attempt}";
        };
        [, $client] = behind(hooks: [$hook]);
        $client->disburse->transfer(...TRANSFER);
        same(['requestSent 1', 'attemptFailed 1', 'retrying 1', 'requestSent 2', 'replyReceived 2'], $seen);
    },
    'nobody listens' => function (): void {
        [, $client] = behind(maxRetries: 1);
        $error = thrown(ServiceUnreachable::class, fn () => $client->disburse->transfer(...TRANSFER));
        matches('~^The service cannot be reached: .*\(http://127\.0\.0\.1:\d+\)$~', $error->getMessage());
    },
    'a handshake that never ends' => function (): void {
        [, $client] = behind(timeoutSeconds: 0.5, maxRetries: 0);
        $error = thrown(ServiceUnreachable::class, fn () => $client->disburse->transfer(...TRANSFER));
        matches('/^The service cannot be reached: /', $error->getMessage());
    },
    'a request of which curl has counted nothing' => function (): void {
        require __DIR__ . '/uncounted.php';
        [, $client] = behind(timeoutSeconds: 0.5, maxRetries: 0);
        // Sent whole, and only in part because nobody reads it.
        foreach (['Rent', str_repeat('Rent', 5_000_000)] as $narration) {
            $error = thrown(
                OutcomeUnknown::class,
                fn () => $client->disburse->transfer(...TRANSFER, narration: $narration),
            );
            matches('/no reply in time/', $error->getMessage());
        }
    },
    'a kept connection that closes' => function (): void {
        [, $client] = behind();
        same([], $client->resources->wallet()->data);
        thrown(OutcomeUnknown::class, fn () => $client->cashcode->cancel(orderRef: 'cash-1'));
    },
    'retry-after is a number or a date' => function (): void {
        $answer = fn (string $text): HttpResponse => new HttpResponse(429, ['retry-after' => $text], '');
        $seconds = fn (string $text): ?float => $answer($text)->retryAfterSeconds();
        same([2.5, 0.0, null, null], array_map($seconds, ['2.5', '-1', '', 'soon']));
        $date = $seconds(gmdate('D, d M Y H:i:s', time() + 60) . ' GMT');
        same(true, $date > 50 && $date <= 60);
    },
]);
