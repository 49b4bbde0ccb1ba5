import AssayAuthority

/// One notification that was sent, or should have been.
struct MockNotification: Sendable {
  let type: String
  let subtype: String?
  let uuid: String
  let environment: String
  /// Whose purchase it is about.
  let transactionId: String
  /// Milliseconds since 1970.
  let madeMs: Int64
  /// `signedPayload`.
  let jws: [UInt8]
  /// A test notification's own.
  var token: String?
  var attempts: [Attempt] = []

  struct Attempt: Sendable {
    let dateMs: Int64
    /// HTTP status; 0: no answer.
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
