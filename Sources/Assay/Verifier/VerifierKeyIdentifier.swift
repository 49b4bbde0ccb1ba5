extension Verifier {
  /// `attest.key-id`: the text under which a store keeps an attested key, from whatever
  /// text the app sent (ATT-2).
  func formKeyIdentifier(_ request: ExchangeRequest, _ checks: Checks<ExchangeCheck>) -> Document {
    var checks = checks
    checks.enter(.result)
    let answer = ExchangeDocument(
      kind: request.kind.name, configuration: fingerprint, checks: checks.ledger)
    do throws(Refusal) {
      let text = try request.required("keyId").text()
      let keyId = Text(try KeyIdentifier.normalForm(of: text.utf8))
      return answer.done { $0.member("keyId", keyId) }
    } catch {
      return answer.refused(error)
    }
  }
}
