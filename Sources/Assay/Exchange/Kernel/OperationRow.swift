/// An operation's row of contract/kinds.tsv.
struct OperationRow: Sendable {
  /// The engines that can hold the operation's rows.
  enum Engines: Sendable {
    case any
    /// Every engine except Redis, where the loss of a row would grant a purchase twice (STO-13).
    case durable
  }

  let name: StaticString
  /// All members that a request of this operation may have (EXC-1).
  let members: [StaticString]
  /// The members that a deferred request omits (EXC-18).
  let withheld: [StaticString]
  /// The number of evidence documents; their classes follow (EXC-2).
  let evidence: ClosedRange<Int>
  let classes: EvidenceClasses
  let steps: StepBound
  /// Whether the operation may be repeated after an uncertain end (EXC-18).
  let isRepeatable: Bool
  /// The evidence whose hints the refusals use; `nil` for the hints of exchanges.
  let hints: HintKind?
  /// The engines that can run the operation; `nil` if it needs no database.
  let engines: Engines?

  init(
    _ name: StaticString, _ members: [StaticString], withheld: [StaticString] = [],
    evidence: ClosedRange<Int> = 0...0, of classes: EvidenceClasses = [],
    steps: StepBound = StepBound(0), isRepeatable: Bool = false, hints: HintKind? = nil,
    engines: Engines? = nil
  ) {
    self.name = name
    self.members = members
    self.withheld = withheld
    self.evidence = evidence
    self.classes = classes
    self.steps = steps
    self.isRepeatable = isRepeatable
    self.hints = hints
    self.engines = engines
  }

  /// Whether requests have no number `attempt` of an exchange, but the host's `attemptId` (STO-8),
  /// if any: a database operation repeats its own steps.
  var hasAttemptId: Bool { engines != nil && !isRepeatable }
}
