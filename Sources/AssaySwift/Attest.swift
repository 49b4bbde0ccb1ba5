@_spi(AssaySwift) import Assay

/// The data that a device key signed, or their hash.
public struct ClientData: Sendable {
  let input: ClientDataInput

  /// Takes the client data byte for byte; the library hashes them.
  public static func data(_ bytes: some Sequence<UInt8>) -> ClientData {
    ClientData(input: .data(Array(bytes)))
  }

  /// Takes the client data as text and hashes its UTF-8 bytes.
  public static func data(_ text: String) -> ClientData { data(text.utf8) }

  /// Takes the hash of client data, 16 to 64 bytes, which is used unchanged.
  public static func hash(_ bytes: some Sequence<UInt8>) -> ClientData {
    ClientData(input: .hash(Array(bytes)))
  }
}

extension Verifier {
  /// Verifies an App Attest attestation and its embedded receipt: the key is in the Secure
  /// Enclave of a genuine device, and one of this verifier's apps made it.
  ///
  /// Needs an App ID: `teamId` of an app, or `attest.appIds`.
  ///
  /// - Parameters:
  ///   - object: the bytes that `attestKey` returned to the app.
  ///   - keyId: the key identifier as base64, base64url or hex.
  ///   - clientData: the data that the app hashed for `attestKey`.
  ///   - now: the time at which the attestation must be valid.
  /// - Throws: family `rejected` if the attestation is not genuine, or not of this key, client
  ///   data, app or environment: `hint` names the common mistake that would explain it;
  ///   `malformed`, `unsupported` or `tooLarge` if the input is not an attestation; `config`
  ///   without an App ID; `misuse` for client data of the wrong length.
  public func verifyAttestation(
    _ object: some Sequence<UInt8>, keyId: String, clientData: ClientData,
    at now: Timestamp = .now
  ) throws(AssayError) -> Attestation {
    try Verifier.accepted(
      library.verifyAttestation(
        Array(object), keyId: Array(keyId.utf8), clientData: clientData.input,
        nowMs: now.milliseconds), "attestation")
  }

  /// Verifies an App Attest assertion: the attested key signed this client data, and its counter
  /// has grown.
  ///
  /// Store the new `counter` only if the stored one is still smaller: the library compares, but
  /// only the database can decide between two concurrent requests.
  ///
  /// - Parameters:
  ///   - object: the bytes that `generateAssertion` returned to the app.
  ///   - publicKey: the stored public key: `publicKey.x963` or `.spki` of the attestation.
  ///   - counter: the last counter stored for this key, 0 at first.
  ///   - clientData: the data that the app hashed for `generateAssertion`.
  ///   - now: the current time.
  /// - Throws: family `rejected` if this key did not sign this client data, if the assertion is
  ///   of another app, or if its counter has not grown (`rejected.assertion.counter`: a replay,
  ///   or requests out of order); `misuse` for an invalid public key.
  public func verifyAssertion(
    _ object: some Sequence<UInt8>, publicKey: some Sequence<UInt8>, counter: UInt32,
    clientData: ClientData, at now: Timestamp = .now
  ) throws(AssayError) -> Assertion {
    try Verifier.accepted(
      library.verifyAssertion(
        Array(object), publicKey: Array(publicKey), counter: counter,
        clientData: clientData.input, nowMs: now.milliseconds), "assertion")
  }

  /// Verifies an App Attest receipt as base64, from an attestation or from Apple's server.
  ///
  /// A receipt that was stored for longer than `attest.maxAgeMs` needs a verifier with
  /// `attest.time` "stored".
  ///
  /// - Parameters:
  ///   - receipt: the receipt as it was stored, or as Apple returned it.
  ///   - publicKey: the key that the receipt must be about, 65 bytes of its point or 91 of its
  ///     SubjectPublicKeyInfo; without it `bound` is false.
  ///   - now: the time at which the receipt must be valid.
  /// - Throws: family `rejected` if the receipt is not genuine, not of this verifier's apps and
  ///   environments, of another key, or too old.
  public func verifyAttestReceipt(
    _ receipt: String, publicKey: [UInt8]? = nil, at now: Timestamp = .now
  ) throws(AssayError) -> AttestReceipt {
    try verifyAttestReceipt(receipt.utf8, publicKey: publicKey, at: now)
  }

  /// Verifies an App Attest receipt as bytes, raw or base64.
  public func verifyAttestReceipt(
    _ receipt: some Sequence<UInt8>, publicKey: [UInt8]? = nil, at now: Timestamp = .now
  ) throws(AssayError) -> AttestReceipt {
    try self.receipt(receipt, .attest, "attestReceipt", publicKey, now)
  }

