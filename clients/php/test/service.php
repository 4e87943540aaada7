<?php

/** What the tests of the client share: its classes, the service that they run against, merchants and assertions. */

declare(strict_types=1);

use Kasuwa\Kasuwa;

error_reporting(E_ALL);
set_error_handler(static function (int $level, string $message, string $file, int $line): never {
    throw new ErrorException($message, 0, $level, $file, $line);
});
spl_autoload_register(static function (string $class): void {
    $manifest = json_decode(file_get_contents(dirname(__DIR__) . '/composer.json'), true);
    foreach ($manifest['autoload']['psr-4'] as $prefix => $folder) {
        $path = dirname(__DIR__) . "/$folder" . strtr(substr($class, strlen($prefix)), '\\', '/') . '.php';
        if (str_starts_with($class, $prefix) && is_file($path)) {
            require $path;
        }
    }
});

const TRANSFER = ['amount' => '1500.00', 'bankcode' => '058', 'accountnumber' => '0000000000'];
// An ordinary transfer of 1,500.00 with its fee of 10.00 and VAT of 0.75, in kobo.
const TRANSFER_COST = 151_075;
// The bank answers `pending` until the test says otherwise.
const PENDING_ACCOUNT = '0000000020';

function setting(string $name): string
{
    $value = getenv($name);
    return $value === false ? throw new RuntimeException("$name is not set: run tests/clients/test_php.py") : $value;
}

/** Makes a merchant with a funded wallet. Its mid is written to a file, so that its books are audited at the end. */
function openShop(): Kasuwa
{
    $demo = new Kasuwa(mid: 'GP0000001', key: '123456789', baseUrl: setting('KASUWA_URL'));
    $made = $demo->sandbox->newMerchant(name: 'Ada Stores');
    file_put_contents(setting('KASUWA_MERCHANTS_FILE'), "{$made->mid}\n", FILE_APPEND);
    keys($made->mid, $made->key);
    return new Kasuwa(mid: $made->mid, key: $made->key, baseUrl: setting('KASUWA_URL'));
}

/** Returns the key of a merchant that openShop made, or remembers it. */
function keys(string $mid, ?string $key = null): string
{
    static $keys = [];
    return $keys[$mid] ??= $key;
}

/** Returns the balance of the NGN wallet in kobo. */
function walletOf(Kasuwa $shop): int
{
    foreach ($shop->resources->wallet()->data as $line) {
        if ($line->currency === 'NGN') {
            return (int) str_replace('.', '', $line->balance);
        }
    }
    throw new RuntimeException('no NGN wallet');
}

function same(mixed $expected, mixed $found): void
{
    if ($expected !== $found) {
        $shown = static fn (mixed $value): string => json_encode($value) . ' (' . get_debug_type($value) . ')';
        throw new RuntimeException("expected {$shown($expected)}, found {$shown($found)}");
    }
}

function matches(string $pattern, ?string $found): void
{
    if ($found === null || preg_match($pattern, $found) !== 1) {
        throw new RuntimeException("expected $pattern, found " . json_encode($found));
    }
}

/**
 * Returns what a call throws.
 *
 * @template T of Throwable
 *
 * @param class-string<T> $class
 *
 * @return T
 */
function thrown(string $class, callable $call): Throwable
{
    try {
        $reply = $call();
    } catch (Throwable $error) {
        return $error instanceof $class ? $error : throw $error;
    }
    throw new RuntimeException("expected $class, found " . json_encode($reply));
}

/**
 * Runs the tests that are named on the command line, or all, and says which passed.
 *
 * @param array<string, callable> $tests
 */
function runTests(array $tests): void
{
    $names = array_slice($GLOBALS['argv'], 1) ?: array_keys($tests);
    $failed = 0;
    foreach ($names as $name) {
        try {
            $tests[$name]();
            echo "passed: $name\n";
        } catch (Throwable $error) {
            $failed = 1;
            echo "failed: $name: $error\n";
        }
    }
    exit($failed);
}
