import AssayAuthority

/// Mints evidence about an attested key, good or forged in one respect.
struct AttestMint {
  static let kinds: Set<String> = ["attestation", "assertion", "attest-receipt"]

  let authority: AttestAuthority
  let device: AttestedDevice
  let options: AttestOptions
  /// The time of minting in milliseconds since 1970 UTC.
  let now: Int64

  /// Returns the evidence as the device, or Apple, would deliver it.
  ///
  /// - Parameter forge: the rule to break.
  func bytes(_ kind: String, forge: String?) throws -> [UInt8] {
    switch kind {
    case "attestation": return try attestation(forge)
    case "assertion": return try assertion(forge)
    default: return try receipt(forge)
    }
  }

  private func attestation(_ forge: String?) throws -> [UInt8] {
    var template = try authority.attestation(
      of: device, clientDataHash: options.clientDataHash, madeMs: now)
    if let forge {
      try forged(forge, AttestVariation<AttestationTemplate>.forgery(forge), &template)
    }
    return try template.signed()
  }

  private func assertion(_ forge: String?) throws -> [UInt8] {
    var template = AssertionTemplate(
      of: device, clientDataHash: options.clientDataHash, counter: options.counter)
    if let forge {
      try forged(forge, AttestVariation<AssertionTemplate>.forgery(forge), &template)
    }
    return try template.signed()
  }

  private func receipt(_ forge: String?) throws -> [UInt8] {
    let leaf = try authority.attestation(
      of: device, clientDataHash: options.clientDataHash, madeMs: now
    ).leafCertificate()
    let facts = AttestReceiptFacts(
      options.refreshed ? .receipt : .attest, device, certificate: leaf,
      clientHash: options.clientDataHash, created: now, risk: options.risk)
    var template = authority.receiptTemplate(facts)
    if let forge {
      try forged(forge, AttestVariation<AppReceiptTemplate>.forgery(forge), &template)
    }
    return try template.signed()
  }

  private func forged<Template>(
    _ rule: String, _ variation: AttestVariation<Template>?, _ template: inout Template
  ) throws {
    guard let variation else {
      throw Problem("nothing breaks \(rule) in this kind; see assay mint --list-forgeries")
    }
    Terminal.complain(
      "assay: forged \(variation.rule), \(variation.name): must give \(variation.status)")
    try variation.apply(to: &template, authority)
  }

  /// The forgeries, one entry for each rule and kind.
  static var forgeries: [(rule: String, status: String, name: String)] {
    first(AttestVariation<AttestationTemplate>.all, "attestation")
      + first(AttestVariation<AssertionTemplate>.all, "assertion")
      + first(AttestVariation<AppReceiptTemplate>.all, "attest-receipt")
  }

  private static func first<Template>(
    _ variations: [AttestVariation<Template>], _ kind: String
  ) -> [(rule: String, status: String, name: String)] {
    var seen: Set<String> = []
    return variations.compactMap { variation in
      guard variation.status != "ok", seen.insert(variation.rule).inserted else { return nil }
      return (variation.rule, variation.status, kind + ": " + variation.name)
    }
  }
}
