/// Why evidence, a configuration or a call was refused.
///
/// Two refusals are equal when their status is: places and details are for
/// people.
public struct Refusal: Error, Equatable, Sendable {
  /// What is wrong, as one name of the table of statuses.
  public let status: Status
  /// The rule of the specification that refused, "JWS-20".
  public let rule: StaticString
  /// Where: a member path, "x5c[1]", a segment, or a byte offset. May be empty.
  public var place: String
  /// What the table's sentence cannot know, "expected transaction, looks like
  /// renewal". Never holds a secret, token or personal identifier (DOC-3).
  public private(set) var detail: String
  /// Another retry class than the table's (DOC-4).
  private(set) var retryClass: StaticString?
  /// What would explain the refusal, in place of the table's hint (DIA-1).
  private(set) var hint: Explanation?
  /// Whose hint it takes; nil: that of the document's kind.
  private(set) var hintKind: HintKind? = nil
  /// A word of the other side's, visible ASCII, that stands behind the hint.
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

  /// The same refusal, found inside something at `outer`. `kind`: if that is
  /// evidence of a different kind from the document's.
  func inside(_ outer: String, as kind: HintKind? = nil) -> Refusal {
    var refusal = self
    refusal.place = place.isEmpty ? outer : outer + "/" + place
    if let kind { refusal.hintKind = kind }
    return refusal
  }

  /// The same refusal, with the hint of a different kind of evidence; nil: that of the
  /// document's kind.
  func hinted(as kind: HintKind?) -> Refusal {
    var refusal = self
    refusal.hintKind = kind ?? hintKind
    return refusal
  }

  /// The same refusal, with more that the code knows.
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

  /// The same refusal, as the last word: the same question again has the same answer (DOC-4).
  func asLastWord() -> Refusal {
    var refusal = self
    refusal.retryClass = "never"
    return refusal
  }

  public static func == (left: Refusal, right: Refusal) -> Bool {
    left.status == right.status
  }
}

/// One small check: refuses by name unless `holds`.
///
/// Every rule that can refuse and needs no value from its test goes through
/// here; the mutation run (`make mutants`) removes each in turn. `hint`: where the code
/// knows more than the table.
@inline(__always)
func require(
  _ holds: Bool, _ status: Status, _ rule: StaticString,
  at place: @autoclosure () -> String = "", detail: @autoclosure () -> String = "",
  hint: @autoclosure () -> Explanation? = nil
) throws(Refusal) {
  if !holds { throw Refusal(status, rule, at: place(), detail: detail(), hint: hint()) }
}
