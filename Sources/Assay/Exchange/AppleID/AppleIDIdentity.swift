/// `verify-apple-identity-token`: verifies an identity token of Sign in with Apple with Apple's
/// keys and the nonce (docs/spec/apple-id.md §2).
enum AppleIDIdentity {
  static func document(_ context: OperationContext) -> Document {
    var answer = context.answer
    var signIn: AppleIDSignIn? = nil
    do throws(Refusal) {
      signIn = try AppleIDSignIn(context)
      let nonce = try AppleIDSignIn.nonce(context.request, context.configuration)
      let text = try context.request.required("token").text()
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
}
