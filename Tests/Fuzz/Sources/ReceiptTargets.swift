import CAssay
import CReference

@testable import Assay
@testable import AssayAuthority

/// Targets for `assay_verify_receipt`. The first byte of an input selects verifier (3 bits), mode
/// (2 bits) and route (2 bits).
enum ReceiptTargets {
  private static let fixture = ReceiptFixture.shared

  // MARK: transaction receipts

  /// The parts of good receipts: base64 of blob and list, raw blob and list, leaf.
  struct Parts {
    let info: [UInt8]
    let blob: [UInt8]
    let leaf: [UInt8]
    let text: [UInt8]

    init(_ template: TransactionReceiptTemplate) throws {
      info = template.info.bytes
      blob = try template.signatureBlob()
      leaf = template.chain.leaf
      text = try template.signed()
    }
  }

  static let good: [Parts] = {
    do {
      return [
        try Parts(fixture.authority.transactionTemplate(fixture.oldPurchase, version: 2)),
        try Parts(fixture.authority.transactionTemplate(fixture.purchase)),
        try Parts(fixture.authority.transactionTemplate(fixture.production)),
      ]
    } catch { fatalError("no receipts: \(error)") }
  }()

  /// The replacements of 0xFF and a number in texts and blobs of this target.
  static let textPieces: [[UInt8]] =
    good.flatMap { [Base64Text.encode($0.blob), Base64Text.encode($0.info)] }
    + good.flatMap { parts in
      [parts.leaf, Array(parts.blob.dropFirst().prefix(parts.blob.first == 2 ? 128 : 256))]
    }

  /// Verifies a transaction receipt. Modes 0 and 1: the other bytes are a purchase-info, signed in
  /// version 2 or 3. Mode 2: they are the whole text. Mode 3: the signature blob.
  static func transactionReceipt(_ input: [UInt8]) {
    guard let first = input.first else { return }
    let selector = Selector(first, fixture.verifiers)
    let rest = input.dropFirst()
    let text: [UInt8]
    switch selector.mode {
    case 0, 1:
      text = signed(Array(rest), version: UInt8(2 + selector.mode), altered: selector.lastBit)
    case 2: text = ReceiptFixture.assemble(rest, textPieces)
    default: text = around(ReceiptFixture.assemble(rest, textPieces))
    }
    let sent = selector.route.carry(text)
    let answer = fixture.verify(selector.verifier.handle, ReceiptFixture.transactionKind, sent)
    if answer.isOK {
      checkAccepted(answer, text, wasSignedHere: selector.mode < 2)
      checkTriage(selector, sent)
    }
    checkCache(selector, ReceiptFixture.transactionKind, sent, answer, nil)
    answer.free()
  }

  /// Signs any list; with `altered` the outer list claims a production receipt.
  private static func signed(_ info: [UInt8], version: UInt8, altered: Bool) -> [UInt8] {
    do {
      var template = try fixture.authority.transactionTemplate(
        version == 2 ? fixture.oldPurchase : fixture.purchase, version: version)
      template.infoBytes = info
      if altered { (template.environment, template.pod) = (nil, "18") }
      return try template.signed()
    } catch { fatalError("not signed: \(error)") }
  }

  /// Returns a blob beside the list that was signed for its version.
  private static func around(_ blob: [UInt8]) -> [UInt8] {
    let parts = good[blob.first == 2 ? 0 : 1]
    return PropertyListText([
      .init("signature", bytes: Base64Text.encode(blob)),
      .init("purchase-info", bytes: Base64Text.encode(parts.info)),
      .init("environment", "Sandbox"),
    ]).bytes
  }

