extension DeviceCheckToken {
  /// The member `deviceToken` of a request: a text, or a body as steps have it (DVC-4).
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
