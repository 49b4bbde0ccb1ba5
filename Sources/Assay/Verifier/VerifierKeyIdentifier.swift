extension Verifier {
  /// `attest.key-id`: the text under which a store keeps an attested key, from whatever
  /// text the app sent (ATT-2).
  func formKeyIdentifier(_ request: ExchangeRequest, _ checks: Checks) -> Document {
    var checks = checks
    func answer() -> ExchangeDocument {
      ExchangeDocument(kind: request.kind.name, configuration: fingerprint, checks: checks)
    }
    do throws(Refusal) {
      let keyId = try checks.make(ExchangeCheck.result.rawValue) {
        () throws(Refusal) in
        let text = try ExchangeInput.members(.misuseExchangeRequest, "EXC-1") {
          () throws(Refusal) in try request.required("keyId").text()
        }
        return Text(try KeyIdentifier.normalForm(of: text.utf8))
      }
      return answer().done { $0.member("keyId", keyId) }
    } catch {
      return answer().refused(error)
    }
  }
}
