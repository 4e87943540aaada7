<?php

declare(strict_types=1);

namespace Kasuwa\Errors;

/** One fault of a request: the field, nested ones as a path, and what is wrong with it. */
final class FieldError
{
    /**
     * @param FieldCode|null $code What is wrong, for programs. Null if this version does not know `$codeText`.
     * @param string|null $value What was sent, as text; `***` for a secret. Null for an object or an array.
     */
    public function __construct(
        public readonly string $field,
        public readonly string $reason,
        public readonly ?FieldCode $code,
        public readonly string $codeText,
        public readonly ?string $value,
    ) {
    }

    /** @param array<string, mixed> $error An entry of `errors`. */
    public static function of(array $error): self
    {
        $texts = array_filter($error, is_string(...));
        $code = $texts['code'] ?? '';
        return new self(
            $texts['field'] ?? '',
            $texts['reason'] ?? '',
            FieldCode::tryFrom($code),
            $code,
            $texts['value'] ?? null,
        );
    }
}
