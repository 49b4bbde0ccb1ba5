/// What a verifier is built from: the effective configuration, every default
/// filled in. docs/spec/configuration.md has every member; `docs/config.md` explains them.
struct Configuration: Sendable {
  var apps: [App] = []
  var environments: [Environment] = [.production]
  /// In the order of the document; looked up by `product(_:)`.
  var products = Catalogue()
  /// Ascending; the first is the default plan, which every account has. Never empty.
  var plans: [Text] = ["free"]
  var limits: [PlanLimits] = []
  var clockSkewMs: Int64 = 60_000
  var decide = DecidePolicy()
  var storekit = StoreKitPolicy()
  var receipts = ReceiptsPolicy()
  var attest = AttestPolicy()
  /// nil: without the block.
  var deviceCheck: DeviceCheckPolicy? = nil
  var tokens: [TokenProfile.Shared] = []
  var risk = RiskPolicy()
  /// nil: without the block; so are the next three.
  var appStoreServerAPI: AppStoreServerAPIPolicy? = nil
  var appleID: AppleIDPolicy? = nil
  var session: SessionPolicy? = nil
  var stores: StoresPolicy? = nil

  struct App: Sendable {
    var bundleId: Text
    var appAppleId: Int64?
    var teamId: Text?
  }

  struct PlanLimits: Sendable {
    var plan: Text
    var meters: [(meter: Text, units: Int64)]

    /// Names become parts of headers, keys and attributes: 1 … 64 visible characters of
    /// ASCII without quotation mark, backslash and braces.
    static func isMeter(_ name: Text) -> Bool {
      (1...64).contains(name.count)
        && name.utf8.allSatisfy {
          (0x21...0x7e).contains($0) && $0 != 0x22 && $0 != 0x5c && $0 != 0x7b && $0 != 0x7d
        }
    }
  }

  /// `decide`: policy of entitlements (docs/spec/configuration.md §2).
  struct DecidePolicy: Sendable {
    /// appAccountToken against the account given (DCD-20).
    enum Account: Int, Sendable { case whenGiven, ifPresent, required, ignored }
    /// Evidence of Sandbox beside evidence of Production (DCD-23).
    enum Sandbox: Int, Sendable { case below, equal, never }
    var account = Account.whenGiven
    var sandbox = Sandbox.below
    var grace = true
    var retryIsLenient = false
    var leewayMs: Int64 = 0
    var familyAllowed = true
  }

  /// `storekit`: JWS (docs/spec/configuration.md §3).
  struct StoreKitPolicy: Sendable {
    /// Own roots; empty: Apple's compiled-in root.
    var anchors: [Anchor] = []
    var rootEntryIgnored = false
    var environmentFromTransactionId = false
    var undatedNotificationsNested = false
    var nestedOmitted = false
    /// Milliseconds by JWS kind; a kind that is not named is not judged.
    var fresh: [(kind: StoreKitKind, maxAgeMs: Int64)] = []
    /// SHA-256 of pinned Xcode certificates, 32 bytes each.
    var xcodeCertificates: [[UInt8]] = []
    var ocspHosts: [Text] = ["ocsp.apple.com"]
    var jwsBytes = 65_536
    var cacheChains = 16
  }

  /// `receipts`: transaction receipts, app receipts, triage, verifyReceipt
  /// (docs/spec/configuration.md §4).
  struct ReceiptsPolicy: Sendable {
    /// Own roots; empty: Apple Root CA.
    var anchors: [Anchor] = []
    /// Added to the shipped ones.
    var intermediates: [Certificate] = []
    var v2Refused = false
    var lateSignedRefused = false
    var unknownEnvironmentAllowed = false
    /// nil: age is not judged.
    var maxAgeMs: Int64? = nil
    /// Device ids are personal data (RCP §2.9).
    var deviceIdsReported = false
    var sharedSecrets = SharedSecrets()
    // Caps of docs/spec/receipts.md §1, in octets of decoded data unless stated otherwise.
    /// Of the text as it was sent.
    var inputBytes = 3_145_728
    var transactionReceiptBytes = 16_384
    var purchaseInfoBytes = 8192
    var appReceiptBytes = 1_048_576
    /// Purchases of an app receipt.
    var purchases = 8192

    /// APR-26: BER elements of an app receipt. It follows each of the two caps
    /// that may be raised, so that raising either has its effect: Apple's purchases have
    /// up to 93 elements, of four octets each on average.
    var appReceiptElements: Int { Swift.max(32 &* purchases &+ 4096, appReceiptBytes / 4) }

    /// RCP-6: of the outer list of a transaction receipt, which has room for the
    /// base64 of the longest allowed purchase-info, and of one octet more, which is
    /// refused by its own name.
    var outerList: PropertyList.Limits {
      var limits = PropertyList.Limits.outer(receiptBytes: transactionReceiptBytes)
      limits.valueBytes = Swift.max(limits.valueBytes, (purchaseInfoBytes &+ 3) / 3 &* 4)
      return limits
    }
  }
}
