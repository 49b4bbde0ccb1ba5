/// An assertion before signing. Every part can be set to anything.
public struct AssertionTemplate: Sendable {
  public var device: AttestedDevice
  /// The 32-byte hash of the client data, or other bytes in its place.
  public var clientDataHash: [UInt8]
  /// The authenticator data that is signed.
  public var authData: AuthenticatorDataTemplate
  /// The authenticator data that is sent; `nil` for the signed one.
  public var sentAuthData: [UInt8]?
  public var signer: SigningKey
  /// Changes the message that is signed, the nonce.
  public var message: @Sendable ([UInt8]) -> [UInt8] = { $0 }
  /// Changes the signature, DER.
  public var signature: @Sendable ([UInt8]) throws -> [UInt8] = { $0 }
  /// Changes the members of the object.
  public var object: @Sendable ([CBORText.Member]) -> [CBORText.Member] = { $0 }
  /// Changes the finished bytes.
  public var finish: @Sendable ([UInt8]) -> [UInt8] = { $0 }

  /// Creates an assertion of the device's key over the hash of client data.
  public init(of device: AttestedDevice, clientDataHash: [UInt8], counter: UInt32) {
    self.device = device
    self.clientDataHash = clientDataHash
    authData = device.assertionData(counter: counter)
    signer = device.key
  }

  /// Returns the signed assertion. The nonce is signed as a message, so ECDSA gets its SHA-256.
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