  /// Returns the normal form of an App Attest key identifier: standard base64, as `keyId` of an
  /// attestation has it. Look keys up only by this form.
  ///
  /// - Parameters:
  ///   - text: the identifier that the app sent: base64, base64url without padding, or hex.
  ///   - now: the current time.
  /// - Throws: `malformed.attest.key-id` for any other text.
  public func normalizeKeyId(
    _ text: String, at now: Timestamp = .now
  ) throws(AssayError) -> String {
    try textAtOnce(["operation": "normalize-key-id", "keyId": JSON(text)], "keyId", now)
  }
}

// MARK: DeviceCheck and risk

extension Verifier {
  /// Reads a response of Apple's DeviceCheck server that you fetched.
  ///
  /// Needs the block `deviceCheck`.
  ///
  /// - Parameters:
  ///   - body: the whole body of the HTTP response.
  ///   - httpStatus: the HTTP status; 0 if there was no response.
  ///   - call: the DeviceCheck call that was made.
  ///   - offer: whether to check if the device has used an offer that each device gets once, by
  ///     the configured bit whose name begins with "promo"; only with `.query`.
  ///   - now: the time at which the bits are evaluated.
  /// - Throws: family `rejected` if Apple refuses the device token or the request and, with
  ///   `offer`, if the offer was used (`rejected.promo.device-used`); `unavailable` for an
  ///   unusable response: the device is then neither clean nor used, and `deviceCheck` of the
  ///   refusal is the observation for `assessRisk`. `config` without the block; `misuse` for
  ///   another call, a status above 599, or `offer` with a call other than a query.
  public func readDeviceCheckResponse(
    _ body: some Sequence<UInt8>, httpStatus: Int, call: DeviceCall, offer: Bool = false,
    at now: Timestamp = .now
  ) throws(AssayError) -> DeviceCheck {
    let document = start(
      [
        "operation": "read-device-check-response", "call": JSON(call.rawValue),
        "status": JSON(httpStatus),
        "body": ["base64": JSON(Base64Text.encode(body))], "offer": JSON(offer),
      ], now)
    guard document.status == .ok else { throw AssayError(document) }
    return try DeviceCheck(try Members.of(document, "exchange", "deviceCheck"))
  }

  /// Reads a DeviceCheck response whose body is text.
  public func readDeviceCheckResponse(
    _ body: String, httpStatus: Int, call: DeviceCall, offer: Bool = false,
    at now: Timestamp = .now
  ) throws(AssayError) -> DeviceCheck {
    try readDeviceCheckResponse(
      body.utf8, httpStatus: httpStatus, call: call, offer: offer, at: now)
  }

  /// Returns a device token in the form that Apple accepts: standard base64.
  ///
  /// The token is not verified: only Apple can do that.
  ///
  /// - Parameters:
  ///   - token: base64 of the bytes that `generateToken` returned to the app.
  ///   - now: the current time.
  /// - Throws: family `malformed` for a text that is not base64, or an empty token; `tooLarge`
  ///   for more than 8,192 bytes.
  public func normalizeDeviceToken(
    _ token: String, at now: Timestamp = .now
  ) throws(AssayError) -> String {
    try textAtOnce(
      ["operation": "normalize-device-token", "deviceToken": JSON(token)], "deviceToken", now)
  }

  /// Assesses the risk of a request by observations of it, whether or not the device can attest.
  ///
  ///     try verifier.assessRisk(["request": "paid", "attestation": "unsupported"])
  ///
  /// Every verdict is a result and not a refusal, `deny` included.
  ///
  /// - Parameters:
  ///   - observations: `request`, `attestation`, and the other observations (docs/risk.md).
  ///     `deviceCheck` may be `JSON(text: deviceCheck.raw)`.
  ///   - now: the time of the request.
  /// - Throws: `malformed.risk.input`, with the member in `at`, for an unknown member or
  ///   value: a misspelt one must not lower the risk.
  public func assessRisk(
    _ observations: JSON, at now: Timestamp = .now
  ) throws(AssayError) -> Risk {
    let document = start(["operation": "assess-risk", "observations": observations], now)
    switch document.status {
    case .ok, .rejectedRiskLimited, .rejectedRiskStepUp, .rejectedRiskDeny:
      return try Risk(try Members.of(document, "risk"))
    default: throw AssayError(document)
    }
  }

  /// Returns the document of an operation without steps.
  private func start(_ request: JSON, _ now: Timestamp) -> Document {
    library.call(Array(request.text.utf8), nowMs: now.milliseconds)
  }

  private func textAtOnce(
    _ request: JSON, _ member: StaticString, _ now: Timestamp
  ) throws(AssayError) -> String {
    let document = start(request, now)
    guard document.status == .ok else { throw AssayError(document) }
    let found = try Members.of(document, "exchange")
    return try found.needed(found.text(member), member)
  }
}

extension Risk {
  /// The status of the verdict: "ok", "rejected.risk.limited" … Its `httpStatus` is for the
  /// response to the client: 200, 401 for step-up, 403 for deny, 429 for limited.
  public var status: Status { document.status }

  /// Whether the verdict is allow.
  public var isAllowed: Bool { status == .ok }
}

/// Encodes standard base64, for the JSON of a request.
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
