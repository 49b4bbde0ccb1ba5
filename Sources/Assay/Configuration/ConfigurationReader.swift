/// Reads a configuration document (CNF-1 … CNF-4). An unknown member is refused with its path,
/// because a misspelt member must not disable a check.
struct ConfigurationReader {
  /// The longest document in bytes: 1 MiB.
  static let byteCap = 1 << 20

  static let refusals = MemberRefusals(
    syntax: .configDocumentSyntax, unknown: .configDocumentUnknownMember,
    type: .configDocumentType, range: .configDocumentRange, missing: .configDocumentMissing,
    "CNF-1", advice: ConfigurationAdvice.detail)

  static func read(_ bytes: [UInt8]) throws(Refusal) -> Configuration {
    try require(
      bytes.count <= byteCap, .configDocumentRange, "CNF-1", at: "byte " + String(byteCap),
      hint: .configurationSize)
    let root = try top(bytes).object(ConfigurationTable.members)
    var configuration = Configuration()
    try readEnvironments(root, &configuration)
    try readApps(root, &configuration)
    try readPlans(root, &configuration)
    try readProducts(root, &configuration)
    try readQuotas(root, &configuration)
    if let skew = try root["clockSkewMs"]?.integer(ConfigurationTable.clockSkewMs) {
      configuration.clockSkewMs = skew
    }
    if let block = root["decision"] { try configuration.decision.readPlain(block) }
    if let block = root["storekit"] { try StoreKitBlock.read(block, &configuration) }
    if let block = root["receipts"] { try ReceiptsBlock.read(block, &configuration) }
    try AttestBlock.read(root["attest"], &configuration)
    if let block = root["deviceCheck"] { try DeviceCheckBlock.read(block, &configuration) }
    if let list = root["tokens"] { try TokensBlock.read(list, &configuration) }
    if let block = root["risk"] { try RiskBlock.read(block, &configuration) }
    if let block = root["refunds"] { try RefundsBlock.read(block, &configuration) }
    if let block = root["appStoreServerApi"] {
      try AppStoreServerAPIBlock.read(block, &configuration)
    }
    if let block = root["appleId"] { try AppleIDBlock.read(block, &configuration) }
    if let block = root["session"] { try SessionBlock.read(block, &configuration) }
    if let block = root["ledger"] { try LedgerBlock.read(block, &configuration) }
    try checkXcode(configuration)
    return configuration
  }

  private static func top(_ bytes: [UInt8]) throws(Refusal) -> MemberNode {
    do {
      return try MemberNode.read(bytes, .configuration, refusals)
    } catch {
      guard let first = bytes.first else { throw error }
      // A path, passed by mistake, begins with a letter, ".", "/" or "~".
      let isLetter = (0x41...0x5a).contains(first & 0xdf)
      let isPath = isLetter || first == 0x2e || first == 0x2f || first == 0x7e
      throw isPath ? error.explained(.configurationName) : error
    }
  }

  // MARK: shared members (docs/spec/configuration.md §1)

  private static func readEnvironments(
    _ root: MemberNode, _ configuration: inout Configuration
  ) throws(Refusal) {
    guard let list = root["environments"] else { return }
    var found: [Environment] = []
    for entry in try list.elements() {
      guard let environment = Environment(try entry.text()) else { throw entry.refusal(.range) }
      try require(!found.contains(environment), entry)
      found.append(environment)
    }
    try require(!found.isEmpty, .configEnvironmentsMixed, "CFG-2", at: list.path)
    let isLocal = found.contains { $0 == .xcode || $0 == .localTesting }
    try require(
      !(isLocal && found.contains(.production)), .configEnvironmentsMixed, "CFG-2", at: list.path)
    configuration.environments = found
  }

