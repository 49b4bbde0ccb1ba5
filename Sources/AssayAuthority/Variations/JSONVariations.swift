extension Variation {
  /// Variations that a strict JSON reader refuses, in header and payload (JWS-6).
  static let json: [Variation] =
    readings.map { reading in
      Variation(
        "JWS-6", "\(reading.name) in the payload", reading.status,
        check: reading.status == "ok" ? nil : "payload.json",
        at: reading.status == "ok" ? nil : "payload"
      ) { $0.payload = reading.change($0.payload) }
    }
    + readings.map { reading in
      Variation(
        "JWS-6", "\(reading.name) in the header", reading.status,
        check: reading.status == "ok" ? nil : "jws.header",
        at: reading.status == "ok" ? nil : "header"
      ) { $0.headerBytes = reading.change($0.header.bytes) }
    } + [
      Variation(
        "JWS-6", "the same alg twice", "malformed.json.duplicate-name", check: "jws.header",
        at: "header"
      ) { $0.header = $0.header.appending("alg", "ES256") },
      Variation(
        "JWS-6", "the same bundleId twice", "malformed.json.duplicate-name", check: "payload.json",
        at: "payload"
      ) { jws, base in
        jws.payload = base.payload.appending("bundleId", base.payload["bundleId"] ?? .null).bytes
      },
    ]

  private struct Reading: Sendable {
    let name: String
    let status: String
    let change: @Sendable ([UInt8]) -> [UInt8]
  }

  private static let readings: [Reading] = [
    Reading(name: "a byte order mark", status: "malformed.json.bom") {
      [0xef, 0xbb, 0xbf] + $0
    },
    Reading(name: "text after the object", status: "malformed.json.trailing") {
      $0 + Array("{}".utf8)
    },
    Reading(name: "white space around", status: "ok") {
      Array(" \t".utf8) + $0 + Array("\r\n ".utf8)
    },
    Reading(name: "an array", status: "malformed.json.not-object") { [0x5b] + $0 + [0x5d] },
    Reading(name: "a lone string", status: "malformed.json.not-object") { _ in
      Array("\"{}\"".utf8)
    },
    Reading(name: "a cut-off object", status: "malformed.json.syntax") {
      Array($0.dropLast())
    },
    member("a trailing comma", "malformed.json.syntax", ""),
    member("a name without quotes", "malformed.json.syntax", "x:1"),
    member("a number with a leading zero", "malformed.json.syntax", "\"x\":01"),
    member("a number with a plus", "malformed.json.syntax", "\"x\":+1"),
    member("NaN", "malformed.json.syntax", "\"x\":NaN"),
    member("a single-quoted text", "malformed.json.syntax", "\"x\":'a'"),
    member("an unknown escape", "malformed.json.syntax", "\"x\":\"\\q\""),
    member("a control character", "malformed.json.syntax", "\"x\":\"a\u{1}b\""),
    member("a name twice", "malformed.json.duplicate-name", "\"x\":1,\"x\":1"),
    member(
      "a name twice after unescaping", "malformed.json.duplicate-name",
      "\"x\":1,\"\\u0078\":1"),
    member(
      "a name twice deep inside", "malformed.json.duplicate-name", "\"x\":[{\"y\":1,\"y\":2}]"),
    member(
      "a name twice among forty", "malformed.json.duplicate-name",
      (0..<40).map { "\"n\($0)\":1" }.joined(separator: ",") + ",\"n\\u0031\":1"),
    member(
      "forty names", "ok", (0..<40).map { "\"n\($0)\":1" }.joined(separator: ",")),
    member("names that differ in case alone", "ok", "\"x\":1,\"X\":1"),
    member("an escaped NUL", "malformed.json.nul", "\"x\":\"a\\u0000b\""),
    member("an escaped NUL in a name", "malformed.json.nul", "\"x\\u0000\":1"),
    Reading(name: "a NUL", status: "malformed.json.nul") {
      Array($0.dropLast()) + Array(",\"x\":\"a".utf8) + [0] + Array("\"}".utf8)
    },
    bytes("an overlong UTF-8 form", [0xc0, 0xaf]),
    bytes("a lone continuation byte", [0x80]),
    bytes("a surrogate in UTF-8", [0xed, 0xa0, 0x80]),
    bytes("a code point past the end", [0xf4, 0x90, 0x80, 0x80]),
    bytes("a cut-off character", [0xe2, 0x82]),
    member("text beyond ASCII", "ok", "\"x\":\"\u{e9}\u{1F600}\\u00e9\\ud83d\\ude00\""),
    member("32 levels", "ok", "\"x\":" + nested(31)),
    member("33 levels", "too-large.json.depth", "\"x\":" + nested(32)),
    member("256 members", "ok", "\"x\":" + manyMembers(256)),
    member("257 members", "too-large.json.members", "\"x\":" + manyMembers(257)),
    member("1,024 elements", "ok", "\"x\":" + manyElements(1024)),
    member("1,025 elements", "too-large.json.elements", "\"x\":" + manyElements(1025)),
    member("a name of 256 bytes", "ok", "\"" + String(repeating: "n", count: 256) + "\":1"),
    member(
      "a name of 257 bytes", "too-large.json.name",
      "\"" + String(repeating: "n", count: 257) + "\":1"),
    member("a number of 64 characters", "ok", "\"x\":" + String(repeating: "7", count: 64)),
    member(
      "a number of 65 characters", "too-large.json.number",
      "\"x\":" + String(repeating: "7", count: 65)),
  ]

  /// Returns a reading with one more member, given as text, before the closing brace.
  private static func member(_ name: String, _ status: String, _ text: String) -> Reading {
    Reading(name: name, status: status) { object in
      Array(object.dropLast()) + Array(",\(text)}".utf8)
    }
  }

  /// Returns a reading with one more string member, whose bytes are not UTF-8.
  private static func bytes(_ name: String, _ content: [UInt8]) -> Reading {
    Reading(name: name, status: "malformed.json.utf8") { object in
      Array(object.dropLast()) + Array(",\"x\":\"".utf8) + content + Array("\"}".utf8)
    }
  }

  private static func nested(_ levels: Int) -> String {
    String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
  }

  private static func manyMembers(_ count: Int) -> String {
    "{" + (0..<count).map { "\"m\($0)\":0" }.joined(separator: ",") + "}"
  }

  private static func manyElements(_ count: Int) -> String {
    "[" + Array(repeating: "0", count: count).joined(separator: ",") + "]"
  }
}
