extension Verifier {
  /// `appleid.identity`: who signs in with Apple, proven by its keys and the nonce
  /// (docs/spec/apple-id.md §2).
  func verifyAppleIdentity(
    _ request: ExchangeRequest, _ evidence: [VerifiedEvidence], _ checks: Checks<ExchangeCheck>,
    nowMs: Int64
  ) -> Document {
    var answer = answer(request, checks)
    var signIn: AppleIDSignIn? = nil
    do throws(Refusal) {
      signIn = try AppleIDSignIn(evidence.first, configuration, nowMs: nowMs)
      let nonce = try AppleIDSignIn.nonce(request, configuration)
      let text = try request.required("token").text()
      guard let token = try signIn?.identity(text, nonce) else {
        throw Refusal(.internalAssayBug, "EXC-3", at: "evidence[0]")
      }
      return answer.done(
        room: token.payloadBytes &+ 3072, warnings: { token.writeWarnings(&$0) }
      ) {
        $0.name("token")
        token.write(&$0)
      }
    } catch {
      answer.keysetAdvice = signIn?.keysetAdvice
      return answer.refused(error.hinted(as: .token)) { $0.member("token", nil) }
    }
  }

  /// `appleid.notification`: what happened to an account (docs/spec/apple-id.md §3).
  func verifyAppleNotification(
    _ request: ExchangeRequest, _ evidence: [VerifiedEvidence], _ checks: Checks<ExchangeCheck>,
    nowMs: Int64
  ) -> Document {
    var answer = answer(request, checks)
    var signIn: AppleIDSignIn? = nil
    do throws(Refusal) {
      signIn = try AppleIDSignIn(evidence.first, configuration, nowMs: nowMs)
      let text = try request.required("payload").text()
      guard let event = try signIn?.notification(text) else {
        throw Refusal(.internalAssayBug, "EXC-3", at: "evidence[0]")
      }
      return answer.done(
        room: event.payloadBytes &+ 3072, warnings: { event.writeWarnings(&$0) }
      ) {
        $0.name("appleIdEvent")
        event.write(&$0)
      }
    } catch {
      answer.keysetAdvice = signIn?.keysetAdvice
      return answer.refused(error.hinted(as: .token)) { $0.member("appleIdEvent", nil) }
    }
  }
}
