<?php

declare(strict_types=1);

namespace Assay\Tests;

use PHPUnit\Framework\TestCase;

/** Asserts that the examples run as described in their first lines. */
final class ExamplesTest extends TestCase
{
    private const EXAMPLES = __DIR__ . '/../examples';

    private string $folder;
    private ?WebServer $server = null;

    protected function setUp(): void
    {
        $this->folder = sys_get_temp_dir() . '/assay-examples-' . bin2hex(random_bytes(6));
        mkdir($this->folder);
    }

    protected function tearDown(): void
    {
        $this->server?->stop();
        Subprocess::run(['rm', '-rf', $this->folder]);
    }

    public function testTransactionEndpoint(): void
    {
        $case = $this->serve('transaction', 'transaction_endpoint.php');
        $jws = CaseTable::evidence($case);
        [$status, $answer] = $this->post(['transaction' => $jws]);
        $this->assertSame(200, $status, $this->server->log());
        $this->assertSame(['plan', 'until'], array_keys(json_decode($answer, true)));

        [$status, $answer] = $this->post(['transaction' => substr($jws, 0, -4) . 'AAAA']);
        $this->assertSame([400, '{"error":"not accepted"}'], [$status, $answer]);
        $this->assertStringContainsString('rejected.jws.signature', $this->server->log());
        foreach (['{', '{}', '[]', '5', '{"transaction":5}', ''] as $body) {
            $this->assertSame(400, $this->server->request('POST', $body)[0], $body);
        }
        $this->assertSame(413, $this->server->request('POST', str_repeat(' ', 70_000))[0]);
        $this->assertSame(405, $this->server->request('GET', '')[0]);
    }

    public function testNotificationEndpoint(): void
    {
        $case = $this->serve('notification', 'notification_endpoint.php');
        $jws = CaseTable::evidence($case);
        for ($sent = 0; $sent < 2; $sent++) {
            $status = $this->post(['signedPayload' => $jws])[0];
            $this->assertSame(200, $status, $this->server->log());
        }
        $rows = (new \PDO("sqlite:$this->folder/notifications.db"))
            ->query('select key, type, jws from notification')->fetchAll(\PDO::FETCH_NUM);
        $this->assertSame([$jws], array_column($rows, 2));
        $this->assertNotEmpty($rows[0][0]);
        $this->assertNotEmpty($rows[0][1]);

        $forged = ['signedPayload' => substr($jws, 0, -4) . 'AAAA'];
        $this->assertSame(400, $this->post($forged)[0]);
        foreach (['x', '{}', '[]', '{"signedPayload":5}'] as $body) {
            $this->assertSame(400, $this->server->request('POST', $body)[0], $body);
        }
        $this->assertSame(413, $this->server->request('POST', '')[0]);
        $this->assertSame(413, $this->server->request('POST', str_repeat(' ', 300_000))[0]);
        $this->assertSame(405, $this->server->request('GET', '')[0]);

        unlink("$this->folder/notifications.db");
        mkdir("$this->folder/notifications.db");
        $this->assertSame(500, $this->post(['signedPayload' => $jws])[0], 'nothing is stored');
        rmdir("$this->folder/notifications.db");
    }

    /** Starts an example with evidence of the case table and its configuration. */
    private function serve(string $kind, string $script): array
    {
        $case = CaseTable::get()->accepted($kind);
        $configuration = CaseTable::get()->configuration($case['verifier']);
        file_put_contents("$this->folder/config.json", json_encode($configuration));
        $this->server = new WebServer(self::EXAMPLES . "/$script", [
            'ASSAY_CONFIG' => "$this->folder/config.json",
            'NOTIFICATIONS' => "$this->folder/notifications.db",
        ]);

        return $case;
    }

    /**
     * @param array<string, string> $body
     *
     * @return array{int, string}
     */
    private function post(array $body): array
    {
        return $this->server->request('POST', (string) json_encode($body));
    }
}
