/// What Apple's responder says about one certificate (docs/spec/storekit-ocsp.md §1).
struct CertificateRevocation: Sendable {
  enum State: Sendable {
    case good
    /// With the reason of RFC 5280 §5.3.1, where one is given.
    case revoked(atMs: Int64, reason: Int64?)
    case unknown
    /// No usable answer came.
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

  /// What a response says, and whose word it is.
  struct Word: Sendable {
    let thisUpdateMs: Int64
    let nextUpdateMs: Int64
    /// The certificate whose key signed it.
    let signer: Certificate
    /// The whole response, for the host to keep.
    let response: [UInt8]
  }

  /// SHA-256 of the certificate, in hex: the key under which the response is kept.
  let certificate: Text
  let state: State
  /// nil: undetermined.
  let word: Word?

  var isGood: Bool {
    if case .good = state { return true }
    return false
  }

  var isUndetermined: Bool {
    if case .undetermined = state { return true }
    return false
  }

  func write(_ writer: inout JSONWriter) {
    var revoked: (atMs: Int64, reason: Int64?)? = nil
    if case .revoked(let time, let reason) = state { revoked = (time, reason) }
    writer.beginObject()
    writer.member("sha256", certificate)
    writer.member("status", state.name)
    writer.member("thisUpdate", integer: word?.thisUpdateMs)
    writer.member("nextUpdate", integer: word?.nextUpdateMs)
    writer.member("responder", word?.signer.fingerprint)
    writer.member("response", (word?.response).map { Text(Base64.encodeStandard($0)) })
    writer.member("revokedAt", integer: revoked?.atMs)
    writer.member("reason", integer: revoked?.reason)
    writer.endObject()
  }
}
