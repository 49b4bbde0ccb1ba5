/// One purchase, from which the payloads of every kind are made. Times are milliseconds since
/// 1970 UTC; `nil` omits a member.
public struct Purchase: Changeable, Sendable {
  public enum ProductType: String, Sendable, CaseIterable {
    case autoRenewable = "Auto-Renewable Subscription"
    case nonConsumable = "Non-Consumable"
    case consumable = "Consumable"
    case nonRenewing = "Non-Renewing Subscription"
  }

  public var environment = "Sandbox"
  public var bundleId = "com.example.app"
  public var appAppleId: Int64? = 1_234_567_890
  public var productId = "com.example.app.premium.monthly"
  public var type = ProductType.autoRenewable
  public var group: String? = "21400001"
  public var transactionId = "2000000900000001"
  public var originalTransactionId = "2000000900000001"
  public var webOrderLineItemId: String? = "2000000090000001"
  public var appTransactionId: String? = "704000000000000001"
  public var purchaseDate: Int64
  public var originalPurchaseDate: Int64
  public var expiresDate: Int64?
  public var signedDate: Int64
  public var quantity: Int64 = 1
  public var ownership = "PURCHASED"
  public var accountToken: String?
  public var revocationDate: Int64?
  public var revocationReason: Int64?
  public var revocationType: String?
  public var isUpgraded: Bool?
  public var offerType: Int64?
  public var offerDiscountType: String?
  public var autoRenewStatus: Int64 = 1
  public var autoRenewProductId: String?
  public var expirationIntent: Int64?
  public var isInBillingRetryPeriod: Bool?
  public var gracePeriodExpiresDate: Int64?
  public var priceIncreaseStatus: Int64?

  /// Creates a monthly subscription, bought ten days before `now` (ms since 1970) and signed a
  /// minute before.
  public init(now: Int64) {
    purchaseDate = now - 10 * Purchase.day
    originalPurchaseDate = now - 10 * Purchase.day
    expiresDate = now + 20 * Purchase.day
    signedDate = now - 60_000
  }

  public static let day: Int64 = 86_400_000

  /// Returns this purchase with another product; only subscriptions keep a period, a group and a
  /// web order line item.
  public func of(_ productId: String, _ type: ProductType) -> Purchase {
    var copy = self
    copy.productId = productId
    copy.type = type
    if type != .autoRenewable {
      copy.expiresDate = nil
      copy.group = nil
      copy.webOrderLineItemId = nil
    }
    return copy
  }
}
