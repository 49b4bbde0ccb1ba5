extension AttestVariation where Template == AssertionTemplate {
  /// Damaged CBOR (CBR-1, CBR-2), by the same damage as attestations.
  static let cbor: [AttestVariation] = CBORDamage.all(data: "authenticatorData").map { damage in
    one(damage.rule, damage.name, "malformed.assertion.cbor") {
      $0.object = damage.members
      $0.finish = damage.finish
    }
  }

  /// Variations of form, signature, app and extensions (ASR-1 … ASR-8).
  static let assertions: [AttestVariation] = form + signatures + identity + extensions

  private static let form: [AttestVariation] = [
    one("ASR-1", "4,097 bytes", "too-large.assertion.object") {
      $0.finish = { $0 + [UInt8](repeating: 0, count: 4097 - $0.count) }
    },
    one("ASR-1", "4,096 bytes", "malformed.assertion.cbor") {
      $0.finish = { $0 + [UInt8](repeating: 0, count: 4096 - $0.count) }
    },
    one("ASR-1", "without a signature", "malformed.assertion.statement") {
      $0.object = { $0.removing("signature") }
    },
    one("ASR-1", "without authenticator data", "malformed.assertion.statement") {
      $0.object = { $0.removing("authenticatorData") }
    },
    one("ASR-1", "with a further member", "malformed.assertion.statement") {
      $0.object = { $0.setting("keyId", .bytes([1])) }
    },
    one("ASR-1", "with the signature as text", "malformed.assertion.statement") {
      $0.object = { $0.setting("signature", .text("x")) }
    },
    one("ASR-1", "with authenticator data as a number", "malformed.assertion.statement") {
      $0.object = { $0.setting("authenticatorData", .unsigned(1)) }
    },
    one("ASR-1", "with the name of another format", "malformed.assertion.statement") {
      $0.object = { members in
        members.map { member in
          if case .text("authenticatorData") = member.key { return .init("authData", member.value) }
          return member
        }
      }
    },
    one("ASR-1", "an empty map", "malformed.assertion.statement") { $0.object = { _ in [] } },
    one("ASR-1", "a list", "malformed.assertion.statement") { $0.finish = { _ in [0x80] } },
    one("ASR-1", "members in another order") { $0.object = { Array($0.reversed()) } },
    one("ASR-1", "authenticator data of 36 octets", "malformed.assertion.auth-data") {
      $0.sentAuthData = Array($0.authData.bytes.prefix(36))
    },
    one("ASR-1", "authenticator data of nothing", "malformed.assertion.auth-data") {
      $0.sentAuthData = []
    },
    one("ASR-1", "authenticator data of 1,025 octets", "malformed.assertion.auth-data") {
      $0.authData.extensions = nil
      $0.authData.trailing = [UInt8](repeating: 0, count: 1025 - 37)
    },
    one("ASR-2", "no extensions", facts: [("assertion.flags", 0x40)]) {
      $0.authData.extensions = nil
      $0.authData.flags = AuthenticatorDataTemplate.attested
    },
    one(
      "ASR-2", "the flag for attested data, and extensions",
      facts: [("assertion.flags", 0xc0), ("assertion.category", 4)]
    ) { $0.authData.flags = AuthenticatorDataTemplate.attestedWithExtensions },
    one("ASR-2", "no flag at all", facts: [("assertion.flags", 0)]) { $0.authData.flags = 0 },
  ]

  private static let signatures: [AttestVariation] = [
    one("ASR-3", "authenticator data changed after signing", "rejected.assertion.signature") {
      var other = $0.authData
      other.counter += 1
      $0.sentAuthData = other.bytes
    },
    one("ASR-3", "the key of another device", "rejected.assertion.signature") {
      $0.signer = try .generate(.p256)
    },
    one("ASR-3", "the nonce as the digest", "rejected.assertion.signature") {
      let device = $0.device
      let nonce = AttestDigest.sha256($0.authData.bytes + $0.clientDataHash)
      $0.signature = { _ in try device.key.signDigest(nonce) }
    },
    one("ASR-3", "the data signed without a nonce", "rejected.assertion.signature") {
      let data = $0.authData.bytes + $0.clientDataHash
      $0.message = { _ in data }
    },
    one("ASR-3", "the client data's hash signed alone", "rejected.assertion.signature") {
      let hash = $0.clientDataHash
      $0.message = { _ in hash }
    },
    one("ASR-4", "the other valid signature of the same text") {
      $0.signature = { try ECDSASignature(der: $0).mirroredP256().der }
    },
    one("ASR-4", "s in its upper half") {
      $0.signature = { signature in
        let numbers = try ECDSASignature(der: signature)
        let other = numbers.mirroredP256()
        return other.raw(width: 32).suffix(32).lexicographicallyPrecedes(
          numbers.raw(width: 32).suffix(32)) ? signature : other.der
      }
    },
    encoding("r of zero") { DER.sequence(DER.unsigned([0]), DER.unsigned($0.s)) },
    encoding("s of zero") { DER.sequence(DER.unsigned($0.r), DER.unsigned([0])) },
    encoding("r of the order") { DER.sequence(DER.unsigned(P256.order), DER.unsigned($0.s)) },
    encoding("s of the order") { DER.sequence(DER.unsigned($0.r), DER.unsigned(P256.order)) },
    encoding("r past the order") {
      DER.sequence(DER.unsigned([UInt8](repeating: 0xff, count: 32)), DER.unsigned($0.s))
    },
    encoding("a negative r") {
      DER.sequence(DER.integer(octets: [0x80] + $0.r.dropFirst()), DER.unsigned($0.s))
    },
    encoding("an r with a zero too many") {
      DER.sequence(
        DER.integer(octets: [0, 0] + [UInt8](repeating: 1, count: 31)), DER.unsigned($0.s))
    },
    encoding("an empty r") { DER.sequence(DER.integer(octets: []), DER.unsigned($0.s)) },
    encoding("a third number") {
      DER.sequence(DER.unsigned($0.r), DER.unsigned($0.s), DER.unsigned([1]))
    },
    encoding("a byte after it") { $0.der + [0] },
    encoding("a length that is not the shortest") {
      let content = DER.unsigned($0.r) + DER.unsigned($0.s)
      return [0x30, 0x81, UInt8(content.count)] + content
    },
    encoding("an indefinite length") {
      [0x30, 0x80] + DER.unsigned($0.r) + DER.unsigned($0.s) + [0, 0]
    },
    encoding("a set") { DER.set(DER.unsigned($0.r), DER.unsigned($0.s)) },
    encoding("one number alone") { DER.sequence(DER.unsigned($0.r)) },
    encoding("r and s without DER") { $0.raw(width: 32) }, encoding("nothing") { _ in [] },
  ]

  private static func encoding(
    _ name: String, _ change: @escaping @Sendable (ECDSASignature) -> [UInt8]
  ) -> AttestVariation {
    one("ASR-4", "a signature with \(name)", "malformed.assertion.signature") {
      $0.signature = { change(try ECDSASignature(der: $0)) }
    }
  }

  private static let identity: [AttestVariation] = [
    one("ASR-5", "another app", "rejected.assertion.app-id") {
      $0.authData.rpIdHash = AttestDigest.sha256(Array("ABCDE12345.com.example.other".utf8))
    },
    one("ASR-5", "another team", "rejected.assertion.app-id") {
      $0.authData.rpIdHash = AttestDigest.sha256(Array("ABCDE12346.com.example.app".utf8))
    },
    one("ASR-5", "an App ID of zeros", "rejected.assertion.app-id") {
      $0.authData.rpIdHash = [UInt8](repeating: 0, count: 32)
    },
    one("ASR-5", "the second app", facts: [("assertion.appId", "ABCDE12345.com.example.second")]) {
      $0.authData.rpIdHash = AttestDigest.sha256(Array("ABCDE12345.com.example.second".utf8))
    },
  ]

  private static let category = AuthenticatorDataTemplate.categoryKey
  private static let version = AuthenticatorDataTemplate.bundleVersionKey

  private static func extensions(
    _ name: String, _ members: [CBORText.Member], _ status: String,
    facts: [(path: String, value: ExpectedFact)] = []
  ) -> AttestVariation {
    one("ASR-8", name, status, facts: facts) { $0.authData.extensions = members }
  }

  private static let extensions: [AttestVariation] = [
    extensions(
      "the names of the documentation",
      [.init("bundleVersion", .text("9")), .init("validationCategory", .bytes([1, 0, 0, 0]))], "ok",
      facts: [("assertion.category", 1), ("assertion.bundleVersion", "9")]),
    extensions("an empty map", [], "ok", facts: [("assertion.category", .null)]),
    extensions("a category as text", [.init(category, .text("4"))], badForm),
    extensions("a category of two octets", [.init(category, .bytes([4, 0]))], badForm),
    extensions("a version as bytes", [.init(version, .bytes([0x31]))], badForm),
    extensions(
      "both spellings of the category",
      [.init(category, .unsigned(4)), .init("validationCategory", .unsigned(4))], badForm),
    extensions(
      "nine entries", (0..<9).map { .init("apple_\($0)", .unsigned(UInt64($0))) }, badForm),
    one("ASR-8", "a list as extensions", badForm) {
      $0.authData.extensions = nil
      $0.authData.trailing = [0x80]
    },
    extensions("category 0", [.init(category, .unsigned(0))], notAccepted),
    extensions("category 7", [.init(category, .bytes([7, 0, 0, 0]))], notAccepted),
    extensions("category 9", [.init(category, .bytes([9, 0, 0, 0]))], notAccepted),
    extensions("category 11", [.init(category, .bytes([11, 0, 0, 0]))], notAccepted),
    extensions("a category in big endian", [.init(category, .bytes([0, 0, 0, 4]))], notAccepted),
  ]

  private static let badForm = "malformed.assertion.extensions"
  private static let notAccepted = "rejected.assertion.category"
}
