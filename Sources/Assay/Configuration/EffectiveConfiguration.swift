extension Configuration {
  /// Writes the effective configuration: every member with its default set. Of certificates only
  /// the SHA-256 is written (CNF-4).
  func write(
    _ anchors: AnchorSet, _ receiptRoots: ReceiptRoots, _ writer: inout JSONWriter
  ) {
    writer.beginObject()
    writeApps(&writer)
    writeEnvironments(&writer)
    writeProducts(&writer)
    writer.texts("plans", plans)
    writer.name("quotas")
    writer.beginObject()
    for entry in quotas {
      writer.name(entry.plan)
      writer.beginObject()
      for (meter, units) in entry.meters {
        writer.name(meter)
        writer.integer(units)
      }
      writer.endObject()
    }
    writer.endObject()
    writer.member("clockSkewMs", integer: clockSkewMs)
    writer.name("decision")
    decision.write(&writer)
    writeStoreKit(anchors, &writer)
    writeReceipts(receiptRoots, &writer)
    writer.name("attest")
    attest.write(&writer)
    writer.name("deviceCheck")
    if let deviceCheck { deviceCheck.write(&writer) } else { writer.null() }
    writer.name("tokens")
    writer.beginArray()
    for entry in tokens { entry.profile.write(&writer) }
    writer.endArray()
    writer.name("risk")
    risk.write(&writer)
    writer.name("refunds")
    refunds.write(&writer)
    writer.name("appStoreServerApi")
    if let appStoreServerAPI { appStoreServerAPI.write(&writer) } else { writer.null() }
    writer.name("appleId")
    if let appleID { appleID.write(&writer) } else { writer.null() }
    writer.name("session")
    if let session { session.write(&writer) } else { writer.null() }
    writer.name("ledger")
    if let ledger { ledger.write(&writer) } else { writer.null() }
    writer.endObject()
  }

  /// Writes the members that affect what counts as verified, for the digest *trust* (EXC-11).
  func writeTrusted(
    _ anchors: AnchorSet, _ receiptRoots: ReceiptRoots, _ writer: inout JSONWriter
  ) {
    writer.beginObject()
    writeApps(&writer)
    writeEnvironments(&writer)
    writer.member("clockSkewMs", integer: clockSkewMs)
    writeStoreKit(anchors, &writer)
    writeReceipts(receiptRoots, &writer)
    writer.name("attest")
    attest.write(&writer)
    // A verifier that refuses transactions without bundle ids takes none from another verifier
    // (API-59). One without the block trusts as by default.
    if appStoreServerAPI?.missingBundleIdRefused == true {
      writer.member("missingBundleId", "refuse" as StaticString)
    }
    writer.endObject()
  }

  private func writeApps(_ writer: inout JSONWriter) {
    writer.name("apps")
    writer.beginArray()
    for app in apps {
      writer.beginObject()
      writer.member("bundleId", app.bundleId)
      writer.member("appAppleId", integer: app.appAppleId)
      writer.member("teamId", app.teamId)
      writer.endObject()
    }
    writer.endArray()
  }

  private func writeEnvironments(_ writer: inout JSONWriter) {
    writer.texts("environments", environments.map { Text(stringLiteral: $0.name) })
  }

  private func writeProducts(_ writer: inout JSONWriter) {
    writer.name("products")
    writer.beginObject()
    for product in products.all {
      writer.name(product.id)
      writer.beginObject()
      writer.member("plan", product.plan.flatMap { $0 < plans.count ? plans[$0] : nil })
      writer.member("type", product.type.catalogueName)
      writer.member("group", product.group ?? product.id)
      writer.member("duration", product.duration?.iso8601)
      writer.member("stack", boolean: product.stack)
      writer.member("units", integer: product.units)
      writer.endObject()
    }
    writer.endObject()
  }

  private func writeStoreKit(_ anchors: AnchorSet, _ writer: inout JSONWriter) {
    writer.name("storekit")
    storekit.write(&writer) { member, writer in
      switch member {
      case .anchors: anchors.write("anchors", &writer)
      case .maxAgeMs: writeMaxAges(&writer)
      case .xcodeCertificates:
        writer.texts(
          "xcodeCertificates", storekit.xcodeCertificates.map { Text(Hex.encode($0)) })
      case .ocspHosts: writer.texts("ocspHosts", storekit.ocspHosts)
      }
    }
  }

  private func writeMaxAges(_ writer: inout JSONWriter) {
    writer.name("maxAgeMs")
    guard !storekit.maxAges.isEmpty else {
      writer.null()
      return
    }
    writer.beginObject()
    for (kind, age) in storekit.maxAges { writer.member(kind.name, integer: age) }
    writer.endObject()
  }

  private func writeReceipts(_ roots: ReceiptRoots, _ writer: inout JSONWriter) {
    writer.name("receipts")
    receipts.write(&writer) { member, writer in
      switch member {
      case .anchors: roots.writeCertificates(&writer)
      // The intermediates are written together with the anchors.
      case .intermediates: break
      case .sharedSecrets:
        writer.name("sharedSecrets")
        writer.beginObject()
        for (bundleId, _) in receipts.sharedSecrets.all {
          writer.name(bundleId)
          writer.boolean(true)
        }
        writer.endObject()
      }
    }
  }
}

extension JSONWriter {
  /// Writes a member whose value is a list of texts.
  mutating func texts(_ name: StaticString, _ texts: [Text]) {
    self.name(name)
    beginArray()
    for text in texts { string(text) }
    endArray()
  }
}
