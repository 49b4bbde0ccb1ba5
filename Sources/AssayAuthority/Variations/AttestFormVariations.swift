/// A violation of strict CBOR (CBR-1, CBR-2) that can be applied to any map whose first byte has
/// its count and which contains authenticator data as a byte string.
struct CBORDamage: Sendable {
  let rule: String
  let name: String
  /// Changes the members of the object.
  var members: @Sendable ([CBORText.Member]) -> [CBORText.Member] = { $0 }
  /// Changes the finished bytes.
  var finish: @Sendable ([UInt8]) -> [UInt8] = { $0 }

  /// - Parameter data: the name of the member with authenticator data.
  static func all(data: String) -> [CBORDamage] {
    let bytes: @Sendable ([CBORText.Member]) -> [UInt8] = { members in
      if case .bytes(let bytes)? = members.value(data) { return bytes }
      return []
    }
    func value(_ name: String, _ item: [UInt8], rule: String = "CBR-1") -> CBORDamage {
      CBORDamage(rule: rule, name: name, members: { $0.setting(data, .raw(item)) })
    }
    func width(_ name: String, _ width: CBORText.HeadWidth) -> CBORDamage {
      CBORDamage(
        rule: "CBR-1", name: "a length in \(name)",
        members: { $0.setting(data, .bytes(bytes($0), width)) })
    }
    func change(
      _ name: String, _ members: @escaping @Sendable ([CBORText.Member]) -> [CBORText.Member]
    ) -> CBORDamage { CBORDamage(rule: "CBR-1", name: name, members: members) }
    func finish(
      _ name: String, rule: String = "CBR-1", _ finish: @escaping @Sendable ([UInt8]) -> [UInt8]
    ) -> CBORDamage { CBORDamage(rule: rule, name: name, finish: finish) }
    func claim(_ name: String, _ head: [UInt8]) -> CBORDamage { value(name, head, rule: "CBR-2") }
    let simple: [CBORDamage] = [
      value("a float", [0xf9, 0x3c, 0x00]), value("a float of 64 bits", [0xfb] + zeros(8)),
      value("false", [0xf4]), value("true", [0xf5]), value("null", [0xf6]),
      value("undefined", [0xf7]), value("a simple value of two octets", [0xf8, 0x20]),
      value("a break", [0xff]), value("additional information 28", [0x5c]),
      value("additional information 29", [0x5d]), value("additional information 30", [0x5e]),
      value("an integer with additional information 31", [0x1f]),
      value("a number of 0 in two octets", [0x18, 0x00]),
      value("a number of 23 in two octets", [0x18, 0x17]),
      value("a number of 255 in three octets", [0x19, 0x00, 0xff]),
      value("a number of 65535 in five octets", [0x1a, 0x00, 0x00, 0xff, 0xff]),
      value("a number of 32 bits in nine octets", [0x1b] + zeros(4) + [0xff, 0xff, 0xff, 0xff]),
      value("a negative number that is not minimal", [0x38, 0x05]),
      value("text that is no UTF-8", [0x62, 0xc3, 0x28]),
      value("text with a surrogate", [0x63, 0xed, 0xa0, 0x80]),
      value("text with an overlong slash", [0x62, 0xc0, 0xaf]),
      value("seventy items", CBORText.array(Array(repeating: .bytes([]), count: 70)).encoded),
    ]
    let wrapped: [CBORDamage] = [
      change("an indefinite byte string") { all in
        all.setting(data, .raw([0x5f] + CBORText.bytes(bytes(all)).encoded + [0xff]))
      },
      change("a tag") { all in all.setting(data, .raw([0xc2] + CBORText.bytes(bytes(all)).encoded))
      },
      finish("the tag of CBOR itself") { [0xd9, 0xd9, 0xf7] + $0 },
      finish("an indefinite map") { [$0[0] | 0x1f] + $0.dropFirst() + [0xff] },
      finish("a count that is not minimal") { [0xb8, $0[0] & 0x1f] + $0.dropFirst() },
      finish("a key whose length is not minimal") {
        [$0[0], 0x78, $0[1] & 0x1f] + $0.dropFirst(2)
      },
      change("the same key twice") { all in all + all.suffix(1) },
      change("a number as a key") { $0 + [.init(.unsigned(1), .unsigned(1))] },
      finish("a byte after") { $0 + [0] }, finish("the object twice") { $0 + $0 },
      finish("the last byte missing") { Array($0.dropLast()) },
      finish("one byte alone") { Array($0.prefix(1)) },
      finish("base64 not decoded") { Base64Text.encode($0) },
    ]
    let claims: [CBORDamage] = [
      claim("a length of 2^63", [0x5b, 0x80] + zeros(7)),
      claim("a length of 2^60", [0x5b, 0x10] + zeros(7)),
      claim("a length of 2^64-1", [0x5b] + Array(repeating: 0xff, count: 8)),
      claim("a length of 2^63-1", [0x5b, 0x7f] + Array(repeating: 0xff, count: 7)),
      claim("a length of 2^32-1", [0x5a, 0xff, 0xff, 0xff, 0xff]),
      claim("a text of 2^63", [0x7b, 0x80] + zeros(7)),
      claim("an array of 2^60", [0x9b, 0x10] + zeros(7)),
      claim("an array of 2^32-1", [0x9a, 0xff, 0xff, 0xff, 0xff]),
      claim("a map of 2^60", [0xbb, 0x10] + zeros(7)),
      claim("a map of 2^63", [0xbb, 0x80] + zeros(7)),
      claim("a length that is one too long", [0x41]),
      finish("a map of 2^60 and nothing else", rule: "CBR-2") { _ in [0xbb, 0x10] + zeros(7) },
      finish("an array of 2^63 and nothing else", rule: "CBR-2") { _ in [0x9b, 0x80] + zeros(7) },
    ]
    let deep: [CBORDamage] = [
      finish("four thousand nested maps") { _ in Array(repeating: 0xa1, count: 4000) },
      finish("four thousand nested arrays") { _ in Array(repeating: 0x81, count: 4000) },
      value("five levels", [0x81, 0x81, 0x81, 0x81, 0x00]),
    ]
    return simple + wrapped + claims + deep
      + [width("two octets", .two), width("four octets", .four), width("eight octets", .eight)]
  }