  /// Checks that the document has what the second reader reads in the inner list, and that it was
  /// signed.
  private static func checkAccepted(_ answer: Answer, _ text: [UInt8], wasSignedHere: Bool) {
    guard let outer = OtherList(text, valueCap: 1 << 16) ?? decoded(text),
      let info = outer["purchase-info"].flatMap({ OtherTransport.base64($0) }),
      let blob = outer["signature"].flatMap({ OtherTransport.base64($0) }),
      let list = OtherList(info, valueCap: 4096)
    else { fatalError("accepted what the other reader does not read") }
    demand(
      wasSignedHere || good.contains { $0.info == info && $0.blob == blob },
      "accepted what was not signed")
    for (name, key) in [
      ("bundleId", "bid"), ("productId", "product-id"), ("transactionId", "transaction-id"),
      ("originalTransactionId", "original-transaction-id"),
    ] {
      demand(
        answer.text("transactionReceipt.\(name)").map { Array($0.utf8) } == list[key],
        "\(name) differs")
    }
    guard let id = list["transaction-id"] else { fatalError("accepted without an id") }
    // The signed id decides, whatever the outer list contains (RCP-28).
    let pod = String(decoding: id.dropLast(13), as: UTF8.self)
    let told =
      pod == "100" || pod == "200"
      ? "Sandbox" : (1...2).contains(pod.count) && !pod.hasPrefix("0") ? "Production" : nil
    demand(answer.text("transactionReceipt.environment") == told, "another environment")
    for name in ["transaction", "purchase", "subscription"] {
      guard let key = answer.text("transactionReceipt.keys.\(name)") else { continue }
      demand(key.hasPrefix((told ?? "unknown") + "/"), "a key of another environment")
      demandPlain(key)
    }
  }

  /// Requires a key to be made of plain characters (APR-25).
  static func demandPlain(_ key: String) {
    demand(key.utf8.count <= 128, "a key of \(key.utf8.count) bytes")
    demand(
      key.utf8.allSatisfy {
        (0x2d...0x39).contains($0) || (0x41...0x5a).contains($0) || (0x61...0x7a).contains($0)
          || $0 == 0x5f
      }, "a key with strange characters")
  }

  /// Returns the list of a text, which in mode 2 may itself be base64.
  private static func decoded(_ text: [UInt8]) -> OtherList? {
    guard let found = try? Transport(text, cap: 1 << 20) else { return nil }
    return OtherList(found.bytes, valueCap: 1 << 16)
  }

  // MARK: app receipts

  struct AppParts {
    let whole: [UInt8]
    let payload: [UInt8]
    let pieces: [[UInt8]]

    init(_ template: AppReceiptTemplate) throws {
      whole = try template.signed()
      payload = template.payload ?? AttributeTemplate.set(template.attributes)
      pieces =
        template.certificates + [payload]
        + [try template.chain.key.sign(payload, template.digest)]
    }
  }

  static let goodApps: [AppParts] = {
    do {
      let facts = AppReceiptFacts([fixture.purchase], like: fixture.purchase)
      let production = AppReceiptFacts([fixture.production], like: fixture.production)
      var indefinite = try fixture.authority.appTemplate(facts)
      indefinite.form = .indefinite(chunk: 1 << 20)
      var empty = AppReceiptFacts([], like: fixture.purchase)
      empty.creationDate = 1_500_000_000_000
      return [
        try AppParts(indefinite), try AppParts(fixture.authority.appTemplate(production)),
        try AppParts(fixture.authority.appTemplate(empty)),
        try AppParts(
          fixture.authority.xcodeTemplate(
            AppReceiptFacts([fixture.purchase], like: fixture.purchase).with { $0.type = "Xcode" })),
      ]
    } catch { fatalError("no app receipts: \(error)") }
  }()

  static let appPieces: [[UInt8]] = goodApps.flatMap(\.pieces) + goodApps.map(\.whole)

  /// Verifies an app receipt. Mode 0: the other bytes are a payload, signed as today. Mode 1: as in
  /// 2018, in BER. Mode 2: by Xcode. Mode 3: they are the whole container.
  static func appReceipt(_ input: [UInt8]) {
    guard let first = input.first else { return }
    let selector = Selector(first, fixture.verifiers)
    let rest = Array(input.dropFirst())
    let whole =
      selector.mode == 3
      ? ReceiptFixture.assemble(rest[...], appPieces) : container(rest, selector.mode)
    let sent = selector.route.carry(whole)
    let subject = selector.lastBit ? AppReceiptFacts.vendor : nil
    let answer = fixture.verify(
      selector.verifier.handle, ReceiptFixture.appKind, sent, subject: subject)
    if answer.isOK {
      checkAccepted(answer, whole, rest, wasSignedHere: selector.mode < 3, subject)
      checkTriage(selector, sent)
    }
    checkCache(selector, ReceiptFixture.appKind, sent, answer, subject)
    answer.free()
  }

