@_spi(AssaySwift) import Assay

/// The refusal of a call: no input of the call may be trusted. Every throwing call of a verifier
/// throws this type and no other.
///
///     do {
///       let transaction = try verifier.verifyTransaction(jws)
///     } catch {
///       logger.notice("\(error)")                  // rule, location and hint on one line
///       return Response(status: error.httpStatus)
///     }
public struct AssayError: Error, Sendable, CustomStringConvertible {
  /// The status, "rejected.chain.untrusted-root"; branch on its `family`.
  public let status: Status
  /// The reason in words, without secrets and personal identifiers.
  public let message: String
  /// The check that failed, "chain.root".
  public let check: String?
  /// The rule of the specification that demands the check, "JWS-20".
  public let rule: String?
  /// The location of the fault: a member path, "x5c[2]", a byte offset.
  public let at: String?
  /// The advice to the operator.
  public let hint: String?
  /// Whether and when another attempt can succeed.
  public let retryClass: RetryClass
  /// The whole document with all checks; `nil` if the call has none.
  public let document: Document?

  /// Reads the refusal of a document.
  init(_ document: Document) {
    status = document.status
    message = document.text("error.message") ?? ""
    check = document.text("error.check")
    rule = document.text("error.rule")
    at = document.text("error.at")
    hint = document.text("error.hint")
    retryClass = document.text("error.retryClass").map(RetryClass.init(rawValue:)) ?? .never
    self.document = document
  }

  private init(_ status: Status, _ message: String, at place: String?, _ document: Document?) {
    self.status = status
    self.message = message
    check = nil
    rule = nil
    self.at = place
    hint = nil
    retryClass = .never
    self.document = document
  }

  /// Returns the refusal for a document of a wrong form, which is a bug.
  static func unreadable(_ document: Document, at place: String? = nil) -> AssayError {
    AssayError(
      .internalAssayBug, "a document of the library is not of its form", at: place, document)
  }

  /// Returns the refusal of a reply to an exchange that has ended.
  static func over(_ document: Document) -> AssayError {
    AssayError(.misuseExchangeOrder, "the exchange is over", at: nil, document)
  }

  /// Returns a refusal that no document states.
  static func of(_ status: Status, _ message: String, at place: String?) -> AssayError {
    AssayError(status, message, at: place, nil)
  }

  /// The family, the only part of the status on which code should branch.
  public var family: Status.Family { status.family }

  /// The HTTP status for a server's response to its own client.
  public var httpStatus: Int { status.httpStatus }

  /// The status, message, rule, location and hint on one line.
  public var description: String {
    var line = status.description
    if !message.isEmpty { line += ": " + message }
    let found = [rule, at.map { "at " + $0 }].compactMap { $0 }.joined(separator: ", ")
    if !found.isEmpty { line += " (" + found + ")" }
    if let hint, !hint.isEmpty { line += "; hint: " + hint }
    return line
  }
}

extension AssayError {
  /// The facts about a device that a refused DeviceCheck response contains all the same, such as
  /// who caused the refusal; an observation for `Verifier.assessRisk`.
  public var deviceCheck: DeviceCheck? {
    guard let document, document.text("kind") == "exchange",
      let members = try? Members.of(document, "exchange", "deviceCheck")
    else { return nil }
    return try? DeviceCheck(members)
  }
}
