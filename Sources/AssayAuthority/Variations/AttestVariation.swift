/// App Attest evidence that differs from genuine evidence in one respect. Refused variations are
/// the forgeries of `assay mint --forge`; accepted ones mark the limit of a rule.
public struct AttestVariation<Template: Sendable>: Sendable {
  public let rule: String
  public let name: String
  /// The expected status: "ok", or the name of the refusal.
  public let status: String
  public let check: String?
  public let at: String?
  /// The beginning of the refusal's hint.
  public let hint: String?
  /// The facts that the document must contain.
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

  /// Returns a variation whose change needs the authority.
  static func one(
    _ rule: String, _ name: String, _ status: String = "ok", check: String? = nil,
    at: String? = nil, hint: String? = nil, facts: [(path: String, value: ExpectedFact)] = [],
    _ change: @escaping Change
  ) -> AttestVariation {
    AttestVariation(rule, name, status, check: check, at: at, hint: hint, facts: facts, change)
  }

  /// Returns a variation that changes only the template.
  static func one(
    _ rule: String, _ name: String, _ status: String = "ok", check: String? = nil,
    at: String? = nil, hint: String? = nil, facts: [(path: String, value: ExpectedFact)] = [],
    _ change: @escaping @Sendable (inout Template) throws -> Void
  ) -> AttestVariation {
    AttestVariation(rule, name, status, check: check, at: at, hint: hint, facts: facts) {
      template, _ in try change(&template)
    }
  }

  /// Applies the change.
  public func apply(to template: inout Template, _ authority: AttestAuthority) throws {
    try change(&template, authority)
  }
}

extension AttestVariation where Template == AttestationTemplate {
  /// The variations of an attestation, in the order of the specification.
  public static let all: [AttestVariation] = cbor + statement + authData + binding + chain

  /// Returns the first refused variation of a rule.
  public static func forgery(_ rule: String) -> AttestVariation? {
    all.first { $0.rule == rule && $0.status != "ok" }
  }
}

extension AttestVariation where Template == AssertionTemplate {
  /// The variations of an assertion.
  public static let all: [AttestVariation] = cbor + assertions

  /// Returns the first refused variation of a rule.
  public static func forgery(_ rule: String) -> AttestVariation? {
    all.first { $0.rule == rule && $0.status != "ok" }
  }
}

extension AttestVariation where Template == AppReceiptTemplate {
  /// The variations of an App Attest receipt.
  public static let all: [AttestVariation] = container + fields + signers

  /// Returns the first refused variation of a rule.
  public static func forgery(_ rule: String) -> AttestVariation? {
    all.first { $0.rule == rule && $0.status != "ok" }
  }
}

extension CertificateTemplate {
  /// A change of a genuine certificate.
  typealias Change = @Sendable (inout CertificateTemplate) throws -> Void
}
