import AssayAuthority

extension CaseFixture {
  /// Adds every variation of a good transaction, and the good one itself.
  func addVariations() throws {
    let payload = purchase.transactionPayload
    let base = Variation.Base(authority: authority, payload: payload, now: now)
    for variation in Variation.all {
      verify(
        variation.rule, variation.name, try variation.mint(base), variation.status,
        check: variation.check, at: variation.at)
    }
    try addRootEntryCases(payload)
  }

  /// Adds chains with `x5cRoot` "ignored" (JWS-20).
  private func addRootEntryCases(_ payload: JSONText) throws {
    let foreign = try Authority(now: now, names: .own)
    let good = JWSTemplate(payload: payload.bytes, chain: authority.chain)
    var other = good
    other.replaceEntry(2, JWSTemplate.entry(foreign.chain.root))
    var empty = good
    empty.replaceEntry(2, "")
    var number = good
    number.replaceEntry(2, 7)
    let verifier = "root-entry-ignored"
    verify("JWS-20", "the root's own entry, ignored", try good.signed(), verifier: verifier)
    verify("JWS-20", "a foreign root entry, ignored", try other.signed(), verifier: verifier)
    verify("JWS-20", "an empty root entry, ignored", try empty.signed(), verifier: verifier)
    verify(
      "JWS-13", "a number as the ignored root entry", try number.signed(),
      verifier: verifier, "malformed.jws.x5c", check: "jws.header")
    verify(
      "JWS-20", "a foreign chain with the root's name, root entry ignored",
      try foreign.mint(payload), verifier: verifier, "rejected.chain.untrusted-root")
    verify(
      "JWS-20", "a foreign chain with Apple's names, root entry ignored",
      try Authority(now: now, names: .apple).mint(payload), verifier: verifier,
      "rejected.chain.untrusted-root")
  }
}
