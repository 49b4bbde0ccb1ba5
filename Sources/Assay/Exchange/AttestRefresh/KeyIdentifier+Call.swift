extension KeyIdentifier {
  /// `normalize-key-id`: normalizes the key id that an app sent, so that a database finds the
  /// device key by one text (ATT-2).
  static func document(_ context: OperationContext) -> Document {
    do throws(Refusal) {
      let text = try context.request.required("keyId").text()
      let keyId = Text(try normalForm(of: text.utf8))
      return context.answer.done { $0.member("keyId", keyId) }
    } catch {
      return context.answer.refused(error)
    }
  }
}
