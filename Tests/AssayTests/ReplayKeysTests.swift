import Testing

@testable import Assay

/// Tests purchase keys, and ids that never become keys (JWS-94, RPL-3).
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
    checkEqual(purchaseKey(.autoRenewable), "Production/11/13")
    checkEqual(purchaseKey(.nonConsumable), "Production/11")
    checkEqual(purchaseKey(.consumable), "Production/12")
    checkEqual(purchaseKey(.nonRenewing), "Production/12")
    checkEqual(purchaseKey(nil), "Production/12")
  }

  @Test("JWS-94 RPL-3 without a web-order-line-item id the purchase date stands in")
  func withoutWebOrder() {
    for absent in [nil, "", "0"] as [Text?] {
      checkEqual(
        purchaseKey(.autoRenewable, webOrderLineItemId: absent), "Production/11/1700000000000")
      check(
        purchaseKey(.autoRenewable, webOrderLineItemId: absent, purchaseDate: nil) == nil)
    }
    checkEqual(purchaseKey(.autoRenewable, purchaseDate: nil), "Production/11/13")
  }

  @Test("RPL-3 an id that cannot be unique is no key", arguments: [nil, "", "0", "000"] as [Text?])
  func notUnique(id: Text?) {
    check(ReplayKeys.transaction(environment: .production, transactionId: id) == nil)
    check(ReplayKeys.subscription(environment: .production, originalTransactionId: id) == nil)
    check(purchaseKey(.autoRenewable, originalTransactionId: id) == nil)
    check(purchaseKey(.nonConsumable, originalTransactionId: id) == nil)
    check(purchaseKey(.consumable, transactionId: id) == nil)
    checkEqual(purchaseKey(.nonConsumable, transactionId: id), "Production/11")
  }

  @Test("RCP-28 RPL-3 no environment: the pool unknown, and no key of 13 digits or fewer")
  func scope() {
    let (long, short): (Text, Text) = ("12345678901234", "1234567890123")
    checkEqual(
      ReplayKeys.transaction(environment: nil, transactionId: long)?.string,
      "unknown/12345678901234")
    checkEqual(
      ReplayKeys.subscription(environment: nil, originalTransactionId: long)?.string,
      "unknown/12345678901234")
    checkEqual(
      purchaseKey(.autoRenewable, originalTransactionId: long, environment: nil),
      "unknown/12345678901234/13")
    check(ReplayKeys.transaction(environment: nil, transactionId: short) == nil)
    check(ReplayKeys.subscription(environment: nil, originalTransactionId: short) == nil)
    check(purchaseKey(.autoRenewable, originalTransactionId: short, environment: nil) == nil)
    checkEqual(
      ReplayKeys.transaction(environment: .xcode, transactionId: "10")?.string, "Xcode/10")
  }

  @Test(
    "APR-25 no key holds a slash, a control character or anything else that parts it",
    arguments: [
      "1/2", "1\n2", "12\u{0}", "\u{7f}1", " 12", "12 ", "1é", "1\t2", "/", "1\\2", "1#2",
      String(repeating: "1", count: 49), String(repeating: "1", count: 500_000),
    ])
  func strangeIds(_ id: String) {
    let id = Text(id)
    check(ReplayKeys.transaction(environment: .production, transactionId: id) == nil)
    check(ReplayKeys.subscription(environment: .production, originalTransactionId: id) == nil)
    check(purchaseKey(.autoRenewable, originalTransactionId: id) == nil)
    check(purchaseKey(.autoRenewable, webOrderLineItemId: id) == nil)
    check(purchaseKey(.nonConsumable, originalTransactionId: id) == nil)
    check(purchaseKey(nil, transactionId: id) == nil)
  }

  @Test("APR-25 the longest key of all has no more than 128 bytes")
  func longest() throws {
    let id = Text(String(repeating: "9", count: 48))
    let key = try require(
      purchaseKey(
        .autoRenewable, originalTransactionId: id, webOrderLineItemId: id,
        environment: .localTesting))
    checkEqual(key.utf8.count, 110)
  }
}