  private static let models: [AppReceiptTemplate] = {
    do {
      let facts = AppReceiptFacts([], like: fixture.purchase)
      var old = try fixture.authority.appTemplate(facts, generation: .second, digest: .sha1)
      old.form = .indefinite(chunk: 64)
      return [
        try fixture.authority.appTemplate(facts), old, fixture.authority.xcodeTemplate(facts),
      ]
    } catch { fatalError("no templates: \(error)") }
  }()

  private static func container(_ payload: [UInt8], _ mode: Int) -> [UInt8] {
    var template = models[mode]
    template.payload = payload
    guard let whole = try? template.signed() else { fatalError("not signed") }
    return whole
  }

  private static func checkAccepted(
    _ answer: Answer, _ whole: [UInt8], _ signed: [UInt8], wasSignedHere: Bool,
    _ subject: [UInt8]?
  ) {
    var payload = signed
    if !wasSignedHere {
      let bytes = (try? Transport(whole, cap: 1 << 20))?.bytes ?? []
      guard let claims = AppReceiptClaims.claims(bytes) else { fatalError("no payload") }
      payload = Array(claims.payload.slice)
      demand(goodApps.contains { $0.payload == payload }, "accepted what was not signed")
    }
    guard let other = OtherAttributes(payload, 0..<payload.count) else {
      fatalError("libcrypto reads no such payload")
    }
    func same(_ path: String, _ text: [UInt8]?) {
      demand(answer.text("appReceipt.\(path)").map { Array($0.utf8) } == text, "\(path) differs")
    }
    same("bundleId", other.text(2))
    same("type", other.text(0))
    for (place, purchase) in other.purchases.enumerated() {
      same("purchases.\(place).productId", purchase.text(1702))
      same("purchases.\(place).transactionId", purchase.text(1703))
    }
    demand(answer.text("appReceipt.purchases.\(other.purchases.count).productId") == nil, "more")
    guard let subject else { return }
    guard let opaque = other.values[4], let hash = other.values[5], let bundle = other.values[2]
    else { fatalError("bound to no device") }
    demand(
      CertificateExtension.keyIdentifier(subject + payload[opaque] + payload[bundle])
        == Array(payload[hash]), "of another device")
  }

  // MARK: both

  /// Checks that triage would not have discarded verified evidence, unless its product is not in
  /// the catalogue.
  private static func checkTriage(_ selector: Selector, _ sent: [UInt8]) {
    let answer = fixture.triage(selector.verifier.handle, sent)
    demand(
      answer.text("status.name") == "pending.triage.verify-next",
      "triage calls a good receipt \(answer.text("status.name") ?? "")")
    answer.free()
  }

  /// Checks that the result does not depend on what was verified before.
  private static func checkCache(
    _ selector: Selector, _ kind: Int32, _ sent: [UInt8], _ answer: Answer, _ subject: [UInt8]?
  ) {
    guard selector.verifier.name == "standard" else { return }
    let fresh = fixture.verify(fixture.verifier("no-cache"), kind, sent, subject: subject)
    demand(fresh.status == answer.status, "the cache changes the status")
    for member in ["transactionReceipt", "appReceipt", "error", "checks", "warnings"] {
      demand(
        withoutCached(fresh.source(member)) == withoutCached(answer.source(member)),
        "the cache changes \(member)")
    }
    fresh.free()
  }

  private static func withoutCached(_ json: [UInt8]) -> [UInt8] {
    Array(
      String(decoding: json, as: UTF8.self).replacing("\"cached\":true", with: "").replacing(
        "\"cached\":false", with: ""
      ).utf8)
  }
}
