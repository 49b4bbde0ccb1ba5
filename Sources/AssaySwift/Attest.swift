@_spi(AssaySwift) import Assay

/// What a device signed, or the hash of it.
public struct ClientData: Sendable {
  let input: ClientDataInput

  /// The client data byte for byte; they are hashed by the library.
  public static func data(_ bytes: some Sequence<UInt8>) -> ClientData {
    ClientData(input: .data(Array(bytes)))
  }

  /// The same as text: the bytes of its UTF-8.
  public static func data(_ text: String) -> ClientData { data(text.utf8) }

  /// The hash of client data, used as it stands: 16 to 64 bytes.
  public static func hash(_ bytes: some Sequence<UInt8>) -> ClientData {
    ClientData(input: .hash(Array(bytes)))
  }
}

extension Verifier {
  /// Verifies an App Attest attestation and the receipt inside it: a key in the Secure
  /// Enclave of a genuine device, made by one of this verifier's apps.
  ///
  /// Needs an App ID: `teamId` of an app, or `attest.appIds`.
  ///
  /// - Parameters:
  ///   - object: what `attestKey` returned to the app, its bytes.
  ///   - keyId: the key identifier, as base64, base64url or hex.
  ///   - clientData: what the app hashed for `attestKey`.
  ///   - now: the time to judge by.
  /// - Throws: family `rejected` when it is not genuine, or not of this key, client data,
  ///   app or environment: `hint` names the common mistake that would explain it;
  ///   `malformed`, `unsupported` or `tooLarge` when it is not an attestation; `config` without
  ///   an App ID; `misuse` for client data of the wrong length.
  public func attestation(
    _ object: some Sequence<UInt8>, keyId: String, clientData: ClientData,
    at now: Timestamp = .now
  ) throws(Refusal) -> Attestation {
    try Verifier.accepted(
      library.verifyAttestation(
        Array(object), keyId: Array(keyId.utf8), clientData: clientData.input,
        nowMs: now.milliseconds), "attestation")
  }

  /// Verifies an App Attest assertion: the attested key signed this client data, later
  /// than the last time.
  ///
  /// Store the new `counter` only if the stored one is still smaller: the library
  /// compares, the store decides between two requests at once.
  ///
  /// - Parameters:
  ///   - object: what `generateAssertion` returned to the app, its bytes.
  ///   - publicKey: that of the key record: `publicKey.x963` or `.spki` of its attestation.
  ///   - counter: the last one stored for this key, 0 at first.
  ///   - clientData: what the app hashed for `generateAssertion`.
  ///   - now: the time to judge by.
  /// - Throws: family `rejected` when it is not signed by this key over this client data,
  ///   of another app, or not newer (`rejected.assertion.counter`: a replay, or requests
  ///   out of order); `misuse` for an invalid public key.
  public func assertion(
    _ object: some Sequence<UInt8>, publicKey: some Sequence<UInt8>, counter: UInt32,
    clientData: ClientData, at now: Timestamp = .now
  ) throws(Refusal) -> Assertion {
    try Verifier.accepted(
      library.verifyAssertion(
        Array(object), publicKey: Array(publicKey), counter: counter,
        clientData: clientData.input, nowMs: now.milliseconds), "assertion")
  }

  /// Verifies an App Attest receipt, from an attestation or from Apple, as base64.
  ///
  /// A receipt that was kept longer than `attest.maxAgeMs` needs a verifier with
  /// `attest.time` "stored".
  ///
  /// - Parameters:
  ///   - receipt: as it was stored, or as Apple answered.
  ///   - publicKey: the key that it must be about; without it `bound` is false.
  ///   - now: the time to judge by.
  /// - Throws: family `rejected` when it is not genuine, not of this verifier's apps and
  ///   environments, of another key, or too old.
  public func attestReceipt(
    _ receipt: String, publicKey: [UInt8]? = nil, at now: Timestamp = .now
  ) throws(Refusal) -> AttestReceipt {
    try attestReceipt(receipt.utf8, publicKey: publicKey, at: now)
  }

  /// The same of bytes, raw or base64.
  public func attestReceipt(
    _ receipt: some Sequence<UInt8>, publicKey: [UInt8]? = nil, at now: Timestamp = .now
  ) throws(Refusal) -> AttestReceipt {
    try self.receipt(receipt, .attest, "attestReceipt", publicKey, now)
  }

  /// The normal form of an App Attest key identifier: standard base64, as `keyId` of an
  /// attestation has it. Look keys up by this form alone.
  ///
  /// - Parameters:
  ///   - text: what the app sent: base64, base64url without padding, or hex.
  ///   - now: the time to judge by.
  /// - Throws: `malformed.attest.key-id` for any other text.
  public func keyId(_ text: String, at now: Timestamp = .now) throws(Refusal) -> String {
    try textAtOnce(["kind": "attest.key-id", "keyId": JSON(text)], "keyId", now)
  }
}

// MARK: DeviceCheck and risk

