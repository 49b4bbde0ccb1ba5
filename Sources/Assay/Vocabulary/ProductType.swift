/// The type of a purchased product (docs/spec/storekit-payloads.md §3, Type).
public enum ProductType: Sendable, Equatable {
  case autoRenewable
  case nonRenewing
  case nonConsumable
  case consumable

  /// Apple's name of the type.
  var name: StaticString {
    switch self {
    case .autoRenewable: return "Auto-Renewable Subscription"
    case .nonRenewing: return "Non-Renewing Subscription"
    case .nonConsumable: return "Non-Consumable"
    case .consumable: return "Consumable"
    }
  }
}
