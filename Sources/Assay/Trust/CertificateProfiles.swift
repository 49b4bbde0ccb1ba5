/// The certificate profiles of all chains, as tables of requirements.
extension CertificateProfile {
  private static let ecdsa: [SignatureAlgorithm] = [.ecdsa(.sha384), .ecdsa(.sha256)]
  private static let rsa: [SignatureAlgorithm] = [.rsa(.sha256), .rsa(.sha1)]

  // MARK: StoreKit JWS (docs/spec/storekit-jws.md §4)

  static let appStoreLeaf = CertificateProfile([
    (.version, "JWS-22"),
    (.serial, "JWS-23"),
    (.signed(ecdsa), "JWS-24"),
    (.curve([.p256]), "JWS-25"),
    (.extensions([]), "JWS-26"),
    (.leaf, "JWS-28"),
    (.mayUse(Certificate.KeyUsage.digitalSignature), "JWS-28"),
    (.leafMark(ObjectIdentifier.receiptSigning), "JWS-29"),
  ])

  static let appStoreIntermediate = CertificateProfile([
    (.version, "JWS-22"),
    (.serial, "JWS-23"),
    (.signed(ecdsa), "JWS-24"),
    (.curve([.p384, .p256]), "JWS-25"),
    (.extensions([]), "JWS-26"),
    (.authority, "JWS-27"),
    (.mayUse(Certificate.KeyUsage.keyCertSign), "JWS-27"),
    (.intermediateMark(ObjectIdentifier.developerRelations), "JWS-29"),
  ])

  // MARK: OCSP responders (docs/spec/storekit-ocsp.md §3)

  static let revocationDelegate = CertificateProfile([
    (.version, "OCSP-14"),
    (.serial, "OCSP-14"),
    (.signed(ecdsa), "OCSP-14"),
    (.curve([.p256, .p384]), "OCSP-14"),
    (.extensions([ObjectIdentifier.extendedKeyUsage]), "OCSP-14"),
    (.leaf, "OCSP-14"),
    (.leafMark(ObjectIdentifier.extendedKeyUsage), "OCSP-14"),
    (.purpose(ObjectIdentifier.revocationSigning), "OCSP-14"),
  ])

  // MARK: receipts (docs/spec/receipts.md §3.6, RCP-22, APR-8)

  static let storeReceiptLeaf = receiptSigner(
    bits: 1024, mark: ObjectIdentifier.storeReceiptSigning)
  static let storeReceiptIntermediate = receiptAuthority(mark: ObjectIdentifier.iTunesStore)
  static let receiptLeaf = receiptSigner(bits: 2048, mark: ObjectIdentifier.receiptSigning)
  static let receiptIntermediate = receiptAuthority(
    mark: ObjectIdentifier.developerRelations)

  private static func receiptSigner(bits: Int, mark: [UInt8]) -> CertificateProfile {
    CertificateProfile([
      (.version, "PTH-4"),
      (.serial, "PTH-1"),
      (.signed(rsa), "PTH-5"),
      (.extensions([]), "PTH-10"),
      (.leaf, "PTH-7"),
      (.mayUse(Certificate.KeyUsage.digitalSignature), "PTH-7"),
      (.leafMark(mark), "PTH-8"),
      (.modulus(bits...bits), "PTH-9"),
    ])
  }

  private static func receiptAuthority(mark: [UInt8]) -> CertificateProfile {
    CertificateProfile([
      (.version, "PTH-4"),
      (.serial, "PTH-1"),
      (.signed(rsa), "PTH-5"),
      (.extensions([]), "PTH-10"),
      (.authority, "PTH-6"),
      (.mayUse(Certificate.KeyUsage.keyCertSign), "PTH-6"),
      (.intermediateMark(mark), "PTH-8"),
      (.modulus(2048...4096), "PTH-9"),
    ])
  }

  // MARK: attestations (docs/spec/app-attest.md §4.1), without key identifiers (ATT-32)

  static let attestLeaf = CertificateProfile([
    (.version, "ATT-34"),
    (.serial, "ATT-34"),
    (.signed(ecdsa), "ATT-31"),
    (.curve([.p256]), "ATT-31"),
    // Each extension is checked or read by the attestation.
    (
      .extensions([
        ObjectIdentifier.extendedKeyUsage, ObjectIdentifier.attestNonce,
        ObjectIdentifier.attestAppFacts, ObjectIdentifier.attestAccessControl,
        ObjectIdentifier.attestSystemFacts,
      ]), "ATT-34"
    ),
    (.leaf, "ATT-31"),
    (.mustNotUse(Certificate.KeyUsage.keyCertSign), "ATT-31"),
    (.mustNotUse(Certificate.KeyUsage.cRLSign), "ATT-31"),
    (.purpose(ObjectIdentifier.attestKeyUsage), "ATT-33"),
    (.leafMark(ObjectIdentifier.attestNonce), "ATT-31"),
  ])

  static let attestIntermediate = CertificateProfile([
    (.version, "ATT-34"),
    (.serial, "ATT-34"),
    (.signed([.ecdsa(.sha384)]), "ATT-30"),
    (.curve([.p384]), "ATT-30"),
    (.extensions([]), "ATT-34"),
    (.strictAuthority, "ATT-30"),
    (.mustUse(Certificate.KeyUsage.keyCertSign), "ATT-30"),
  ])

  // MARK: App Attest receipts (docs/spec/app-attest.md §7)

  static let attestReceiptLeaf = CertificateProfile([
    (.version, "FRC-4"),
    (.serial, "FRC-4"),
    (.signed(ecdsa), "FRC-4"),
    (.curve([.p256]), "FRC-4"),
    (.extensions([]), "FRC-4"),
    (.leaf, "FRC-4"),
    (.mustUse(Certificate.KeyUsage.digitalSignature), "FRC-4"),
    (.leafMark(ObjectIdentifier.attestReceiptSigning), "FRC-4"),
  ])

  static let attestReceiptIntermediate = CertificateProfile([
    (.version, "FRC-4"),
    (.serial, "FRC-4"),
    (.signed(ecdsa), "FRC-4"),
    (.curve([.p256]), "FRC-4"),
    (.extensions([]), "FRC-4"),
    (.authority, "FRC-4"),
    (.mustUse(Certificate.KeyUsage.keyCertSign), "FRC-4"),
    (.intermediateMark(ObjectIdentifier.applicationIntegration), "FRC-4"),
  ])
}
