/// Looks at any blob without cryptography: what it is, whether it can be ours,
/// what to do next (docs/spec/receipts-triage.md §1). Nine requests in ten end here, so it
/// decodes once, reads in place and allocates no more than the input has.
final class Triage: Sendable {
  let configuration: Configuration

  init(_ configuration: Configuration) { self.configuration = configuration }

  /// TRI-1 … TRI-9, in this order. Every blob has a result.
  func look(_ blob: [UInt8]) -> TriageResult {
    // TRI-2 before anything else that could fail: one request in eleven.
    if TriageForms.isCrackerText(blob) { return cracker(nil) }
    let transport: Transport
    do {
      transport = try Transport(blob, cap: configuration.receipts.inputBytes)
    } catch {
      return malformed(error, .unknown, nil, at: .transport)
    }
    switch transport.form {
    case .list: return lookAtList(transport)
    case .container: return lookAtContainer(transport)
    case .jws: return lookAtJWS(transport)
    case .attestation: return unsupported(.attestation, transport)
    case .assertion: return unsupported(.assertion, transport)
    case .xmlPropertyList: return unsupported(.xmlPropertyList, transport)
    case .binaryPropertyList: return unsupported(.binaryPropertyList, transport)
    case .unknown:
      if TriageForms.isShortText(transport.bytes) { return cracker(transport) }
      return unsupported(.unknown, transport)
    }
  }

  // MARK: what is not ours

  /// Whether a claimed bundle id is one of the configured apps (TRI-6), byte for
  /// byte.
  func isOurs(bundleId: ArraySlice<UInt8>) -> Bool {
    for app in configuration.apps where app.bundleId.utf8[...] == bundleId { return true }
    return false
  }

  /// Whether a claimed environment is one that this verifier accepts (TRI-8).
  func accepts(_ environment: Environment) -> Bool {
    configuration.environments.contains(environment)
  }

  // MARK: results

  /// TRI-2.
  func cracker(_ transport: Transport?) -> TriageResult {
    TriageResult(
      refusal: Refusal(.rejectedTriageCracker, "TRI-2"), category: .cracker, form: .cracker,
      disposition: .drop, next: .nothing, transport: transport, checks: Checks(entering: .form))
  }

  /// TRI-3: what triage only names. Evidence in an unexpected form is kept; what
  /// is nothing at all may have been damaged, and is sent again.
  func unsupported(_ form: TriageResult.Form, _ transport: Transport) -> TriageResult {
    TriageResult(
      refusal: Refusal(.unsupportedTriageForm, "TRI-3"), category: .unsupported, form: form,
      disposition: form == .unknown ? .resend : .keep, next: .nothing, transport: transport,
      checks: Checks(entering: .form))
  }

  /// TRI-1, TRI-4: the client sends its stored copy again.
  func malformed(
    _ refusal: Refusal, _ form: TriageResult.Form, _ transport: Transport?, at check: TriageCheck
  ) -> TriageResult {
    TriageResult(
      refusal: refusal, category: .malformed, form: form, disposition: .resend, next: .nothing,
      transport: transport, checks: Checks(entering: check))
  }

  /// TRI-6 … TRI-9 over what a form of TRI-3 claims.
  ///
  /// - Parameters:
  ///   - isOurs: whether the claimed app is configured; nil: it claims none.
  ///   - productIsKnown: nil: it claims none, or the form is not asked (TRI-7).
  func judge(
    _ claim: TriageClaim, _ form: TriageResult.Form, _ transport: Transport,
    traits: TriageTraits, kind: StoreKitKind? = nil, isOurs: Bool?, productIsKnown: Bool? = nil
  ) -> TriageResult {
    var checks = Checks(entering: .structure)
    func result(
      _ refusal: Refusal, _ category: TriageResult.Category,
      _ disposition: TriageResult.Disposition, _ next: TriageResult.Next
    ) -> TriageResult {
      TriageResult(
        refusal: refusal, category: category, form: form, disposition: disposition, next: next,
        traits: traits, kind: kind, transport: transport, claim: claim, checks: checks)
    }
    checks.enter(.bundle, where: isOurs != nil, else: .doesNotApply)
    if isOurs == false {
      return result(Refusal(.rejectedTriageForeignBundle, "TRI-6"), .foreign, .drop, .nothing)
    }
    checks.enter(.product, where: productIsKnown != nil, else: .doesNotApply)
    if productIsKnown == false {
      return result(Refusal(.rejectedTriageForeignProduct, "TRI-7"), .foreign, .keep, .nothing)
    }
    checks.enter(.traits)
    if traits.isEmpty { checks.leave() }
    let category: TriageResult.Category =
      form == .jws ? .jws : traits.isEmpty ? .candidate : .unconfirmed
    return result(
      Refusal(.pendingTriageUnverified, "TRI-9"), category, .keep,
      claim.keys.isEmpty ? .verify : .lookup)
  }
}

/// The checks of triage, in their order.
enum TriageCheck: Int, CheckList {
  case transport, form, structure, bundle, product, traits

  static let ids: [StaticString] = [
    "transport", "triage.form", "triage.structure", "triage.bundle", "triage.product",
    "triage.traits",
  ]
}

extension Checks<TriageCheck> {
  /// All before this check have passed.
  init(entering check: TriageCheck) {
    for earlier in TriageCheck.allCases where earlier.rawValue <= check.rawValue { enter(earlier) }
  }
}
