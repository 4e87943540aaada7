<?php

declare(strict_types=1);

namespace Kasuwa;

use Kasuwa\Errors\CallFacts;
use Kasuwa\Errors\OutcomeUnknown;

/** Makes calls: prepares the request, sends it, and repeats it where that is safe, within a deadline. */
final class Caller
{
    private const FIRST_PAUSE_SECONDS = 0.25;
    private const MAX_PAUSE_SECONDS = 8;
    private const ENCODING = JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE;
    private const ADDRESS = '~^https?://[^/?#@\s]+(/[^?#@\s]*)?$~iD';

    private readonly string $baseUrl;

    /**
     * Made by the class Kasuwa.
     *
     * @param list<callable(CallEvent): mixed> $hooks
     */
    public function __construct(
        private readonly string $mid,
        #[\SensitiveParameter] private readonly string $key,
        string $baseUrl,
        private readonly CallOptions $options,
        private readonly bool $makeReferences,
        private readonly array $hooks,
        private readonly Transport $transport,
    ) {
        Headers::check(['mid' => $mid, 'key' => $key]);
        if (preg_match(self::ADDRESS, $baseUrl) !== 1 || !is_string(parse_url($baseUrl, PHP_URL_HOST))) {
            $wanted = 'pass an http or https address without user, query or fragment';
            throw new \InvalidArgumentException("baseUrl: $wanted, such as http://127.0.0.1:8080");
        }
        $this->baseUrl = rtrim($baseUrl, '/');
    }

