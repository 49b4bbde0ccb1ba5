import AssayAuthority

/// Signs V2 notifications about purchases of the state.
struct NotificationMaker {
  let signer: MockSigner

  func make(
    _ type: String, _ subtype: String?, _ purchase: Purchase, _ state: inout MockState
  ) throws -> MockNotification {
    let now = state.clock.now
    let uuid = state.uuid("notification")
    let told = signer.told(purchase).with { $0.signedDate = now }
    let payload = try signer.authority.store.notification(type, subtype, told)
      .setting("notificationUUID", .string(uuid))
    let status = state.place(of: purchase.transactionId).map {
      state.purchases[$0].status(at: now)
    }
    let hasStatus = payload["data.status"] != nil
    let whole =
      hasStatus && status != nil ? payload.setting("data.status", .integer(status ?? 1)) : payload
    return MockNotification(
      type: type, subtype: subtype, uuid: uuid, environment: purchase.environment,
      transactionId: purchase.transactionId, madeMs: now, jws: try signer.jws(whole))
  }
}
