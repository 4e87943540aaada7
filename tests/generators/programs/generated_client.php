<?php
// Uses the PHP client that openapi-generator makes of /openapi-actions.json: `php generated_client.php URL MID KEY`.
// Prints what the service replied as one JSON object.

require '/usr/share/php/GuzzleHttp/autoload.php';
spl_autoload_register(function (string $class): void {
    if (str_starts_with($class, 'OpenAPI\\Client\\')) {
        require __DIR__ . '/generated/lib/' . str_replace('\\', '/', substr($class, strlen('OpenAPI\\Client\\'))) . '.php';
    }
});

use OpenAPI\Client\Api\DisburseApi;
use OpenAPI\Client\Configuration;
use OpenAPI\Client\Model\DisburseTransferRequest;
use OpenAPI\Client\Model\DisburseVerifyRequest;

[, $url, $mid, $key] = $argv;
$configuration = (new Configuration())->setHost($url)->setApiKey('mid', $mid)->setApiKey('key', $key);
$disburse = new DisburseApi(null, $configuration);

function transfer_of(string $amount): DisburseTransferRequest
{
    return new DisburseTransferRequest([
        'action' => 'transfer',
        'amount' => $amount,
        'bankcode' => '058',
        'accountnumber' => '0000000000',
    ]);
}

$sent = $disburse->disburseTransfer(transfer_of('1500.00'));
$verified = $disburse->disburseVerify(new DisburseVerifyRequest(['action' => 'verify', 'txn_ref' => $sent->getTxnRef()]));
$refused = $disburse->disburseTransfer(transfer_of('0'));
echo json_encode([
    'transfer' => $sent->jsonSerialize(),
    'verify' => $verified->jsonSerialize(),
    'refused' => $refused->jsonSerialize(),
]);
