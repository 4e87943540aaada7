<?php

/**
 * Calls the methods that it is told on standard input, one JSON object a line, and answers on standard output what each
 * returned or threw, the body that was sent, and the reply as it came. tests/clients/test_php.py drives it.
 */

declare(strict_types=1);

require __DIR__ . '/service.php';

use Kasuwa\CurlTransport;
use Kasuwa\Errors\Refused;
use Kasuwa\HttpRequest;
use Kasuwa\HttpResponse;
use Kasuwa\Kasuwa;
use Kasuwa\RecordList;
use Kasuwa\Transport;

/** Keeps the last exchange. */
final class Wire implements Transport
{
    public static array $last = [];
    private CurlTransport $curl;

    public function __construct()
    {
        $this->curl = new CurlTransport();
    }

    public function send(HttpRequest $request): HttpResponse
    {
        $answer = $this->curl->send($request);
        $facts = ['http' => $answer->status, 'headers' => (object) $answer->headers, 'text' => $answer->body];
        self::$last = ['sent' => json_decode($request->body), ...$facts];
        return $answer;
    }
}

[, $mid, $key] = $argv;
$shop = new Kasuwa(mid: $mid, key: $key, baseUrl: setting('KASUWA_URL'), transport: new Wire());
while (($line = fgets(STDIN)) !== false) {
    ['path' => $path, 'method' => $method, 'request' => $request] = json_decode($line, true);
    try {
        $returned = $shop->$path->$method(...$request);
        $answer = ['returned' => $returned instanceof RecordList ? $returned->page() : $returned];
    } catch (Refused $error) {
        $answer = ['refused' => ['name' => $error::class, 'reply' => $error->reply]];
    }
    echo json_encode([...$answer, 'wire' => Wire::$last]), "\n";
}
