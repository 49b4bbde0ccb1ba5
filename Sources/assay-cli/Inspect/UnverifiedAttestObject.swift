import AssayAuthority

/// An attestation or an assertion taken apart by lenient readers. Never given to
/// anything that decides.
struct UnverifiedAttestObject {
  /// `{"verified":false,"form":"attestation"|"assertion",…}`.
  let json: JSONText
  let lines: [String]

  /// nil when the text is neither, in CBOR or its base64.
  init?(_ text: [UInt8]) {
    guard let object = LooseCBOR.read(ProofKind.object(text)) else { return nil }
    if let data = object["authData"]?.octets, let statement = object["attStmt"] {
      (json, lines) = UnverifiedAttestObject.attestation(object, statement, data)
    } else if let data = object["authenticatorData"]?.octets {
      (json, lines) = UnverifiedAttestObject.assertion(object, data)
    } else {
      return nil
    }
  }

  private static func attestation(
    _ object: LooseCBOR, _ statement: LooseCBOR, _ data: [UInt8]
  ) -> (JSONText, [String]) {
    let certificates = (statement["x5c"]?.elements ?? []).prefix(8).map {
      CertificateSummary($0.octets ?? [])
    }
    var lines = ["attestation"]
    if case .text(let format)? = object["fmt"] { lines.append("  fmt  \(format)") }
    let facts = facts(data, isAttestation: true)
    lines += facts.map { "  \($0.name)  \($0.value)" }
    for (place, certificate) in certificates.enumerated() {
      lines.append("x5c[\(place)]")
      lines += certificate.lines.map { "  " + $0 }
    }
    var json: JSONText = [
      "verified": false, "form": "attestation", "authData": members(facts),
      "certificates": .array(certificates.map(\.json)),
    ]
    if let bytes = statement["receipt"]?.octets, let receipt = UnverifiedReceipt(bytes) {
      lines.append("receipt")
      lines += receipt.lines.map { "  " + $0 }
      json = json.appending("receipt", receipt.json)
    } else {
      lines.append("no receipt that can be read")
      json = json.appending("receipt", .null)
    }
    return (json, lines + ["nothing of this was checked"])
  }

  private static func assertion(_ object: LooseCBOR, _ data: [UInt8]) -> (JSONText, [String]) {
    let facts = facts(data, isAttestation: false)
    let signature = object["signature"]?.octets ?? []
    let json: JSONText = [
      "verified": false, "form": "assertion", "authData": members(facts),
      "signatureBytes": .integer(Int64(signature.count)),
    ]
    return (
      json,
      ["assertion"] + facts.map { "  \($0.name)  \($0.value)" }
        + ["signature of \(signature.count) octets, not checked"]
    )
  }

  /// What stands at the fixed places of authenticator data.
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
      }
    }
    return facts
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
