/// An attestation before signing. Every part can be set to anything; the other parts are derived
/// so that they match.
public struct AttestationTemplate: Sendable {
  public var device: AttestedDevice
  /// The 32-byte hash of the client data, or other bytes in its place.
  public var clientDataHash: [UInt8]
  /// The time of the attestation in milliseconds since 1970.
  public var madeMs: Int64
  /// The authenticator data from which the nonce is computed.
  public var authData: AuthenticatorDataTemplate
  /// The authenticator data that is sent; `nil` for the one of the nonce.
  public var sentAuthData: [UInt8]?
  /// The leaf without the extension of its nonce.
  public var leaf: CertificateTemplate
  /// Returns the extension 8.2 of a nonce; none omits the extension.
  public var nonce: @Sendable ([UInt8]) -> [CertificateExtension] = {
    [AttestLeafExtensions.nonce($0)]
  }
  public var leafSigner: SigningKey
  public var intermediate: [UInt8]
  /// Changes `x5c`, leaf and intermediate.
  public var chain: @Sendable ([[UInt8]]) -> [[UInt8]] = { $0 }
  /// The chain of the receipt's signers; `nil` for the authority's own.
  public var receiptChain: CertificateChain?
  /// Changes the receipt before it is signed.
  public var changeReceiptFacts: @Sendable (inout AttestReceiptFacts) -> Void = { _ in }
  public var changeReceipt: @Sendable (inout AppReceiptTemplate) throws -> Void = { _ in }
  /// The receipt, in place of the one that belongs to the attestation.
  public var receipt: [UInt8]?
  public var format = CBORText.text("apple-appattest")
  /// Changes the members of `attStmt`.
  public var statement: @Sendable ([CBORText.Member]) -> [CBORText.Member] = { $0 }
  /// Changes the members of the object.
  public var object: @Sendable ([CBORText.Member]) -> [CBORText.Member] = { $0 }
  /// Changes the finished bytes.
  public var finish: @Sendable ([UInt8]) -> [UInt8] = { $0 }

  let authority: AttestAuthority

  init(
    _ authority: AttestAuthority, _ device: AttestedDevice, clientDataHash: [UInt8],
    madeMs: Int64
  ) throws {
    self.authority = authority
    self.device = device
    self.clientDataHash = clientDataHash
    self.madeMs = madeMs
    authData = device.attestationData
    leaf = try AttestCertificates.leaf(
      device, issuer: authority.intermediate.subject, madeMs: madeMs)
    leafSigner = authority.keys.intermediate
    intermediate = authority.intermediateCertificate
  }

  /// Signs the leaf with the nonce. Inserts the nonce before extension 8.6, as Apple does.
  public func leafCertificate() throws -> [UInt8] {
    let digest = AttestDigest.sha256(authData.bytes + clientDataHash)
    var leaf = leaf
    let place =
      leaf.extensions?.firstIndex { $0.oid == AttestLeafExtensions.accessControlOID }
      ?? leaf.extensions?.endIndex
    if let place { leaf.extensions?.insert(contentsOf: nonce(digest), at: place) }
    return try leaf.signed(by: leafSigner)
  }

  /// Returns the signed attestation.
  public func signed() throws -> [UInt8] {
    let certificate = try leafCertificate()
    let receipt = try receipt ?? receiptBytes(certificate)
    let entries = chain([certificate, intermediate]).map { CBORText.bytes($0) }
    let statement = statement([
      .init("x5c", .array(entries)), .init("receipt", .bytes(receipt)),
    ])
    let members = object([
      .init("fmt", format), .init("attStmt", .map(statement)),
      .init("authData", .bytes(sentAuthData ?? authData.bytes)),
    ])
    return finish(CBORText.map(members).encoded)
  }

  private func receiptBytes(_ certificate: [UInt8]) throws -> [UInt8] {
    var facts = AttestReceiptFacts(
      .attest, device, certificate: certificate, clientHash: clientDataHash, created: madeMs)
    changeReceiptFacts(&facts)
    var template = authority.receiptTemplate(facts, chain: receiptChain)
    try changeReceipt(&template)
    return try template.signed()
  }
}

extension AttestAuthority {
  /// Returns an attestation of the device's key before signing.
  ///
  /// - Parameters:
  ///   - clientDataHash: the SHA-256 of the client data.
  ///   - madeMs: the time of the attestation in milliseconds since 1970.
  public func attestation(
    of device: AttestedDevice, clientDataHash: [UInt8], madeMs: Int64
  ) throws -> AttestationTemplate {
    try AttestationTemplate(self, device, clientDataHash: clientDataHash, madeMs: madeMs)
  }

  /// Returns a changed intermediate, signed with the root's key, or with `signer`.
  public func intermediate(
    key: SigningKey? = nil, signer: SigningKey? = nil,
    _ change: (inout CertificateTemplate) throws -> Void = { _ in }
  ) throws -> [UInt8] {
    var template = intermediate
    if let key { template.publicKeyInfo = try key.publicKeyInfo() }
    try change(&template)
    return try template.signed(by: signer ?? keys.root)
  }
}
