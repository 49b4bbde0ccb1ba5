/// One row of contract/kinds.tsv.
struct ExchangeRow: Sendable {
  /// A kind of a store: which engines keep what it needs.
  enum Store: Sendable {
    case any
    /// Not Redis: the loss of a row would pay out twice (STO-13).
    case durable
  }

  let name: StaticString
  /// All members that a request of this kind may have (EXC-1).
  let members: [StaticString]
  /// Those that a deferred request leaves out (EXC-18).
  let withheld: [StaticString]
  /// How many documents, and of which kinds (EXC-2).
  let evidence: ClosedRange<Int>
  let classes: EvidenceClasses
  let steps: StepBound
  /// May be asked again after an unclear end (EXC-18).
  let isRepeatable: Bool
  /// Whose hints its refusals take; nil: those of exchanges.
  let hints: HintKind?
  /// nil: no store.
  let store: Store?

  init(
    _ name: StaticString, _ members: [StaticString], withheld: [StaticString] = [],
    evidence: ClosedRange<Int> = 0...0, of classes: EvidenceClasses = [],
    steps: StepBound = StepBound(0), isRepeatable: Bool = false, hints: HintKind? = nil,
    store: Store? = nil
  ) {
    self.name = name
    self.members = members
    self.withheld = withheld
    self.evidence = evidence
    self.classes = classes
    self.steps = steps
    self.isRepeatable = isRepeatable
    self.hints = hints
    self.store = store
  }

  /// `attempt` is the host's id of a request (STO-8), not the number of a conversation: a store
  /// repeats its steps itself.
  var hasAttemptId: Bool { store != nil && !isRepeatable }
}
