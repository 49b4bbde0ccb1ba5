extension DeviceProof {
  /// `verify-device`: checks that a JWS was made for the device that the app names (JWS-93).
  static func document(_ context: OperationContext) -> Document {
    do throws(Refusal) {
      let device = try context.request.required("deviceId")
      let id = try device.text()
      try require(id.isUUID, .misuseExchangeRequest, "JWS-93", at: "deviceId")
      guard case .storeKit(let payload)? = context.evidence.first,
        let proof = DeviceProof(payload)
      else { throw Refusal(.internalAssayBug, "EXC-3", at: "evidence[0]") }
      try require(
        proof.isOf(device: id), .rejectedAccountDevice, "JWS-93", at: "deviceVerification")
      var added = payload.added
      added.isDeviceVerified = true
      return context.answer.done(.storeKit(payload.with(added))) { added.write(&$0) }
    } catch {
      return context.answer.refused(error)
    }
  }
}
