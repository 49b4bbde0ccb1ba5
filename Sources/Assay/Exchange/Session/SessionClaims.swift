/// What a session text says (SES-2): this account proved this key a short while ago.
struct SessionClaims {
  enum Verdict: Int {
    case allow, limited

    static let names: [StaticString] = ["allow", "limited"]
    var name: StaticString { Verdict.names[rawValue] }
  }

  /// Of the secret that signed.
  var secretId: Text
  var account: Text
  /// SHA-256 of the attested key, standard base64.
  var keyId: Text
  var appId: Text
  /// nil: the evidence was an assertion, which does not tell.
  var isProduction: Bool?
  var verdict: Verdict
  /// Of the receipt.
  var risk: Int64?
  /// SHA-256 in hex of what the caller must show again.
  var binding: Text?
  /// Milliseconds since 1970 UTC.
  var issuedMs: Int64
  var expiresMs: Int64

  static let risks: ClosedRange<Int64> = 0...999_999_999
  private static let names: [StaticString] = [
    "kid", "sub", "key", "app", "env", "verdict", "risk", "bind", "iat", "exp",
  ]
  private static let environments: [StaticString] = ["production", "development"]

  /// The payload, without white space, no member absent.
  func write(_ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("kid", secretId)
    writer.member("sub", account)
    writer.member("key", keyId)
    writer.member("app", appId)
    writer.name("env")
    writeEnvironment(&writer)
    writer.member("verdict", verdict.name)
    writer.member("risk", integer: risk)
    writer.member("bind", binding)
    writer.member("iat", integer: issuedMs)
    writer.member("exp", integer: expiresMs)
    writer.endObject()
  }

  func writeEnvironment(_ writer: inout JSONWriter) {
    if let isProduction {
      writer.string(AttestEnvironment.name(production: isProduction))
    } else {
      writer.null()
    }
  }

  static func binding(_ text: Text) -> Text { Text(Hex.encode(Digest.sha256.of(text.utf8))) }
}

extension SessionClaims {
  /// SES-11: exactly the members of SES-2.
  ///
  /// - Throws: `malformed.session.form`.
  init(_ payload: [UInt8]) throws(Refusal) {
    let root = try MemberNode.read(
      payload, .configuration, MemberRefusals(.malformedSessionForm, "SES-11")
    ).object(SessionClaims.names)
    func text(_ name: StaticString) throws(Refusal) -> Text {
      try root.required(name).text(1...511)
    }
    func moment(_ name: StaticString) throws(Refusal) -> Int64 {
      try root.required(name).integer(TimeWindow.start...TimeWindow.end &* 2)
    }
    secretId = try text("kid")
    account = try text("sub")
    keyId = try text("key")
    appId = try text("app")
    let environment = try root.required("env")
    isProduction =
      environment.value.isNull ? nil : try environment.choice(SessionClaims.environments) == 0
    verdict = Verdict(rawValue: try root.required("verdict").choice(Verdict.names)) ?? .limited
    let risk = try root.required("risk")
    self.risk = risk.value.isNull ? nil : try risk.integer(SessionClaims.risks)
    let bind = try root.required("bind")
    binding = bind.value.isNull ? nil : try bind.text(64...64)
    issuedMs = try moment("iat")
    expiresMs = try moment("exp")
  }
}
