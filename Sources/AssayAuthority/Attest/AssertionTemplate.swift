/// An assertion before it is signed; every part can be set to anything.
public struct AssertionTemplate: Sendable {
  public var device: AttestedDevice
  /// The 32 octets that client data became, or what is in their place.
  public var clientDataHash: [UInt8]
  /// What is signed.
  public var authData: AuthenticatorDataTemplate
  /// Authenticator data that is sent, if it is not what was signed.
  public var sentAuthData: [UInt8]?
  public var signer: SigningKey
  /// Changes the octets that are signed: the nonce.
  public var message: @Sendable ([UInt8]) -> [UInt8] = { $0 }
  /// Changes the signature, DER.
  public var signature: @Sendable ([UInt8]) throws -> [UInt8] = { $0 }
  /// Changes the members of the object.
  public var object: @Sendable ([CBORText.Member]) -> [CBORText.Member] = { $0 }
  /// Changes the finished bytes.
  public var finish: @Sendable ([UInt8]) -> [UInt8] = { $0 }

  /// An assertion of the device's key over the hash of client data.
  public init(of device: AttestedDevice, clientDataHash: [UInt8], counter: UInt32) {
    self.device = device
    self.clientDataHash = clientDataHash
    authData = device.assertionData(counter: counter)
    signer = device.key
  }

  /// The finished object. What is signed is the nonce as a message: its SHA-256
  /// enters ECDSA.
  public func signed() throws -> [UInt8] {
    let nonce = AttestDigest.sha256(authData.bytes + clientDataHash)
    let octets = try signature(signer.sign(message(nonce), .sha256))
    let members = object([
      .init("signature", .bytes(octets)),
      .init("authenticatorData", .bytes(sentAuthData ?? authData.bytes)),
    ])
    return finish(CBORText.map(members).encoded)
  }
}
