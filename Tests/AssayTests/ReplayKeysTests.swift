import Testing

@testable import Assay

/// JWS-94 and RPL-3.
@Suite("Replay keys")
struct ReplayKeysTests {
  private func purchaseKey(
    _ type: ProductType?, transactionId: Text? = "12", originalTransactionId: Text? = "11",
    webOrderLineItemId: Text? = "13", purchaseDate: Int64? = 1_700_000_000_000,
    environment: Environment? = .production
  ) -> String? {
    ReplayKeys.purchase(
      environment: environment, type: type, transactionId: transactionId,
      originalTransactionId: originalTransactionId, webOrderLineItemId: webOrderLineItemId,
      purchaseDate: purchaseDate)?.string
  }

  @Test("JWS-94 the purchase key goes by the type")
  func purchaseKeys() {
    #expect(purchaseKey(.autoRenewable) == "Production/11/13")
    #expect(purchaseKey(.nonConsumable) == "Production/11")
    #expect(purchaseKey(.consumable) == "Production/12")
    #expect(purchaseKey(.nonRenewing) == "Production/12")
    #expect(purchaseKey(nil) == "Production/12")
  }

  @Test("JWS-94 RPL-3 without a web-order-line-item id the purchase date stands in")
  func withoutWebOrder() {
    for absent in [nil, "", "0"] as [Text?] {
      #expect(
        purchaseKey(.autoRenewable, webOrderLineItemId: absent)
          == "Production/11/1700000000000")
      #expect(
        purchaseKey(.autoRenewable, webOrderLineItemId: absent, purchaseDate: nil) == nil)
    }
    #expect(purchaseKey(.autoRenewable, purchaseDate: nil) == "Production/11/13")
  }

  @Test("RPL-3 an id that cannot be unique is no key", arguments: [nil, "", "0", "000"] as [Text?])
  func notUnique(id: Text?) {
    #expect(ReplayKeys.transaction(environment: .production, transactionId: id) == nil)
    #expect(ReplayKeys.subscription(environment: .production, originalTransactionId: id) == nil)
    #expect(purchaseKey(.autoRenewable, originalTransactionId: id) == nil)
    #expect(purchaseKey(.nonConsumable, originalTransactionId: id) == nil)
    #expect(purchaseKey(.consumable, transactionId: id) == nil)
    #expect(purchaseKey(.nonConsumable, transactionId: id) == "Production/11")
  }

  @Test("RCP-28 RPL-3 no environment: the pool unknown, and no key of 13 digits or fewer")
  func scope() {
    let (long, short): (Text, Text) = ("12345678901234", "1234567890123")
    #expect(
      ReplayKeys.transaction(environment: nil, transactionId: long)?.string
        == "unknown/12345678901234")
    #expect(
      ReplayKeys.subscription(environment: nil, originalTransactionId: long)?.string
        == "unknown/12345678901234")
    #expect(
      purchaseKey(.autoRenewable, originalTransactionId: long, environment: nil)
        == "unknown/12345678901234/13")
    #expect(ReplayKeys.transaction(environment: nil, transactionId: short) == nil)
    #expect(ReplayKeys.subscription(environment: nil, originalTransactionId: short) == nil)
    #expect(purchaseKey(.autoRenewable, originalTransactionId: short, environment: nil) == nil)
    #expect(
      ReplayKeys.transaction(environment: .xcode, transactionId: "10")?.string == "Xcode/10")
  }

  @Test(
    "APR-25 no key holds a slash, a control character or anything else that parts it",
    arguments: [
      "1/2", "1\n2", "12\u{0}", "\u{7f}1", " 12", "12 ", "1é", "1\t2", "/", "1\\2", "1#2",
      String(repeating: "1", count: 49), String(repeating: "1", count: 500_000),
    ])
  func strangeIds(_ id: String) {
    let id = Text(id)
    #expect(ReplayKeys.transaction(environment: .production, transactionId: id) == nil)
    #expect(ReplayKeys.subscription(environment: .production, originalTransactionId: id) == nil)
    #expect(purchaseKey(.autoRenewable, originalTransactionId: id) == nil)
    #expect(purchaseKey(.autoRenewable, webOrderLineItemId: id) == nil)
    #expect(purchaseKey(.nonConsumable, originalTransactionId: id) == nil)
    #expect(purchaseKey(nil, transactionId: id) == nil)
  }

  @Test("APR-25 the longest key of all has no more than 128 bytes")
  func longest() throws {
    let id = Text(String(repeating: "9", count: 48))
    let key = try #require(
      purchaseKey(
        .autoRenewable, originalTransactionId: id, webOrderLineItemId: id,
        environment: .localTesting))
    #expect(key.utf8.count == 110)
  }
}
