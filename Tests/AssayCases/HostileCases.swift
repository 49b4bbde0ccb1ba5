import AssayAuthority

extension CaseFixture {
  /// Adds input that must do no harm and never end the process (JWS-1).
  func addHostileInput() throws {
    addRawInput()
    try addSizes()
    try addTruncations()
    try addUnsignedPayloads()
  }

  private func addRawInput() {
    let inputs: [(String, [UInt8])] = [
      ("nothing at all", []), ("a NUL", [0]), ("a hundred NULs", Array(repeating: 0, count: 100)),
      ("a dot", [0x2e]), ("two dots", Array("..".utf8)), ("three dots", Array("...".utf8)),
      ("all octets", Array(0...255)), ("a line end", [0x0a]),
      ("invalid UTF-8", [0xff, 0xfe, 0x2e, 0xc0, 0x2e, 0x80]),
      ("an empty object", Array("{}".utf8)), ("the word null", Array("null".utf8)),
      ("a receipt", Array("MIITtgYJKoZIhvcNAQcCoIITpzCCE6MCAQExCzAJBgUrDgMCGgUA".utf8)),
      ("a receipt's old form", Array("ewoJInNpZ25hdHVyZSIgPSAiQXBt".utf8)),
      ("text beyond ASCII", Array("\u{e9}.\u{e9}.\u{e9}".utf8)),
    ]
    for (name, bytes) in inputs {
      verify("JWS-2", "\(name) as a JWS", bytes, "malformed.jws.form", check: "jws.form")
    }
    let signature = String(repeating: "A", count: 86)
    let headers: [(String, String, String, String)] = [
      ("an empty object", "{}", "malformed.jws.alg", "jws.header"),
      ("no object", "7", "malformed.json.not-object", "jws.header"),
      ("an empty x5c", "{\"alg\":\"ES256\",\"x5c\":[]}", "rejected.chain.length", "chain.root"),
      ("no x5c", "{\"alg\":\"ES256\"}", "malformed.jws.x5c", "jws.header"),
      (
        "three empty entries", "{\"alg\":\"ES256\",\"x5c\":[\"\",\"\",\"\"]}",
        "rejected.chain.untrusted-root", "chain.root"
      ),
      (
        "a JWT header of another issuer", "{\"kid\":\"abc\",\"alg\":\"RS256\"}",
        "rejected.jws.algorithm", "jws.header"
      ),
    ]
    for (name, header, status, check) in headers {
      let first = Base64Text.encodeURL(Array(header.utf8))
      verify(
        "JWS-13", "a header with \(name)", first + Array((".e30." + signature).utf8),
        status, check: check)
    }
  }

  private func addSizes() throws {
    for (name, prefix, unit, count, suffix) in [
      ("five million characters", "", "A", 5_000_000, ".e30." + String(repeating: "A", count: 86)),
      ("a header of five million characters", "eyJhbGciOi", "JB", 2_500_000, ".e30.AAAA"),
      ("a hundred thousand open arrays", "", "[", 100_000, ""),
      ("a hundred thousand dots", "", ".", 100_000, ""),
      ("a character more than the limit", "", "A", 65_537, ""),
    ] as [(String, String, String, Int, String)] {
      add(
        "JWS-1", name,
        .verifyJWS(
          verifier: "standard", kind: .transaction,
          jws: .repeated(
            prefix: Array(prefix.utf8), unit: Array(unit.utf8), count: count,
            suffix: Array(suffix.utf8)), now: now), .init("too-large.jws.input", check: "jws.size"))
    }
    add(
      "JWS-2", "as many characters as the limit, without dots",
      .verifyJWS(
        verifier: "standard", kind: .transaction, jws: .text("A", times: 65_536), now: now),
      .init("malformed.jws.form", check: "jws.form"))
    add(
      "JWS-3", "a header segment of 60,000 characters",
      .verifyJWS(
        verifier: "standard", kind: .transaction,
        jws: .repeated(
          prefix: [], unit: [0x41], count: 60_000,
          suffix: Array((".e30." + String(repeating: "A", count: 86)).utf8)), now: now),
      .init("too-large.jws.header", check: "jws.header"))
    for (name, limit, verifier) in [
      ("the limit", 65_536, "standard"), ("a lowered limit", 8192, "small-cap"),
      ("a raised limit", 262_144, "large-cap"),
    ] {
      let jws = try sized(limit)
      verify("JWS-1", "a good transaction of just \(name)", jws, verifier: verifier)
      verify(
        "JWS-1", "a good transaction with an octet more than \(name)", jws + [0x0a],
        verifier: verifier, "too-large.jws.input", check: "jws.size")
    }
    let nested = String(repeating: "[", count: 12_000) + String(repeating: "]", count: 12_000)
    try verify(
      "JWS-6", "twelve thousand nested arrays, signed",
      payload: purchase.transactionPayload.setting("x", .text(nested)),
      "too-large.json.depth", check: "payload.json", at: "payload")
    let open = String(repeating: "[", count: 12_000)
    try verify(
      "JWS-6", "twelve thousand open arrays, signed",
      payload: ["x": .text(open)], "too-large.json.depth", check: "payload.json",
      at: "payload")
    let header = Base64Text.encodeURL(Array(("{\"x\":" + open).utf8.prefix(12_000)))
    verify(
      "JWS-6", "nested arrays in an unsigned header",
      header + Array((".e30." + String(repeating: "A", count: 86)).utf8),
      "too-large.json.depth", check: "jws.header", at: "header")
  }

