import CAssay
import CReference

@testable import Assay
@testable import AssayAuthority

/// A target for `assay_verify_receipt` with App Attest receipts.
enum AttestReceiptTargets {
  private static let fixture = AttestFixture.shared

  /// The good receipts: that of an attestation, and two refreshed ones.
  static let good: [[UInt8]] = {
    do {
      let leaf = AttestTargets.good[0].leaf
      func receipt(_ kind: AttestReceiptFacts.Kind) -> AttestReceiptFacts {
        AttestReceiptFacts(
          kind, fixture.device, certificate: leaf, clientHash: AttestFixture.clientHash,
          created: AttestFixture.madeMs)
      }
      var development = receipt(.receipt)
      development.environment = .development
      let receipts = try [receipt(.attest), receipt(.receipt), development].map {
        try fixture.authority.receipt($0)
      }
      for good in receipts {
        ReceiptFixture.shared.verify(
          fixture.verifier("standard"), AttestFixture.receiptKind, good,
          subject: fixture.device.point
        ).demandAccepted()
      }
      return receipts
    } catch { fatalError("no receipts: \(error)") }
  }()

  static let contents: [[UInt8]] = good.compactMap { AttestTargets.content($0) }

  /// The replacements of 0xFF and a number.
  static let pieces: [[UInt8]] =
    [AttestTargets.good[0].leaf] + fixture.authority.receiptChain.certificates + contents
    + good.compactMap { OtherMessage($0)?.part(Int(REFERENCE_SIGNATURE)) }
    + [Array(fixture.device.appId.utf8), AttestFixture.clientHash]

  private static let model: AppReceiptTemplate = {
    let facts = AttestReceiptFacts(
      .attest, fixture.device, certificate: [], clientHash: [], created: AttestFixture.madeMs)
    return fixture.authority.receiptTemplate(facts)
  }()

  /// Verifies a receipt. Modes 0 and 1: the other bytes are the content, signed, whole or in
  /// chunks. Mode 2: they are the container. Mode 3: the content, with the key's subject in its
  /// other form.
  static func attestReceipt(_ input: [UInt8]) {
    guard let first = input.first else { return }
    let selector = Selector(first, fixture.verifiers)
    let rest = ReceiptFixture.assemble(input.dropFirst(), pieces)
    let whole = selector.mode == 2 ? rest : container(rest, selector.mode)
    let subject = subject(selector)
    let sent = selector.route.carry(whole)
    let answer = ReceiptFixture.shared.verify(
      selector.verifier.handle, AttestFixture.receiptKind, sent, subject: subject)
    if answer.isOK {
      let content = selector.mode == 2 ? AttestTargets.content(decoded(sent)) : rest
      if selector.mode == 2 {
        demand(contents.contains { $0 == content }, "accepted what was not signed")
      }
      checkAccepted(answer, content ?? [], subject != nil)
    }
    checkUnverified(whole, answer)
    checkCache(selector, sent, subject, answer)
    answer.free()
  }

  private static func decoded(_ sent: [UInt8]) -> [UInt8] {
    (try? Transport(sent, cap: 1 << 20))?.bytes ?? []
  }

  private static func subject(_ selector: Selector) -> [UInt8]? {
    guard selector.lastBit else { return nil }
    return selector.mode == 3
      ? (try? fixture.device.key.publicKeyInfo()) ?? [] : fixture.device.point
  }

  private static func container(_ content: [UInt8], _ mode: Int) -> [UInt8] {
    var template = model
    template.payload = content
    if mode == 1 { template.form = .indefinite(chunk: 200) }
    guard let whole = try? template.signed() else { fatalError("not signed") }
    return whole
  }

  /// Checks that the document has what libcrypto reads in the content.
  private static func checkAccepted(_ answer: Answer, _ content: [UInt8], _ isBound: Bool) {
    var found = [reference_attribute](repeating: reference_attribute(), count: 64)
    let count = reference_attributes(content, 0, content.count, &found, found.count)
    var values: [UInt64: [UInt8]] = [:]
    for entry in found.prefix(max(0, count)) {
      demand(values[entry.type] == nil, "accepted a field twice")
      values[entry.type] = Array(content[entry.value..<entry.value + entry.length])
    }
    demand(count > 0 && count <= 32, "\(count) fields")
    func same(_ path: String, _ value: [UInt8]?) {
      let told = answer.text("attestReceipt.\(path)").map { Array($0.utf8) }
      demand(told == value, "\(path) differs")
    }
    same("appId", values[2])
    same("token", values[5])
    same("type", values[6])
    same("environment", values[7])
    let isRefreshed = values[6] == Array("RECEIPT".utf8)
    demand((values[17] != nil) == isRefreshed && (values[19] != nil) == isRefreshed, "the type")
    let tree = answer.tree?.member("attestReceipt")
    for (type, name) in [(12, "createdAtMs"), (19, "notBeforeMs"), (21, "expiresAtMs")]
      as [(UInt64, String)]
    {
      let told = tree?.children.first { $0.name.string == name }?.integer
      demand(told == values[type].flatMap { date($0) }, "\(name) differs")
    }
    let risk = values[17].map { String(decoding: $0, as: UTF8.self) }.flatMap { Int64($0) }
    demand(tree?.member("risk")?.integer == risk, "risk differs")
    demand(tree?.member("bound")?.boolean == isBound, "bound differs")
    guard let certificate = values[3], let key = point(certificate) else {
      fatalError("libcrypto reads no such certificate")
    }
    same("keyId", Base64Text.encode(AttestDigest.sha256(key)))
    demand(!isBound || key == fixture.device.point, "of another key")
  }

  /// Returns the key of a certificate as libcrypto reads it.
  private static func point(_ der: [UInt8]) -> [UInt8]? {
    guard let certificate = reference_certificate_read(der, der.count) else { return nil }
    defer { reference_certificate_free(certificate) }
    var key = [UInt8](repeating: 0, count: 4096)
    let count = reference_certificate_field(certificate, Int32(REFERENCE_KEY), &key)
    return Array(key.prefix(count))
  }

  /// Returns a date. The second reader of dates has three digits of a fraction.
  private static func date(_ text: [UInt8]) -> Int64? {
    var kept = text
    if kept.count > 24, kept.last == 0x5a { kept = Array(kept.prefix(23)) + [0x5a] }
    let found = reference_iso_date(kept, kept.count)
    return found == .min ? nil : found
  }

  /// Checks that what is read without a signature equals what is proven.
  private static func checkUnverified(_ whole: [UInt8], _ answer: Answer) {
    let claimed = AttestReceiptVerification.unverified(whole[...])
    guard answer.isOK, let claimed else { return }
    demand(
      answer.tree?.member("attestReceipt")?.member("createdAtMs")?.integer == claimed.createdAtMs,
      "another time without the signature")
  }

  /// Checks that the result does not depend on what was verified before.
  private static func checkCache(
    _ selector: Selector, _ sent: [UInt8], _ subject: [UInt8]?, _ answer: Answer
  ) {
    guard selector.verifier.name == "standard" else { return }
    let fresh = ReceiptFixture.shared.verify(
      fixture.verifier("no-cache"), AttestFixture.receiptKind, sent, subject: subject)
    for member in ["attestReceipt", "error", "checks"] {
      demand(fresh.source(member) == answer.source(member), "the cache changes \(member)")
    }
    fresh.free()
  }
}
