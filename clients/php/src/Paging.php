<?php

declare(strict_types=1);

namespace Kasuwa;

/** How a list continues. */
enum Paging
{
    /** At `offset` plus the number of records. */
    case Offset;
    /** The same for a reply that is a bare array. */
    case Array;
    /** After a sequence number. */
    case Feed;
    /** With the `next_cursor` of the reply. */
    case Cursor;
}
