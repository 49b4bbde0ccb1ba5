@_spi(AssaySwift) import Assay

/// A conversation with the network or a store: while `isDone` is false, carry out what
/// the document says and hand its answer to `step`. Made by `Verifier.exchange`.
///
/// For one task at a time. Nothing is kept beyond it.
public final class Exchange {
  private let library: Assay.Exchange?
  /// The open step, or the result: what the last call answered.
  public private(set) var document: Document
  /// Whether nothing is left to carry out.
  public private(set) var isDone: Bool

  init(_ library: Assay.Exchange?, _ document: Document) {
    self.library = library
    self.document = document
    isDone = library == nil || document.status.family != .pending
  }

  /// What the document asks for: "request", "store", "grant", "wait" or "done"; nil where
  /// it says nothing.
  public var state: String? { payload?.member("state")?.text }

  /// What the document says under its kind, JSON: `state`, `request` … nil where it says
  /// nothing.
  public var raw: String? { payload?.json }

  private var payload: DocumentValue? {
    guard let root = document.value, root.member("kind")?.text == "exchange" else {
      return document.value?.member("risk")
    }
    return root.member("exchange")
  }

  /// Hands in the result of the last step, and learns the next step or the outcome, which
  /// may be a refusal: look at the document.
  ///
  /// - Parameters:
  ///   - answer: of the form that the step's `state` asks for (docs/exchanges.md).
  ///   - now: the time to judge by.
  /// - Throws: family `misuse` for an answer of the wrong form or to another step, after
  ///   which the step is still open, and when nothing is open any more; `internal`.
  @discardableResult
  public func step(_ answer: JSON, at now: Timestamp = .now) throws(Refusal) -> Document {
    guard !isDone, let library else { throw Refusal.over(document) }
    let next = library.step(Array(answer.text.utf8), nowMs: now.milliseconds)
    guard next.status.family != .misuse else { throw Refusal(next) }
    document = next
    isDone = next.status.family != .pending
    guard next.status.family != .internal else { throw Refusal(next) }
    return next
  }
}

extension Verifier {
  /// Starts a conversation with the network or a store (docs/exchanges.md).
  ///
  /// A kind that needs nothing carried out is done at once, and a refused result is an
  /// answer: look at its document.
  ///
  /// - Parameters:
  ///   - request: `kind` and the members of that kind.
  ///   - evidence: facts of this verifier that it is about.
  ///   - now: the time to judge by.
  /// - Throws: family `misuse` for a request or evidence that is not of its form.
  public func exchange(
    _ request: JSON, evidence: [any Facts] = [], at now: Timestamp = .now
  ) throws(Refusal) -> Exchange {
    let (library, document) = library.startExchange(
      Array(request.text.utf8), evidence: evidence.map(\.document), nowMs: now.milliseconds)
    switch document.status.family {
    case .misuse, .internal: throw Refusal(document)
    default: return Exchange(library, document)
    }
  }
}
