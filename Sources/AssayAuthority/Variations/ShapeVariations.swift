extension Variation {
  /// Variations of extensions and purpose (JWS-26 … JWS-29).
  static let shape: [Variation] =
    [0, 1].flatMap { place in
      [
        one(
          "JWS-26", "with an extension twice", "rejected.chain.duplicate-extension", place
        ) { $0 = $0.adding(.subjectKeyIdentifier([1, 2, 3])) },
        one("JWS-26", "with its marker twice", "rejected.chain.duplicate-extension", place) {
          $0 = $0.adding($0.extensions?.last ?? .marker(OID.leafMarker))
        },
        one(
          "JWS-26", "with an unknown critical extension",
          "rejected.chain.critical-extension", place
        ) { $0 = $0.adding(CertificateExtension("1.2.3.4.5", critical: true, DER.null)) },
        one(
          "JWS-26", "with a critical extended key usage",
          "rejected.chain.critical-extension", place
        ) { $0 = $0.adding(.extendedKeyUsage("1.3.6.1.5.5.7.3.3", critical: true)) },
        one(
          "JWS-26", "whose marker is critical", "rejected.chain.critical-extension", place
        ) {
          $0.setCritical(OID.leafMarker, 0xff)
          $0.setCritical(OID.intermediateMarker, 0xff)
        },
        one("JWS-26", "with name constraints", "rejected.chain.name-constraints", place) {
          $0 = $0.adding(.nameConstraints("example.com", critical: false))
        },
        one(
          "JWS-26", "with critical name constraints", "rejected.chain.name-constraints", place
        ) { $0 = $0.adding(.nameConstraints("example.com", critical: true)) },
        good("JWS-26", "with an unknown extension that is not critical", place) {
          $0 = $0.adding(CertificateExtension("1.2.3.4.5", DER.null))
        },
        good("JWS-26", "with an extended key usage that is not critical", place) {
          $0 = $0.adding(.extendedKeyUsage("1.3.6.1.5.5.7.3.3"))
        },
        good("JWS-29", "whose marker holds something else", place) {
          for oid in [OID.leafMarker, OID.intermediateMarker] {
            $0 = $0.replacing(oid, with: CertificateExtension(oid, DER.utf8("other")))
          }
        },
        good("JWS-30", "without key identifiers", place) {
          $0 = $0.replacing("2.5.29.35", with: nil).replacing("2.5.29.14", with: nil)
        },
        good("JWS-30", "with a foreign authority key identifier", place) {
          $0 = $0.replacing("2.5.29.35", with: .authorityKeyIdentifier([9, 9, 9]))
        },
      ]
    } + [
      one("JWS-27", "without basicConstraints", "rejected.chain.not-ca", 1) {
        $0 = $0.replacing(OID.basicConstraints, with: nil)
      },
      one("JWS-27", "with CA:FALSE", "rejected.chain.not-ca", 1) {
        $0 = $0.replacing(OID.basicConstraints, with: .basicConstraints(ca: false))
      },
      one("JWS-27", "that may not sign certificates", "rejected.chain.key-usage", 1) {
        $0 = $0.replacing(OID.keyUsage, with: .keyUsage([.cRLSign, .digitalSignature]))
      },
      good("JWS-27", "without key usage", 1) { $0 = $0.replacing(OID.keyUsage, with: nil) },
      good("JWS-27", "without a path length", 1) {
        $0 = $0.replacing(OID.basicConstraints, with: .basicConstraints(ca: true))
      },
      good("JWS-27", "with a path length of 5", 1) {
        $0 = $0.replacing(
          OID.basicConstraints, with: .basicConstraints(ca: true, pathLength: 5))
      },
      good("JWS-27", "whose constraints are not critical", 1) {
        $0.setCritical(OID.basicConstraints, nil)
        $0.setCritical(OID.keyUsage, nil)
      },
      one("JWS-28", "that is a CA", "rejected.chain.leaf-is-ca", 0) {
        $0 = $0.replacing(OID.basicConstraints, with: .basicConstraints(ca: true))
      },
      one("JWS-28", "that may not sign data", "rejected.chain.key-usage", 0) {
        $0 = $0.replacing(OID.keyUsage, with: .keyUsage([.keyCertSign, .nonRepudiation]))
      },
      good("JWS-28", "without basicConstraints", 0) {
        $0 = $0.replacing(OID.basicConstraints, with: nil)
      },
      good("JWS-28", "without key usage", 0) { $0 = $0.replacing(OID.keyUsage, with: nil) },
      good("JWS-28", "with more key usage", 0) {
        $0 = $0.replacing(
          OID.keyUsage, with: .keyUsage([.digitalSignature, .nonRepudiation]))
      },
      one("JWS-29", "without its marker", "rejected.chain.leaf-marker", 0) {
        $0 = $0.replacing(OID.leafMarker, with: nil)
      },
      one("JWS-29", "with the intermediate's marker", "rejected.chain.leaf-marker", 0) {
        $0 = $0.replacing(OID.leafMarker, with: .marker(OID.intermediateMarker))
      },
      one("JWS-29", "with a marker one arc longer", "rejected.chain.leaf-marker", 0) {
        $0 = $0.replacing(OID.leafMarker, with: .marker(OID.leafMarker + ".1"))
      },
      one("JWS-29", "without its marker", "rejected.chain.intermediate-marker", 1) {
        $0 = $0.replacing(OID.intermediateMarker, with: nil)
      },
      one("JWS-29", "with the leaf's marker", "rejected.chain.intermediate-marker", 1) {
        $0 = $0.replacing(OID.intermediateMarker, with: .marker(OID.leafMarker))
      },
      one(
        "JWS-29", "with the marker of another authority", "rejected.chain.intermediate-marker",
        1
      ) {
        $0 = $0.replacing(
          OID.intermediateMarker, with: .marker("1.2.840.113635.100.6.2.3"))
      },
    ]
}
