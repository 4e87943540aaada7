<?php

declare(strict_types=1);

namespace Kasuwa;

use Kasuwa\Errors\InvalidRequest;

/** What an order costs. Decides whether a payment covers it. */
final class Price
{
    private const AMOUNT = '/^([0-9]{1,15})(?:\.([0-9]{1,4}))?$/D';
    /** Decimals that amounts are compared with. Currencies have fewer. */
    private const DECIMALS = 4;
    /** What `verify` also shows, and no payer has paid: a refund, and a movement of the merchant's own wallet. */
    private const NOT_PAYMENTS = ['refund', 'wallet'];

    /** @var array{int, int} */
    private readonly array $wanted;

    /** @throws \InvalidArgumentException for an amount that is not exact or is zero */
    public function __construct(string|int|float $amount, private readonly string $currency)
    {
        $wanted = self::parts($amount);
        if ($wanted === null || $wanted === [0, 0]) {
            throw new \InvalidArgumentException('amount: pass a string such as "1500.00", above zero');
        }
        $this->wanted = $wanted;
    }

    /**
     * Returns whether `$verify` finds a successful payment in this currency that was charged with at least this price.
     * False if it refuses the reference.
     *
     * @param callable(): Result $verify
     */
    public function isCoveredBy(callable $verify): bool
    {
        try {
            $payment = $verify();
        } catch (InvalidRequest) {
            return false;
        }
        $isPayment = $payment->txnStatus === 'successful'
            && !in_array($payment->payment_method, self::NOT_PAYMENTS, true)
            && $payment->currency === $this->currency;
        $charged = self::parts($payment->chargedAmount) ?? [0, 0];
        $refunded = self::parts($payment->refundedAmount ?? '0') ?? [0, 0];
        return $isPayment && $charged >= self::sum($this->wanted, $refunded);
    }

    /**
     * Returns the whole part of an amount and its decimals, or null if it is not an exact amount.
     *
     * @return array{int, int}|null
     */
    private static function parts(mixed $amount): ?array
    {
        if (!is_string($amount) || preg_match(self::AMOUNT, $amount, $found) !== 1) {
            return null;
        }
        return [(int) $found[1], (int) str_pad($found[2] ?? '', self::DECIMALS, '0')];
    }

    /**
     * @param array{int, int} $left
     * @param array{int, int} $right
     *
     * @return array{int, int}
     */
    private static function sum(array $left, array $right): array
    {
        $decimals = $left[1] + $right[1];
        $unit = 10 ** self::DECIMALS;
        return [$left[0] + $right[0] + intdiv($decimals, $unit), $decimals % $unit];
    }
}
