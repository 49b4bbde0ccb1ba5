import AssayAuthority
import Testing

@testable import Assay

/// A ledger on either engine with a host, whose wallet has the keys that the guides use: the grant
/// id of each grant, the take id of each take-back.
final class LedgerFixture {
  enum Engine: CaseIterable { case sqlite, dynamodb }

  /// A pack of 100 coins.
  static let pack = "com.example.app.pack"

  private let sqlite: SQLiteStore?
  private let dynamo: DynamoStore?
  private let verifier: Verifier
  /// Coins by grant id or take id.
  private(set) var wallet: [String: Int64] = [:]
  private var attempts = 0
  /// Whether the host's transaction is rolled back.
  var rollsBack = false
  /// Called once while the host's transaction is open.
  var meanwhile: (() throws -> Void)?

  init(_ engine: Engine, _ changes: [(String, JSONText)] = []) throws {
    var catalogue = SQLiteStore.catalogue
    catalogue.removeAll { $0.0 == "products" }
    let products: JSONText = [
      "com.example.app.pack": ["type": "consumable", "units": 100],
      "com.example.app.lifetime": ["type": "non-consumable", "plan": "standard"],
      "com.example.app.premium.monthly": [
        "type": "auto-renewable", "plan": "premium", "group": "21400001",
      ],
    ]
    let stores: JSONText = ["engine": "dynamodb", "table": "assay"]
    let all = [("products", products)] + (engine == .dynamodb ? [("ledger", stores)] : []) + changes
    sqlite = engine == .sqlite ? try SQLiteStore(all) : nil
    dynamo = engine == .dynamodb ? try DynamoStore(all) : nil
    verifier = try Minted.verifier(
      catalogue.filter { $0.0 != "ledger" } + all
        + (engine == .sqlite ? [("ledger", ["engine": "sqlite"])] : []))
  }

  var coins: Int64 { wallet.values.reduce(0, +) }

  // MARK: evidence

  private func payload(
    _ product: String, signed: Int64, revoked: Int64?, revocationType: String? = nil
  ) -> JSONText {
    var purchase = Minted.purchase
    purchase.productId = product
    if product != SQLiteStore.premium {
      purchase.type = product == Self.pack ? .consumable : .nonConsumable
      purchase.expiresDate = nil
      purchase.webOrderLineItemId = nil
      purchase.group = nil
    }
    purchase.signedDate += signed
    if revoked != nil {
      purchase.revocationDate = purchase.signedDate - 1000
      purchase.revocationReason = 0
    }
    let payload = purchase.transactionPayload
    guard let revoked else { return payload }
    let share = [("revocationPercentage", JSONText.integer(revoked))]
    return payload.setting(
      (revoked == RefundShare.full ? [] : share)
        + (revocationType.map { [("revocationType", JSONText.string($0))] } ?? []))
  }

  func transaction(
    _ product: String = LedgerFixture.pack, signed: Int64 = 0, revoked: Int64? = nil
  ) throws -> Document {
    let document = verifier.verifyJWS(
      try Minted.authority().mint(payload(product, signed: signed, revoked: revoked)),
      kind: .transaction, nowMs: Minted.now)
    checkEqual(document.status, .ok, "\(document.text("error.message") ?? "")")
    return document
  }

  /// Returns a notification about the product.
  func notification(
    _ type: String, _ product: String = LedgerFixture.pack, signed: Int64, revoked: Int64? = nil,
    revocationType: String? = nil
  ) throws -> Document {
    let authority = try Minted.authority()
    let jws = try authority.mint(
      payload(product, signed: signed, revoked: revoked, revocationType: revocationType))
    let data = NotificationPayload.data(Minted.purchase, transaction: jws, renewal: nil)
    let payload = NotificationPayload(type, signedDate: Minted.purchase.signedDate + signed)
      .payload().appending("data", data)
    let document = verifier.verifyJWS(
      try authority.mint(payload), kind: .notification, nowMs: Minted.now)
    checkEqual(document.status, .ok, "\(document.text("error.message") ?? "")")
    return document
  }

  // MARK: the host

  func attempt() -> JSONText {
    attempts += 1
    return .string("attempt-\(1_000_000_000_000_000 + attempts)")
  }

  @discardableResult
  func run(
    _ request: JSONText, _ evidence: [Document] = [], now: Int64 = Minted.now
  ) throws -> Document {
    if let dynamo {
      return try dynamo.run(request, evidence, now: now) { store, document in
        let id = document.integer("exchange.grant.id") ?? 0
        if self.rollsBack { return "{\"id\":\(id),\"code\":500}" }
        if let meanwhile = self.meanwhile {
          self.meanwhile = nil
          #expect(throws: Never.self) { try meanwhile() }
        }
        let answer = store.grantAnswer(document)
        if !answer.contains("TransactionCanceled") { self.carryOut(document) }
        return answer
      }
    }
    return try require(sqlite).run(request, evidence, now: now) { document in
      if self.rollsBack { return false }
      self.carryOut(document)
      return true
    }
  }

  /// Performs a grant step.
  private func carryOut(_ document: Document) {
    let units = document.integer("exchange.grant.units") ?? 0
    if document.text("exchange.grant.what") == "take" {
      take(document.text("exchange.grant.takeId"), units)
    } else {
      give(document.text("exchange.grant.grantId"), units)
    }
  }

  private func give(_ grantId: String?, _ units: Int64) {
    guard let grantId, wallet[grantId] == nil else { return }
    wallet[grantId] = units
  }

