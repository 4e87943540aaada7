<?php

declare(strict_types=1);

namespace Kasuwa;

use Kasuwa\Errors\OutcomeUnknown;
use Kasuwa\Errors\RateLimited;
use Kasuwa\Errors\Refusal;
use Kasuwa\Errors\ServiceUnreachable;
use Kasuwa\Errors\Statuses;
use Kasuwa\Errors\UnexpectedReply;
use Kasuwa\Errors\UnreadableOutcome;

/** Decides what an attempt means: done, refused, or unknown; and whether it is safe to send the request again. */
final class Judge
{
    /** The words of a reply with status 204 that does not know the outcome. Any other refusal did nothing. */
    private const OUTCOME_NOT_KNOWN = '/outcome is not known/i';
    private const DONE = [200, 202];
    private const UNREADABLE = 201;
    private const ERROR = 204;
    /** Statuses of checks that are made before the operation is looked at. */
    private const BEFORE_OPERATION = [101, 102, 103];

    public static function judgeFailure(PreparedCall $call, TransportFailure $failure): Verdict
    {
        if ($failure->mayHaveArrived && $call->operation->writes) {
            return self::unknown($call, $failure->getMessage(), $failure);
        }
        $text = $failure->mayHaveArrived ? 'The service did not reply' : 'The service cannot be reached';
        $error = new ServiceUnreachable("$text: {$failure->getMessage()}", $call->facts, $failure);
        return new Verdict($error, mayRetry: true);
    }

    /** @param mixed $body The parsed body: null if it is not JSON. */
    public static function judgeAnswer(PreparedCall $call, HttpResponse $answer, mixed $body): Verdict
    {
        if (!is_array($body) && !$body instanceof \stdClass) {
            return self::judgeForeign($call, $answer, 'the reply is not JSON');
        }
        $status = is_array($body) ? null : $body->status ?? null;
        if ($body instanceof \stdClass && is_int($status)) {
            return self::judgeStatus($call, $answer, $body, $status);
        }
        return $answer->status === 200 && self::hasNoStatus($call->operation, $body, $status)
            ? new Verdict()
            : self::judgeForeign($call, $answer, 'it has no status');
    }

    /** Returns whether a reply of the action has no numeric status: a map, an array, or a lookup with a text instead. */
    private static function hasNoStatus(Operation $operation, mixed $body, mixed $status): bool
    {
        if (is_array($body)) {
            return $operation->repliesArray;
        }
        return $operation->reply === 'map' || (is_string($status) && !$operation->writes);
    }

    private static function unknown(PreparedCall $call, string $reason, ?\Throwable $cause = null): Verdict
    {
        $message = "It is not known whether the request was executed: $reason";
        return new Verdict(new OutcomeUnknown($message, $call->facts, null, $cause), mayRetry: $call->isRepeatable);
    }

    /** Judges a reply that the service did not write. A proxy that answers 3xx or 4xx has not passed the request on. */
    private static function judgeForeign(PreparedCall $call, HttpResponse $answer, string $reason): Verdict
    {
        if ($answer->status === 429) {
            $refusal = new Refusal(new \stdClass(), self::ERROR, 429, 'Too many requests');
            return self::rateLimited($call, $answer, $refusal);
        }
        $text = "$reason (HTTP {$answer->status})";
        $isRefusal = $answer->status >= 300 && $answer->status < 500;
        if ($call->operation->writes && !$isRefusal) {
            return self::unknown($call, $text);
        }
        $error = new UnexpectedReply("The service did not write the reply: $text", $call->facts, $answer->status);
        return new Verdict($error, mayRetry: !$isRefusal);
    }

    private static function judgeStatus(
        PreparedCall $call,
        HttpResponse $answer,
        \stdClass $body,
        int $status,
    ): Verdict {
        if (in_array($status, self::DONE, true)) {
            return new Verdict();
        }
        $refusal = new Refusal($body, $status, $answer->status);
        $writes = $call->operation->writes;
        if ($answer->status === 429) {
            return self::rateLimited($call, $answer, $refusal);
        }
        if ($status === self::UNREADABLE && $writes) {
            $state = new ($call->operation->reply)($body);
            return new Verdict(new UnreadableOutcome($refusal->message, $call->facts, $state), isDecided: true);
        }
        if ($status === self::ERROR && $writes && preg_match(self::OUTCOME_NOT_KNOWN, $refusal->message) === 1) {
            return self::unknown($call, $refusal->message);
        }
        $mayRetry = $status === self::ERROR && $answer->status === 503;
        return new Verdict(
            Statuses::errorOf($refusal, $call->facts),
            mayRetry: $mayRetry,
            isDecided: !in_array($status, self::BEFORE_OPERATION, true) && !$mayRetry,
            retryAfterSeconds: $answer->retryAfterSeconds(),
        );
    }

    private static function rateLimited(PreparedCall $call, HttpResponse $answer, Refusal $refusal): Verdict
    {
        $seconds = $answer->retryAfterSeconds();
        $error = new RateLimited($refusal, $call->facts, $seconds);
        return new Verdict($error, mayRetry: true, retryAfterSeconds: $seconds);
    }
}
