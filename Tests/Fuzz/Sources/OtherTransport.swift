import CReference

@testable import Assay
@testable import AssayAuthority

/// A second implementation of RCP-1 … RCP-4, each step separate.
enum OtherTransport {
  static func base64(_ text: [UInt8]) -> [UInt8]? {
    var out = [UInt8](repeating: 0, count: text.count + 8)
    let count = reference_tolerant_base64(text, text.count, &out)
    return count < 0 ? nil : Array(out[..<count])
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || 9...13 ~= byte }

  private static func trimmed(_ text: [UInt8]) -> [UInt8] {
    Array(text.drop(while: isSpace).reversed().drop(while: isSpace).reversed())
  }

  /// Returns spaces as `+`, except at the beginning and beside a line break.
  private static func withPlus(_ text: [UInt8]) -> [UInt8] {
    var out = text
    for at in text.indices where text[at] == 0x20 {
      var before = at
      var after = at
      while before >= 0, text[before] == 0x20 { before -= 1 }
      while after < text.count, text[after] == 0x20 { after += 1 }
      let isAtBreak =
        before < 0 || [10, 13].contains(text[before])
        || (after < text.count && [10, 13].contains(text[after]))
      if !isAtBreak { out[at] = 0x2b }
    }
    return out
  }

  /// Checks the properties of a transport that was read.
  static func check(_ found: Transport, _ text: [UInt8]) {
    demand(text.contains { !isSpace($0) }, "read out of nothing")
    demand(found.form == form(found.bytes), "of another form")
    guard found.levels > 0 else {
      demand(found.bytes == text || found.bytes == trimmed(text), "raw bytes were changed")
      demand(!found.spaceAsPlus, "spaces of raw bytes")
      return
    }
    demand(!found.spaceAsPlus || text.contains(0x20), "a space where there is none")
    let first = base64(found.spaceAsPlus ? withPlus(text) : text)
    let wanted = found.levels == 1 ? first : first.flatMap { base64($0) }
    demand(found.levels <= 2 && wanted == found.bytes, "decoded into something else")
  }

  static func check(_ refusal: Refusal, _ text: [UInt8], cap: Int) {
    switch "\(refusal.status.name)" {
    case "malformed.transport.empty": demand(text.allSatisfy(isSpace), "not empty")
    case "too-large.transport.input": demand(text.count > cap, "within the cap")
    case "malformed.transport.base64":
      demand(base64(text) == nil && base64(withPlus(text)) == nil, "good base64 is refused")
      demand(form(text) == .unknown, "a known form is refused")
    case "malformed.transport.levels":
      let first = base64(text) ?? base64(withPlus(text))
      demand(first.flatMap { base64($0) } != nil, "there are no two levels")
    case let other: fatalError("refused with \(other)")
    }
  }

  /// Checks that a known format is found again in every encoding, if it is long enough for a second
  /// level to be recognised.
  static func checkRoundTrip(_ bytes: [UInt8]) {
    guard form(bytes) != .unknown, let first = bytes.first, !isSpace(first),
      (16..<1 << 16).contains(bytes.count)
    else { return }
    let ways: [(TransportForm, Int)] = [
      (.base64, 1), (.wrapped, 1), (.wrappedLF, 1), (.urlSafe, 1), (.unpadded, 1), (.doubled, 2),
    ]
    for (way, levels) in ways {
      guard let found = try? Transport(way.encode(bytes), cap: 1 << 20) else {
        fatalError("\(way) is refused")
      }
      demand(found.bytes == bytes && found.levels == levels, "\(way) is read as something else")
    }
    do throws(Refusal) {
      _ = try Transport(TransportForm.tripled.encode(bytes), cap: 1 << 20)
      fatalError("a third level is read")
    } catch {
      demand(error.status == .malformedTransportLevels, "three levels are \(error.status.name)")
    }
  }

  /// Returns the format, as far as the first bytes determine it (docs/spec/receipts-triage.md 1.2).
  private static func form(_ bytes: [UInt8]) -> BlobForm {
    func begins(_ bytes: ArraySlice<UInt8>, _ text: String) -> Bool {
      bytes.starts(with: text.utf8)
    }
    if bytes.count > 1, bytes[0] == 0x30, 0x80...0x84 ~= bytes[1] { return .container }
    if bytes.starts(with: [0xa3, 0x63] + "fmt".utf8) { return .attestation }
    if bytes.starts(with: [0xa2, 0x69] + "signature".utf8) { return .assertion }
    if begins(bytes[...], "bplist") { return .binaryPropertyList }
    let start = bytes.drop(while: isSpace)
    if start.first == 0x7b { return .list }
    if begins(start, "<?xml") { return .xmlPropertyList }
    let isText = bytes.allSatisfy { $0 == 0x2e || Base64Text.isURL($0) }
    return begins(bytes[...], "eyJ") && isText && bytes.count(where: { $0 == 0x2e }) == 2
      ? .jws : .unknown
  }
}

extension Base64Text {
  fileprivate static func isURL(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x41...0x5a, 0x61...0x7a, 0x30...0x39, 0x2d, 0x5f: true
    default: false
    }
  }
}
