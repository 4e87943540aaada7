<?php

declare(strict_types=1);

namespace Kasuwa;

/** Sends requests. Implement it to use another HTTP client than curl, a proxy or tracing. */
interface Transport
{
    /**
     * Sends one request with the method PUT and returns the complete answer, whatever its HTTP status. It must follow
     * no redirect, which would carry the merchant's key to another address, and repeat nothing by itself.
     *
     * @throws TransportFailure if there is no complete answer
     */
    public function send(HttpRequest $request): HttpResponse;
}
