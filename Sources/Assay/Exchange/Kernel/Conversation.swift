/// One kind's side of a conversation: a value whose state says what it waits for. It
/// is told what a step brought and says what comes next; it knows of no ids, no
/// deadline and no JSON of steps, which are the kernel's.
protocol Conversing {
  /// The first step.
  mutating func begin(nowMs: Int64) -> ExchangeAction

  /// What follows on the answer to the open step. An answer of another form than
  /// that step's never gets here.
  mutating func take(_ answer: ExchangeAnswer, nowMs: Int64) -> ExchangeAction

  /// EXC-18: when a whole new conversation is worth a try.
  func repeatsAt(nowMs: Int64) -> Int64

  /// The members of the result, behind `kind` and `state`.
  func write(_ writer: inout JSONWriter)

  func writeWarnings(_ writer: inout JSONWriter)
}

/// The kinds that take steps.
enum Conversation: Conversing {
  case verifyReceipt(VerifyReceiptConversation)

  mutating func begin(nowMs: Int64) -> ExchangeAction {
    switch self {
    case .verifyReceipt(var conversation):
      defer { self = .verifyReceipt(conversation) }
      return conversation.begin(nowMs: nowMs)
    }
  }

  mutating func take(_ answer: ExchangeAnswer, nowMs: Int64) -> ExchangeAction {
    switch self {
    case .verifyReceipt(var conversation):
      defer { self = .verifyReceipt(conversation) }
      return conversation.take(answer, nowMs: nowMs)
    }
  }

  func repeatsAt(nowMs: Int64) -> Int64 {
    switch self {
    case .verifyReceipt(let conversation): return conversation.repeatsAt(nowMs: nowMs)
    }
  }

  func write(_ writer: inout JSONWriter) {
    switch self {
    case .verifyReceipt(let conversation): conversation.write(&writer)
    }
  }

  func writeWarnings(_ writer: inout JSONWriter) {
    switch self {
    case .verifyReceipt(let conversation): conversation.writeWarnings(&writer)
    }
  }
}
