import AssayAuthority

/// A notification that was sent, or should have been.
struct MockNotification: Sendable {
  let type: String
  let subtype: String?
  let uuid: String
  let environment: String
  /// The transaction that it is about.
  let transactionId: String
  /// The time of its creation in milliseconds since 1970 UTC.
  let madeMs: Int64
  /// The value of `signedPayload`.
  let jws: [UInt8]
  /// The token of a test notification; `nil` for others.
  var token: String?
  var attempts: [Attempt] = []

  struct Attempt: Sendable {
    let dateMs: Int64
    /// The HTTP status; 0 if no response came.
    let status: Int
    var result: String {
      switch status {
      case 200..<207: "SUCCESS"
      case 0: "NO_RESPONSE"
      default: "UNSUCCESSFUL_HTTP_RESPONSE_CODE"
      }
    }
    var json: JSONText {
      ["attemptDate": .integer(dateMs), "sendAttemptResult": .string(result)]
    }
  }

  var hasArrived: Bool { attempts.contains { $0.result == "SUCCESS" } }

  var json: JSONText {
    [
      "signedPayload": .string(utf8: jws), "sendAttempts": .array(attempts.map(\.json)),
    ]
  }
}