  static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }
}

extension AttestVariation where Template == AttestationTemplate {
  /// Damaged CBOR (CBR-1, CBR-2).
  static let cbor: [AttestVariation] =
    CBORDamage.all(data: "authData").map { damage in
      cbor(damage.name, rule: damage.rule) {
        $0.object = damage.members
        $0.finish = damage.finish
      }
    } + [
      cbor("a key twice inside attStmt") { $0.statement = { $0 + $0.suffix(1) } },
      cbor("an indefinite x5c") {
        $0.statement = { members in
          guard case .array(let entries)? = members.value("x5c") else { return members }
          return members.setting("x5c", .raw([0x9f] + entries.flatMap(\.encoded) + [0xff]))
        }
      },
      cbor("ten thousand nested maps in an object of 16 kB") {
        $0.finish = { _ in Array(repeating: 0xa1, count: 10_000) }
      },
      cbor("ten thousand nested arrays") {
        $0.finish = { _ in Array(repeating: 0x81, count: 10_000) }
      },
    ]

  private static func cbor(
    _ name: String, rule: String = "CBR-1",
    _ change: @escaping @Sendable (inout AttestationTemplate) throws -> Void
  ) -> AttestVariation { one(rule, name, "malformed.attest.cbor", check: "attest.form", change) }

