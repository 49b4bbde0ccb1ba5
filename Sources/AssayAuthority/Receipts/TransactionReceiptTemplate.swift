/// An old-style transaction receipt before it is signed. Every step, from the
/// signed list to the base64 of the outer one, can be set to something else;
/// what is signed is what is in the blob and the list.
public struct TransactionReceiptTemplate: Sendable {
  /// The signed list.
  public var info: PropertyListText
  /// Its bytes, in place of `info`.
  public var infoBytes: [UInt8]?
  /// The version octet of the blob; it is signed too.
  public var version: UInt8
  public var chain: CertificateChain
  public var digest = SigningKey.Digest.sha1
  public var scope = Scope.versionAndInfo
  public var signature = SignatureForm.asSigned
  public var blob = BlobForm.clean
  /// The other keys of the outer list, in their order around the two.
  public var environment: String?
  public var pod: String?
  public var signingStatus: String? = "0"
  /// The purchase-info that is sent, if it is not the one that was signed.
  public var sentInfo: [UInt8]?
  /// The texts of the two keys, in place of base64.
  public var infoText: [UInt8]?
  public var signatureText: [UInt8]?
  /// The whole outer list, before it is written.
  public var outer: @Sendable (PropertyListText) -> PropertyListText = { $0 }

  /// What the signature covers.
  public enum Scope: Sendable {
    /// As Apple signs: the version octet, then the list.
    case versionAndInfo
    case info
    case infoText
  }

  public enum SignatureForm: Sendable {
    case asSigned
    /// One bit is flipped.
    case damaged
    case octets([UInt8])
    /// Signed with a key that is not the leaf's.
    case by(SigningKey)
  }

  /// The layout of the signature blob.
  public enum BlobForm: Sendable {
    case clean
    /// Only this many octets of it.
    case prefix(Int)
    /// These octets after it.
    case trailing([UInt8])
    /// Another number in the length of the certificate.
    case certificateLength(UInt32)
    /// These octets in place of all of it.
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

  /// The signature blob: version, signature, length of the leaf, leaf.
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

  /// The outer list before it is written.
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

  /// The receipt as StoreKit hands it to the app: text, not yet base64.
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
  /// A transaction receipt before it is signed. Version 2 is of the store's
  /// years, 2009 … 2016; version 3 is signed by the generation of its date.
  public func transactionTemplate(
    _ purchase: Purchase, version: UInt8 = 3, generation: Generation? = nil
  ) throws -> TransactionReceiptTemplate {
    let other: Generation = purchase.purchaseDate < 1_675_806_527_000 ? .second : .current
    return TransactionReceiptTemplate(
      info: purchase.purchaseInfo, version: version,
      chain: try chain(generation ?? (version == 2 ? .store : other)),
      environment: purchase.environment == "Sandbox" ? "Sandbox" : nil, pod: purchase.pod)
  }

  /// A good transaction receipt as the client posts it: base64.
  public func transactionReceipt(_ purchase: Purchase, version: UInt8 = 3) throws -> [UInt8] {
    Base64Text.encode(try transactionTemplate(purchase, version: version).signed())
  }
}
