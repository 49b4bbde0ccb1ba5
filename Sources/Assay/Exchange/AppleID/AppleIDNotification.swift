/// `verify-sign-in-notification`: verifies a sign-in notification, Apple's report of a change to an
/// account that signs in with Apple (docs/spec/apple-id.md §3).
enum AppleIDNotification {
  static func document(_ context: OperationContext) -> Document {
    var answer = context.answer
    var signIn: AppleIDSignIn? = nil
    do throws(Refusal) {
      signIn = try AppleIDSignIn(context)
      let text = try context.request.required("payload").text()
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