  private static func readApps(
    _ root: MemberNode, _ configuration: inout Configuration
  ) throws(Refusal) {
    let entries = try root.required("apps").elements()
    try require(
      ConfigurationTable.apps.contains(entries.count), .configAppsForm, "CFG-4", at: "apps",
      detail: entries.isEmpty ? "it is empty" : "more than 256 apps")
    for entry in entries {
      let app = try readApp(try entry.object(ConfigurationTable.appsMembers))
      try require(
        !configuration.apps.contains { $0.bundleId == app.bundleId }, .configAppsForm, "CFG-4",
        at: entry.path + ".bundleId", detail: "an earlier app has the same bundleId")
      try require(
        app.appAppleId != nil || !configuration.environments.contains(.production),
        .configAppsAppAppleIdRequired, "CFG-1", at: entry.path + ".appAppleId")
      configuration.apps.append(app)
    }
  }

  private static func readApp(_ entry: MemberNode) throws(Refusal) -> Configuration.App {
    let bundle = try entry.required("bundleId")
    guard let bundleId = bundle.value.text else {
      throw malformedApp(bundle, "bundleId is not a text")
    }
    guard !bundleId.isEmpty else { throw malformedApp(bundle, "bundleId is empty") }
    guard ConfigurationTable.appsBundleId.contains(bundleId.count) else {
      throw malformedApp(bundle, "bundleId is longer than 255 bytes")
    }
    var app = Configuration.App(bundleId: bundleId)
    if let id = entry["appAppleId"] {
      guard let number = id.value.integer, ConfigurationTable.appsAppAppleId.contains(number)
      else {
        throw malformedApp(
          id,
          id.value.kind == .string
            ? "appAppleId is a text: write the number without quotes"
            : "appAppleId is not an integer from 1 to 2^53 - 1")
      }
      app.appAppleId = number
    }
    if let team = entry["teamId"] {
      guard let text = team.value.text, text.count == 10, text.utf8.allSatisfy(isTeamCharacter)
      else { throw malformedApp(team, "teamId is not 10 characters of A to Z and 0 to 9") }
      app.teamId = text
    }
    return app
  }

  private static func malformedApp(_ member: MemberNode, _ cause: String) -> Refusal {
    Refusal(.configAppsForm, "CFG-4", at: member.path, detail: cause)
  }

  static func isTeamCharacter(_ byte: UInt8) -> Bool {
    (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x30 && byte <= 0x39)
  }

  private static func readPlans(
    _ root: MemberNode, _ configuration: inout Configuration
  ) throws(Refusal) {
    guard let list = root["plans"] else { return }
    var plans: [Text] = []
    let entries = try list.elements()
    try require(
      ConfigurationTable.plans.contains(entries.count), .configPlansForm, "CNF-1", at: list.path)
    for entry in entries {
      let name = try entry.text()
      try require(
        !name.isEmpty && !plans.contains(name), .configPlansForm, "CNF-1", at: entry.path)
      plans.append(name)
    }
    configuration.plans = plans
  }

  private static func readProducts(
    _ root: MemberNode, _ configuration: inout Configuration
  ) throws(Refusal) {
    guard let block = root["products"] else { return }
    let entries = try block.members()
    try require(
      ConfigurationTable.products.contains(entries.count), .configProductsForm, "CNF-1",
      at: block.path)
    for entry in entries {
      configuration.products.add(try readProduct(entry, configuration.plans))
    }
  }

