/// Evidence of App Attest that differs from good evidence in one thing. Refused
/// variations are the forgeries that `assay mint --forge` offers; accepted ones
/// show where a rule ends.
public struct AttestVariation<Template: Sendable>: Sendable {
  public let rule: String
  public let name: String
  /// "ok", or the name of the refusal.
  public let status: String
  public let check: String?
  public let at: String?
  /// How the hint of the refusal begins.
  public let hint: String?
  /// What the document must report.
  public let facts: [(path: String, value: ExpectedFact)]
  let change: Change

  public typealias Change = @Sendable (inout Template, AttestAuthority) throws -> Void

  init(
    _ rule: String, _ name: String, _ status: String = "ok", check: String? = nil,
    at: String? = nil, hint: String? = nil,
    facts: [(path: String, value: ExpectedFact)] = [], _ change: @escaping Change
  ) {
    self.rule = rule
    self.name = name
    self.status = status
    self.check = check
    self.at = at
    self.hint = hint
    self.facts = facts
    self.change = change
  }

  /// One that needs its authority.
  static func one(
    _ rule: String, _ name: String, _ status: String = "ok", check: String? = nil,
    at: String? = nil, hint: String? = nil, facts: [(path: String, value: ExpectedFact)] = [],
    _ change: @escaping Change
  ) -> AttestVariation {
    AttestVariation(rule, name, status, check: check, at: at, hint: hint, facts: facts, change)
  }

  /// One that changes the template alone.
  static func one(
    _ rule: String, _ name: String, _ status: String = "ok", check: String? = nil,
    at: String? = nil, hint: String? = nil, facts: [(path: String, value: ExpectedFact)] = [],
    _ change: @escaping @Sendable (inout Template) throws -> Void
  ) -> AttestVariation {
    AttestVariation(rule, name, status, check: check, at: at, hint: hint, facts: facts) {
      template, _ in try change(&template)
    }
  }

  /// Makes the change.
  public func apply(to template: inout Template, _ authority: AttestAuthority) throws {
    try change(&template, authority)
  }
}

extension AttestVariation where Template == AttestationTemplate {
  /// Every variation of an attestation, in the order of the specification.
  public static let all: [AttestVariation] = cbor + statement + authData + binding + chain

  /// The first refused variation of a rule.
  public static func forgery(_ rule: String) -> AttestVariation? {
    all.first { $0.rule == rule && $0.status != "ok" }
  }
}

extension AttestVariation where Template == AssertionTemplate {
  /// Every variation of an assertion.
  public static let all: [AttestVariation] = cbor + assertions

  /// The first refused variation of a rule.
  public static func forgery(_ rule: String) -> AttestVariation? {
    all.first { $0.rule == rule && $0.status != "ok" }
  }
}

extension AttestVariation where Template == AppReceiptTemplate {
  /// Every variation of an App Attest receipt.
  public static let all: [AttestVariation] = container + fields + signers

  /// The first refused variation of a rule.
  public static func forgery(_ rule: String) -> AttestVariation? {
    all.first { $0.rule == rule && $0.status != "ok" }
  }
}

extension CertificateTemplate {
  /// What makes a certificate differ from a good one.
  typealias Change = @Sendable (inout CertificateTemplate) throws -> Void
}
