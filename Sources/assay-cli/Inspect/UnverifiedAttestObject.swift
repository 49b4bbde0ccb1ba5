import AssayAuthority

/// An attestation or an assertion, read by lenient readers. Never passed to code that decides.
struct UnverifiedAttestObject {
  /// The content as `{"verified":false,"format":"attestation"|"assertion",…}`.
  let json: JSONText
  let lines: [String]

  /// Reads CBOR or its base64; `nil` if the input is neither kind of object.
  init?(_ text: [UInt8], isVerbose: Bool) {
    guard let object = LooseCBOR.read(ProofKind.object(text)) else { return nil }
    if let data = object["authData"]?.octets, let statement = object["attStmt"] {
      (json, lines) = UnverifiedAttestObject.attestation(
        object, statement, data, isVerbose)
    } else if let data = object["authenticatorData"]?.octets {
      (json, lines) = UnverifiedAttestObject.assertion(object, data)
    } else {
      return nil
    }
  }

  private static func attestation(
    _ object: LooseCBOR, _ statement: LooseCBOR, _ data: [UInt8], _ isVerbose: Bool
  ) -> (JSONText, [String]) {
    let chain = (statement["x5c"]?.elements ?? []).prefix(8).map { $0.octets ?? [] }
    let certificates = chain.map { CertificateSummary($0) }
    var lines = ["attestation"]
    if case .text(let format)? = object["fmt"] { lines.append("  fmt  \(format)") }
    let facts = leafFacts(chain.first ?? []) + facts(data, isAttestation: true)
    lines += facts.map { "  \($0.name)  \($0.value)" }
    for (place, certificate) in certificates.enumerated() {
      lines.append("x5c[\(place)]")
      lines += certificate.lines(isVerbose: isVerbose).map { "  " + $0 }
    }
    var json: JSONText = [
      "verified": false, "format": "attestation", "authData": members(facts),
      "certificates": .array(certificates.map(\.json)),
    ]
    if let bytes = statement["receipt"]?.octets,
      let receipt = UnverifiedReceipt(bytes, isVerbose: isVerbose)
    {
      lines.append("receipt")
      lines += receipt.lines.map { "  " + $0 }
      json = json.appending("receipt", receipt.json)
    } else {
      lines.append("no receipt that can be read")
      json = json.appending("receipt", .null)
    }
    return (json, lines + ["none of this was checked"])
  }

  private static func assertion(_ object: LooseCBOR, _ data: [UInt8]) -> (JSONText, [String]) {
    let facts = facts(data, isAttestation: false)
    let signature = object["signature"]?.octets ?? []
    let json: JSONText = [
      "verified": false, "format": "assertion", "authData": members(facts),
      "signatureBytes": .integer(Int64(signature.count)),
    ]
    return (
      json,
      ["assertion"] + facts.map { "  \($0.name)  \($0.value)" }
        + ["signature of \(signature.count) octets, not checked"]
    )
  }

  /// Returns App ID and system as the leaf names them: texts under context tags of two undocumented
  /// extensions.
  private static func leafFacts(_ leaf: [UInt8]) -> [(name: String, value: String)] {
    let places: [(name: String, identifier: String, tag: Int)] = [
      ("appId", "1.2.840.113635.100.8.5", 1204),
      ("os.platform", "1.2.840.113635.100.8.7", 1026),
      ("os.version", "1.2.840.113635.100.8.7", 1400),
      ("os.build", "1.2.840.113635.100.8.7", 1403),
    ]
    return places.compactMap { place in
      let value = CertificateSummary.extensionValue(place.identifier, of: leaf)
      guard let value, let octets = LooseTags(value).octets(place.tag) else { return nil }
      return (place.name, String(decoding: octets, as: UTF8.self))
    }
  }

  /// Returns the values at the fixed offsets of authenticator data.
  private static func facts(
    _ data: [UInt8], isAttestation: Bool
  ) -> [(name: String, value: String)] {
    func part(_ from: Int, _ count: Int) -> [UInt8] {
      Array(data.dropFirst(from).prefix(count))
    }
    var facts = [
      ("rpIdHash", AttestDigest.hex(part(0, 32))), ("flags", AttestDigest.hex(part(32, 1))),
      ("counter", String(part(33, 4).reduce(0) { $0 << 8 | UInt32($1) })),
    ]
    if isAttestation {
      facts.append(("aaguid", String(decoding: part(37, 16).filter { $0 != 0 }, as: UTF8.self)))
      facts.append(
        ("keyId", String(decoding: Base64Text.encode(part(55, 32)), as: UTF8.self)))
    }
    let rest = Array(data.dropFirst(isAttestation ? 164 : 37))
    if case .map(let members)? = LooseCBOR.read(rest) {
      for member in members.prefix(16) {
        guard case .text(let name) = member.key else { continue }
        facts.append((name, shown(member.value)))
        if let category = category(name, member.value) { facts.append(("category", category)) }
      }
    }
    return facts
  }

  /// Returns the origin of the build, `4 (app-store)`, in either form of the extension.
  private static func category(_ name: String, _ value: LooseCBOR) -> String? {
    guard name == "apple_validation_category_01" || name == "validationCategory" else {
      return nil
    }
    let number: UInt64
    switch value {
    case .bytes(let octets) where octets.count == 4:
      number = octets.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    case .number(let value) where value >= 0: number = UInt64(value)
    default: return nil
    }
    let names: [UInt64: String] = [
      0: "invalid", 1: "operating-system", 2: "testflight", 3: "development", 4: "app-store",
      5: "enterprise", 6: "developer-id", 10: "other",
    ]
    return "\(number) (\(names[number] ?? "without a name"))"
  }

  private static func shown(_ value: LooseCBOR) -> String {
    switch value {
    case .text(let text): return text
    case .number(let number): return String(number)
    case .bytes(let bytes): return "hex " + AttestDigest.hex(bytes)
    default: return "?"
    }
  }

  private static func members(_ facts: [(name: String, value: String)]) -> JSONText {
    .object(facts.map { JSONText.Member($0.name, .string($0.value)) })
  }
}
