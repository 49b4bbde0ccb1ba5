/// A conversation with the network or a store, without I/O: one step at a time,
/// answered by the host (docs/spec/documents-and-exchanges.md §2).
///
/// Used by one thread at a time. Nothing is kept beyond it (EXC-4).
public final class Exchange {
  /// The longest answer that is read, in bytes.
  public static let answerByteCap = ExchangeInput.byteCap

  private var kernel: ExchangeKernel<Conversation>
  private let terms: ExchangeTerms
  /// EXC-21: held during a step.
  let stepping = TryLock()

  private init(_ kernel: ExchangeKernel<Conversation>, _ terms: ExchangeTerms) {
    self.kernel = kernel
    self.terms = terms
  }

  /// Begins a conversation.
  ///
  /// - Parameter nowMs: already checked to lie in its window.
  /// - Returns: the exchange and its first step; no exchange, and the result,
  ///   if it was done at once (EXC-3).
  static func begin(
    _ conversation: Conversation, _ terms: ExchangeTerms, nowMs: Int64
  ) -> (exchange: Exchange?, document: Document) {
    var kernel = ExchangeKernel(conversation, terms, nowMs: nowMs)
    let document = kernel.begin()
    return (kernel.isOpen ? Exchange(kernel, terms) : nil, document)
  }

  /// Takes the answer to the last step and says what comes next.
  ///
  /// - Parameters:
  ///   - answer: JSON in the form of the step, at most 8 MiB.
  ///   - nowMs: milliseconds since 1970 UTC, 2008 … 2100; serves waiting, the
  ///     deadline and the age of answers (EXC-6).
  /// - Returns: family pending: carry the step out. Family misuse: nothing
  ///   changed, the step is still open (EXC-5); `busy`: another thread is in a step
  ///   (EXC-21). Anything else: the end.
  public func step(_ answer: [UInt8], nowMs: Int64) -> Document {
    guard stepping.take() == .taken else {
      // Held by another thread; or by one that a fork left behind in the middle of a
      // step, after which the state on this side is unusable.
      return ExchangeDocument(
        kind: terms.kind.name, configuration: terms.configuration, progress: .misused(.answer)
      ).misused(Refusal(.misuseExchangeOrder, "EXC-21", at: "busy"))
    }
    defer { stepping.release() }
    return kernel.step(answer, nowMs: nowMs)
  }
}