  /// Returns a good transaction whose text has exactly this many characters.
  private func sized(_ count: Int) throws -> [UInt8] {
    for padding in 0..<4 {
      var template = JWSTemplate(payload: [], chain: authority.chain)
      template.header = template.header.appending(
        "kid", .string(String(repeating: "k", count: padding)))
      let header = Base64Text.encodeURL(template.header.bytes).count
      let segment = count - header - 1 - 1 - 86
      if segment % 4 == 1 { continue }
      let bytes = segment * 3 / 4
      let payload = purchase.transactionPayload.setting("padding", "")
      let missing = max(0, bytes - payload.bytes.count)
      template.payload =
        payload.setting(
          "padding", .string(String(repeating: "p", count: missing))
        ).bytes
      let jws = try template.signed()
      if jws.count == count { return jws }
    }
    throw AuthorityError("no transaction of \(count) characters")
  }

  /// Adds a good text cut off in each of its parts.
  private func addTruncations() throws {
    let jws = try authority.mint(purchase.transactionPayload)
    let segments = jws.split(separator: 0x2e, omittingEmptySubsequences: false)
    let header = segments[0].count
    let payload = segments[1].count
    let cuts: [(String, Int, String)] = [
      ("inside the header", header / 2, "malformed.jws.form"),
      ("before the first dot", header, "malformed.jws.form"),
      ("after the first dot", header + 1, "malformed.jws.form"),
      ("inside the payload", header + 1 + payload / 2, "malformed.jws.form"),
      ("before the second dot", header + 1 + payload, "malformed.jws.form"),
      ("after the second dot", header + payload + 2, "malformed.jws.form"),
      ("inside the signature", jws.count - 40, "malformed.jws.signature-length"),
      ("a character before the end", jws.count - 1, "malformed.jws.signature-length"),
    ]
    for (name, length, status) in cuts {
      verify(
        "JWS-2", "a transaction cut off \(name)", Array(jws.prefix(length)), status,
        check: "jws.form")
    }
  }

  /// Adds genuine headers over unsigned content, of which no date and no number may be read.
  private func addUnsignedPayloads() throws {
    let payloads: [(String, [UInt8])] = [
      ("the year 10000", Array("{\"signedDate\":253402300800000}".utf8)),
      ("1e30", Array("{\"signedDate\":1e30}".utf8)),
      ("1e999999999", Array("{\"signedDate\":1e999999999}".utf8)),
      ("the largest integer", Array("{\"signedDate\":9223372036854775807}".utf8)),
      ("the smallest integer", Array("{\"signedDate\":-9223372036854775808}".utf8)),
      ("deep nesting", Array(repeating: 0x5b, count: 40_000)),
      ("no JSON", Array("hello".utf8)), ("invalid UTF-8", [0xff, 0xff, 0xff]),
      ("NULs", [0, 0, 0]),
    ]
    for (name, payload) in payloads {
      var template = JWSTemplate(payload: payload, chain: authority.chain)
      template.signature = .octets(Array(repeating: 7, count: 64))
      verify(
        "JWS-101", "a genuine header and a junk signature over \(name)",
        try template.signed(), "rejected.jws.signature", check: "jws.signature")
    }
    var loose = JWSTemplate(payload: [0x7b, 0x7d], chain: authority.chain)
    loose.payloadSegment = Array("e31".utf8)
    loose.signature = .octets(Array(repeating: 7, count: 64))
    verify(
      "JWS-101", "a junk signature over a payload with unused bits", try loose.signed(),
      "rejected.jws.signature", check: "jws.signature")
  }
}
