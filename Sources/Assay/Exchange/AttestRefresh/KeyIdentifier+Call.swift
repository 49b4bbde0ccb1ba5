extension KeyIdentifier {
  /// `attest.key-id`: the text under which a store keeps an attested key, from whatever text the
  /// app sent (ATT-2).
  static func document(_ context: KindContext) -> Document {
    do throws(Refusal) {
      let text = try context.request.required("keyId").text()
      let keyId = Text(try normalForm(of: text.utf8))
      return context.answer.done { $0.member("keyId", keyId) }
    } catch {
      return context.answer.refused(error)
    }
  }
}
