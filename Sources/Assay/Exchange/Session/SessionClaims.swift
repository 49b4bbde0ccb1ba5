/// The members of a session token (SES-2): this account proved this device key recently.
struct SessionClaims {
  enum Verdict: Int {
    case allow, limited

    static let names: [StaticString] = ["allow", "limited"]
    var name: StaticString { Verdict.names[rawValue] }
  }

  /// The id of the secret that signed the token.
  var secretId: Text
  var account: Text
  /// The SHA-256 of the attested public key, in standard base64.
  var keyId: Text
  var appId: Text
  /// Whether the key is of App Attest's production environment; `nil` if the evidence was an
  /// assertion, which does not name the environment.
  var isProduction: Bool?
  var verdict: Verdict
  /// The risk metric of the App Attest receipt.
  var risk: Int64?
  /// The SHA-256, in lower-case hex, of the text that the caller must present again.
  var binding: Text?
  /// Both times are milliseconds since 1970 UTC.
  var issuedAtMs: Int64
  var expiresAtMs: Int64

  static let risks: ClosedRange<Int64> = 0...999_999_999
  private static let names: [StaticString] = [
    "kid", "sub", "key", "app", "env", "verdict", "risk", "bind", "iat", "exp",
  ]
  private static let environments: [StaticString] = ["production", "development"]

  /// Writes the payload, without white space and with every member.
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
    writer.member("iat", integer: issuedAtMs)
    writer.member("exp", integer: expiresAtMs)
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
  /// Reads a payload, which must have exactly the members of SES-2 (SES-11).
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
    issuedAtMs = try moment("iat")
    expiresAtMs = try moment("exp")
  }
}
