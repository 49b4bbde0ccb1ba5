extension Configuration {
  /// The effective configuration: every member with its default filled in.
  /// Certificates never come back out; their SHA-256 does (CNF-4).
  func write(
    _ anchors: AnchorSet, _ receiptTrust: ReceiptTrust, _ writer: inout JSONWriter
  ) {
    writer.beginObject()
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
    writer.name("environments")
    writer.beginArray()
    for environment in environments { writer.string(environment.name) }
    writer.endArray()
    writeProducts(&writer)
    writer.name("plans")
    writer.beginArray()
    for plan in plans { writer.string(plan) }
    writer.endArray()
    writer.name("limits")
    writer.beginObject()
    for entry in limits {
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
    writeDecide(&writer)
    writeStoreKit(anchors, &writer)
    writeReceipts(receiptTrust, &writer)
    writer.name("attest")
    attest.write(&writer)
    writer.name("deviceCheck")
    if let deviceCheck { deviceCheck.write(&writer) } else { writer.null() }
    writer.name("risk")
    risk.write(&writer)
    writer.endObject()
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
      writer.endObject()
    }
    writer.endObject()
  }

  private func writeDecide(_ writer: inout JSONWriter) {
    writer.name("decide")
    writer.beginObject()
    switch decide.account {
    case .whenGiven: writer.member("account", "whenGiven")
    case .ifPresent: writer.member("account", "ifPresent")
    case .required: writer.member("account", "required")
    case .ignored: writer.member("account", "ignored")
    }
    switch decide.sandbox {
    case .below: writer.member("sandbox", "below")
    case .equal: writer.member("sandbox", "equal")
    case .never: writer.member("sandbox", "never")
    }
    writer.member("grace", boolean: decide.grace)
    writer.member("retry", decide.retryIsLenient ? "lenient" : "strict")
    writer.member("leewayMs", integer: decide.leewayMs)
    writer.member("family", decide.familyAllowed ? "allow" : "deny")
    writer.endObject()
  }

  private func writeStoreKit(_ anchors: AnchorSet, _ writer: inout JSONWriter) {
    writer.name("storekit")
    writer.beginObject()
    writer.name("anchors")
    writer.beginObject()
    writer.member("source", anchors.areBuiltIn ? "built-in" : "configured")
    writer.name("sha256")
    writer.beginArray()
    for anchor in anchors.anchors {
      writer.string(anchor.certificate.fingerprint)
    }
    writer.endArray()
    writer.endObject()
    writer.member("rootEntry", storekit.rootEntryIgnored ? "ignored" : "must-match")
    writer.member(
      "missingEnvironment",
      storekit.environmentFromTransactionId ? "from-transaction-id" : "refuse")
    writer.member(
      "undatedNotifications", storekit.undatedNotificationsNested ? "nested" : "now")
    writer.member("nested", storekit.nestedOmitted ? "omit" : "verify")
    writer.name("fresh")
    if storekit.fresh.isEmpty {
      writer.null()
    } else {
      writer.beginObject()
      writer.name("maxAgeMs")
      writer.beginObject()
      for (kind, age) in storekit.fresh { writer.member(kind.name, integer: age) }
      writer.endObject()
      writer.endObject()
    }
    writer.name("xcodeCertificates")
    writer.beginArray()
    for pin in storekit.xcodeCertificates { writer.string(Text(Hex.encode(pin))) }
    writer.endArray()
    writer.name("ocspHosts")
    writer.beginArray()
    for host in storekit.ocspHosts { writer.string(host) }
    writer.endArray()
    writer.name("caps")
    writer.beginObject()
    writer.member("jwsBytes", integer: Int64(storekit.jwsBytes))
    writer.endObject()
    writer.name("cache")
    writer.beginObject()
    writer.member("chains", integer: Int64(storekit.cacheChains))
    writer.endObject()
    writer.endObject()
  }

  private func writeReceipts(_ trust: ReceiptTrust, _ writer: inout JSONWriter) {
    writer.name("receipts")
    writer.beginObject()
    trust.writeCertificates(&writer)
    writer.member("v2", receipts.v2Refused ? "refuse" : "accept")
    writer.member("lateSigned", receipts.lateSignedRefused ? "refuse" : "accept")
    writer.member("unknownEnvironment", receipts.unknownEnvironmentAllowed ? "allow" : "refuse")
    writer.member("maxAgeMs", integer: receipts.maxAgeMs)
    writer.member("deviceIds", receipts.deviceIdsReported ? "report" : "omit")
    writer.name("sharedSecrets")
    writer.beginObject()
    for (bundleId, _) in receipts.sharedSecrets.all {
      writer.name(bundleId)
      writer.boolean(true)
    }
    writer.endObject()
    writer.name("caps")
    writer.beginObject()
    writer.member("inputBytes", integer: Int64(receipts.inputBytes))
    writer.member("transactionReceiptBytes", integer: Int64(receipts.transactionReceiptBytes))
    writer.member("purchaseInfoBytes", integer: Int64(receipts.purchaseInfoBytes))
    writer.member("appReceiptBytes", integer: Int64(receipts.appReceiptBytes))
    writer.member("purchases", integer: Int64(receipts.purchases))
    writer.endObject()
    writer.endObject()
  }
}
