<?php

declare(strict_types=1);

namespace Kasuwa;

/**
 * A list that is read when it is used. `foreach` yields all records, and asks for further pages as they are needed.
 * `page()` returns one page as the service replies it, and `all()` the records in an array.
 *
 * In a list that is newest first, a record that is added while you iterate moves the others to later places. The
 * records that a page then repeats are dropped.
 *
 * @template TPage
 * @template TRecord of Result
 *
 * @implements \IteratorAggregate<int, TRecord>
 */
final class RecordList implements \IteratorAggregate
{
    private mixed $first = null;

    /** @param array<string, mixed> $arguments */
    public function __construct(
        private readonly Caller $caller,
        private readonly Operation $operation,
        private readonly Paging $paging,
        private readonly bool $isNewestFirst,
        private readonly array $arguments,
        private readonly ?CallOptions $options,
    ) {
    }

    /**
     * Returns the page that the arguments ask for. It is read once.
     *
     * @return TPage
     */
    public function page(): mixed
    {
        return $this->first ??= $this->read([]);
    }

    /**
     * Returns all records, or the first `$limit` of them.
     *
     * @return list<TRecord>
     */
    public function all(int $limit = PHP_INT_MAX): array
    {
        $records = [];
        if ($limit > 0) {
            foreach ($this as $record) {
                $records[] = $record;
                if (count($records) >= $limit) {
                    break;
                }
            }
        }
        return $records;
    }

    /** @return \Generator<int, TRecord> */
    public function getIterator(): \Generator
    {
        $page = $this->page();
        $read = $this->arguments['offset'] ?? 0;
        $total = null;
        $number = 0;
        while (true) {
            $records = is_array($page) ? $page : $page->data;
            $read += count($records);
            $found = $this->paging === Paging::Offset ? $page->total : 0;
            $repeated = $this->isNewestFirst ? max(0, $found - ($total ?? $found)) : 0;
            $total = $found;
            foreach (array_slice($records, $repeated) as $record) {
                yield $number++ => $record;
            }
            $next = $this->next($page, $records, $read);
            if ($next === null) {
                return;
            }
            $page = $this->read($next);
        }
    }

    /**
     * Returns the arguments that ask for the next page, or null if this is the last one.
     *
     * @param list<Result> $records
     *
     * @return array<string, mixed>|null
     */
    private function next(mixed $page, array $records, int $read): ?array
    {
        if ($this->paging === Paging::Feed) {
            return $page->more ? ['after' => $page->last] : null;
        }
        if ($this->paging === Paging::Cursor) {
            // A page can be empty although others follow.
            return $page->next_cursor === null ? null : ['cursor' => $page->next_cursor];
        }
        if ($records === []) {
            return null;
        }
        if ($this->paging === Paging::Array) {
            // An array does not say how many there are: it ends with an empty page. With an id there is one record.
            return ($this->arguments['id'] ?? '') !== '' ? null : ['offset' => $read];
        }
        $end = $page->offset + count($records);
        return $end >= $page->total ? null : ['offset' => $end];
    }

    /** @param array<string, mixed> $changes */
    private function read(array $changes): mixed
    {
        return $this->caller->call($this->operation, [...$this->arguments, ...$changes], $this->options);
    }
}
