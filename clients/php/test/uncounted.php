<?php

/** The size of a request as libcurl 8.7.0 and 8.7.1 give it while the reply is not complete: 0. */

declare(strict_types=1);

namespace Kasuwa;

function curl_getinfo(\CurlHandle $handle, int $option): mixed
{
    return $option === CURLINFO_REQUEST_SIZE ? 0 : \curl_getinfo($handle, $option);
}
