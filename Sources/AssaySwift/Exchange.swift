@_spi(AssaySwift) import Assay

/// One run of an operation that needs the network or a database. While `isDone` is false, perform
/// the step that the document contains and pass the reply to `step`. Created by
/// `Verifier.exchange`.
///
/// One task at a time may use an exchange. No state outlives the exchange.
public final class Exchange {
  private let library: Assay.Exchange?
  /// The open step, or the result.
  public private(set) var document: Document
  /// Whether the exchange has ended, so that no step is open.
  public private(set) var isDone: Bool

  init(_ library: Assay.Exchange?, _ document: Document) {
    self.library = library
    self.document = document
    isDone = library == nil || document.status.family != .pending
  }

  /// The name of the open step: "http", "database", "grant" or "wait", or "done"; `nil` if the
  /// document has none.
  public var stepName: String? { payload?.member("step")?.text }

  /// The step or the result as JSON: `step`, `http` …; `nil` if the document has none.
  public var raw: String? { payload?.json }

  private var payload: DocumentValue? {
    guard let root = document.value, root.member("kind")?.text == "exchange" else {
      return document.value?.member("risk")
    }
    return root.member("exchange")
  }

  /// Passes the reply to the last step, and returns the next step or the result. A refused result
  /// is returned and not thrown: read the document's status.
  ///
  /// - Parameters:
  ///   - reply: the reply, in the form that the step demands (docs/exchanges.md).
  ///   - now: the current time, for waits and the deadline.
  /// - Throws: family `misuse` for a reply of the wrong form or to another step, after which the
  ///   step is still open, and if no step is open; `internal`.
  @discardableResult
  public func step(_ reply: JSON, at now: Timestamp = .now) throws(AssayError) -> Document {
    guard !isDone, let library else { throw AssayError.over(document) }
    let next = library.step(Array(reply.text.utf8), nowMs: now.milliseconds)
    guard next.status.family != .misuse else { throw AssayError(next) }
    document = next
    isDone = next.status.family != .pending
    guard next.status.family != .internal else { throw AssayError(next) }
    return next
  }
}

extension Verifier {
  /// Starts an exchange with the network or a database (docs/exchanges.md).
  ///
  /// An operation without steps ends at once. A refused result is returned and not thrown: read
  /// the status of the exchange's document.
  ///
  /// - Parameters:
  ///   - request: `operation` and the members of that operation.
  ///   - evidence: facts of this verifier that the operation needs.
  ///   - now: the time at which evidence must be valid.
  /// - Throws: family `misuse` for a request or evidence of a wrong form.
  public func exchange(
    _ request: JSON, evidence: [any Facts] = [], at now: Timestamp = .now
  ) throws(AssayError) -> Exchange {
    let (library, document) = library.startExchange(
      Array(request.text.utf8), evidence: evidence.map(\.document), nowMs: now.milliseconds)
    switch document.status.family {
    case .misuse, .internal: throw AssayError(document)
    default: return Exchange(library, document)
    }
  }
}
