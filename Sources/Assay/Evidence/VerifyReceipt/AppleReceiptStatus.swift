/// The `status` of a response from Apple's verifyReceipt endpoint (docs/spec/receipts-triage.md
/// §2.2).
///
/// Only responses with status 0 or 21006 have facts; the other members of a response with any
/// other status are ignored (VRR-6).
enum AppleReceiptStatus: Sendable, Equatable {
  /// The receipt is valid (0).
  case valid
  /// The receipt is valid, and its subscription has expired or was cancelled (21006).
  case expired

  /// The number as Apple sends it.
  var code: Int64 { self == .valid ? 0 : 21006 }

  /// Whether a response with this status has facts (VRR-6).
  static func hasFacts(_ code: Int64) -> Bool {
    code == valid.code || code == expired.code
  }

  /// Accepts a status that has facts, and refuses all others, each with a retry class.
  ///
  /// - answer: the whole response, for `is-retryable`.
  /// - accepted: the environments of the configuration (VRR-3).
  init(
    _ code: Int64, in answer: JSONValue, accepted: [Environment]
  ) throws(Refusal) {
    switch code {
    case 0: self = .valid
    case 21006: self = .expired
    case 21000, 21001: throw Self.refusal(.rejectedVerifyReceiptRequest, "VRR-1", code)
    case 21002: throw Self.refusal(.rejectedVerifyReceiptMalformed, "VRR-7", code)
    case 21003: throw Self.refusal(.rejectedVerifyReceiptNotAuthentic, "VRR-6", code)
    case 21004: throw Self.refusal(.rejectedVerifyReceiptSecret, "VRR-1", code)
    case 21005, 21009: throw Self.refusal(.unavailableVerifyReceiptNoResponse, "VRR-4", code)
    case 21007: throw Self.otherEnvironment(.sandbox, code, accepted)
    case 21008: throw Self.otherEnvironment(.production, code, accepted)
    case 21010: throw Self.refusal(.rejectedVerifyReceiptAccount, "VRR-6", code)
    case 21100...21199:
      let status: Status =
        try Self.isRetryable(answer)
        ? .unavailableVerifyReceiptInternal : .rejectedVerifyReceiptInternal
      throw Self.refusal(status, "VRR-5", code)
    default: throw Self.refusal(.unsupportedVerifyReceiptStatus, "VRR-6", code)
    }
  }

  /// Whether Apple may succeed when called again: `is-retryable`, with a hyphen; absent means no
  /// (VRR-5).
  private static func isRetryable(_ answer: JSONValue) throws(Refusal) -> Bool {
    guard let value = answer.present("is-retryable") else { return false }
    guard let flag = ResponseValue.flag(value) else {
      throw Refusal(.malformedVerifyReceiptField, "VRR-5", at: "is-retryable")
    }
    return flag
  }

  /// Returns the refusal of a receipt from the other environment. If that environment is
  /// accepted, the retry class allows one call of its endpoint (VRR-3).
  private static func otherEnvironment(
    _ environment: Environment, _ code: Int64, _ accepted: [Environment]
  ) -> Refusal {
    let isAccepted = accepted.contains(environment)
    let name = Text(stringLiteral: environment.name).string
    return Refusal(
      .rejectedEnvironmentNotAccepted, "VRR-3", at: "status",
      detail: detail(code) + ", a receipt of " + name
        + (isAccepted ? ": ask that endpoint, once" : ""),
      retryClass: isAccepted ? "other-environment" : nil)
  }

  private static func refusal(_ status: Status, _ rule: StaticString, _ code: Int64) -> Refusal {
    Refusal(status, rule, at: "status", detail: detail(code))
  }

  private static func detail(_ code: Int64) -> String { "Apple's status " + String(code) }
}
