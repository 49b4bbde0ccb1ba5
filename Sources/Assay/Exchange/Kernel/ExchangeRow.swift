/// One row of the table of kinds.
struct ExchangeRow: Sendable {
  let name: StaticString
  /// All members that a request of this kind may have (EXC-1).
  let members: [StaticString]
  /// Those that a deferred request leaves out, marked ⊖ in the table (EXC-18).
  let withheld: [StaticString]
  /// How many documents (EXC-2).
  let evidence: ClosedRange<Int>
  /// EXC-15; 0: done at once.
  let maxSteps: Int
  /// Marked ⊕: may be asked again after an unclear end (EXC-18).
  let isRepeatable: Bool
  /// Whose hints its refusals take; nil: those of exchanges.
  let hints: HintKind?
  let isStore: Bool

  init(
    _ name: StaticString, _ members: [StaticString], withheld: [StaticString] = [],
    evidence: ClosedRange<Int> = 0...0, maxSteps: Int = 0, isRepeatable: Bool = false,
    hints: HintKind? = nil
  ) {
    self.name = name
    let steps: [StaticString] = maxSteps > 0 ? ["deadlineMs", "attempt"] : []
    self.members = ["kind"] + members + steps
    self.withheld = withheld
    self.evidence = evidence
    self.maxSteps = maxSteps
    self.isRepeatable = isRepeatable
    self.hints = hints
    isStore = false
  }

  /// A conversation with a store, which repeats itself: `attempt` is the host's id (STO-8).
  init(
    store name: StaticString, _ members: [StaticString], withheld: [StaticString] = [],
    evidence: ClosedRange<Int> = 0...0, maxSteps: Int = 10
  ) {
    self.name = name
    self.members = ["kind", "dialect", "deadlineMs"] + members
    self.withheld = withheld
    self.evidence = evidence
    self.maxSteps = maxSteps
    isRepeatable = false
    hints = nil
    isStore = true
  }
}
