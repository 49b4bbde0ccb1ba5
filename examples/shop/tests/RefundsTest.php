<?php

declare(strict_types=1);

namespace Assay\Tests\Shop;

/** Tests that the shop keeps Apple's questions about refunds, and lists them (RFA-1, RFA-47). */
final class RefundsTest extends ShopTestCase
{
    public function testAQuestionIsOpenUntilAppleDecides(): void
    {
        $shop = $this->shop();
        $id = self::id();
        $shop->send(self::jws(self::coins($id)));
        $this->assertSame([0, ''], self::listed($shop));
        $this->assertStringNotContainsString('Apple asks', $shop->page('/balance')->body);

        $asked = self::notification('CONSUMPTION_REQUEST', self::coins($id));
        $this->assertSame([200, 200], [$shop->notify($asked)->status, $shop->notify($asked)->status], $shop->log());
        [$code, $out] = self::listed($shop);
        $this->assertSame(3, $code);
        $this->assertMatchesRegularExpression("/^Production  $id  .* 7\d\d minutes left  account ann\n$/", $out);
        $page = $shop->page('/balance')->body;
        foreach (['<h2>Apple asks about refunds</h2>', "Production $id"] as $part) {
            $this->assertStringContainsString($part, $page);
        }

        $later = (string) (self::now() + 60_000);
        $declined = self::notification('REFUND_DECLINED', self::coins($id, '--signed', $later));
        $this->assertSame(200, $shop->notify($declined)->status, $shop->log());
        $this->assertSame([0, ''], self::listed($shop));
        $this->assertSame(200, $shop->notify($asked)->status);
        $this->assertSame([0, ''], self::listed($shop));
    }

    /** @return array{int, string} */
    private static function listed(RunningShop $shop): array
    {
        $done = $shop->command('refunds');
        self::assertSame('', $done->error);

        return [$done->code, $done->out];
    }
}
