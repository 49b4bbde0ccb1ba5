/// The kind of JWS that the caller expects. There is deliberately no "any".
public enum StoreKitKind: Int32, Sendable, CaseIterable {
  case transaction = 1
  case renewalInfo = 2
  /// A notification, with all signed evidence nested in it.
  case notification = 3
  case appTransaction = 4
  case realtimeRequest = 5

  /// The value of `kind` in documents.
  var name: StaticString {
    switch self {
    case .transaction: return "transaction"
    case .renewalInfo: return "renewal-info"
    case .notification: return "notification"
    case .appTransaction: return "app-transaction"
    case .realtimeRequest: return "realtime-request"
    }
  }

  /// The member of a document that contains the facts.
  var factsMember: StaticString {
    switch self {
    case .transaction: return "transaction"
    case .renewalInfo: return "renewalInfo"
    case .notification: return "notification"
    case .appTransaction: return "appTransaction"
    case .realtimeRequest: return "realtimeRequest"
    }
  }
}
