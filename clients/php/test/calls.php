<?php

/** Calls to a running service: replies, refusals, lists, waiting. */

declare(strict_types=1);

require __DIR__ . '/service.php';

use Kasuwa\CallEvent;
use Kasuwa\CallOptions;
use Kasuwa\CurlTransport;
use Kasuwa\Errors\AuthenticationError;
use Kasuwa\Errors\ErrorCode;
use Kasuwa\Errors\FieldCode;
use Kasuwa\Errors\InsufficientFunds;
use Kasuwa\Errors\InvalidRequest;
use Kasuwa\Errors\KasuwaError;
use Kasuwa\Errors\NotValidated;
use Kasuwa\Errors\OutcomeUnknown;
use Kasuwa\Errors\StillPending;
use Kasuwa\Errors\UnreadableOutcome;
use Kasuwa\HttpRequest;
use Kasuwa\HttpResponse;
use Kasuwa\Kasuwa;
use Kasuwa\Transport;
use Kasuwa\Types\Disburse\TransferReply;
use Kasuwa\Waiting;

/** Keeps the requests that pass through it. */
final class RecordingTransport implements Transport
{
    /** @var list<HttpRequest> */
    public array $sent = [];

    public function __construct(private readonly ?HttpResponse $answer = null)
    {
    }

    public function send(HttpRequest $request): HttpResponse
    {
        $this->sent[] = $request;
        return $this->answer ?? (new CurlTransport())->send($request);
    }
}

