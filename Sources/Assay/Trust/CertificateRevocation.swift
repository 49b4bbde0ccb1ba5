/// The result of an OCSP check of one certificate (docs/spec/storekit-ocsp.md §1).
struct CertificateRevocation: Sendable {
  enum State: Sendable {
    case good
    /// `atMs` in milliseconds since 1970 UTC; `reason` of RFC 5280 §5.3.1, if one is given.
    case revoked(atMs: Int64, reason: Int64?)
    case unknown
    /// No usable response arrived.
    case undetermined

    var name: StaticString {
      switch self {
      case .good: return "good"
      case .revoked: return "revoked"
      case .unknown: return "unknown"
      case .undetermined: return "undetermined"
      }
    }
  }

  /// The verified response from which the state was taken. Times in milliseconds since 1970 UTC.
  struct VerifiedOCSPResponse: Sendable {
    let thisUpdateMs: Int64
    let nextUpdateMs: Int64
    /// The certificate whose key signed the response.
    let signer: Certificate
    /// The encoded response, for the host to store.
    let response: [UInt8]
  }

  /// The SHA-256 of the certificate in hex, under which the host stores the response.
  let certificate: Text
  let state: State
  /// The verified response; `nil` if the state is undetermined.
  let verified: VerifiedOCSPResponse?

  var isGood: Bool {
    if case .good = state { return true }
    return false
  }

  func write(_ writer: inout JSONWriter) {
    var revoked: (atMs: Int64, reason: Int64?)? = nil
    if case .revoked(let time, let reason) = state { revoked = (time, reason) }
    writer.beginObject()
    writer.member("sha256", certificate)
    writer.member("status", state.name)
    writer.member("thisUpdate", integer: verified?.thisUpdateMs)
    writer.member("nextUpdate", integer: verified?.nextUpdateMs)
    writer.member("responder", verified?.signer.fingerprint)
    writer.member("response", (verified?.response).map { Text(Base64.encodeStandard($0)) })
    writer.member("revokedAtMs", integer: revoked?.atMs)
    writer.member("reason", integer: revoked?.reason)
    writer.endObject()
  }
}
