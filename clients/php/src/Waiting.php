<?php

declare(strict_types=1);

namespace Kasuwa;

use Kasuwa\Errors\CallFacts;
use Kasuwa\Errors\OutcomeUnknown;
use Kasuwa\Errors\ServiceError;
use Kasuwa\Errors\ServiceUnreachable;
use Kasuwa\Errors\StillPending;
use Kasuwa\Errors\UnexpectedReply;

/** Waits until a transaction is final, by asking for its state again and again. */
final class Waiting
{
    private const FIRST_PAUSE_SECONDS = 0.2;
    private const MAX_PAUSE_SECONDS = 4.0;
    private const PAUSE_GROWTH = 1.6;
    private const OPEN_STATES = [null, 'pending', 'processing'];

    /** Returns whether a transaction is final: it will not change any more. */
    public static function isFinal(Result $state): bool
    {
        return !in_array($state->txnStatus, self::OPEN_STATES, true);
    }

    /**
     * Calls `$verify` until the state that it returns is final, and returns that. A service that is away for a moment
     * does not end the wait. Any other error does.
     *
     * @template TState of Result
     *
     * @param callable(CallOptions): TState $verify
     * @param array<string, string> $reference What is verified.
     *
     * @return TState
     *
     * @throws StillPending after `$seconds`
     */
    public static function untilFinal(callable $verify, string $action, array $reference, float $seconds): Result
    {
        if (!($seconds >= 0 && is_finite($seconds))) {
            throw new \InvalidArgumentException('seconds: pass a number, not negative');
        }
        $endsAt = hrtime(true) / 1e9 + $seconds;
        $last = $trouble = null;
        for ($pause = self::FIRST_PAUSE_SECONDS; ; $pause = min($pause * self::PAUSE_GROWTH, self::MAX_PAUSE_SECONDS)) {
            try {
                $left = min(86_400, max(1, $endsAt - hrtime(true) / 1e9));
                $last = $verify(new CallOptions(deadlineSeconds: $left));
                $trouble = null;
                if (self::isFinal($last)) {
                    return $last;
                }
            } catch (ServiceUnreachable | UnexpectedReply | ServiceError $error) {
                $trouble = $error;
            }
            $left = $endsAt - hrtime(true) / 1e9;
            if ($left <= 0) {
                break;
            }
            usleep((int) (min($pause, $left) * 1_000_000));
        }
        $facts = new CallFacts($action, orderRef: $reference['orderRef'] ?? null);
        throw new StillPending("The outcome is not final after $seconds seconds", $facts, $last, $trouble);
    }

    /**
     * Returns the argument that verifies a transaction, which is a reference, a reply, or the error OutcomeUnknown.
     *
     * @param list<string> $fields Fields that may name the transaction. The first that is present counts.
     * @param string $textField The field that a reference given as text is sent as.
     *
     * @return array<string, string>
     */
    public static function referenceOf(string|object $transaction, array $fields, string $textField): array
    {
        if (is_string($transaction)) {
            return [$textField => $transaction];
        }
        $found = $transaction instanceof OutcomeUnknown ? $transaction->state ?? $transaction : $transaction;
        foreach ($fields as $name) {
            $value = isset($found->$name) ? $found->$name : null;
            if (is_string($value) && $value !== '') {
                return [$name => $value];
            }
        }
        $wanted = implode(' or ', $fields);
        throw new \InvalidArgumentException("transaction: pass a reference, or an object with $wanted");
    }

    /** Returns whether a transaction is a payment. References of payments alone have no bars. */
    public static function isPayment(Result $transaction): bool
    {
        return !str_contains($transaction->txnRef ?? '', '|');
    }
}
