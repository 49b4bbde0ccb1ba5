/// Classifies any blob without cryptography: its form, whether it can belong to a configured app,
/// and the next step (docs/spec/receipts-triage.md §1). Nine requests in ten end here, so that
/// triage decodes once, reads in place and allocates no more than the input's size.
final class Triage: Sendable {
  let configuration: Configuration

  init(_ configuration: Configuration) { self.configuration = configuration }

  /// Returns the result for a blob, which always exists, by the rules TRI-1 … TRI-9 in this
  /// order.
  func look(_ blob: [UInt8]) -> TriageResult {
    // First, because one request in eleven is the text of a cracking tool (TRI-2).
    if TriageForms.isCrackerText(blob) { return cracker(nil) }
    let transport: Transport
    do {
      transport = try Transport(blob, cap: configuration.receipts.inputBytes)
    } catch {
      return malformed(
        error, .unknown, nil, at: .transport,
        error.status == .malformedTransportBase64 ? remains(ofText: blob) : nil)
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

  // MARK: apps and environments

  /// Whether an unverified bundle id is that of a configured app, byte for byte (TRI-6).
  func isOurs(bundleId: ArraySlice<UInt8>) -> Bool {
    for app in configuration.apps where app.bundleId.utf8[...] == bundleId { return true }
    return false
  }

  /// Whether this verifier accepts an unverified environment (TRI-8).
  func accepts(_ environment: Environment) -> Bool {
    configuration.environments.contains(environment)
  }

  // MARK: results

  /// Returns the result for the output of a cracking tool (TRI-2).
  func cracker(_ transport: Transport?) -> TriageResult {
    TriageResult(
      refusal: Refusal(.rejectedTriageCrackingTool, "TRI-2"), category: .cracker, form: .cracker,
      disposition: .drop, next: .nothing, transport: transport, checks: Checks(entering: .form))
  }

  /// Returns the result for a form that triage only recognizes (TRI-3). The client keeps evidence
  /// in an unexpected form; a blob of no known form may have been damaged, and is sent again.
  func unsupported(_ form: TriageResult.Form, _ transport: Transport) -> TriageResult {
    TriageResult(
      refusal: Refusal(.unsupportedTriageFormat, "TRI-3"), category: .unsupported, form: form,
      disposition: form == .unknown ? .resend : .keep, next: .nothing, transport: transport,
      checks: Checks(entering: .form))
  }

  /// Returns the result for a damaged blob, of which the client sends its stored copy again
  /// (TRI-1, TRI-4), with what is left of it (TRI-13).
  func malformed(
    _ refusal: Refusal, _ form: TriageResult.Form, _ transport: Transport?, at check: TriageCheck,
    _ remains: TriageClaim? = nil
  ) -> TriageResult {
    TriageResult(
      refusal: refusal, category: .malformed, form: form, disposition: .resend, next: .nothing,
      transport: transport, claim: remains, checks: Checks(entering: check))
  }

  /// Applies the rules TRI-6 … TRI-9 to the unverified content of a form that is read (TRI-3).
  ///
  /// - Parameters:
  ///   - isOurs: whether the app is configured; `nil` if the content names none.
  ///   - productIsKnown: whether the product is in the catalogue; `nil` if the content names
  ///     none, or the rule does not apply to its form (TRI-7).
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
      Refusal(.pendingTriageVerifyNext, "TRI-9"), category, .keep,
      claim.keys.isEmpty ? .verify : .lookup)
  }
}

/// The checks of triage, in their order.
enum TriageCheck: Int, CheckList {
  case transport, form, structure, bundle, product, traits

  static let ids: [StaticString] = [
    "transport", "triage.format", "triage.structure", "triage.bundle", "triage.product",
    "triage.anomalies",
  ]
}

extension Checks<TriageCheck> {
  /// Creates checks of which all before `check` have passed.
  init(entering check: TriageCheck) {
    for earlier in TriageCheck.allCases where earlier.rawValue <= check.rawValue { enter(earlier) }
  }
}
