/// The kinds that take steps.
enum Conversation: Conversing {
  case verifyReceipt(VerifyReceiptConversation)
  case deviceCheck(DeviceCheckConversation)
  case appStore(AppStoreConversation)
  case ocsp(OCSPConversation)
  case attestRefresh(AttestRefreshConversation)
  case keyset(KeysetConversation)
  case appleIDCode(AppleIDCodeConversation)
  case appleIDRevocation(AppleIDRevocation)
  case store(StoreConversation)

  mutating func begin(nowMs: Int64) -> ExchangeAction {
    switch self {
    case .verifyReceipt(var conversation):
      defer { self = .verifyReceipt(conversation) }
      return conversation.begin(nowMs: nowMs)
    case .deviceCheck(var conversation):
      defer { self = .deviceCheck(conversation) }
      return conversation.begin(nowMs: nowMs)
    case .appStore(var conversation):
      defer { self = .appStore(conversation) }
      return conversation.begin(nowMs: nowMs)
    case .ocsp(var conversation):
      defer { self = .ocsp(conversation) }
      return conversation.begin(nowMs: nowMs)
    case .attestRefresh(var conversation):
      defer { self = .attestRefresh(conversation) }
      return conversation.begin(nowMs: nowMs)
    case .keyset(var conversation):
      defer { self = .keyset(conversation) }
      return conversation.begin(nowMs: nowMs)
    case .appleIDCode(var conversation):
      defer { self = .appleIDCode(conversation) }
      return conversation.begin(nowMs: nowMs)
    case .appleIDRevocation(var conversation):
      defer { self = .appleIDRevocation(conversation) }
      return conversation.begin(nowMs: nowMs)
    case .store(var conversation):
      defer { self = .store(conversation) }
      return conversation.begin(nowMs: nowMs)
    }
  }

  mutating func take(_ answer: ExchangeAnswer, nowMs: Int64) -> ExchangeAction {
    switch self {
    case .verifyReceipt(var conversation):
      defer { self = .verifyReceipt(conversation) }
      return conversation.take(answer, nowMs: nowMs)
    case .deviceCheck(var conversation):
      defer { self = .deviceCheck(conversation) }
      return conversation.take(answer, nowMs: nowMs)
    case .appStore(var conversation):
      defer { self = .appStore(conversation) }
      return conversation.take(answer, nowMs: nowMs)
    case .ocsp(var conversation):
      defer { self = .ocsp(conversation) }
      return conversation.take(answer, nowMs: nowMs)
    case .attestRefresh(var conversation):
      defer { self = .attestRefresh(conversation) }
      return conversation.take(answer, nowMs: nowMs)
    case .keyset(var conversation):
      defer { self = .keyset(conversation) }
      return conversation.take(answer, nowMs: nowMs)
    case .appleIDCode(var conversation):
      defer { self = .appleIDCode(conversation) }
      return conversation.take(answer, nowMs: nowMs)
    case .appleIDRevocation(var conversation):
      defer { self = .appleIDRevocation(conversation) }
      return conversation.take(answer, nowMs: nowMs)
    case .store(var conversation):
      defer { self = .store(conversation) }
      return conversation.take(answer, nowMs: nowMs)
    }
  }

  func repeatsAt(nowMs: Int64) -> Int64 {
    switch self {
    case .verifyReceipt(let conversation): return conversation.repeatsAt(nowMs: nowMs)
    case .deviceCheck(let conversation): return conversation.repeatsAt(nowMs: nowMs)
    case .appStore(let conversation): return conversation.repeatsAt(nowMs: nowMs)
    case .ocsp(let conversation): return conversation.repeatsAt(nowMs: nowMs)
    case .attestRefresh(let conversation): return conversation.repeatsAt(nowMs: nowMs)
    case .keyset(let conversation): return conversation.repeatsAt(nowMs: nowMs)
    case .appleIDCode(let conversation): return conversation.repeatsAt(nowMs: nowMs)
    case .appleIDRevocation(let conversation): return conversation.repeatsAt(nowMs: nowMs)
    case .store(let conversation): return conversation.repeatsAt(nowMs: nowMs)
    }
  }

  func write(_ writer: inout JSONWriter) {
    switch self {
    case .verifyReceipt(let conversation): conversation.write(&writer)
    case .deviceCheck(let conversation): conversation.write(&writer)
    case .appStore(let conversation): conversation.write(&writer)
    case .ocsp(let conversation): conversation.write(&writer)
    case .attestRefresh(let conversation): conversation.write(&writer)
    case .keyset(let conversation): conversation.write(&writer)
    case .appleIDCode(let conversation): conversation.write(&writer)
    case .appleIDRevocation(let conversation): conversation.write(&writer)
    case .store(let conversation): conversation.write(&writer)
    }
  }

  func writeWarnings(_ writer: inout JSONWriter) {
    switch self {
    case .verifyReceipt(let conversation): conversation.writeWarnings(&writer)
    case .deviceCheck(let conversation): conversation.writeWarnings(&writer)
    case .appStore(let conversation): conversation.writeWarnings(&writer)
    case .ocsp(let conversation): conversation.writeWarnings(&writer)
    case .attestRefresh(let conversation): conversation.writeWarnings(&writer)
    case .keyset(let conversation): conversation.writeWarnings(&writer)
    case .appleIDCode(let conversation): conversation.writeWarnings(&writer)
    case .appleIDRevocation(let conversation): conversation.writeWarnings(&writer)
    case .store(let conversation): conversation.writeWarnings(&writer)
    }
  }
}
