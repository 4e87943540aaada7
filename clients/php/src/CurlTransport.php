<?php

declare(strict_types=1);

namespace Kasuwa;

/** Sends requests with ext-curl. Keeps its connection for the next request. */
final class CurlTransport implements Transport
{
    /** Errors of connecting, before any byte of the request is sent. */
    private const NOT_CONNECTED = [
        CURLE_UNSUPPORTED_PROTOCOL,
        CURLE_URL_MALFORMAT,
        CURLE_COULDNT_RESOLVE_PROXY,
        CURLE_COULDNT_RESOLVE_HOST,
        CURLE_COULDNT_CONNECT,
        CURLE_SSL_CONNECT_ERROR,
        CURLE_SSL_CERTPROBLEM,
        CURLE_SSL_CIPHER,
        CURLE_SSL_CACERT,
    ];

    private ?\CurlHandle $handle = null;

    /** @param array<int, mixed> $options Further options of curl, such as `[CURLOPT_PROXY => 'http://proxy:3128']`. */
    public function __construct(private readonly array $options = [])
    {
    }

    public function send(HttpRequest $request): HttpResponse
    {
        $handle = $this->handle ??= curl_init();
        curl_reset($handle);
        $headers = [];
        $lines = ['expect:'];
        foreach ($request->headers as $name => $value) {
            $lines[] = "$name: $value";
        }
        curl_setopt_array($handle, $this->options + [
            CURLOPT_URL => $request->url,
            CURLOPT_CUSTOMREQUEST => 'PUT',
            CURLOPT_POSTFIELDS => $request->body,
            CURLOPT_HTTPHEADER => $lines,
            CURLOPT_RETURNTRANSFER => true,
            CURLOPT_FOLLOWLOCATION => false,
            CURLOPT_PROTOCOLS => CURLPROTO_HTTP | CURLPROTO_HTTPS,
            CURLOPT_ENCODING => '',
            CURLOPT_NOSIGNAL => true,
            CURLOPT_TIMEOUT_MS => max(1, (int) ($request->timeoutSeconds * 1000)),
            CURLOPT_FRESH_CONNECT => !$request->isRepeatable,
            CURLOPT_HEADERFUNCTION => static function (\CurlHandle $handle, string $line) use (&$headers): int {
                [$name, $value] = [...explode(':', $line, 2), ''];
                $headers[strtolower(trim($name))] = trim($value);
                return strlen($line);
            },
        ]);
        $body = curl_exec($handle);
        if (!is_string($body)) {
            throw self::failure($handle, $request->url);
        }
        return new HttpResponse(curl_getinfo($handle, CURLINFO_RESPONSE_CODE), $headers, $body);
    }

    private static function failure(\CurlHandle $handle, string $url): TransportFailure
    {
        $number = curl_errno($handle);
        $isTimeout = $number === CURLE_OPERATION_TIMEDOUT;
        // While it still connects, a connection that is too slow is the same as none. CURLINFO_REQUEST_SIZE does not
        // tell: libcurl 8.7 gives 0 also for a request that was sent.
        $isUnsent = $isTimeout && curl_getinfo($handle, CURLINFO_PRETRANSFER_TIME) === 0.0;
        $parts = parse_url($url);
        $origin = "{$parts['scheme']}://{$parts['host']}" . (isset($parts['port']) ? ":{$parts['port']}" : '');
        $reason = $isTimeout && !$isUnsent ? 'no reply in time' : curl_error($handle);
        $mayHaveArrived = !$isUnsent && !in_array($number, self::NOT_CONNECTED, true);
        return new TransportFailure("$reason ($origin)", $mayHaveArrived, $isTimeout);
    }
}
