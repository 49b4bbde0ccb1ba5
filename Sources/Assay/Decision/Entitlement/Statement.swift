/// What a verified document says about one transaction or one line, and in which
/// document it stood.
struct Statement<Facts: Sendable>: Sendable {
  var facts: Facts
  /// The kind of the document.
  var kind: StaticString
  /// The place of the document among the evidence, for refusals alone: no
  /// decision depends on the order of the evidence (DCD-7).
  var document: Int
  /// The newest token among everything said about the same transaction or line.
  var account: AccountWord?
}
