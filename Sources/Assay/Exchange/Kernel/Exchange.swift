/// One run of an operation that needs the network or a database. The library does no I/O: the
/// host performs one step at a time and hands in its reply (docs/spec/documents-and-exchanges.md
/// §2).
///
/// One thread at a time may use an exchange. No state outlives the exchange (EXC-4).
public final class Exchange {
  /// The longest reply that is read, in bytes.
  public static let answerByteCap = ExchangeInput.byteCap

  private var driver: ExchangeDriver<AnyStateMachine>
  private let terms: ExchangeOptions
  /// Held during a step, so that a second thread is refused instead of changing the state
  /// (EXC-21).
  let stepping = TryLock()

  private init(_ driver: ExchangeDriver<AnyStateMachine>, _ terms: ExchangeOptions) {
    self.driver = driver
    self.terms = terms
  }

  /// Begins an exchange.
  ///
  /// - Parameter nowMs: milliseconds since 1970 UTC, already checked to lie in the accepted
  ///   window.
  /// - Returns: the exchange and its first step; no exchange and the result, if the operation
  ///   ended at once (EXC-3).
  static func begin(
    _ machine: AnyStateMachine, _ terms: ExchangeOptions, nowMs: Int64
  ) -> (exchange: Exchange?, document: Document) {
    var driver = ExchangeDriver(machine, terms, nowMs: nowMs)
    let document = driver.begin()
    return (driver.isOpen ? Exchange(driver, terms) : nil, document)
  }

  /// Processes the reply to the last step and returns the next step or the result.
  ///
  /// - Parameters:
  ///   - answer: the reply as JSON in the form of the step, at most 8 MiB.
  ///   - nowMs: milliseconds since 1970 UTC, 2008 … 2100; used for waits, the deadline and the
  ///     age of responses (EXC-6).
  /// - Returns: family pending: the next step to perform. Family misuse: nothing changed, and the
  ///   step is still open (EXC-5); at `busy`, another thread is in a step (EXC-21). Any other
  ///   family: the result, with which the exchange ends.
  public func step(_ answer: [UInt8], nowMs: Int64) -> Document {
    guard stepping.take() == .taken else {
      // Either another thread holds the lock, or a fork happened while a thread was in a step:
      // the child process then has that thread's unfinished state, which is unusable.
      return ExchangeDocument(
        operation: terms.kind.name, configuration: terms.configuration, progress: .misused(.answer)
      ).misused(Refusal(.misuseExchangeOrder, "EXC-21", at: "busy"))
    }
    defer { stepping.release() }
    return driver.step(answer, nowMs: nowMs)
  }
}
