#if !hasFeature(Embedded)
  /// One purchase as verified evidence states it, for the command `assay migrate` only, which
  /// groups the purchases of many texts (docs/spec/migration.md §3). Times are milliseconds since
  /// 1970 UTC. It is no evidence: operations of the ledger take the documents.
  @_spi(AssayMigrate) public struct StatedPurchase: Sendable {
    public enum Kind: UInt8, Sendable {
      case consumable, nonConsumable, autoRenewable, nonRenewing
      /// A product that the catalogue does not contain.
      case unknown

      public var isSubscription: Bool { self == .autoRenewable || self == .nonRenewing }
    }

    public let environment: String
    /// The key of the subscription, the purchase key (RPL-1); `nil` if the ids cannot be keys
    /// (RPL-3).
    public let keys: (subscription: String, purchase: String)?
    public let transactionId: String
    public let originalTransactionId: String
    public let productId: String
    public let kind: Kind
    /// The plan that the product unlocks; empty if it unlocks none.
    public let plan: String
    public let units: Int64
    public let purchasedAtMs: Int64
    /// The end of the period, by the catalogue for a non-renewing subscription; `nil` if the
    /// purchase has none.
    public let expiresAtMs: Int64?
    public let asOfMs: Int64
    public let revokedAtMs: Int64?
    public let revocationReason: Int64?
    /// The revoked share of the units, 0 … 100000.
    public let revokedShare: Int64
    /// Whether the evidence states that there is a revocation, or that there is none (RFD-5).
    public let tellsRevocation: Bool
    public let isUpgraded: Bool
    /// Whether the policy leaves the purchase out of every decision (DCD-12).
    public let isDenied: Bool
    /// The appAccountToken in lower case.
    public let accountToken: String?
    /// SHA-256 of the evidence, lower-case hex.
    public let sha256: String
  }

  extension Verifier {
    /// Returns the purchases and the renewal info of one verified document; `nil` for evidence
    /// that contains neither, such as an app transaction.
    @_spi(AssayMigrate) public func stated(
      in document: Document
    ) -> (purchases: [StatedPurchase], renewals: [StatedRenewal])? {
      guard let item = document.evidence?.items.first, item.purchaseSource != nil,
        let found = try? LedgerPurchase.all([item], configuration.products),
        let all = try? item.purchases(configuration.products)
      else { return nil }
      return (found.map { stated($0) }, all.renewals.map { stated($0) })
    }

    private func stated(_ purchase: LedgerPurchase) -> StatedPurchase {
      let (facts, product) = (purchase.facts, purchase.product)
      let plans = configuration.plans
      let keys = PurchaseKeys(purchase).flatMap { keys in
        purchase.subscriptionKey.map { ($0.string, keys.purchase.string) }
      }
      let plan = product?.plan.flatMap { plans.indices.contains($0) ? plans[$0].string : nil }
      return StatedPurchase(
        environment: Text(stringLiteral: facts.environment.name).string, keys: keys,
        transactionId: facts.transactionId.string,
        originalTransactionId: facts.originalTransactionId.string,
        productId: facts.productId.string, kind: .init(product?.type), plan: plan ?? "",
        units: purchase.units, purchasedAtMs: purchase.purchasedAtMs,
        expiresAtMs: purchase.end, asOfMs: facts.asOfMs, revokedAtMs: facts.revokedAtMs,
        revocationReason: facts.revocationReason, revokedShare: purchase.revokedShare,
        tellsRevocation: facts.tellsRevocation, isUpgraded: facts.isUpgraded,
        isDenied: configuration.decision.denies(facts),
        accountToken: purchase.accountToken?.string, sha256: purchase.evidence.sha256.string)
    }

    private func stated(_ renewal: RenewalFacts) -> StatedRenewal {
      let key = ReplayKeys.subscription(
        environment: renewal.environment, originalTransactionId: renewal.originalTransactionId)
      return StatedRenewal(
        environment: Text(stringLiteral: renewal.environment.name).string, key: key?.string,
        asOfMs: renewal.asOfMs, graceExpiresAtMs: renewal.graceEnd,
        accountToken: renewal.account?.asciiLowercased.string)
    }
  }

  extension StatedPurchase.Kind {
    fileprivate init(_ type: ProductType?) {
      switch type {
      case .consumable: self = .consumable
      case .nonConsumable: self = .nonConsumable
      case .autoRenewable: self = .autoRenewable
      case .nonRenewing: self = .nonRenewing
      case nil: self = .unknown
      }
    }
  }

  extension LedgerPurchase {
    /// The end of the period, as the ledger's subscription has it.
    fileprivate var end: Int64? {
      guard product?.type == .nonRenewing else { return facts.end }
      return facts.start.flatMap { start in product?.duration?.end(startMs: start) }
    }
  }
#endif
