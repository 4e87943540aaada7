<?php

declare(strict_types=1);

namespace Kasuwa;

use Kasuwa\Api\Paths;
use Kasuwa\Errors\InvalidSignature;
use Kasuwa\Events\Event;

/**
 * A client of one merchant. It has one object per path with one method per action:
 *
 *     $shop = new Kasuwa(mid: 'GP0000001', key: '…', baseUrl: 'http://127.0.0.1:8080');
 *     $transfer = $shop->disburse->transfer(amount: '1500.00', bankcode: '058', accountnumber: '0000000000');
 *     $final = $shop->disburse->wait($transfer, seconds: 60);
 */
final class Kasuwa extends Paths
{
    public const VERSION = '1.0.0';
    public const BASE_URL = 'http://127.0.0.1:8080';

    /**
     * @param string $mid Merchant id.
     * @param string $key Merchant key. It is sent with every request and shown nowhere.
     * @param string $baseUrl Address of the service.
     * @param float $timeoutSeconds Seconds that one attempt may take. The service itself gives up on a rail after ten.
     * @param float $deadlineSeconds Seconds that a call may take with all its attempts.
     * @param int $maxRetries Number of further attempts after the first. Only what is safe is repeated.
     * @param bool $makeReferences Whether the client makes an orderRef or Idempotency-Key for a write that has none, so
     *     that it can be repeated safely. Without one, a write whose answer is lost is not repeated.
     * @param list<callable(CallEvent): mixed> $hooks Functions that receive the events of calls, for logs and metrics.
     * @param string|null $scenario Tells the test environment how the outside behaves, such as `rr=91;delay=5`.
     * @param array<string, string> $headers Further headers of every request.
     * @param Transport $transport Sends the requests.
     *
     * @throws \InvalidArgumentException if an option is wrong
     */
    public function __construct(
        public readonly string $mid,
        #[\SensitiveParameter] private readonly string $key,
        public readonly string $baseUrl = self::BASE_URL,
        private readonly float $timeoutSeconds = 30,
        private readonly float $deadlineSeconds = 90,
        private readonly int $maxRetries = 3,
        private readonly bool $makeReferences = true,
        private readonly array $hooks = [],
        private readonly ?string $scenario = null,
        private readonly array $headers = [],
        private readonly Transport $transport = new CurlTransport(),
    ) {
        $options = new CallOptions(
            scenario: $scenario,
            headers: $headers,
            timeoutSeconds: $timeoutSeconds,
            deadlineSeconds: $deadlineSeconds,
            maxRetries: $maxRetries,
        );
        parent::__construct(new Caller($mid, $key, $baseUrl, $options, $makeReferences, $hooks, $transport));
    }

    /**
     * Returns a client of the merchant that the environment variables KASUWA_MID, KASUWA_KEY and KASUWA_URL name.
     *
     * @throws \InvalidArgumentException that names every variable that is not set
     */
    public static function fromEnvironment(): self
    {
        $names = ['KASUWA_MID', 'KASUWA_KEY', 'KASUWA_URL'];
        $values = array_map(static fn (string $name): string => (string) getenv($name), $names);
        $missing = array_keys(array_combine($names, $values), '', true);
        if ($missing !== []) {
            throw new \InvalidArgumentException('not set in the environment: ' . implode(', ', $missing));
        }
        return new self(...$values);
    }

    /**
     * Returns a client of the same merchant with other options. Those that are null stay; headers and hooks are added
     * to those of this client.
     *
     * @param list<callable(CallEvent): mixed> $hooks
     * @param array<string, string> $headers
     */
    public function withOptions(
        ?string $baseUrl = null,
        ?float $timeoutSeconds = null,
        ?float $deadlineSeconds = null,
        ?int $maxRetries = null,
        ?bool $makeReferences = null,
        array $hooks = [],
        ?string $scenario = null,
        array $headers = [],
        ?Transport $transport = null,
    ): self {
        return new self(
            mid: $this->mid,
            key: $this->key,
            baseUrl: $baseUrl ?? $this->baseUrl,
            timeoutSeconds: $timeoutSeconds ?? $this->timeoutSeconds,
            deadlineSeconds: $deadlineSeconds ?? $this->deadlineSeconds,
            maxRetries: $maxRetries ?? $this->maxRetries,
            makeReferences: $makeReferences ?? $this->makeReferences,
            hooks: [...$this->hooks, ...$hooks],
            scenario: $scenario ?? $this->scenario,
            headers: [...$this->headers, ...$headers],
            transport: $transport ?? $this->transport,
        );
    }

    /**
     * Returns the event of a delivery. `Webhook::verifyEvent` has options.
     *
     * @param string $rawBody The body exactly as it came: `file_get_contents('php://input')`.
     * @param array<string, mixed> $headers The headers in any case, as `getallheaders()` has them, or `$_SERVER`.
     *
     * @throws InvalidSignature if it was not signed with the key of this client, was changed, or is too old
     */
    public function verifyEvent(string $rawBody, array $headers): Event
    {
        return Webhook::verifyEvent($rawBody, $headers, $this->key);
    }

    /** @return array<string, string> what is shown when the client is dumped: never the key */
    public function __debugInfo(): array
    {
        return ['mid' => $this->mid, 'baseUrl' => $this->baseUrl];
    }
}
