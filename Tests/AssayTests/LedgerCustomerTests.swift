import AssayAuthority
import Testing

@testable import Assay

/// Tests docs/spec/customers.md: keys and entries. Its operations run on every engine in
/// Tests/Stores/test_customers.py.
@Suite("Stores: customers")
struct LedgerCustomerTests {
  private static let key = SecretBytes((0..<32).map { UInt8($0) })
  private static let base64 = JSONText.string(String(repeating: "A", count: 43) + "=")

  @Test("CUS-2 a key is kind, environment and HMAC-SHA-256, as another library computes it")
  func keys() {
    let download = CustomerKey(download: "704000000000000001", in: .sandbox, Self.key)
    checkEqual(
      download.text.string,
      "A#Sandbox#1527bb89852ff533f71a6529f43134a097a37a017f5cbe6625b0004c75cc10bd")
    check(download.isDownload)
    let token = CustomerKey(token: "6A2A3BD5-6AD4-4B6F-9C8B-2C4F2F6C7D10", Self.key)
    checkEqual(
      token.text.string,
      "T##a20e963e69b11bcc041194eadb4a346d0e5f746f6bd5566a3462b63a3e8036bf")
    check(!token.isDownload)
    let other = CustomerKey(download: "704000000000000001", in: .production, Self.key)
    check(other.text != download.text)
  }

  @Test("CUS-4 the newest four downloads and tokens, each once with its strongest role, by key")
  func entries() throws {
    var purchases: [LedgerPurchase] = []
    for number in 0..<6 {
      var facts = PurchaseFacts(
        environment: .sandbox, transactionId: Text(String(number)), originalTransactionId: "1",
        productId: "p", asOfMs: Int64(number))
      facts.downloadId = Text(String(number))
      facts.ownership = "FAMILY_SHARED"
      purchases.append(
        LedgerPurchase(
          facts: facts, product: nil, renewal: nil, evidence: StoredEvidence(([], true)),
          accountToken: nil))
    }
    var again = purchases[5].facts
    again.asOfMs = 1
    again.ownership = "PURCHASED"
    purchases.append(
      LedgerPurchase(
        facts: again, product: nil, renewal: nil, evidence: StoredEvidence(([], true)),
        accountToken: nil))
    let entries = CustomerEntry.all(purchases, Self.key)
    let wanted = [2, 3, 4, 5].map { number in
      CustomerKey(download: Text(String(number)), in: .sandbox, Self.key).text.string
    }
    checkEqual(entries.map { $0.key.text.string }, wanted.sorted())
    let last = entries.first { $0.key.text.string == wanted[3] }
    checkEqual(last?.role, .payer)
    checkEqual(entries.filter { $0.role == .family }.count, 3)
  }

  @Test("CUS-3 Apple is asked by an id that it can have, of an app that is known")
  func downloads() {
    func row(_ id: String, bundleId: Text? = "com.example.app") -> DownloadRow? {
      var facts = PurchaseFacts(
        environment: .sandbox, transactionId: Text(id), originalTransactionId: "1",
        productId: "p", asOfMs: 1)
      facts.downloadId = "7001"
      facts.bundleId = bundleId
      let purchase = LedgerPurchase(
        facts: facts, product: nil, renewal: nil, evidence: StoredEvidence(([], true)),
        accountToken: nil)
      return CustomerEntry.all([purchase], Self.key).first?.download
    }
    let most = String(repeating: "9", count: 20)
    checkEqual(row(most)?.transactionId.string, most)
    checkEqual(row("2000000100000001")?.bundleId.string, "com.example.app")
    check(row(most + "9") == nil)
    check(row("20000001000000a1") == nil)
    check(row("2000000100000001", bundleId: nil) == nil)
  }

  @Test("CUS-50 CUS-24 no id in the clear, and no account after it is forgotten")
  func stored() throws {
    let store = try SQLiteStore([
      ("ledger.customerKey", Self.base64), ("ledger.forgetKey", Self.base64),
    ])
    let update: JSONText = ["operation": "update-subscriptions", "account": "ann-to-forget"]
    let document = try store.run(update, [store.transaction()])
    checkEqual(document.name, "ok")
    func all() throws -> String {
      try SchemaTable.allCases.map { table in
        try store.run("SELECT * FROM assay_\(table.word)", []).joined()
      }.joined()
    }
    let before = try all()
    check(before.contains("A#"))
    check(!before.contains(try require(Minted.purchase.appTransactionId)))
    let forget: JSONText = [
      "operation": "forget-account", "account": "ann-to-forget",
      "attemptId": "attempt-forget-0000000000001",
    ]
    try checkEqual(store.run(forget).text("exchange.outcome"), "forgotten")
    let after = try all()
    check(!after.contains("ann-to-forget"))
  }
}
