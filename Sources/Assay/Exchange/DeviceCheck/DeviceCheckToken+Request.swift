extension DeviceCheckToken {
  /// The member `deviceToken` of a request: a text, or a body as steps have it (DVC-4).
  init(_ request: ExchangeRequest) throws(Refusal) {
    let member = try request.required("deviceToken")
    if let text = member.value.text ?? member["text"]?.value.text {
      defer { Secret.wipe(text.utf8) }
      try self.init(text: text.utf8)
    } else {
      try self.init(body: try ExchangeInput.body(member))
    }
  }
}
