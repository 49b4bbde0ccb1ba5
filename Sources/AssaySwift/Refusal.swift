@_spi(AssaySwift) import Assay

/// A refusal: nothing that the call was given may be trusted. Every call of a verifier
/// throws this and nothing else.
///
///     do {
///       let transaction = try verifier.transaction(jws)
///     } catch {
///       logger.notice("\(error)")                  // rule, place and hint on one line
///       return Response(status: error.httpStatus)
///     }
public struct Refusal: Error, Sendable, CustomStringConvertible {
  /// "rejected.chain.untrusted-root"; branch on its `family`.
  public let status: Status
  /// What is wrong; holds no secret and no personal identifier.
  public let message: String
  /// The check that failed, "chain.root".
  public let check: String?
  /// The rule of the specification, "JWS-20".
  public let rule: String?
  /// A member path, "x5c[2]", a byte offset.
  public let place: String?
  /// What the operator should do.
  public let hint: String?
  /// Whether trying again can help.
  public let retryClass: RetryClass
  /// The whole answer, with every check made; nil where the call has none.
  public let document: Document?

  /// The refusal that a document says.
  init(_ document: Document) {
    status = document.status
    message = document.text("error.message") ?? ""
    check = document.text("error.check")
    rule = document.text("error.rule")
    place = document.text("error.at")
    hint = document.text("error.hint")
    retryClass = document.text("error.retryClass").map(RetryClass.init(rawValue:)) ?? .never
    self.document = document
  }

  private init(_ status: Status, _ message: String, at place: String?, _ document: Document?) {
    self.status = status
    self.message = message
    check = nil
    rule = nil
    self.place = place
    hint = nil
    retryClass = .never
    self.document = document
  }

  /// A document that is not what it should be: a bug.
  static func unreadable(_ document: Document, at place: String? = nil) -> Refusal {
    Refusal(
      .internalAssayBug, "a document of the library is not of its form", at: place, document)
  }

  /// A step for an exchange in which nothing is open any more.
  static func over(_ document: Document) -> Refusal {
    Refusal(.misuseExchangeOrder, "the exchange is over", at: nil, document)
  }

  /// A refusal that no document says.
  static func of(_ status: Status, _ message: String, at place: String?) -> Refusal {
    Refusal(status, message, at: place, nil)
  }

  /// All that code should branch on.
  public var family: Status.Family { status.family }

  /// What a back end would answer its own client.
  public var httpStatus: Int { status.httpStatus }

  /// Status, message, rule, place and hint on one line.
  public var description: String {
    var line = status.description
    if !message.isEmpty { line += ": " + message }
    let found = [rule, place.map { "at " + $0 }].compactMap { $0 }.joined(separator: ", ")
    if !found.isEmpty { line += " (" + found + ")" }
    if let hint, !hint.isEmpty { line += "; hint: " + hint }
    return line
  }
}

extension Refusal {
  /// What was found out about a device all the same: an answer of DeviceCheck that
  /// refuses still says whose fault it is, and is an observation for `Verifier.risk`.
  public var deviceCheck: DeviceCheck? {
    guard let document, document.text("kind") == "exchange",
      let members = try? Members.of(document, "exchange", "deviceCheck")
    else { return nil }
    return try? DeviceCheck(members)
  }
}
