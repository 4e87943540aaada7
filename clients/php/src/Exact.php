<?php

declare(strict_types=1);

namespace Kasuwa;

/**
 * Exact numbers. Amounts and rates are strings in requests and in replies: a float cannot hold every amount, and sums
 * of floats drift. Requests with a number are refused before they are sent, in files without strict types too; the few
 * replies that have an amount as a JSON number are converted.
 *
 * The shape of an object names its fields `amounts`, its other exact numbers `decimals`, those that are `objects` even
 * if they are empty, and has the shapes of what is `inside` fields. Lists are looked through.
 */
final class Exact
{
    private const WANTED = [
        'amounts' => 'an amount as a string such as "1500.00"',
        'decimals' => 'a rate as a string such as "12.5"',
    ];

    /**
     * Returns a request with arrays in the place of objects, such as the rows of json_decode. An object that would be a
     * list as an array, as the empty one, stays.
     *
     * @param array<mixed> $value
     *
     * @return array<mixed>
     */
    public static function withArrays(#[\SensitiveParameter] array $value): array
    {
        foreach ($value as $name => $one) {
            if ($one instanceof \stdClass && !array_is_list((array) $one)) {
                $one = (array) $one;
            }
            if (is_array($one)) {
                $value[$name] = self::withArrays($one);
            }
        }
        return $value;
    }

    /**
     * Returns a request as it is encoded: an empty array that stands for an object is one.
     *
     * @param array<string, mixed> $request
     * @param array<string, mixed> $shape
     *
     * @return array<string, mixed>
     *
     * @throws \InvalidArgumentException that names every amount or rate that is not a string, and every object that
     *     may hide one
     */
    public static function prepare(#[\SensitiveParameter] array $request, array $shape): array
    {
        $faults = self::faults($request, $shape, '');
        if ($faults !== []) {
            throw new \InvalidArgumentException(implode('; ', $faults));
        }
        return self::withObjects($request, $shape);
    }

    /** Returns an exact number of a reply as text, and anything else as it is. */
    public static function text(mixed $value, string $kind): mixed
    {
        if (!is_int($value) && !is_float($value)) {
            return $value;
        }
        return $kind === 'amount' ? number_format((float) $value, 2, '.', '') : json_encode($value);
    }

    /**
     * @param array<mixed> $value
     * @param array<string, mixed> $shape
     *
     * @return list<string>
     */
    private static function faults(#[\SensitiveParameter] array $value, array $shape, string $path): array
    {
        $faults = [];
        if ($value !== [] && array_is_list($value)) {
            foreach ($value as $index => $one) {
                array_push($faults, ...self::faultsInside($one, $shape, "{$path}[$index]"));
            }
            return $faults;
        }
        $prefix = $path === '' ? '' : "$path.";
        foreach (self::WANTED as $kind => $wanted) {
            foreach ($shape[$kind] ?? [] as $name) {
                $found = $value[$name] ?? null;
                foreach (is_array($found) ? $found : ['' => $found] as $key => $one) {
                    if (!is_string($one) && $one !== null) {
                        $where = $prefix . $name . ($key === '' ? '' : ".$key");
                        $faults[] = "$where: pass $wanted, not " . get_debug_type($one);
                    }
                }
            }
        }
        foreach ($shape['inside'] ?? [] as $name => $inner) {
            array_push($faults, ...self::faultsInside($value[$name] ?? null, $inner, $prefix . $name));
        }
        return $faults;
    }

    /**
     * @param array<string, mixed> $shape
     *
     * @return list<string>
     */
    private static function faultsInside(#[\SensitiveParameter] mixed $value, array $shape, string $path): array
    {
        if (is_array($value)) {
            return self::faults($value, $shape, $path);
        }
        $isHiding = is_object($value) && !($value instanceof \stdClass && (array) $value === []);
        return $isHiding ? ["$path: pass an array, not " . get_debug_type($value)] : [];
    }

    /**
     * @param array<mixed> $value
     * @param array<string, mixed> $shape
     *
     * @return array<mixed>
     */
    private static function withObjects(#[\SensitiveParameter] array $value, array $shape): array
    {
        if ($value !== [] && array_is_list($value)) {
            $each = static fn (mixed $one): mixed => is_array($one) ? self::object($one, $shape) : $one;
            return array_map($each, $value);
        }
        foreach ($shape['inside'] ?? [] as $name => $inner) {
            if (is_array($value[$name] ?? null)) {
                $value[$name] = self::withObjects($value[$name], $inner);
            }
        }
        foreach ($shape['objects'] ?? [] as $name) {
            if (($value[$name] ?? null) === []) {
                $value[$name] = new \stdClass();
            }
        }
        return $value;
    }

    /**
     * @param array<mixed> $value
     * @param array<string, mixed> $shape
     *
     * @return array<mixed>|\stdClass
     */
    private static function object(#[\SensitiveParameter] array $value, array $shape): array|\stdClass
    {
        return $value === [] ? new \stdClass() : self::withObjects($value, $shape);
    }
}
