/// The facts that one verified document states about one transaction or subscription.
struct StatedFacts<Facts: Sendable>: Sendable {
  var facts: Facts
  /// The kind of the document.
  var kind: StaticString
  /// The index of the document in the evidence, used only for refusals: no decision depends on
  /// the order of the evidence (DCD-7).
  var document: Int
  /// The newest account token that any document states for the same transaction or subscription.
  var account: StatedAccount?
}