runTests([
    'a transfer gets an orderRef, moves the money once and can be verified' => function (): void {
        $shop = openShop();
        $before = walletOf($shop);
        $transfer = $shop->disburse->transfer(...TRANSFER);
        same(TransferReply::class, $transfer::class);
        same('successful', $transfer->txnStatus);
        matches('/^kc-[0-9a-f]{32}$/', $transfer->orderRef);
        $again = $shop->disburse->transfer(...TRANSFER, orderRef: $transfer->orderRef);
        same($transfer->txnRef, $again->txnRef);
        same(TRANSFER_COST, $before - walletOf($shop));
        $state = $shop->disburse->verify(txnRef: $transfer->txnRef);
        same(['1500.00', '10.00', '0.75'], [$state->amount, $state->fee, $state->vat]);
    },
    'a payment with an OTP is paid once it is validated' => function (): void {
        $shop = openShop();
        $account = ['accountnumber' => '0000000000', 'bankcode' => '058'];
        $begun = $shop->payment->chargeAccount(amount: '500.00', account: $account);
        same(202, $begun->status);
        $charge = ['txnRef' => $begun->txnRef, 'validate' => 'account'];
        $validate = fn (string $otp) => $shop->payment->validate(...$charge, otp: $otp);
        $error = thrown(NotValidated::class, fn () => $validate('000000'));
        same([203, 'payment.validate'], [$error->status, $error->action]);
        same(false, $shop->payment->isPaid($begun->txnRef, '500.00'));
        same('successful', $validate('123456')->txnStatus);
        same('successful', $shop->payment->wait($begun)->txnStatus);
        same([true, true, false], array_map(
            fn (string $price): bool => $shop->payment->isPaid($begun->txnRef, $price),
            ['500.00', '499.9999', '500.0001'],
        ));
        same(false, $shop->payment->isPaid($begun->txnRef, '500.00', 'USD'));
        same(false, $shop->payment->isPaid('GP-unknown', '500.00'));
        thrown(InvalidArgumentException::class, fn () => $shop->payment->isPaid($begun->txnRef, '0.00'));
        thrown(InvalidArgumentException::class, fn () => $shop->payment->isPaid($begun->txnRef, 500.0));
        $shop->payment->refund(txnRef: $begun->txnRef, amount: '0.01');
        same(false, $shop->payment->isPaid($begun->txnRef, '500.00'));
        same(true, $shop->payment->isPaid($begun->txnRef, '499.99'));
    },
    'refusals are errors of their status with their code' => function (): void {
        $shop = openShop();
        $large = [...TRANSFER, 'amount' => '9999999.00'];
        $funds = thrown(InsufficientFunds::class, fn () => $shop->disburse->transfer(...$large));
        same([301, ErrorCode::InsufficientFunds], [$funds->status, $funds->code]);
        same(['insufficient_funds', 'disburse.transfer'], [$funds->codeText, $funds->action]);
        matches('/^kc-/', $funds->orderRef);
        same(301, $funds->reply['status']);
        $wrong = [...TRANSFER, 'bankcode' => 'x', 'amount' => '0'];
        $invalid = thrown(InvalidRequest::class, fn () => $shop->disburse->transfer(...$wrong));
        same(ErrorCode::FieldInvalid, $invalid->code);
        matches('~/docs/reference/errors\.html#field_invalid$~', $invalid->docUrl);
        $faults = array_column($invalid->errors, null, 'field');
        ksort($faults);
        same(['amount', 'bankcode'], array_keys($faults));
        same([FieldCode::AmountZero, '0'], [$faults['amount']->code, $faults['amount']->value]);
        same([FieldCode::FieldInvalid, 'x'], [$faults['bankcode']->code, $faults['bankcode']->value]);
        same(true, $invalid instanceof KasuwaError && !$invalid instanceof OutcomeUnknown);
        matches('/^kc-/', $invalid->requestId);
    },
    'a wrong key is an AuthenticationError, and the key is shown nowhere' => function (): void {
        $key = 'secret-of-the-shop';
        $shop = new Kasuwa(mid: 'GP0000001', key: $key, baseUrl: setting('KASUWA_URL'));
        $error = thrown(AuthenticationError::class, fn () => $shop->resources->wallet());
        ob_start();
        var_dump($shop);
        print_r($error);
        $shown = ob_get_clean() . json_encode($shop) . print_r($shop, true) . $error;
        same(false, str_contains($shown, $key));
        $wrong = thrown(InvalidArgumentException::class, fn () => new Kasuwa(mid: "line\n", key: $key));
        same(false, str_contains(print_r($wrong, true), $key));
    },
    'an amount that is a number is refused before anything is sent' => function (): void {
        $transport = new RecordingTransport();
        $shop = openShop()->withOptions(transport: $transport);
        $wrong = [
            [fn () => $shop->disburse->transfer(...[...TRANSFER, 'amount' => 1500.5]), 'amount', 'float'],
            [fn () => $shop->disburse->transfer(...[...TRANSFER, 'amount' => 1500]), 'amount', 'int'],
            [fn () => $shop->disburse->transferBulk(data: [TRANSFER, ['amount' => 5]]), 'data[1].amount', 'int'],
            [
                fn () => $shop->payment->chargeToken(
                    token: 'x',
                    installment: ['payment_schedule' => ['30-11-2030' => 0.5], 'total' => '5.00'],
                ),
                'installment.payment_schedule.30-11-2030',
                'float',
            ],
        ];
        foreach ($wrong as [$call, $path, $type]) {
            $error = thrown(InvalidArgumentException::class, $call);
            $wanted = preg_quote($path) . ': pass an? (amount|rate) as a string .*, not ' . $type;
            matches("/^$wanted\$/", $error->getMessage());
        }
        same([], $transport->sent);
    },
    'amounts of replies are texts, also those that are numbers on the wire' => function (): void {
        $shop = openShop();
        $charged = $shop->payment->chargeBankTransfer(amount: '2500.10');
        $shop->sandbox->payAccount(accountNumber: $charged->accountNumber, amount: '2500.10');
        same('2500.10', $shop->payment->wait($charged)->chargedAmount);
        $answer = '{"status": 200, "txnStatus": "successful", "amount": 2500.1, "fee": 10, "newer": {"a": []}}';
        $offline = $shop->withOptions(transport: new RecordingTransport(new HttpResponse(200, [], $answer)));
        $state = $offline->disburse->verify(txnRef: 'x');
        same(['2500.10', '10.00', null, false], [$state->amount, $state->fee, $state->vat, isset($state->vat)]);
        same(['a' => []], $state->newer);
        $fields = ['status' => 200, 'txnStatus' => 'successful', 'amount' => '2500.10', 'fee' => '10.00'];
        same(json_encode([...$fields, 'newer' => ['a' => []]]), json_encode($state));
        thrown(LogicException::class, fn () => $state->amuont);
        thrown(LogicException::class, function () use ($state): void {
            $state->amount = '1.00';
        });
    },
    'a reply has metadata, and an Idempotency-Key of the caller is executed once' => function (): void {
        $shop = openShop();
        $before = walletOf($shop);
        $options = new CallOptions(idempotencyKey: 'funding 1', requestId: 'request-17');
        $shop->sandbox->fundWallet(amount: '10.00', options: $options);
        $metadata = $shop->sandbox->fundWallet(amount: '10.00', options: $options)->metadata();
        same([200, 'request-17', 1], [$metadata->httpStatus, $metadata->requestId, $metadata->attempts]);
        same('funding 1', $metadata->idempotencyKey);
        same(1000, walletOf($shop) - $before);
        matches('/^kc-/', $shop->sandbox->fundWallet(amount: '10.00')->metadata()->idempotencyKey);
        $cancel = fn () => $shop->cashcode->cancel(orderRef: 'cash-1', options: $options);
        matches('/cashcode\.cancel takes none/', thrown(InvalidArgumentException::class, $cancel)->getMessage());
    },
    'every order of a bulk gets an orderRef' => function (): void {
        $shop = openShop();
        $bulk = $shop->disburse->transferBulk(data: [TRANSFER, [...TRANSFER, 'orderRef' => 'mine']]);
        matches('/^kc-/', $bulk->data[0]->orderRef);
        same('mine', $bulk->data[1]->orderRef);
        $state = $shop->disburse->wait($bulk);
        same(['successful', 2], [$state->txnStatus, count($state->data)]);
    },
    'objects of json_decode are read as arrays, and other objects are refused by name' => function (): void {
        $transport = new RecordingTransport();
        $shop = openShop()->withOptions(transport: $transport);
        $rows = json_decode(json_encode([TRANSFER, [...TRANSFER, 'orderRef' => 'mine']]));
        $bulk = $shop->disburse->transferBulk(data: $rows);
        matches('/^kc-/', $bulk->data[0]->orderRef);
        same('mine', $bulk->data[1]->orderRef);
        same([false, true], array_map(fn (stdClass $row): bool => isset($row->orderRef), $rows));
        $data = ['lastname' => 'Obi', 'bankAccount' => new stdClass(), 'x' => (object) ['y' => new stdClass()]];
        thrown(InvalidRequest::class, fn () => $shop->clients->create(data: $data));
        same(json_encode($data), json_encode(json_decode($transport->sent[1]->body)->data));
        $terms = json_decode('{"payment_schedule": {"30-11-2030": 0.5}, "total": "5.00"}', true);
        $terms['payment_schedule'] = (object) $terms['payment_schedule'];
        $wrong = [
            'data[0].amount: pass an amount as a string such as "1500.00", not float' =>
                fn () => $shop->disburse->transferBulk(data: json_decode('[{"amount": 1500.5}]')),
            'data[0]: pass an array, not ArrayObject' =>
                fn () => $shop->disburse->transferBulk(data: [new ArrayObject(TRANSFER)]),
            'data[0]: pass an array, not stdClass' =>
                fn () => $shop->disburse->transferBulk(data: [(object) [TRANSFER]]),
            'installment.payment_schedule.30-11-2030: pass a rate as a string such as "12.5", not float' =>
                fn () => $shop->payment->chargeToken(token: 'x', installment: $terms),
        ];
        foreach ($wrong as $message => $call) {
            same($message, thrown(InvalidArgumentException::class, $call)->getMessage());
        }
        same(2, count($transport->sent));
    },
    'an empty array that stands for an object is sent as one' => function (): void {
        $transport = new RecordingTransport();
        $shop = openShop()->withOptions(transport: $transport);
        thrown(InvalidRequest::class, fn () => $shop->clients->create(data: []));
        same('{}', json_encode(json_decode($transport->sent[0]->body)->data));
        same('failed', $shop->disburse->transferBulk(data: [[]])->data[0]->txnStatus);
        matches('/"data":\[\{"orderRef":"kc-/', $transport->sent[1]->body);
    },
    'hooks see references whole, and secrets not at all' => function (): void {
        $seen = [];
        $failing = fn () => throw new RuntimeException('a hook must not fail the call');
        $keep = function (CallEvent $event) use (&$seen): void {
            $seen[] = json_encode($event);
        };
        ini_set('error_log', '/dev/null');
        $shop = openShop()->withOptions(hooks: [$failing, $keep]);
        $card = '4111111111111111';
        $orderRef = "kc-e04f72114974e{$card}abc";
        $shop->disburse->transfer(...TRANSFER, orderRef: $orderRef, narration: "for $card");
        same(2, count($seen));
        foreach ($seen as $event) {
            matches("/\"action\":\"disburse\\.transfer\",\"attempt\":1.*$orderRef/", $event);
        }
        matches('/"narration":"for \*\*\*"/', $seen[0]);
        matches('/"key":"\*\*\*"/', $seen[0]);
        matches('/^\{"kind":"replyReceived".*"httpStatus":200,"seconds":/', $seen[1]);
        $seen = [];
        $paid = ['card_no' => '5123450000000008', 'expiry_month' => '12', 'expiry_year' => '30', 'ccv' => '123'];
        $shop->payment->initiateCard(amount: '1500.00', card: $paid);
        same(false, str_contains(implode($seen), '5123450000000008') || str_contains(implode($seen), '"123"'));
    },
    'a list is one page or all records' => function (): void {
        $shop = openShop();
        foreach (range(1, 5) as $number) {
            $name = 'Obi' . str_repeat('i', $number);
            $shop->clients->create(data: ['firstname' => 'Ada', 'lastname' => $name, 'phone' => "0803123456$number"]);
        }
        $page = $shop->clients->list(limit: 2)->page();
        same([2, 5, 0], [count($page->data), $page->total, $page->offset]);
        $seen = [];
        foreach ($shop->clients->list(limit: 2) as $place => $record) {
            same($place, count($seen));
            $seen[] = substr($record->phone, -1);
            if (count($seen) === 3) {
                // A new record moves the others: none may appear twice, and none may be missing.
                $shop->clients->create(data: ['firstname' => 'Bola', 'lastname' => 'Ade', 'phone' => '08039876543']);
            }
        }
        same(['5', '4', '3', '2', '1'], $seen);
        same(3, count($shop->clients->list(limit: 2)->all(3)));
        same([], $shop->clients->list()->all(0));
        same([], $shop->resources->recurrents()->all());
        thrown(InvalidRequest::class, fn () => $shop->investments->statement(savings_id: 'SV-unknown')->all());
    },
    'the event feed and a list by cursor are read to their ends' => function (): void {
        $shop = openShop();
        $made = [];
        foreach (range(1, 5) as $number) {
            array_unshift($made, $shop->disburse->transfer(...TRANSFER)->txnRef);
        }
        same(range(1, 5), array_map(fn ($event) => $event->sequence, $shop->resources->eventFeed(limit: 2)->all()));
        $list = $shop->resources->transactions(limit: 2, kind: 'transfer');
        same($made, array_map(fn ($line) => $line->txnRef, $list->all()));
        same(array_slice($made, 0, 2), array_map(fn ($line) => $line->txnRef, $list->page()->data));
        same([], $shop->resources->transactions(kind: 'bill')->all());
    },
    'wait returns the final state, or throws StillPending' => function (): void {
        $shop = openShop();
        $transfer = $shop->disburse->transfer(...[...TRANSFER, 'accountnumber' => PENDING_ACCOUNT]);
        same(['pending', false], [$transfer->txnStatus, Waiting::isFinal($transfer)]);
        $pending = thrown(StillPending::class, fn () => $shop->disburse->wait($transfer, seconds: 0.3));
        same(true, $pending instanceof OutcomeUnknown);
        same('pending', $pending->state->txnStatus);
        $shop->sandbox->settle(txnRef: $transfer->txnRef, outcome: 'failed');
        foreach ([$transfer, $transfer->txnRef, $pending] as $known) {
            same('failed', $shop->disburse->wait($known)->txnStatus);
        }
        thrown(InvalidArgumentException::class, fn () => $shop->bills->wait($shop->resources->wallet()));
    },
    'an answer that the bank garbled is an UnreadableOutcome that can be waited for' => function (): void {
        $shop = openShop();
        $garbled = $shop->withOptions(scenario: 'rr=ZZ');
        $error = thrown(UnreadableOutcome::class, fn () => $garbled->disburse->transfer(...TRANSFER));
        same('pending', $error->state->txnStatus);
        $shop->sandbox->settle(orderRef: $error->orderRef, outcome: 'successful');
        same('successful', $shop->disburse->wait($error)->txnStatus);
    },
    'loans are waited for by their transfer or payment' => function (): void {
        $shop = openShop();
        $bank = ['account_number' => '0000000000', 'bank_code' => '058'];
        $data = ['firstname' => 'Ada', 'lastname' => 'Obi', 'phone' => '08031234567', 'bankAccount' => $bank];
        $client = $shop->clients->create(data: $data, status: 'active')->data->client_id;
        $interest = ['interestRate' => '24', 'interestFrequency' => 'annualized'];
        $asked = $shop->loans->request(client_id: $client, amount: '12000.00', period: 12, interestSettings: $interest);
        $loan = $shop->loans->process(loan_id: $asked->data->loan_id, status: 'approve');
        same(['successful', $loan->loan_id], [($paid = $shop->loans->wait($loan))->txnStatus, $paid->loan_id]);
        $card = ['card_no' => '5123450000000008', 'expiry_month' => '12', 'expiry_year' => '30', 'ccv' => '000'];
        $repayment = $shop->loans->repay(loan_id: $loan->loan_id, payment_method: 'card', card: $card);
        $shop->loans->validate(txnRef: $repayment->txnRef, otp: '123456');
        same('successful', $shop->loans->wait($repayment)->txnStatus);
    },
    'the sandbox plans faults, moves time and makes things happen' => function (): void {
        $shop = openShop();
        $shop->sandbox->fault(rail: 'bank', kind: 'timeout');
        same('processing', $shop->disburse->transfer(...TRANSFER)->txnStatus);
        $before = new DateTimeImmutable($shop->sandbox->clock()->now);
        $shop->sandbox->advance(days: 1);
        $after = new DateTimeImmutable($shop->sandbox->clock()->now);
        same(true, $after->getTimestamp() - $before->getTimestamp() >= 86_400);
    },
    'options of a call, of the client and of withOptions' => function (): void {
        $transport = new RecordingTransport();
        $made = openShop()->withOptions(transport: $transport, headers: ['X-Trace' => 'a', 'MID' => 'x']);
        $other = $made->withOptions(headers: ['x-span' => 'b'], scenario: 'rr=91');
        $other->resources->wallet(options: new CallOptions(headers: ['x-trace' => 'c'], scenario: 'rr=00'));
        $made->resources->wallet();
        $names = ['x-trace', 'x-span', 'x-sandbox-scenario', 'mid'];
        same([['c', 'b', 'rr=00', $made->mid], ['a', null, null, $made->mid]], array_map(
            fn (HttpRequest $sent): array => array_map(fn (string $name) => $sent->headers[$name] ?? null, $names),
            $transport->sent,
        ));
        $right = ['mid' => 'GP0000001', 'key' => '123'];
        $wrong = [
            ['key' => "line\nbreak"],
            ['mid' => ''],
            ['baseUrl' => '127.0.0.1:8080'],
            ['baseUrl' => 'http://ada:pass@127.0.0.1'],
            ['baseUrl' => 'file:///etc/passwd'],
            ['timeoutSeconds' => 0.0],
            ['deadlineSeconds' => NAN],
            ['maxRetries' => -1],
            ['headers' => ['x-trace' => "line\nbreak"]],
            ['headers' => ['x trace' => 'a']],
        ];
        foreach ($wrong as $options) {
            $error = thrown(InvalidArgumentException::class, fn () => new Kasuwa(...[...$right, ...$options]));
            same(0, preg_match('/break|pass@/', $error->getMessage()));
        }
        thrown(InvalidArgumentException::class, fn () => new CallOptions(idempotencyKey: ''));
        thrown(InvalidArgumentException::class, fn () => $made->disburse->transfer(...TRANSFER, narration: "\xff"));
    },
    'a client from the environment names what is missing' => function (): void {
        $shop = openShop();
        putenv('KASUWA_MID');
        putenv('KASUWA_KEY=' . keys($shop->mid));
        $error = thrown(InvalidArgumentException::class, fn () => Kasuwa::fromEnvironment());
        same('not set in the environment: KASUWA_MID', $error->getMessage());
        putenv("KASUWA_MID={$shop->mid}");
        same('NGN', Kasuwa::fromEnvironment()->resources->wallet()->data[0]->currency);
    },
]);
