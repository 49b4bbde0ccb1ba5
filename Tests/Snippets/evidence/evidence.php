<?php

// Evidence for the frames of PHP blocks, minted into the folder of the page, and a
// verifier whose configuration has the test authority's roots in place of Apple's.

declare(strict_types=1);

require 'vendor/autoload.php';

const ACCOUNT = '1b4e28ba-2fa1-11d2-883f-b9a761bde3fb';

function minted(string ...$arguments): string
{
    $words = ['assay', 'mint', ...$arguments, '--authority', 'authority'];
    $text = shell_exec(implode(' ', array_map('escapeshellarg', $words)));
    must(is_string($text), 'assay mint ' . implode(' ', $arguments));

    return trim($text);
}

function authority(): array
{
    return json_decode(file_get_contents('authority/config.json'), true);
}

function device(): array
{
    return json_decode(file_get_contents('authority/device.json'), true);
}

function verifierUnderTest(array $configuration): Assay\Verifier
{
    $roots = ['storekit' => ['anchors' => authority()['storekit']['anchors']]];

    return new Assay\Verifier($configuration + $roots);
}

/** The process fails unless this holds. */
function must(bool $holds, string $what): void
{
    if (!$holds) {
        fwrite(STDERR, "not so: $what\n");
        exit(93);
    }
}

// A frame that is left before its end has looked at nothing.
$whole = false;
register_shutdown_function(static function () use (&$whole): void {
    must($whole, 'the frame was run to its end');
});
