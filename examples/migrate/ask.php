<?php

// Ask Apple what a migration left open: ask.py for PHP, with the same files, one question at a time.
//
//     php ask.php migrate-look config.json sqlite:/var/lib/shop/ledger.db
//
// The last argument is an address of PDO's.

declare(strict_types=1);

use Assay\Exception\AssayException;
use Assay\Exception\Configuration;
use Assay\Exception\Pending;
use Assay\Exception\Unavailable;
use Assay\Ledger\Ledger;
use Assay\Sender;

// With Composer: require 'vendor/autoload.php'.
require_once __DIR__ . '/../../bindings/php/autoload.php';

/** The questions of one migration. */
final class Questions
{
    private const LIMITED = 'unavailable.app-store.local-rate-limit';
    private const UNAUTHORIZED = 'rejected.app-store.unauthorized';
    /** The most texts of a row. */
    private const TEXTS = 32;

    public function __construct(private Ledger $ledger, private \Closure $send)
    {
    }

    /**
     * Returns the rows of an answer; or none, and the line with its status.
     *
     * @throws AssayException if Apple is away, or refuses the key
     */
    public function ask(array $line): array
    {
        ['environment' => $environment, 'operation' => $operation] = $line;
        $id = $line['originalTransactionId'] ?? $line['transactionId'];
        if (!in_array($environment, ['Production', 'Sandbox'], true)) {
            return [[], $line + ['status' => 'unsupported.app-store.environment']];
        }
        $this->permit($operation, $environment);
        $request = ['operation' => $operation, 'environment' => $environment, 'transactionId' => $id];
        if ($operation === 'get-transaction-history') {
            $request['options'] = ['pages' => 100];
        }
        $answers = [];
        $document = $this->ledger->verifier->exchange($request)->run(
            function (array $asked) use (&$answers): array {
                return $answers[] = ($this->send)($asked);
            },
            3600.0,
        );
        try {
            $document->throwIfFailed();
        } catch (Unavailable | Pending | Configuration $away) {
            throw $away;
        } catch (AssayException $refusal) {
            if ($document->status() === self::UNAUTHORIZED) {
                throw $refusal;
            }

            return [[], $line + ['status' => $document->status()]];
        }

        $rows = self::rows($line, $id, $answers);

        return [$rows, $rows === [] ? $line + ['status' => $document->status()] : null];
    }

    /** Waits for a permit of the ledger. */
    private function permit(string $operation, string $environment): void
    {
        while (true) {
            try {
                $this->ledger->acquireRatePermit($operation, $environment);

                return;
            } catch (Unavailable $limited) {
                if ($limited->status !== self::LIMITED) {
                    throw $limited;
                }
            }
        }
    }

    /**
     * Every text was verified. An answer has the customer's other purchases, too, and the line says
     * nothing about whose those are.
     */
    private static function rows(array $line, string $id, array $answers): array
    {
        $found = [];
        foreach ($answers as $answer) {
            if ($answer['status'] === 200) {
                foreach (self::signed(json_decode($answer['body']['text'], true)) as $text) {
                    $middle = strtr(explode('.', $text)[1], '-_', '+/');
                    $found[$text] = json_decode((string) base64_decode($middle, true), true);
                }
            }
        }
        $of = [];
        foreach ($found as $payload) {
            $original = $payload['originalTransactionId'];
            if (in_array($id, [$original, $payload['transactionId'] ?? null], true)) {
                $of[$original] = $original;
            }
        }
        $texts = array_keys(array_filter(
            $found,
            static fn (array $payload): bool => isset($of[$payload['originalTransactionId']]),
        ));

        return array_map(static fn (array $some): array => [
            'account' => $line['account'],
            'environment' => $line['environment'],
            'originalTransactionId' => array_values($of)[0] ?? $id,
            'evidences' => $some,
        ], array_chunk($texts, self::TEXTS));
    }

    /** Returns the signed texts of an answer. */
    private static function signed(array $value): array
    {
        $texts = [];
        foreach ($value as $name => $each) {
            if (in_array($name, ['signedTransactionInfo', 'signedRenewalInfo'], true)) {
                $texts[] = $each;
            } elseif (is_array($each)) {
                array_push($texts, ...($name === 'signedTransactions' ? $each : self::signed($each)));
            }
        }

        return $texts;
    }
}

/** The two files, and the place that they have reached: questions, and the bytes of each. */
final class Outcome
{
    private const NAMES = ['answers.ndjson', 'unknown-to-apple.ndjson'];

    public int $asked;
    private array $files = [];
    private string $done;

    public function __construct(string $folder)
    {
        $this->done = $folder . '/asked.json';
        $sizes = is_file($this->done)
            ? json_decode((string) file_get_contents($this->done), true) : [0, 0, 0];
        $this->asked = array_shift($sizes);
        umask(0077);
        foreach (self::NAMES as $at => $name) {
            $file = fopen("{$folder}/{$name}", 'c+');
            ftruncate($file, $sizes[$at]);
            fseek($file, 0, SEEK_END);
            $this->files[] = $file;
        }
    }

    public function write(array $rows, ?array $unknown): void
    {
        foreach ([$rows, $unknown === null ? [] : [$unknown]] as $at => $lines) {
            foreach ($lines as $line) {
                fwrite($this->files[$at], json_encode($line, JSON_UNESCAPED_SLASHES) . "\n");
            }
        }
        ++$this->asked;
    }

    /** Notes the place, by a rename: a kill before it repeats the questions since the last. */
    public function note(): void
    {
        array_map(fsync(...), $this->files);
        $place = [$this->asked, ...array_map(ftell(...), $this->files)];
        file_put_contents($this->done . '.part', json_encode($place));
        rename($this->done . '.part', $this->done);
    }
}

/** Asks Apple every line of ask.ndjson in a folder. Returns how many have been asked. */
function ask(string $folder, Ledger $ledger, \Closure $send, int $chunk = 64): int
{
    $questions = new Questions($ledger, $send);
    $outcome = new Outcome($folder);
    $list = new \SplFileObject($folder . '/ask.ndjson');
    $before = $outcome->asked;
    for ($at = 0; ($text = $list->fgets()) !== ''; ++$at) {
        if ($at < $before) {
            continue;
        }
        $outcome->write(...$questions->ask(json_decode($text, true)));
        if ($outcome->asked % $chunk === 0) {
            $outcome->note();
        }
    }
    $outcome->note();

    return $outcome->asked;
}

if (realpath($_SERVER['SCRIPT_FILENAME']) === __FILE__) {
    if ($_SERVER['argc'] !== 4) {
        fwrite(STDERR, "php ask.php FOLDER CONFIGURATION DATABASE\n");
        exit(2);
    }
    [, $folder, $config, $dsn] = $_SERVER['argv'];
    $ledger = Ledger::open($dsn, (string) file_get_contents($config));
    try {
        echo 'asked ' . ask($folder, $ledger, (new Sender())->__invoke(...)) . "\n";
    } catch (AssayException $refusal) {
        fwrite(STDERR, $refusal->getMessage() . "\nthe same command goes on from here\n");
        exit(1);
    }
}
