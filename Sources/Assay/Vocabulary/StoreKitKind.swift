/// What a JWS must turn out to be. There is deliberately no "any".
public enum StoreKitKind: Int32, Sendable, CaseIterable {
  case transaction = 1
  case renewal = 2
  /// With everything signed nested inside it.
  case notification = 3
  case appTransaction = 4
  case realtimeRequest = 5

  /// `kind` in a document.
  var name: StaticString {
    switch self {
    case .transaction: return "transaction"
    case .renewal: return "renewal"
    case .notification: return "notification"
    case .appTransaction: return "app-transaction"
    case .realtimeRequest: return "realtime-request"
    }
  }

  /// The member that holds the facts in a document.
  var factsMember: StaticString {
    switch self {
    case .transaction: return "transaction"
    case .renewal: return "renewal"
    case .notification: return "notification"
    case .appTransaction: return "appTransaction"
    case .realtimeRequest: return "realtimeRequest"
    }
  }
}