  private static func readProduct(
    _ named: MemberNode, _ plans: [Text]
  ) throws(Refusal) -> Catalogue.Product {
    let entry = try named.object(ConfigurationTable.productsMembers)
    let id = named.value.name
    try require(!id.isEmpty, .configProductsForm, "CNF-1", at: entry.path)
    let word = try entry.refusing(.configProductsForm, "CNF-1").required("type")
    guard let type = ProductType(catalogue: word.value.text) else { throw word.refusal(.range) }
    var product = Catalogue.Product(id: id, type: type)
    if let plan = entry["plan"] {
      guard let name = plan.value.text, let rank = plans.firstIndex(of: name) else {
        throw Refusal(
          .configProductsForm, "CNF-1", at: plan.path,
          detail: ConfigurationAdvice.plans(plans, insteadOf: plan.value.text))
      }
      product.plan = rank
    }
    if let group = entry["group"] {
      guard let name = group.value.text, !name.isEmpty else {
        throw Refusal(.configProductsForm, "CNF-1", at: group.path)
      }
      product.group = name
    }
    if let duration = entry["duration"] {
      guard let text = duration.value.text, let period = CalendarDuration(iso8601: text) else {
        throw Refusal(.configProductsForm, "CNF-1", at: duration.path)
      }
      product.duration = period
    }
    try require(
      type != .nonRenewing || product.duration != nil, .configProductsForm, "CNF-1",
      at: entry.path + ".duration")
    if let stack = entry["stack"] { product.stack = try stack.boolean() }
    if let units = entry["units"] {
      product.units = try units.integer(ConfigurationTable.productsUnits)
    }
    return product
  }

  private static func readQuotas(
    _ root: MemberNode, _ configuration: inout Configuration
  ) throws(Refusal) {
    guard let block = root["quotas"] else { return }
    for entry in try block.members() {
      let plan = entry.value.name
      try require(
        configuration.plans.contains(plan), .configQuotasForm, "CNF-1", at: entry.path,
        detail: ConfigurationAdvice.plans(configuration.plans, insteadOf: plan))
      var quotas = Configuration.PlanQuotas(plan: plan, meters: [])
      for meter in try entry.members() {
        try require(
          Configuration.PlanQuotas.isMeter(meter.value.name), .configQuotasForm, "CNF-1",
          at: meter.path)
        let units = try meter.refusing(.configQuotasForm, "CNF-1").integer(
          0...MemberNode.exactInteger)
        quotas.meters.append((meter.value.name, units))
      }
      configuration.quotas.append(quotas)
    }
  }

  /// Requires a pinned certificate for locally signed evidence (CFG-2).
  private static func checkXcode(_ configuration: Configuration) throws(Refusal) {
    let isLocal = configuration.environments.contains { $0 == .xcode || $0 == .localTesting }
    try require(
      !isLocal || !configuration.storekit.xcodeCertificates.isEmpty,
      .configStorekitXcodeCertificateRequired, "CFG-2", at: "storekit.xcodeCertificates")
  }
}

extension ProductType {
  /// Creates the type that `products.*.type` names; `nil` for any other text.
  init?(catalogue type: Text?) {
    switch type {
    case "auto-renewable": self = .autoRenewable
    case "non-renewing": self = .nonRenewing
    case "non-consumable": self = .nonConsumable
    case "consumable": self = .consumable
    default: return nil
    }
  }

  var catalogueName: StaticString {
    switch self {
    case .autoRenewable: return "auto-renewable"
    case .nonRenewing: return "non-renewing"
    case .nonConsumable: return "non-consumable"
    case .consumable: return "consumable"
    }
  }
}

extension CalendarDuration {
  /// Parses `PnD`, `PnW`, `PnM` or `PnY` with n of 1 to 9999 and no leading zero; `nil`
  /// otherwise.
  init?(iso8601 text: Text) {
    let bytes = text.utf8
    guard bytes.count >= 3, bytes.count <= 6, bytes.first == 0x50, let letter = bytes.last,
      bytes[1] != 0x30, bytes[1] != 0x2d,
      let count = JSONValue.integer(bytes.dropFirst().dropLast())
    else { return nil }
    self.count = count
    switch letter {
    case 0x44: unit = .day
    case 0x57: unit = .week
    case 0x4d: unit = .month
    case 0x59: unit = .year
    default: return nil
    }
  }

  var iso8601: Text {
    let letter: String
    switch unit {
    case .day: letter = "D"
    case .week: letter = "W"
    case .month: letter = "M"
    case .year: letter = "Y"
    }
    return Text("P" + String(count) + letter)
  }
}
