import AssayAuthority
import CAssay
import CReference
import Glibc

@testable import Assay

/// Targets for configurations, decisions, stored dates and document paths.
enum DecisionTargets {
  private static let fixture = FuzzFixture.shared

  // MARK: configurations

  private static let configTexts: [UInt8: [UInt8]] = [
    1: Array(fixture.authority.anchor.utf8),
    2: Array(fixture.authority.xcodeFingerprint.utf8),
  ]

  /// Reads any bytes as a configuration; byte 1 is replaced by a root in base64, byte 2 by a
  /// certificate's digest.
  static func verifierNew(_ input: [UInt8]) {
    configure(input, configTexts) { verifier, _, _ in
      if verifier != nil {
        fixture.verify(verifier, Int32(ASSAY_JWS_TRANSACTION), transaction).free()
      }
    }
  }

  private static let transaction = fixture.signed(
    Purchase(now: FuzzFixture.instant).transactionPayload.bytes)

  // MARK: decisions

  /// Decides. NUL separates account and payloads; the first byte selects the verifier, the first
  /// byte of each payload its kind. All are signed and verified before the decision. The same
  /// evidence must give the same bytes again.
  static func decide(_ input: [UInt8]) {
    guard let selector = input.first else { return }
    let parts = input.dropFirst().split(
      separator: 0, maxSplits: 5, omittingEmptySubsequences: false)
    guard let account = parts.first.map({ Array($0) }) else { return }
    let (name, verifier) = fixture.verifiers[Int(selector) % fixture.verifiers.count]
    let isXcode = name == "xcode" || name == "local-testing"
    let evidence = parts.dropFirst().map { part in
      fixture.verify(
        verifier, Int32(part.first ?? 1) % 5 + 1,
        fixture.signed(Array(part.dropFirst()), asXcode: isXcode))
    }
    let handles = evidence.map(\.handle)
    let first = Calls.decide(verifier, handles, account: account)
    let second = Calls.decide(verifier, handles, account: account)
    demand(first.json == second.json, "two decisions about the same differ")
    if isDecided(first) {
      checkOrder(first, Calls.decide(verifier, handles.reversed(), account: account))
    }
    if first.isOK {
      demand(
        evidence.allSatisfy(\.isOK) && !evidence.isEmpty, "a decision on refused evidence")
      demand(first.text("decision.plan") != nil, "entitled to no plan")
    }
    // Documents may be freed in any order.
    for document in evidence { document.free() }
    first.free()
    second.free()
  }

  private static func isDecided(_ answer: Answer) -> Bool {
    answer.isOK || answer.text("status.name") == "rejected.decision.not-entitled"
  }

  /// Checks that the order of the evidence does not matter: the facts are the same bytes.
  private static func checkOrder(_ first: Answer, _ reversed: Answer) {
    demand(first.status == reversed.status, "another order, another status")
    demand(facts(first) == facts(reversed), "another order, another decision")
    reversed.free()
  }

  private static func facts(_ answer: Answer) -> [UInt8] {
    guard let json = try? JSONReader.readObject(answer.json, caps: Answer.caps) else { return [] }
    return Array(json.root.member("decision")?.source ?? [])
  }

  // MARK: stored dates

  /// Checks four dates, and a status by its name.
  static func checkExpiry(_ input: [UInt8]) {
    guard input.count >= 36 else { return }
    func number(_ start: Int, _ size: Int) -> Int64 {
      var value: UInt64 = 0
      for byte in input[start..<start + size].reversed() { value = value << 8 | UInt64(byte) }
      return Int64(bitPattern: value)
    }
    let (expires, grace, revoked) = (number(0, 8), number(8, 8), number(16, 8))
    // Seven of eight inputs are within the supported years.
    let raw = number(24, 8)
    let now = input[24] & 7 == 0 ? raw : 1_199_145_600_000 + (raw & 0x29e_0000_0000)
    let status = assay_check_expiry(expires, grace, revoked, now)
    let family = status & 0xff
    let isInside = now >= 1_199_145_600_000 && now < 4_102_444_800_000
    if isInside {
      let wanted = reference_is_in_force(expires, grace, revoked, now)
      demand((family == 0) == (wanted == 1), "in force differs")
      demand(family == 0 || family == 1, "an unexpected family \(family)")
    } else {
      demand(family == 5, "a date outside 2008 … 2100 was judged")
    }
    let any = Int32(truncatingIfNeeded: number(32, 4))
    demand(strlenOf(assay_status_name(any)) > 0, "a status without a name")
    let what = Int32(truncatingIfNeeded: number(33, 1))
    demand((assay_status_text(any, what) != nil) == (1...4).contains(what), "a text of \(what)")
    demand((200...599).contains(assay_status_http(any)), "no HTTP status")
    let next = assay_status_next(any)
    demand(next == 0 || (next & 0xff, next >> 8) > (any & 0xff, any >> 8), "no order")
  }

