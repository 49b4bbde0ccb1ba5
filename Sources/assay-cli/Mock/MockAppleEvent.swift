import AssayAuthority

/// A change of an account of Sign in with Apple, as Apple notifies the host.
struct MockAppleEvent {
  let type: String
  /// The subject; `nil` for that of sign-ins that name none.
  let subject: String?
  let clientId: String

  /// Returns the notification, signed by the newest key of Apple's set.
  func text(_ state: inout MockState, _ fault: MockFault) throws -> String {
    let sample = TokenAuthority(
      rsaKey: state.authority.rsaKeys[0], ellipticKey: state.authority.ellipticKeys[0],
      now: state.clock.now)
    let claims = sample.appleNotificationClaims(
      sample.appleEvent(type, subject: subject),
      audience: fault.isOtherApp ? MockSigner.otherBundle : clientId
    ).setting("jti", .string(state.uuid("event")))
    guard let ring = state.rings[TokenAuthority.apple] else { throw Problem("there are no keys") }
    return try ring.signed(claims, isBad: fault.hasBadSignature)
  }
}
