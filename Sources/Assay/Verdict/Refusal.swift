/// The error that is thrown when evidence, a configuration or a call is refused.
///
/// Two refusals are equal if their statuses are equal: locations and details are for readers
/// only.
public struct Refusal: Error, Equatable, Sendable {
  /// The status, one row of the status table.
  public let status: Status
  /// The rule of the specification that the input breaks, such as "JWS-20".
  public let rule: StaticString
  /// The location of the fault: a member path, "x5c[1]", a segment or a byte offset. May be
  /// empty.
  public var place: String
  /// Particulars that the status message cannot contain, such as "expected transaction, looks
  /// like renewal-info". Never contains a secret, token or personal identifier (DOC-3).
  public private(set) var detail: String
  /// The retry class, if it differs from the one in the status table (DOC-4).
  private(set) var retryClass: StaticString?
  /// The probable cause, which replaces the hint of the status table (DIA-1).
  private(set) var hint: Explanation?
  /// The kind of evidence whose hint applies; `nil` for the kind of the document.
  private(set) var hintKind: HintKind? = nil
  /// An error code of the server that refused, appended to the hint. Visible ASCII.
  var said: Text? = nil

  init(
    _ status: Status, _ rule: StaticString, at place: String = "", detail: String = "",
    retryClass: StaticString? = nil, hint: Explanation? = nil
  ) {
    self.status = status
    self.rule = rule
    self.place = place
    self.detail = detail
    self.retryClass = retryClass
    self.hint = hint
  }

  /// Returns this refusal with `outer` prepended to its location.
  ///
  /// - Parameter kind: The kind of the inner evidence, if it differs from the document's.
  func inside(_ outer: String, as kind: HintKind? = nil) -> Refusal {
    var refusal = self
    refusal.place = place.isEmpty ? outer : outer + "/" + place
    if let kind { refusal.hintKind = kind }
    return refusal
  }

  /// Returns this refusal with the hint for `kind`; unchanged if `kind` is `nil`.
  func hinted(as kind: HintKind?) -> Refusal {
    var refusal = self
    refusal.hintKind = kind ?? hintKind
    return refusal
  }

  /// Returns this refusal with `detail` in place of its own.
  func saying(_ detail: String) -> Refusal {
    var refusal = self
    refusal.detail = detail
    return refusal
  }

  func explained(_ hint: Explanation) -> Refusal {
    var refusal = self
    refusal.hint = hint
    return refusal
  }

  /// Returns this refusal with the retry class "never": the same request would have the same
  /// response (DOC-4).
  func asLastWord() -> Refusal {
    var refusal = self
    refusal.retryClass = "never"
    return refusal
  }

  public static func == (left: Refusal, right: Refusal) -> Bool {
    left.status == right.status
  }
}

/// Throws a refusal unless `holds`.
///
/// Every rule that can refuse and needs no value from its test calls this function, so that the
/// mutation run (`make mutants`) can remove each of them in turn.
///
/// - Parameter hint: A more specific hint than the one in the status table.
@inline(__always)
func require(
  _ holds: Bool, _ status: Status, _ rule: StaticString,
  at place: @autoclosure () -> String = "", detail: @autoclosure () -> String = "",
  hint: @autoclosure () -> Explanation? = nil
) throws(Refusal) {
  if !holds { throw Refusal(status, rule, at: place(), detail: detail(), hint: hint()) }
}