  private static func strlenOf(_ text: UnsafePointer<CChar>?) -> Int {
    text.map { String(cString: $0).utf8.count } ?? 0
  }

  // MARK: document paths

  /// Documents of every kind, and their trees by cJSON.
  private static let documents: [(answer: Answer, json: OpaquePointer)] = {
    let purchase = Purchase(now: FuzzFixture.instant)
    let escaped = purchase.transactionPayload
      .setting("a\"b\\c\u{e9}\u{1}", "x\"y\\z\n\u{1F600}")
      .setting("list", [1, "two", .null, [3, ["four": 4]]])
      .setting("spaced", .text("{ \"a\" : [ 1 , 2 ] , \"b\" : \"\\u0041\\ud83d\\ude00\" }"))
      .setting("\\u0041name", "escaped").setting("", "empty name")
    var answers = [
      fixture.verify(fixture.verifier("standard"), 1, fixture.signed(escaped.bytes)),
      fixture.verify(fixture.verifier("standard"), 1, Array("a.b.c".utf8)),
    ]
    if let notification = try? fixture.authority.payload(.notification, purchase) {
      answers.append(
        fixture.verify(fixture.verifier("standard"), 3, fixture.signed(notification.bytes)))
    }
    return answers.map { answer in
      guard let json = answer.json.asText({ reference_json_read($0, $1) }) else {
        fatalError("cJSON does not read a document")
      }
      return (answer, json)
    }
  }()

  /// Reads any bytes as a path into a document, which the first byte selects. Text and integer must
  /// be what cJSON's tree has at that path.
  static func documentPath(_ input: [UInt8]) {
    guard let selector = input.first else { return }
    let (answer, json) = documents[Int(selector) % documents.count]
    let path = Array(input.dropFirst())
    let found = walk(json, path)
    let fallback: Int64 = -7_777_777
    var count = -1
    path.withUnsafeBytes { bytes in
      let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
      let text = assay_doc_text(answer.handle, start, bytes.count, &count)
      let again = assay_doc_text(answer.handle, start, bytes.count, nil)
      demand(text == again, "the same path gives another text")
      let wanted = found.flatMap { value -> String? in
        Int(reference_json_kind(value)) == REFERENCE_STRING
          ? String(cString: reference_json_string(value)) : nil
      }
      if let text {
        demand(text[count] == 0, "a text does not end with a NUL")
        demand(wanted.map { Array($0.utf8).count } == count, "a text of another length")
        demand(wanted == String(cString: text), "a text differs")
      } else {
        demand(wanted == nil && count == 0, "a text is missing")
      }
      let number = assay_doc_integer(answer.handle, start, bytes.count, fallback)
      if let value = found, Int(reference_json_kind(value)) == REFERENCE_NUMBER {
        let wanted = reference_json_number(value)
        if wanted.rounded() == wanted, wanted.magnitude < 9e15 {
          demand(number == Int64(wanted), "an integer differs")
        }
      } else {
        demand(number == fallback, "an integer where there is none")
      }
    }
  }

  /// Follows a path: names are members of objects; numbers in canonical form are indexes of arrays.
  private static func walk(_ json: OpaquePointer, _ path: [UInt8]) -> OpaquePointer? {
    var value = json
    for step in path.split(separator: 0x2e, omittingEmptySubsequences: false) {
      let isArray = Int(reference_json_kind(value)) == REFERENCE_ARRAY
      let number = String(decoding: step, as: UTF8.self)
      let index = isArray ? Int(number) : nil
      if isArray, index.map({ String($0) }) != number { return nil }
      var place = 0
      var child = reference_json_child(value)
      while let current = child {
        if let index {
          if place == index { break }
        } else if let name = reference_json_name(current),
          UnsafeRawBufferPointer(start: name, count: strlen(name)).elementsEqual(step)
        {
          break
        }
        place += 1
        child = reference_json_next(current)
      }
      guard let child else { return nil }
      value = child
    }
    return value
  }
}
