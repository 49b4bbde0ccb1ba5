extension Variation {
  /// Variations of the three segments and their spelling (JWS-2, JWS-4, JWS-5).
  static let form: [Variation] = [
    formed("white space before", [0x20], []),
    formed("a line end after", [], [0x0a]),
    formed("padding after the signature", [], Array("==".utf8)),
    formed("a fourth segment", [], Array(".AAAA".utf8)),
    formed("an empty fourth segment", [], [0x2e]),
    formed("a dot before", [0x2e], []),
    formed("JWS JSON serialization", Array("{\"jws\":\"".utf8), Array("\"}".utf8)),
    formed("a whole notification body", Array("{\"signedPayload\":\"".utf8), Array("\"}".utf8)),
    formed("quotes around", [0x22], [0x22]), formed("a NUL after", [], [0]),
    formed("a byte order mark before", [0xef, 0xbb, 0xbf], []),
    formed("invalid UTF-8 after", [], [0xff]),
    Variation("JWS-2", "two segments", "malformed.jws.form", check: "jws.form") {
      $0.text = .swapped(payload: [])
      $0.headerSegment = Array("AAAA".utf8)
    },
    Variation("JWS-2", "an empty header segment", "malformed.jws.form", check: "jws.form") {
      $0.headerSegment = []
    },
    Variation("JWS-2", "an empty payload segment", "malformed.jws.form", check: "jws.form") {
      $0.payloadSegment = []
    },
    Variation("JWS-2", "an empty signature segment", "malformed.jws.form", check: "jws.form") {
      $0.text = .unsecured
    },
    words("words for a signature", "free coins for everybody"),
    words("eight letters for a signature", "no proof"),
    words("more words than a signature has", String(repeating: "free coins ", count: 9)),
    length("seven letters for a signature") { $0.signature = .octets(Array("nothing".utf8)) },
    Variation("JWS-2", "standard alphabet in a segment", "malformed.jws.form", check: "jws.form") {
      $0.payloadSegment = Base64Text.encodeURL($0.payload) + Array("+/".utf8)
    },
    Variation("JWS-2", "padding inside a segment", "malformed.jws.form", check: "jws.form") {
      $0.headerSegment = Base64Text.encodeURL($0.header.bytes) + Array("=".utf8)
    },
    Variation(
      "JWS-3", "a header segment of 16,386 characters", "too-large.jws.header", check: "jws.header"
    ) { $0.padHeader(to: 12_289) },
    Variation("JWS-3", "a header segment of 16,384 characters", "ok") { $0.padHeader(to: 12_288) },
    Variation(
      "JWS-4", "a header of impossible length", "malformed.jws.base64", check: "jws.header",
      at: "header"
    ) { $0.headerSegment = impossibleLength($0.header.bytes) },
    Variation(
      "JWS-4", "unused bits in the header", "malformed.jws.base64", check: "jws.header",
      at: "header"
    ) { jws, _ in
      jws.header = jws.header.appending("kid", "a")
      while jws.header.bytes.count % 3 == 0 {
        jws.header = jws.header.appending("pad", "a")
      }
      jws.headerSegment = Base64Text.withLooseBits(Base64Text.encodeURL(jws.header.bytes))
    },
    Variation(
      "JWS-4", "a payload of impossible length", "malformed.jws.base64", check: "payload.json",
      at: "payload"
    ) { $0.payloadSegment = impossibleLength($0.payload) },
    Variation(
      "JWS-4", "unused bits in the payload", "malformed.jws.base64", check: "payload.json",
      at: "payload"
    ) { jws, base in
      var payload = base.payload
      while payload.bytes.count % 3 == 0 { payload = payload.appending("pad", "a") }
      jws.payloadSegment = Base64Text.withLooseBits(Base64Text.encodeURL(payload.bytes))
    },
    Variation(
      "JWS-4", "unused bits in the signature", "malformed.jws.base64", check: "jws.form",
      at: "signature"
    ) { $0.signature = .looseBits }, length("a DER signature") { $0.signature = .der },
    length("a signature of 63 octets") { $0.signature = .prefix(63) },
    length("a signature of 65 octets") { $0.signature = .trailing([0]) },
    length("a signature of 96 octets") { $0.signature = .trailing(Array(repeating: 1, count: 32)) },
    length("a signature of one octet") { $0.signature = .prefix(1) },
  ]

  private static func formed(_ name: String, _ before: [UInt8], _ after: [UInt8]) -> Variation {
    Variation("JWS-2", name, "malformed.jws.form", check: "jws.form") {
      $0.text = .surrounded(before: before, after: after)
    }
  }

  /// Returns a variation with words in place of the signature. Such a JWS is refused as forged
  /// and not as damaged: no original exists that the client could send again.
  private static func words(_ name: String, _ text: String) -> Variation {
    Variation("JWS-100", name, "rejected.jws.signature", check: "jws.form", at: "signature") {
      $0.signature = .octets(Array(text.utf8))
    }
  }

  private static func length(
    _ name: String, _ change: @escaping @Sendable (inout JWSTemplate) -> Void
  ) -> Variation {
    Variation("JWS-5", name, "malformed.jws.signature-length", check: "jws.form") { change(&$0) }
  }

  /// Returns the base64url of `bytes` with a length that no encoding has.
  private static func impossibleLength(_ bytes: [UInt8]) -> [UInt8] {
    var segment = Base64Text.encodeURL(bytes)
    repeat { segment.append(UInt8(ascii: "A")) } while segment.count % 4 != 1
    return segment
  }
}

extension JWSTemplate {
  /// Pads the header to exactly `count` bytes, with a `kid` that verification never reads.
  mutating func padHeader(to count: Int) {
    let bare = header.appending("kid", "").bytes.count
    header = header.appending(
      "kid", .string(String(repeating: "k", count: max(0, count - bare))))
  }
}
