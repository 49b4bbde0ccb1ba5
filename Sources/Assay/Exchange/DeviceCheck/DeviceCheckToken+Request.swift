extension DeviceCheckToken {
  /// Reads the member `deviceToken` of a request: a text, or a body in the form of steps (DVC-4).
  init(_ request: ExchangeRequest) throws(Refusal) {
    let member = try request.required("deviceToken")
    if var text = (member.value.text ?? member["text"]?.value.text)?.utf8 {
      defer { Secret.wipe(&text) }
      try self.init(text: text)
    } else {
      try self.init(body: try ExchangeInput.body(member))
    }
  }
}

extension DeviceCheckToken {
  /// `normalize-device-token`: normalizes a device token to the form that Apple accepts (DVC-4).
  static func document(_ context: OperationContext) -> Document {
    do throws(Refusal) {
      var token = try DeviceCheckToken(context.request)
      var text = token.base64.utf8
      defer {
        token.wipe()
        Secret.wipe(&text)
      }
      return context.answer.done(room: text.count) {
        $0.name("deviceToken")
        $0.string(utf8: text)
      }
    } catch {
      return context.answer.refused(error)
    }
  }
}
