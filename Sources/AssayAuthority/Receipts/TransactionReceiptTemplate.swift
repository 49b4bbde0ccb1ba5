/// An old-style transaction receipt before signing. Each part, from the signed list to the base64
/// of the outer list, can be replaced; the signature covers the version and the list as they are.
public struct TransactionReceiptTemplate: Sendable {
  /// The signed list.
  public var info: PropertyListText
  /// The bytes of the signed list, in place of `info`.
  public var infoBytes: [UInt8]?
  /// The version byte of the signature blob, which is signed too.
  public var version: UInt8
  public var chain: CertificateChain
  public var digest = SigningKey.Digest.sha1
  public var scope = Scope.versionAndInfo
  public var signature = SignatureForm.asSigned
  public var blob = BlobForm.clean
  /// The keys of the outer list besides the signature and the signed list.
  public var environment: String?
  public var pod: String?
  public var signingStatus: String? = "0"
  /// The purchase-info that is sent; `nil` for the signed one.
  public var sentInfo: [UInt8]?
  /// The values of purchase-info and signature, in place of their base64.
  public var infoText: [UInt8]?
  public var signatureText: [UInt8]?
  /// Changes the outer list before it is written.
  public var outer: @Sendable (PropertyListText) -> PropertyListText = { $0 }

  /// The bytes that the signature covers.
  public enum Scope: Sendable {
    /// The version byte and the list, as Apple signs.
    case versionAndInfo
    case info
    case infoText
  }

  public enum SignatureForm: Sendable {
    case asSigned
    /// One bit is flipped.
    case damaged
    case octets([UInt8])
    /// The signature is made with this key, which is not the leaf's.
    case by(SigningKey)
  }

  /// The layout of the signature blob.
  public enum BlobForm: Sendable {
    case clean
    /// The blob is cut to this many bytes.
    case prefix(Int)
    /// These bytes follow the blob.
    case trailing([UInt8])
    /// The length of the certificate is replaced by this number.
    case certificateLength(UInt32)
    /// The blob is replaced by these bytes.
    case octets([UInt8])
  }

  public init(
    info: PropertyListText, version: UInt8, chain: CertificateChain, environment: String?,
    pod: String?
  ) {
    self.info = info
    self.version = version
    self.chain = chain
    self.environment = environment
    self.pod = pod
  }

  /// Returns the signature blob: version, signature, length of the leaf, leaf.
  public func signatureBlob() throws -> [UInt8] {
    let list = infoBytes ?? info.bytes
    let signed: [UInt8] =
      switch scope {
      case .versionAndInfo: [version] + list
      case .info: list
      case .infoText: Base64Text.encode(list)
      }
    let value = try signatureOctets(over: signed)
    var count = UInt32(chain.leaf.count)
    if case .certificateLength(let other) = blob { count = other }
    let length = (0..<4).reversed().map { UInt8(truncatingIfNeeded: count >> (8 * UInt32($0))) }
    let whole = [version] + value + length + chain.leaf
    switch blob {
    case .clean, .certificateLength: return whole
    case .prefix(let count): return Array(whole.prefix(count))
    case .trailing(let more): return whole + more
    case .octets(let other): return other
    }
  }

  /// Returns the outer list before it is written.
  public func outerList() throws -> PropertyListText {
    var list = PropertyListText([])
    list.entries.append(
      .init("signature", bytes: try signatureText ?? Base64Text.encode(signatureBlob())))
    list.entries.append(
      .init(
        "purchase-info",
        bytes: infoText ?? Base64Text.encode(sentInfo ?? infoBytes ?? info.bytes)))
    if let environment { list = list.appending("environment", environment) }
    if let pod { list = list.appending("pod", pod) }
    if let signingStatus { list = list.appending("signing-status", signingStatus) }
    return outer(list)
  }

  /// Returns the signed receipt as StoreKit passes it to the app: text, not yet base64.
  public func signed() throws -> [UInt8] { try outerList().bytes }

  private func signatureOctets(over message: [UInt8]) throws -> [UInt8] {
    switch signature {
    case .asSigned: return try chain.key.sign(message, digest)
    case .damaged:
      var octets = try chain.key.sign(message, digest)
      octets[octets.count / 2] ^= 1
      return octets
    case .octets(let octets): return octets
    case .by(let key): return try key.sign(message, digest)
    }
  }
}

extension ReceiptAuthority {
  /// Returns a transaction receipt before signing. Version 2 is of the generation `store`, 2009 …
  /// 2016; for version 3 the purchase date selects the generation.
  public func transactionTemplate(
    _ purchase: Purchase, version: UInt8 = 3, generation: Generation? = nil
  ) throws -> TransactionReceiptTemplate {
    let other: Generation = purchase.purchaseDate < 1_675_806_527_000 ? .second : .current
    return TransactionReceiptTemplate(
      info: purchase.purchaseInfo, version: version,
      chain: try chain(generation ?? (version == 2 ? .store : other)),
      environment: purchase.environment == "Sandbox" ? "Sandbox" : nil, pod: purchase.pod)
  }

  /// Returns a genuine transaction receipt as the client posts it, base64.
  public func transactionReceipt(_ purchase: Purchase, version: UInt8 = 3) throws -> [UInt8] {
    Base64Text.encode(try transactionTemplate(purchase, version: version).signed())
  }
}
