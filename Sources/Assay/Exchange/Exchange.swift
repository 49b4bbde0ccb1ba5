/// A conversation with the network or a store, without I/O: one step at a time,
/// its answer brought by the host (documents-and-exchanges.md §2).
///
/// Used by one thread at a time. Nothing is kept beyond it (EXC-4).
public final class Exchange {
  /// The longest answer that is looked at, in bytes.
  public static let answerByteCap = ExchangeInput.byteCap

  private let conversation: Conversation
  private let configuration: [UInt8]
  /// nil: the conversation is over.
  private var open: ExchangeStep?

  private init(_ conversation: Conversation, _ configuration: [UInt8], _ step: ExchangeStep) {
    self.conversation = conversation
    self.configuration = configuration
    open = step
  }

  /// Begins a conversation.
  ///
  /// - Parameter configuration: the fingerprint of the verifier's configuration.
  /// - Returns: the exchange and its first step; no exchange, and the result,
  ///   when it was done at once (EXC-3).
  static func begin(
    _ conversation: Conversation, configuration: [UInt8], nowMs: Int64
  ) -> (exchange: Exchange?, document: Document) {
    let documents = ExchangeDocument(kind: conversation.kind, configuration: configuration)
    do throws(Refusal) {
      switch try conversation.begin(nowMs: nowMs) {
      case .step(let step):
        return (Exchange(conversation, configuration, step), documents.pending(step))
      case .done(let document): return (nil, document)
      }
    } catch {
      return (nil, documents.refused(error))
    }
  }

  /// Takes what the last step brought and says what comes next.
  ///
  /// - Parameters:
  ///   - answer: the JSON of the step's own form, at most 8 MiB.
  ///   - nowMs: milliseconds since 1970 UTC, 2008 … 2100; serves waiting and the
  ///     age of answers (EXC-6).
  /// - Returns: family pending: carry the step out. Family misuse: nothing
  ///   changed, the step is still open (EXC-5). Anything else: the end.
  public func step(_ answer: [UInt8], nowMs: Int64) -> Document {
    let documents = ExchangeDocument(kind: conversation.kind, configuration: configuration)
    do throws(Refusal) {
      try TimeWindow.checkNow(nowMs)
      guard let step = open else { throw Refusal(.misuseExchangeOrder, "EXC-5") }
      let answer = try ExchangeAnswer(answer, to: step)
      if let time = step.notBeforeMs, nowMs < time { return documents.pending(step) }
      switch try conversation.take(answer, nowMs: nowMs) {
      case .step(let next):
        open = next
        return documents.pending(next)
      case .done(let document):
        open = nil
        return document
      }
    } catch {
      guard error.status.family == .misuse else {
        open = nil
        return documents.refused(error)
      }
      return documents.misused(error)
    }
  }
}
