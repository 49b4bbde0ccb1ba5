extension Verifier {
  // MARK: App Attest

  /// The longest attestation that is read, in bytes.
  public static let attestationByteCap = AttestationObject.byteCap
  /// The longest assertion that is read, in bytes.
  public static let assertionByteCap = AssertionObject.byteCap
  /// The longest client data that is hashed, in bytes.
  public static let clientDataByteCap = ClientData.byteCap

  /// Verifies one attestation with its embedded receipt, offline (docs/spec/app-attest.md).
  ///
  /// - Parameters:
  ///   - object: the CBOR object that `attestKey` returned to the app.
  ///   - keyId: the key identifier: 32 bytes, or their base64, base64url or hex text.
  ///   - clientData: the data that the app hashed for `attestKey`, or their hash.
  ///   - nowMs: milliseconds since 1970 UTC, 2008 … 2100.
  /// - Returns: a document with the facts or the refusal.
  public func verifyAttestation(
    _ object: [UInt8], keyId: [UInt8], clientData: ClientDataInput, nowMs: Int64
  ) -> Document {
    var verification = AttestationVerification(attest, nowMs: nowMs)
    do throws(Refusal) {
      try TimeWindow.checkNow(nowMs)
      let attestation = try verification.run(object, keyId: keyId, clientData)
      return envelope("attestation", verification.checks.log).accepted(
        .attestation(attestation), warnings: { attestation.writeWarnings(&$0) },
        capacity: 10_240
      ) { attestation.write(&$0) }
    } catch {
      return envelope("attestation", verification.checks.log).refused(
        error, warnings: { clientData.writeWarnings(&$0) })
    }
  }

  /// Verifies one assertion of an attested key, offline (docs/spec/app-attest.md §6). The counter
  /// is compared here; the database must advance it atomically.
  ///
  /// - Parameters:
  ///   - object: the CBOR object that `generateAssertion` returned to the app.
  ///   - publicKey: the public key in the attestation's document: 65 bytes `04 ‖ x ‖ y`, or 91
  ///     bytes of SubjectPublicKeyInfo.
  ///   - counter: the last counter stored for this key, 0 at first.
  ///   - clientData: the data that the app hashed for `generateAssertion`, or their hash.
  ///   - nowMs: milliseconds since 1970 UTC, 2008 … 2100.
  /// - Returns: a document with the facts or the refusal.
  public func verifyAssertion(
    _ object: [UInt8], publicKey: [UInt8], counter: UInt32, clientData: ClientDataInput,
    nowMs: Int64
  ) -> Document {
    var verification = AssertionVerification(attest)
    do throws(Refusal) {
      try TimeWindow.checkNow(nowMs)
      let assertion = try verification.run(
        object, publicKey: publicKey, counter: counter, clientData)
      return envelope("assertion", verification.checks.log).accepted(
        .assertion(assertion, signer: signer(publicKey)),
        warnings: { assertion.writeWarnings(&$0) }, capacity: 1536
      ) { assertion.write(&$0) }
    } catch {
      return envelope("assertion", verification.checks.log).refused(
        error, warnings: { clientData.writeWarnings(&$0) })
    }
  }

  /// Returns the key id of a public key in either of its forms (ATT-3).
  private func signer(_ publicKey: [UInt8]) -> [UInt8] {
    Digest.sha256.of(AttestedKey.point(publicKey) ?? [])
  }

  private func envelope(_ kind: StaticString, _ checks: CheckLog) -> Envelope {
    Envelope(kind: kind, factsMember: kind, checks: checks, configuration: fingerprint)
  }
}