  private func take(_ takeId: String?, _ units: Int64) {
    guard let takeId, wallet[takeId] == nil else { return }
    wallet[takeId] = -units
  }

  /// Handles the result of a claim as a host does.
  @discardableResult
  func claim(
    _ evidence: Document, by account: String = "ann", mode: String = "lease",
    now: Int64 = Minted.now, _ more: [(String, JSONText)] = []
  ) throws -> Document {
    let request: JSONText = [
      "operation": "claim", "account": .string(account), "attemptId": attempt(),
      "grantMode": .string(mode == "none" ? "lease" : mode),
    ]
    let claimed = try run(request.setting(more), [evidence], now: now)
    if mode != "transaction" { try grant(claimed, at: "exchange.claims.0", now: now) }
    return claimed
  }

  private func grant(_ document: Document, at place: String, now: Int64) throws {
    guard let outcome = document.text("\(place).outcome"), ["new", "resume"].contains(outcome)
    else { return }
    give(document.text("\(place).grantId"), try require(document.integer("\(place).units")))
    let account = try require(document.text("\(place).account"))
    let done = try run(try document.completion(by: account, at: place), now: now)
    checkEqual(done.name, "ok")
  }

  /// Handles a notification as a host does.
  @discardableResult
  func event(
    _ evidence: Document, mode: String = "none", now: Int64 = Minted.now
  ) throws -> Document {
    let request: JSONText = [
      "operation": "apply-event", "attemptId": attempt(), "grantMode": .string(mode),
    ]
    let applied = try run(request, [evidence], now: now)
    guard mode != "transaction" else { return applied }
    if applied.text("exchange.take.0.takeId") != nil {
      try takeBack(applied, at: "exchange.take.0", isLeased: mode == "lease", now: now)
    }
    try grant(applied, at: "exchange.give.0", now: now)
    return applied
  }

  func takeBack(
    _ document: Document, at place: String, isLeased: Bool, now: Int64 = Minted.now
  ) throws {
    take(document.text("\(place).takeId"), try require(document.integer("\(place).units")))
    guard isLeased else { return }
    let done = try run(complete(document, at: place), now: now)
    checkEqual(done.name, "ok")
  }

  func complete(_ document: Document, at place: String) throws -> JSONText {
    [
      "operation": "complete-revocation",
      "purchaseKey": .string(try require(document.text("\(place).purchaseKey"))),
      "takeId": .string(try require(document.text("\(place).takeId"))),
      "fencingToken": .integer(try require(document.integer("\(place).fencingToken"))),
    ]
  }

  // MARK: the row

  /// Returns the state and the granted units of the only row; `nil` if there is none.
  func row() throws -> (state: String, out: Int64, asOfMs: Int64)? {
    if let dynamo {
      let rows = dynamo.items.filter { $0.key.hasPrefix("PURCHASE#") }
      guard let row = rows.first?.value, case .text(let state) = row["state"] else { return nil }
      guard case .number(let out) = row["granted_units"],
        case .number(let asOfMs) = row["as_of_ms"]
      else {
        return nil
      }
      return (state, out, asOfMs - Minted.purchase.signedDate)
    }
    let store = try require(sqlite)
    guard
      let row = try store.run("SELECT state, granted_units, as_of_ms FROM assay_purchase", []).first
    else { return nil }
    let parts = row.dropFirst().dropLast().split(separator: ",").map(String.init)
    return (
      parts[0].replacing("\"", with: ""), try require(Int64(parts[1])),
      try require(Int64(parts[2])) - Minted.purchase.signedDate
    )
  }

  func sql(_ text: String) throws -> [String] { try require(sqlite).run(text, []) }
}

extension LedgerFixture {
  /// Removes the owners from the subscriptions, as an older version stored them.
  func forgetOwnerOfLines() throws {
    if let dynamo {
      for (_, item) in dynamo.items where item["SK"] == .text("SUBSCRIPTION") {
        var line = item
        line["owner"] = .text("")
        dynamo.put(line)
      }
      return
    }
    _ = try sql("UPDATE assay_subscription SET owner = ''")
  }

  func lineOwners() throws -> [String] {
    guard let dynamo else {
      return try sql("SELECT owner FROM assay_subscription").map {
        String($0.dropFirst(2).dropLast(2))
      }
    }
    return dynamo.items.values.compactMap { item in
      guard item["SK"] == .text("SUBSCRIPTION"), case .text(let owner) = item["owner"] else {
        return nil
      }
      return owner
    }
  }
}

extension Document {
  /// Returns the request that completes a claim of this result.
  func completion(
    by account: String = "ann", at place: String = "exchange.claims.0"
  ) throws -> JSONText {
    [
      "operation": "complete", "account": .string(account),
      "purchaseKey": .string(try require(text("\(place).purchaseKey"))),
      "grantId": .string(try require(text("\(place).grantId"))),
      "fencingToken": .integer(try require(integer("\(place).fencingToken"))),
    ]
  }
}

/// Expects the end of a ledger operation: its outcome, its status, and the result for the app.
func expect(
  _ document: Document, _ outcome: String, _ status: String, answer: String? = nil,
  sourceLocation: SourceLocation = #_sourceLocation
) {
  checkEqual(document.text("exchange.outcome"), outcome, sourceLocation: sourceLocation)
  checkEqual(
    document.name, status, "\(document.text("error.at") ?? "")", sourceLocation: sourceLocation)
  checkEqual(document.text("exchange.clientResult"), answer, sourceLocation: sourceLocation)
}
