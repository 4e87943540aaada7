<?php

declare(strict_types=1);

namespace Kasuwa\Errors;

/** The service replied with an error. Statuses that this version does not know throw this class itself. */
class Refused extends KasuwaError
{
    /**
     * What is wrong, for programs. Null if this version does not know `$codeText`, or the service has no codes yet.
     *
     * @var ErrorCode|null
     */
    public $code;
    /** The code as the service sent it. A newer service may have further ones. */
    public readonly string $codeText;
    /** Status of the contract, for example 301 (insufficient funds). */
    public readonly int $status;
    /** The page about the code. */
    public readonly string $docUrl;
    /** @var list<FieldError> */
    public readonly array $errors;
    /** @var array<string, mixed> The parsed body of the reply. */
    public readonly array $reply;
    public readonly int $httpStatus;

    public function __construct(Refusal $refusal, CallFacts $call)
    {
        parent::__construct($refusal->message, $call);
        $this->code = ErrorCode::tryFrom($refusal->codeText);
        $this->codeText = $refusal->codeText;
        $this->status = $refusal->status;
        $this->docUrl = $refusal->docUrl;
        $this->errors = $refusal->errors;
        $this->reply = $refusal->reply;
        $this->httpStatus = $refusal->httpStatus;
    }
}