extension Verifier {
  /// Reads an answer from Apple's DeviceCheck endpoint, which you fetched.
  ///
  /// Needs the block `deviceCheck`.
  ///
  /// - Parameters:
  ///   - body: the whole body of the HTTP answer.
  ///   - httpStatus: its status; 0: there was no answer.
  ///   - call: which path was asked.
  ///   - offer: whether to say if an offer that a device gets once was used here, by the
  ///     configured bit whose name begins with "promo"; with `.query`.
  ///   - now: the time to judge by.
  /// - Throws: family `rejected` when Apple refuses the device token or our request and,
  ///   with `offer`, when it was used (`rejected.promo.device-used`); `unavailable` for an
  ///   answer that says nothing: it is neither a clean device nor a used one. What `risk`
  ///   needs is then `deviceCheck` of the refusal. `config` without the block, `misuse` for
  ///   another call, a status beyond 599, or `offer` with a call other than a query.
  public func deviceCheck(
    _ body: some Sequence<UInt8>, httpStatus: Int, call: DeviceCall, offer: Bool = false,
    at now: Timestamp = .now
  ) throws(Refusal) -> DeviceCheck {
    let document = start(
      [
        "kind": "deviceCheck.read", "call": JSON(call.rawValue), "status": JSON(httpStatus),
        "body": ["base64": JSON(Base64Text.encode(body))], "offer": JSON(offer),
      ], now)
    guard document.status == .ok else { throw Refusal(document) }
    return try DeviceCheck(try Members.of(document, "exchange", "deviceCheck"))
  }

  /// The same of a body that is text.
  public func deviceCheck(
    _ body: String, httpStatus: Int, call: DeviceCall, offer: Bool = false,
    at now: Timestamp = .now
  ) throws(Refusal) -> DeviceCheck {
    try deviceCheck(body.utf8, httpStatus: httpStatus, call: call, offer: offer, at: now)
  }

  /// The form in which Apple takes a device token: standard base64.
  ///
  /// It says nothing about the token's worth: only Apple can.
  ///
  /// - Parameters:
  ///   - token: base64 of what `generateToken` returned to the app.
  ///   - now: the time to judge by.
  /// - Throws: family `malformed` for a text that is not base64, or an empty token;
  ///   `tooLarge` for more than 8,192 bytes.
  public func deviceToken(_ token: String, at now: Timestamp = .now) throws(Refusal) -> String {
    try textAtOnce(
      ["kind": "deviceCheck.token", "deviceToken": JSON(token)], "deviceToken", now)
  }

  /// What to do with a request, by what was observed about it: for devices that cannot
  /// attest, and for those that can.
  ///
  ///     try verifier.risk(["request": "paid", "attestation": "unsupported"])
  ///
  /// A verdict other than allow is an answer, not a refusal.
  ///
  /// - Parameters:
  ///   - observations: `request`, `attestation`, and what else is known
  ///     (docs/risk.md). `deviceCheck` may be `JSON(text: deviceCheck.raw)`.
  ///   - now: the time to judge by.
  /// - Throws: `malformed.risk.input`, with the member in `place`, for an unknown member
  ///   or value: a misspelt one must not lower the risk.
  public func risk(_ observations: JSON, at now: Timestamp = .now) throws(Refusal) -> Risk {
    let document = start(["kind": "risk.assess", "observations": observations], now)
    switch document.status {
    case .ok, .rejectedRiskLimited, .rejectedRiskStepUp, .rejectedRiskDeny:
      return try Risk(try Members.of(document, "risk"))
    default: throw Refusal(document)
    }
  }

  /// The document of a request that needs nothing carried out.
  private func start(_ request: JSON, _ now: Timestamp) -> Document {
    library.call(Array(request.text.utf8), nowMs: now.milliseconds)
  }

  private func textAtOnce(
    _ request: JSON, _ member: StaticString, _ now: Timestamp
  ) throws(Refusal) -> String {
    let document = start(request, now)
    guard document.status == .ok else { throw Refusal(document) }
    let found = try Members.of(document, "exchange")
    return try found.needed(found.text(member), member)
  }
}

extension Risk {
  /// "ok", "rejected.risk.limited" … Its `httpStatus` is what to answer the client: 200,
  /// 401 step-up, 403 deny, 429 limited.
  public var status: Status { document.status }

  /// Whether the verdict is allow. False for any other.
  public var isAllowed: Bool { status == .ok }
}

/// Standard base64, for the JSON of a request.
enum Base64Text {
  private static let digits = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  static func encode(_ bytes: some Sequence<UInt8>) -> String {
    var text: [UInt8] = []
    var bits: UInt32 = 0
    var waiting: UInt32 = 0
    for byte in bytes {
      bits = bits << 8 | UInt32(byte)
      waiting += 8
      while waiting >= 6 {
        waiting -= 6
        text.append(digits[Int(bits >> waiting & 63)])
      }
    }
    if waiting > 0 { text.append(digits[Int(bits << (6 - waiting) & 63)]) }
    while text.count % 4 != 0 { text.append(0x3d) }
    return String(decoding: text, as: UTF8.self)
  }
}
