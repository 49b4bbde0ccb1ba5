/// The binding of a JWS to the device on which it was made: a digest over a nonce and the
/// device's `AppStore.deviceVerificationID` (JWS-93).
struct DeviceProof {
  private let digest: Text
  private let nonce: Text

  /// Returns `nil` for a JWS of another kind, or one that was not made on a device.
  init?(_ payload: SignedPayload) {
    switch payload.kind {
    case .transaction, .renewalInfo, .appTransaction: break
    case .notification, .realtimeRequest: return nil
    }
    guard let digest = payload.text("deviceVerification"),
      let nonce = payload.text("deviceVerificationNonce")
    else { return nil }
    self.digest = digest
    self.nonce = nonce
  }

  /// Whether the JWS was made on this device.
  ///
  /// - Parameter device: a UUID.
  func isOf(device: Text) -> Bool {
    let text = nonce.asciiLowercased.utf8 + device.asciiLowercased.utf8
    guard nonce.isUUID, let signed = Base64.decodeStandard(digest.utf8[...]) else { return false }
    return ConstantTime.areEqual(signed[...], Digest.sha384.of(text)[...])
  }
}
