@_spi(AssaySwift) import Assay

/// Queries and updates the bits of a device at Apple's DeviceCheck server, an exchange for each
/// method. It is the property `deviceCheck` of a `Verifier`.
public struct DeviceCheckClient: Sendable {
  let verifier: Verifier

  /// Queries the two bits of a device at Apple. The result is `deviceCheck` of the exchange.
  ///
  /// Needs the block `deviceCheck` with its key.
  ///
  /// - Parameters:
  ///   - token: base64 of the bytes that `generateToken` returned to the app.
  ///   - transactionId: your own id of this request, 1 to 64 characters, for your log.
  ///   - offer: whether to check if the device has used an offer that each device gets once.
  ///   - now: the time at which the bits are evaluated.
  /// - Throws: family `misuse` for arguments of a wrong form.
  public func queryDeviceBits(
    _ token: String, transactionId: String, offer: Bool = false, at now: Timestamp = .now
  ) throws(AssayError) -> Exchange {
    try verifier.exchange(
      [
        "operation": "query-device-bits", "deviceToken": JSON(token),
        "transactionId": JSON(transactionId), "offer": JSON(offer),
      ], at: now)
  }

  /// Updates the bits of a device; a bit that is `nil` stays unchanged. Other arguments and
  /// errors are those of `queryDeviceBits`.
  public func updateDeviceBits(
    _ token: String, transactionId: String, bit0: Bool? = nil, bit1: Bool? = nil,
    at now: Timestamp = .now
  ) throws(AssayError) -> Exchange {
    try verifier.exchange(
      .given([
        ("operation", "update-device-bits"), ("deviceToken", JSON(token)),
        ("transactionId", JSON(transactionId)), ("bit0", bit0.map { JSON($0) }),
        ("bit1", bit1.map { JSON($0) }),
      ]), at: now)
  }

  /// Validates a device token at Apple without its bits. Arguments and errors are those of
  /// `queryDeviceBits`.
  public func validateDeviceToken(
    _ token: String, transactionId: String, at now: Timestamp = .now
  ) throws(AssayError) -> Exchange {
    try verifier.exchange(
      [
        "operation": "validate-device-token", "deviceToken": JSON(token),
        "transactionId": JSON(transactionId),
      ], at: now)
  }
}

extension Verifier {
  /// Apple's DeviceCheck server.
  public var deviceCheck: DeviceCheckClient { DeviceCheckClient(verifier: self) }
}