    /**
     * Makes a call and returns its reply. Arguments that are null are not sent.
     *
     * @param array<string, mixed> $arguments
     *
     * @throws Errors\KasuwaError
     * @throws \InvalidArgumentException for wrong arguments
     */
    public function call(Operation $operation, #[\SensitiveParameter] array $arguments, ?CallOptions $options): mixed
    {
        $options ??= new CallOptions();
        $endsAt = self::now() + ($options->deadlineSeconds ?? $this->options->deadlineSeconds);
        $maxRetries = $options->maxRetries ?? $this->options->maxRetries;
        $call = $this->prepare($operation, $arguments, $options);
        $unknown = null;
        for ($attempt = 1; ; $attempt++) {
            $timeout = $options->timeoutSeconds ?? $this->options->timeoutSeconds;
            try {
                $answer = $this->attempt($call, $attempt, max(0.001, min($timeout, $endsAt - self::now())));
                $body = json_decode($answer->body, flags: JSON_BIGINT_AS_STRING);
                $verdict = Judge::judgeAnswer($call, $answer, $body);
                if ($verdict->error === null) {
                    return self::finish($call, $answer, $body, $attempt);
                }
            } catch (TransportFailure $failure) {
                $verdict = Judge::judgeFailure($call, $failure);
            }
            // An earlier attempt may have been executed. A later one that never got to the operation leaves it open.
            if ($verdict->error instanceof OutcomeUnknown && !$verdict->isDecided) {
                $unknown = $verdict->error;
            }
            $pause = self::pauseAfter($attempt, $verdict);
            if (!$verdict->mayRetry || $attempt > $maxRetries || self::now() + $pause >= $endsAt) {
                throw $verdict->isDecided ? $verdict->error : $unknown ?? $verdict->error;
            }
            $error = (new \ReflectionClass($verdict->error))->getShortName();
            $details = static fn () => ['pauseSeconds' => $pause, 'error' => $error];
            $this->tell($call, CallEvent::RETRYING, $attempt, $details);
            usleep((int) ($pause * 1_000_000));
        }
    }

    /** @param array<string, mixed> $arguments */
    private function prepare(
        Operation $operation,
        #[\SensitiveParameter] array $arguments,
        CallOptions $options,
    ): PreparedCall
    {
        $given = array_filter($arguments, static fn (mixed $value): bool => $value !== null);
        $body = Exact::withArrays([...$operation->select, ...$given]);
        $idempotencyKey = $options->idempotencyKey;
        if ($this->makeReferences) {
            $body = self::withOrderRefs($operation, $body);
            if ($operation->repeat === Repeat::IdempotencyKey) {
                $idempotencyKey ??= self::newReference();
            }
        }
        $body = Exact::prepare($body, $operation->shape);
        if ($idempotencyKey !== null && !$operation->acceptsIdempotencyKey) {
            throw new \InvalidArgumentException("idempotencyKey: {$operation->name} takes none");
        }
        $requestId = $options->requestId ?? self::newReference();
        $orderRef = $operation->repeat === Repeat::OrderRef ? self::textOf($body['orderRef'] ?? null) : null;
        try {
            $text = json_encode($body, self::ENCODING | JSON_PRESERVE_ZERO_FRACTION);
        } catch (\JsonException $error) {
            throw new \InvalidArgumentException("the request is not JSON: {$error->getMessage()}", 0, $error);
        }
        return new PreparedCall(
            $operation,
            $body,
            $text,
            $this->headersOf($requestId, $idempotencyKey, $options),
            new CallFacts(
                $operation->name,
                $requestId,
                $orderRef,
                $idempotencyKey,
                self::textOf($body['customer_txnref'] ?? null),
            ),
            $operation->repeat === Repeat::Read || $orderRef !== null || $idempotencyKey !== null,
        );
    }

    /** @return array<string, string> */
    private function headersOf(string $requestId, ?string $idempotencyKey, CallOptions $options): array
    {
        $scenario = $options->scenario ?? $this->options->scenario;
        return [
            ...Headers::lowerNames($this->options->headers),
            ...Headers::lowerNames($options->headers),
            ...($scenario === null ? [] : ['x-sandbox-scenario' => $scenario]),
            'accept' => 'application/json',
            'content-type' => 'application/json',
            'user-agent' => 'kasuwa-client-php/' . Kasuwa::VERSION,
            'x-request-id' => $requestId,
            ...($idempotencyKey === null ? [] : ['idempotency-key' => $idempotencyKey]),
            'mid' => $this->mid,
            'key' => $this->key,
        ];
    }

    private function attempt(PreparedCall $call, int $attempt, float $timeoutSeconds): HttpResponse
    {
        $path = "/{$call->operation->path}";
        $this->tell($call, CallEvent::REQUEST_SENT, $attempt, static fn () => [
            'path' => $path,
            'headers' => Masking::mask($call->headers),
            'body' => Masking::mask(json_decode($call->text, true)),
        ]);
        $startedAt = self::now();
        $url = $this->baseUrl . $path;
        $request = new HttpRequest($url, $call->headers, $call->text, $timeoutSeconds, $call->isRepeatable);
        try {
            $answer = $this->transport->send($request);
        } catch (TransportFailure $failure) {
            $seconds = self::now() - $startedAt;
            $details = static fn () => ['seconds' => $seconds, 'reason' => $failure->getMessage()];
            $this->tell($call, CallEvent::ATTEMPT_FAILED, $attempt, $details);
            throw $failure;
        }
        $seconds = self::now() - $startedAt;
        $this->tell($call, CallEvent::REPLY_RECEIVED, $attempt, static fn () => [
            'httpStatus' => $answer->status,
            'seconds' => $seconds,
            'body' => Masking::mask(json_decode($answer->body, true)),
        ]);
        return $answer;
    }

    /**
     * Tells the hooks. One that fails must not fail the call: a payment could be taken for refused.
     *
     * @param callable(): array<string, mixed> $details
     */
    private function tell(PreparedCall $call, string $kind, int $attempt, callable $details): void
    {
        foreach ($this->hooks as $hook) {
            try {
                $hook(new CallEvent($kind, $call->facts->action, $attempt, $call->facts->requestId, $details()));
            } catch (\Throwable $error) {
                // Not as a PHP warning, which an error handler may turn into an exception.
                error_log('a hook of the Kasuwa client threw ' . $error::class);
            }
        }
    }

    private static function finish(PreparedCall $call, HttpResponse $answer, mixed $body, int $attempts): mixed
    {
        $operation = $call->operation;
        if ($operation->reply === 'map') {
            return Result::plain($body);
        }
        if (is_array($body)) {
            return array_map(static fn (\stdClass $record): Result => new ($operation->reply)($record), $body);
        }
        $requestId = $answer->headers['x-request-id'] ?? $call->facts->requestId;
        $metadata = new ReplyMetadata($answer->status, $requestId, $call->facts->idempotencyKey, $attempts);
        return new ($operation->reply)($body, $metadata);
    }

    /** Returns the pause before the next attempt, half of it random, and at least what the service asks for. */
    private static function pauseAfter(int $attempt, Verdict $verdict): float
    {
        $longest = min(self::MAX_PAUSE_SECONDS, self::FIRST_PAUSE_SECONDS * 2 ** ($attempt - 1));
        return max($longest * (0.5 + random_int(0, 1000) / 2000), $verdict->retryAfterSeconds ?? 0.0);
    }

    /**
     * Makes the orderRef of a request that has none, or of the orders in it, so that it can be repeated safely.
     *
     * @param array<string, mixed> $body
     *
     * @return array<string, mixed>
     */
    private static function withOrderRefs(Operation $operation, array $body): array
    {
        if ($operation->repeat === Repeat::OrderRef) {
            $body['orderRef'] = self::textOf($body['orderRef'] ?? null) ?? self::newReference();
        }
        $orders = $operation->orders === null ? null : $body[$operation->orders] ?? null;
        if (is_array($orders)) {
            $body[$operation->orders] = array_map(
                static fn (mixed $order): mixed => is_array($order)
                    ? [...$order, 'orderRef' => self::textOf($order['orderRef'] ?? null) ?? self::newReference()]
                    : $order,
                $orders,
            );
        }
        return $body;
    }

    private static function newReference(): string
    {
        return 'kc-' . bin2hex(random_bytes(16));
    }

    /** Returns a text, or null for anything else and for the empty text, which counts as absent. */
    private static function textOf(mixed $value): ?string
    {
        return is_string($value) && $value !== '' ? $value : null;
    }

    /** Returns the seconds of a clock that is never set. */
    private static function now(): float
    {
        return hrtime(true) / 1e9;
    }

    /** @return array<string, string> what is shown when it is dumped: never the key */
    public function __debugInfo(): array
    {
        return ['mid' => $this->mid, 'baseUrl' => $this->baseUrl];
    }
}