  /// Variations of the members `fmt`, `attStmt` and `x5c` (ATT-10 … ATT-12).
  static let statement: [AttestVariation] = [
    statement("without fmt") { $0.object = { $0.removing("fmt") } },
    statement("without attStmt") { $0.object = { $0.removing("attStmt") } },
    statement("without authData") { $0.object = { $0.removing("authData") } },
    statement("with a further member") { $0.object = { $0.setting("other", .unsigned(1)) } },
    statement("with fmt as bytes") { $0.format = .bytes(Array("apple-appattest".utf8)) },
    statement("with attStmt as bytes") { $0.object = { $0.setting("attStmt", .bytes([])) } },
    statement("with authData as text") { $0.object = { $0.setting("authData", .text("x")) } },
    statement("with an empty map") { $0.object = { _ in [] } },
    statement("that is an array") { $0.finish = { _ in [0x80] } },
    statement("that is a number") { $0.finish = { _ in [0x00] } },
    statement("that is a byte string") { $0.finish = { _ in [0x40] } },
    statement("without x5c") { $0.statement = { $0.removing("x5c") } },
    statement("without a receipt") { $0.statement = { $0.removing("receipt") } },
    statement("with a further member in attStmt") {
      $0.statement = { $0.setting("ver", .text("2.0")) }
    },
    statement("with the receipt as text") { $0.statement = { $0.setting("receipt", .text("x")) } },
    statement("with x5c as bytes") {
      $0.statement = { members in members.setting("x5c", .bytes([1])) }
    },
    statement("with text in x5c") {
      $0.statement = { $0.setting("x5c", .array([.text("a"), .text("b")])) }
    },
    statement("with an array in x5c") {
      $0.statement = { $0.setting("x5c", .array([.array([]), .array([])])) }
    },
    one("ATT-10", "of another format", "unsupported.attest.format", check: "attest.form") {
      $0.format = .text("packed")
    },
    one("ATT-10", "of a format one letter longer", "unsupported.attest.format") {
      $0.format = .text("apple-appattest2")
    },
    one("ATT-10", "of no format", "unsupported.attest.format") { $0.format = .text("") },
    one("ATT-10", "whose members are in another order") {
      $0.object = { Array($0.reversed()) }
      $0.statement = { Array($0.reversed()) }
    },
    length("no certificate") { _, _ in [] },
    length("one certificate") { entries, _ in Array(entries.prefix(1)) },
    length("four certificates") { entries, root in entries + [root, root] },
    length("the leaf as the third certificate") { entries, _ in entries + entries.prefix(1) },
    length("a damaged root as the third certificate") { entries, root in
      entries + [Array(root.dropLast())]
    },
    length("fifty-two certificates") { entries, _ in
      entries + Array(repeating: [0x30, 0x00], count: 50)
    },
    one("ATT-11", "a foreign root as the third certificate", "rejected.chain.length") {
      template, authority in
      let other = try authority.root.signed(by: .generate(.p384))
      template.chain = { $0 + [other] }
    },
    one("ATT-11", "the root as the third certificate") { template, authority in
      let root = authority.rootCertificate
      template.chain = { $0 + [root] }
    },
    one("ATT-11", "a leaf of more than 4,096 bytes", "too-large.chain.certificate", at: "x5c[0]") {
      $0.leaf = $0.leaf.filled(4096)
    },
    one("ATT-11", "a leaf of 3 kB") { $0.leaf = $0.leaf.filled(2000) },
    one("ATT-12", "an empty receipt", "malformed.attest-receipt.empty") { $0.receipt = [] },
  ]

  private static func statement(
    _ name: String, _ change: @escaping @Sendable (inout AttestationTemplate) -> Void
  ) -> AttestVariation {
    one("ATT-10", name, "malformed.attest.statement", check: "attest.form") { change(&$0) }
  }

  private static func length(
    _ name: String, _ change: @escaping @Sendable ([[UInt8]], [UInt8]) -> [[UInt8]]
  ) -> AttestVariation {
    one("ATT-11", name, "rejected.chain.length") { template, authority in
      let root = authority.rootCertificate
      template.chain = { change($0, root) }
    }
  }

