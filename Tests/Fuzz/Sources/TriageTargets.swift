import CAssay
import CReference
import Glibc

@testable import Assay
@testable import AssayAuthority

/// Targets for `assay_triage`, `assay_read_verify_receipt_response` and the block `receipts` of a
/// configuration.
enum TriageTargets {
  private static let fixture = ReceiptFixture.shared

  // MARK: triage

  /// The replacements of 0xFF and a number.
  static let pieces: [[UInt8]] =
    ReceiptTargets.textPieces + ReceiptTargets.appPieces
    + ReceiptTargets.good.map { Base64Text.encode($0.text) }
    + ReceiptTargets.goodApps.map { Base64Text.encode($0.whole) }

  /// Classifies any bytes. Mode 1 repeats the middle third up to 1 MiB, mode 2 has members whose
  /// names are hard to distinguish, mode 3 is mode 2 as base64 with spaces: the time must grow no
  /// faster than the size (JWS-104).
  static func triage(_ input: [UInt8]) {
    guard let first = input.first else { return }
    let selector = Selector(first, fixture.verifiers)
    if selector.mode >= 2 {
      hostile(HostileNames.expand(input.dropFirst()), selector)
      return
    }
    let blob = ReceiptFixture.assemble(input.dropFirst(), pieces)
    if selector.mode == 1 {
      repeated(blob, selector)
      return
    }
    let sent = selector.route.carry(blob)
    let answer = fixture.triage(selector.verifier.handle, sent)
    checkFinding(answer, sent)
    // The first sixteen bytes determine whether there is a second level.
    if selector.route != .raw, blob.count >= 16,
      blob.first == 0x7b || blob.starts(with: [0x30, 0x82]),
      selector.verifier.name != "small"
    {
      let raw = fixture.triage(selector.verifier.handle, blob)
      demand(raw.status == answer.status, "another status on another route")
      demand(raw.source("unverified") == answer.source("unverified"), "another claim")
      demand(raw.text("triage.format") == answer.text("triage.format"), "another form")
      demand(raw.source("triage", "anomalies") == answer.source("triage", "anomalies"), "traits")
      raw.free()
    }
    answer.free()
  }

  private static func checkFinding(_ answer: Answer, _ sent: [UInt8]) {
    guard let status = answer.text("status.name"), let category = answer.text("triage.category"),
      let disposition = answer.text("triage.disposition"), let next = answer.text("triage.nextStep")
    else { fatalError("a finding lacks a member") }
    let isPending = status == "pending.triage.verify-next"
    demand(
      isPending == ["candidate", "unconfirmed", "jws"].contains(category)
        || status == "rejected.triage.incomplete" || category == "jws", "\(status): \(category)")
    demand(isPending == (next != "none"), "\(status) with next \(next)")
    demand(
      (disposition == "drop")
        == (category == "cracking-tool" || status.hasSuffix("foreign-bundle")),
      "\(status) is dropped, or not")
    if category == "candidate" {
      demand(answer.source("triage", "anomalies") == Array("[]".utf8), "a candidate with traits")
    }
    var place = 0
    while let key = answer.text("unverified.keys.\(place)") {
      ReceiptTargets.demandPlain(key)
      place += 1
    }
    if status == "rejected.triage.foreign-bundle" {
      let ours = ["com.example.app", "com.example.second"]
      demand(
        answer.text("unverified.bundleId").map { ours.contains($0) } != true, "ours is foreign")
    }
  }

  private static func hostile(_ text: [UInt8], _ selector: Selector) {
    var sent = text
    if selector.mode == 3 {
      sent = Base64Text.encode(text)
      let places = stride(from: sent.count - 2, to: max(sent.count - 8, 0), by: -2)
      for place in places { sent.insert(0x20, at: place) }
    }
    let start = processorSeconds()
    let answer = fixture.triage(selector.verifier.handle, sent)
    let seconds = processorSeconds() - start
    // The limit is 4,000 times the usual time, for a sanitizer and a busy machine.
    demand(seconds < 1 + 0.4 * Double(sent.count) / 1024, "\(seconds) s for \(sent.count) bytes")
    checkFinding(answer, sent)
    answer.free()
  }

  /// Classifies a repeated blob. A second for one megabyte is a hundred times the usual time.
  private static func repeated(_ blob: [UInt8], _ selector: Selector) {
    let third = blob.count / 3
    guard third > 0 else { return }
    var long = Array(blob[..<third])
    while long.count < 1 << 20 { long += blob[third..<(2 * third)] }
    long += blob[(2 * third)...]
    let sent = selector.lastBit ? Base64Text.encode(long) : long
    let start = processorSeconds()
    let answer = fixture.triage(fixture.verifier("standard"), sent)
    let seconds = processorSeconds() - start
    demand(seconds < 3, "\(seconds) s for \(sent.count) bytes")
    answer.free()
  }

  private static func processorSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  // MARK: answers of verifyReceipt

  /// The replacements of bytes that no JSON contains: good receipts in base64.
  static let answerTexts: [UInt8: [UInt8]] = {
    var texts: [UInt8: [UInt8]] = [:]
    for (number, parts) in ReceiptTargets.good.enumerated() {
      texts[UInt8(number + 1)] = Base64Text.encode(parts.text)
    }
    for (number, parts) in ReceiptTargets.goodApps.enumerated() {
      texts[UInt8(number + 4)] = Base64Text.encode(parts.whole)
    }
    return texts
  }()

