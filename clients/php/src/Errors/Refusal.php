<?php

declare(strict_types=1);

namespace Kasuwa\Errors;

use Kasuwa\Result;

/** A reply that refuses a request. */
final class Refusal
{
    public readonly string $message;
    public readonly string $codeText;
    public readonly string $docUrl;
    /** @var list<FieldError> */
    public readonly array $errors;
    /** @var array<string, mixed> */
    public readonly array $reply;

    public function __construct(
        \stdClass $body,
        public readonly int $status,
        public readonly int $httpStatus,
        ?string $message = null,
    ) {
        $this->reply = Result::plain($body);
        $this->message = $message ?? self::text($body->message ?? null) ?? "The service answered with status $status";
        $this->codeText = self::text($body->code ?? null) ?? '';
        $this->docUrl = self::text($body->doc_url ?? null) ?? '';
        $errors = $this->reply['errors'] ?? null;
        $this->errors = is_array($errors) ? array_map(FieldError::of(...), array_filter($errors, is_array(...))) : [];
    }

    private static function text(mixed $value): ?string
    {
        return is_string($value) ? $value : null;
    }
}