  /// Variations of the authenticator data (ATT-13 … ATT-15).
  static let authData: [AttestVariation] =
    [
      layout("of 163 octets") {
        $0.authData.extensions = nil
        $0.authData.credential?.coseKey.removeLast()
      },
      layout("of 37 octets") {
        $0.authData.extensions = nil
        $0.authData.credential = nil
      },
      layout("of nothing") { $0.sentAuthData = [] },
      layout("of 1,025 octets") { $0.authData.extensions = fill($0, to: 1025) },
      one("ATT-13", "authenticator data of 1,024 octets") {
        $0.authData.extensions = fill($0, to: 1024)
      },
      layout("with a credential id of 31 octets") { $0.authData.credential?.idLength = 31 },
      layout("with a credential id of 33 octets") { $0.authData.credential?.idLength = 33 },
      layout("with a credential id of 0 octets") { $0.authData.credential?.idLength = 0 },
      layout("with a credential id of 65,535 octets") {
        $0.authData.credential?.idLength = 65_535
      },
      layout("with a credential id of 8,192 octets") {
        $0.authData.credential?.idLength = 8192
      },
      layout("with a byte after the extensions") { $0.authData.trailing = [0] },
      layout("with the extensions twice") {
        $0.authData.trailing = CBORText.map($0.authData.extensions ?? []).encoded
      },
      flags("no flags", 0x00, "rejected.attest.flags"),
      flags("the flag for extensions alone", 0x80, "rejected.attest.flags"),
      flags("every flag but that for attested data", 0xbf, "rejected.attest.flags"),
      flags("extensions that no flag names", 0x40, "ok"), flags("every flag", 0xff, "ok"),
      one(
        "ATT-14", "a flag for extensions that are not there", facts: [("attestation.flags", 0xc0)]
      ) { $0.authData.extensions = nil },
    ] + [
      one("ATT-15", "no extensions") { $0.authData.extensions = nil },
      extensions(
        "an empty map", [],
        facts: [("attestation.category", .null), ("attestation.bundleVersion", .null)]),
      extensions(
        "the names of the documentation",
        [
          .init("bundleVersion", .text("7")), .init("validationCategory", .bytes([4, 0, 0, 0])),
        ], facts: [("attestation.category", 4), ("attestation.bundleVersion", "7")]),
      extensions(
        "a category as a number",
        [.init(AuthenticatorDataTemplate.categoryKey, .unsigned(2))],
        facts: [("attestation.category", 2)]),
      extensions(
        "a category alone",
        [.init(AuthenticatorDataTemplate.categoryKey, .bytes([6, 0, 0, 0]))],
        facts: [("attestation.category", 6), ("attestation.bundleVersion", .null)]),
      extensions(
        "an unknown extension", standard + [.init("apple_other_01", .unsigned(5))],
        facts: [("attestation.category", 4)]),
      badExtensions("a text as a category", [.init(category, .text("4"))]),
      badExtensions("a category of three octets", [.init(category, .bytes([4, 0, 0]))]),
      badExtensions("a category of five octets", [.init(category, .bytes([4, 0, 0, 0, 0]))]),
      badExtensions("a category of no octets", [.init(category, .bytes([]))]),
      badExtensions("a negative category", [.init(category, .negative(3))]),
      badExtensions("a category past 32 bits", [.init(category, .unsigned(1 << 32))]),
      badExtensions("a category in a list", [.init(category, .array([.unsigned(4)]))]),
      badExtensions("a version as bytes", [.init(version, .bytes([0x31]))]),
      badExtensions("a version as a number", [.init(version, .unsigned(1))]),
      badExtensions(
        "both spellings of the category",
        [.init(category, .unsigned(4)), .init("validationCategory", .unsigned(4))]),
      badExtensions(
        "both spellings of the version",
        [.init(version, .text("1")), .init("bundleVersion", .text("1"))]),
      badExtensions("nine entries", (0..<9).map { .init("apple_\($0)", .unsigned(UInt64($0))) }),
      extensions(
        "eight entries", (0..<8).map { .init("apple_\($0)", .unsigned(UInt64($0))) }, facts: []),
      one("ATT-15", "a list as extensions", "malformed.attest.extensions") {
        $0.authData.extensions = nil
        $0.authData.trailing = [0x80]
      },
      one("ATT-15", "a zero as extensions", "malformed.attest.extensions") {
        $0.authData.extensions = nil
        $0.authData.trailing = [0]
      },
    ]

  private static let category = AuthenticatorDataTemplate.categoryKey
  private static let version = AuthenticatorDataTemplate.bundleVersionKey
  private static let standard = AuthenticatorDataTemplate.extensions(
    bundleVersion: "1314", category: 4)

  /// Returns extensions with which the authenticator data has `count` bytes.
  private static func fill(
    _ template: AttestationTemplate, to count: Int
  ) -> [CBORText.Member] {
    var data = template.authData
    data.extensions = [.init(version, .text(String(repeating: "1", count: 300)))]
    let more = count - data.bytes.count
    return [.init(version, .text(String(repeating: "1", count: 300 + more)))]
  }

  private static func layout(
    _ name: String, _ change: @escaping @Sendable (inout AttestationTemplate) -> Void
  ) -> AttestVariation {
    one("ATT-13", "authenticator data \(name)", "malformed.attest.auth-data", check: "attest.form")
    { change(&$0) }
  }

  private static func flags(_ name: String, _ flags: UInt8, _ status: String) -> AttestVariation {
    one(
      "ATT-14", name, status,
      facts: status == "ok" ? [("attestation.flags", .integer(Int64(flags)))] : []
    ) { $0.authData.flags = flags }
  }

  private static func extensions(
    _ name: String, _ members: [CBORText.Member], facts: [(path: String, value: ExpectedFact)]
  ) -> AttestVariation { one("ATT-15", name, facts: facts) { $0.authData.extensions = members } }

  private static func badExtensions(_ name: String, _ members: [CBORText.Member]) -> AttestVariation
  {
    one("ATT-15", name, "malformed.attest.extensions", check: "attest.form") {
      $0.authData.extensions = members
    }
  }
}

extension CertificateTemplate {
  /// Returns a copy with an unknown extension of `count` bytes.
  func filled(_ count: Int) -> CertificateTemplate {
    adding(CertificateExtension("1.2.3.4", DER.octetString(Array(repeating: 7, count: count))))
  }
}
