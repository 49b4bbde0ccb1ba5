/// The effective configuration of a verifier, with all defaults set. All members are listed in
/// docs/spec/configuration.md and explained in `docs/config.md`.
struct Configuration: Sendable {
  var apps: [App] = []
  var environments: [Environment] = [.production]
  /// The products in the order of the document; find one by `product(_:)`.
  var products = Catalogue()
  /// The plans in ascending order; the first is the default plan, which every account has. Never
  /// empty.
  var plans: [Text] = ["free"]
  var quotas: [PlanQuotas] = []
  var clockSkewMs: Int64 = 60_000
  var decision = DecisionPolicy()
  var storekit = StoreKitPolicy()
  var receipts = ReceiptsPolicy()
  var attest = AttestPolicy()
  /// `nil` without the block.
  var deviceCheck: DeviceCheckPolicy? = nil
  var tokens: [TokenProfile.Shared] = []
  var risk = RiskPolicy()
  var refunds = RefundPolicy()
  /// `nil` without the block, like the three properties below.
  var appStoreServerAPI: AppStoreServerAPIPolicy? = nil
  var appleID: AppleIDPolicy? = nil
  var session: SessionPolicy? = nil
  var ledger: LedgerPolicy? = nil

  struct App: Sendable {
    var bundleId: Text
    var appAppleId: Int64?
    var teamId: Text?
  }

  struct PlanQuotas: Sendable {
    var plan: Text
    var meters: [(meter: Text, units: Int64)]

    /// Whether `name` can be part of a header, key or attribute: 1 to 64 visible ASCII characters
    /// without quotation mark, backslash and braces.
    static func isMeter(_ name: Text) -> Bool {
      (1...64).contains(name.count)
        && name.utf8.allSatisfy {
          (0x21...0x7e).contains($0) && $0 != 0x22 && $0 != 0x5c && $0 != 0x7b && $0 != 0x7d
        }
    }
  }

  /// `decision`: the policy of decisions (docs/spec/configuration.md §2).
  struct DecisionPolicy: Sendable {
    /// How appAccountToken is compared with the account that the host passes (DCD-20).
    enum AccountToken: Int, Sendable { case whenGiven, ifPresent, required, ignored }
    /// How Sandbox evidence counts beside Production evidence (DCD-23).
    enum Sandbox: Int, Sendable { case below, equal, never }
    var accountToken = AccountToken.whenGiven
    var sandbox = Sandbox.below
    var gracePeriod = true
    var billingRetryAllowed = false
    var renewalLeewayMs: Int64 = 0
    var familySharingAllowed = true
  }

  /// `storekit`: the policy for JWS (docs/spec/configuration.md §3).
  struct StoreKitPolicy: Sendable {
    /// Configured roots; if empty, Apple's built-in root.
    var anchors: [Anchor] = []
    var x5cRootIgnored = false
    var environmentFromTransactionId = false
    var undatedNotificationsNested = false
    var nestedOmitted = false
    /// The greatest age in milliseconds by JWS kind; a kind that is not listed may have any age.
    var maxAges: [(kind: StoreKitKind, maxAgeMs: Int64)] = []
    /// SHA-256 of pinned Xcode certificates, 32 bytes each.
    var xcodeCertificates: [[UInt8]] = []
    var ocspHosts: [Text] = ["ocsp.apple.com"]
    var jwsBytes = 65_536
    var cacheChains = 16
  }

  /// `receipts`: the policy for transaction receipts, app receipts, triage and verifyReceipt
  /// (docs/spec/configuration.md §4).
  struct ReceiptsPolicy: Sendable {
    /// Configured roots; if empty, Apple Root CA.
    var anchors: [Anchor] = []
    /// Certificates that are accepted in addition to the built-in ones.
    var intermediates: [Certificate] = []
    var version2Refused = false
    var signedAfterPurchaseRefused = false
    var unknownEnvironmentAllowed = false
    /// The greatest age in milliseconds; `nil` for any age.
    var maxAgeMs: Int64? = nil
    /// Whether documents contain device ids, which are personal data (RCP §2.9).
    var deviceIdsReported = false
    var sharedSecrets = SharedSecrets()
    // The caps of docs/spec/receipts.md §1, in bytes of decoded data unless stated otherwise.
    /// The longest input, in bytes of the text as sent.
    var inputBytes = 3_145_728
    var transactionReceiptBytes = 16_384
    var purchaseInfoBytes = 8192
    var appReceiptBytes = 1_048_576
    /// The most purchases of an app receipt.
    var purchases = 8192

    /// The most BER elements of an app receipt (APR-26), computed from both caps that may be
    /// raised, so that raising either has an effect: a purchase of Apple's has up to 93 elements,
    /// of four bytes each on average.
    var appReceiptElements: Int { Swift.max(32 &* purchases &+ 4096, appReceiptBytes / 4) }

    /// The limits of a transaction receipt's outer list (RCP-6). The list may have the base64 of
    /// the longest allowed purchase-info and of one more byte, which is then refused with its own
    /// status.
    var outerList: PropertyList.Limits {
      var limits = PropertyList.Limits.outer(receiptBytes: transactionReceiptBytes)
      limits.valueBytes = Swift.max(limits.valueBytes, (purchaseInfoBytes &+ 3) / 3 &* 4)
      return limits
    }
  }
}