  /// Reads any bytes as a verifyReceipt response. cJSON must read what is accepted; the order of
  /// the lists must not matter.
  static func receiptResponse(_ input: [UInt8]) {
    guard let first = input.first else { return }
    let verifier = fixture.verifiers[Int(first & 7)].handle
    let body = expand(input.dropFirst(), answerTexts)
    let answer = fixture.read(verifier, answer: body)
    if answer.isOK {
      checkAccepted(answer, body)
      checkOrder(answer, body, verifier)
    }
    answer.free()
  }

  private static func checkAccepted(_ answer: Answer, _ body: [UInt8]) {
    let json = body.asText { reference_json_read($0, $1) }
    guard let json else { fatalError("cJSON does not read an accepted answer") }
    defer { reference_json_free(json) }
    let status = member("status", of: json).map { reference_json_number($0) }
    demand(status == 0 || status == 21006, "facts under another status")
    demand(
      answer.source("verifyReceipt", "appleStatus") == Array("\(Int(status ?? 1))".utf8),
      "another status")
    let receipt = member("receipt", of: json)
    let bundle =
      receipt.flatMap { member("bundle_id", of: $0) } ?? receipt.flatMap { member("bid", of: $0) }
    demand(
      bundle.flatMap { reference_json_string($0) }.map { String(cString: $0) }
        == answer.text("verifyReceipt.bundleId"), "another bundle id")
    if answer.text("verifyReceipt.latestReceipt.status") == "ok" {
      let text = member("latest_receipt", of: json).flatMap { reference_json_string($0) }
      let sent = text.map { Array(String(cString: $0).utf8) } ?? []
      demand(wasSigned(sent), "verified what was not signed")
    }
  }

  /// Whether the inner list or payload is that of a good receipt.
  private static func wasSigned(_ sent: [UInt8]) -> Bool {
    guard let bytes = (try? Transport(sent, cap: 1 << 20))?.bytes else { return false }
    if let list = OtherList(bytes, valueCap: 1 << 16) {
      let info = list["purchase-info"].flatMap { OtherTransport.base64($0) }
      return ReceiptTargets.good.contains { $0.info == info }
    }
    let payload = AppReceiptClaims.claims(bytes).map { Array($0.payload.slice) }
    return ReceiptTargets.goodApps.contains { $0.payload == payload }
  }

  private static func member(_ name: String, of json: OpaquePointer) -> OpaquePointer? {
    var next = reference_json_child(json)
    while let current = next {
      if String(cString: reference_json_name(current)) == name { return current }
      next = reference_json_next(current)
    }
    return nil
  }

  /// Checks that reversed lists give the same bytes of facts (VRR-11).
  private static func checkOrder(_ answer: Answer, _ body: [UInt8], _ verifier: OpaquePointer) {
    guard let tree = try? JSONReader.readObject(body, caps: Answer.caps).root else { return }
    var writer = JSONWriter()
    turn(tree, &writer)
    let other = fixture.read(verifier, answer: writer.bytes)
    demand(other.status == answer.status, "another order, another status")
    func transactions(_ answer: Answer) -> [UInt8] {
      answer.source("verifyReceipt", "transactions")
    }
    demand(transactions(other) == transactions(answer), "another order, other transactions")
    other.free()
  }

  private static func turn(_ value: JSONValue, _ writer: inout JSONWriter) {
    switch value.kind {
    case .array:
      writer.beginArray()
      for child in Array(value.children).reversed() { turn(child, &writer) }
      writer.endArray()
    case .object:
      writer.beginObject()
      for child in value.children {
        writer.name(child.name)
        turn(child, &writer)
      }
      writer.endObject()
    // A text is compared as it was written, as unknown members are.
    case .string: writer.raw([0x22] + value.source + [0x22])
    default: writer.raw(value.source)
    }
  }

  // MARK: configurations

  private static let configTexts: [UInt8: [UInt8]] = {
    var texts: [UInt8: [UInt8]] = [
      1: Array(FuzzFixture.shared.authority.anchor.utf8), 2: Array(fixture.authority.anchor.utf8),
      7: Array(fixture.authority.xcodeFingerprint.utf8),
    ]
    for (number, text) in fixture.authority.intermediates.enumerated() {
      texts[UInt8(number + 3)] = Array(text.utf8)
    }
    return texts
  }()

  /// Reads any bytes as a configuration: bytes 1 … 7 are replaced by certificates. No document may
  /// contain shared secrets.
  static func receiptsConfig(_ input: [UInt8]) {
    configure(input, configTexts) { verifier, config, answer in
      guard verifier != nil else { return }
      checkSecrets(config, answer)
      let sent = ReceiptTargets.good[1].text
      let receipt = fixture.verify(verifier, ReceiptFixture.transactionKind, sent)
      if receipt.isOK {
        demand(
          config.firstRange(of: configTexts[2] ?? []) != nil, "accepted under another root")
      }
      receipt.free()
      fixture.verify(verifier, ReceiptFixture.appKind, ReceiptTargets.goodApps[0].whole).free()
      fixture.triage(verifier, sent).free()
      fixture.read(verifier, answer: Array("{\"status\":21004}".utf8)).free()
    }
  }

  private static func checkSecrets(_ config: [UInt8], _ answer: Answer) {
    let tree = try? JSONReader.readObject(config, caps: .configuration).root
    guard let secrets = tree?.member("receipts")?.member("sharedSecrets") else { return }
    let json = answer.json
    for secret in secrets.children {
      guard let text = secret.text?.utf8, Set(text).count > 4 else { continue }
      demand(json.firstRange(of: text) == nil, "a shared secret is disclosed")
    }
  }
}
