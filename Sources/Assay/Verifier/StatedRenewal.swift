#if !hasFeature(Embedded)
  /// The renewal info of one subscription, as verified evidence states it.
  @_spi(AssayMigrate) public struct StatedRenewal: Sendable {
    public let environment: String
    /// The key of the subscription; `nil` if its id cannot be a key (RPL-3).
    public let key: String?
    public let asOfMs: Int64
    public let graceExpiresAtMs: Int64?
    public let accountToken: String?
  }
#endif
