import AssayAuthority

extension CaseFixture {
  private static let hour: Int64 = 3_600_000

  /// Adds verifiers that answer Apple's questions about refunds.
  func addRefundVerifiers(_ add: (String, [(String, JSONText)]) -> Void) {
    add("refunds", [("refunds", ["mode": "answer"])])
    add(
      "refunds-late", [("refunds", ["mode": "answer", "late": "send", "deliverWithinMs": 0])])
    add(
      "refunds-own",
      [
        (
          "refunds",
          [
            "mode": "answer", "deliverWithinMs": 7_200_000, "marginMs": 0,
            "rules": [
              "RFA-31": "silent", "RFA-32": "GRANT_PRORATED", "RFA-33": "off", "RFA-36": "none",
              "RFA-37": "DECLINE", "RFA-38": "silent", "RFA-39": "GRANT_FULL",
            ],
            "order": ["RFA-38", "RFA-37", "RFA-36", "RFA-35"],
            "repeat": ["count": 1, "percent": 100],
            "samples": ["com.example.app.coins": true, "com.example.app.gems": false],
            "outages": [
              [
                "fromMs": .integer(now - 48 * Self.hour), "untilMs": .integer(now - 47 * Self.hour),
              ]
            ],
          ]
        )
      ])
    add("refunds-repeat", [("refunds", ["mode": "answer", "repeat": ["count": 1]])])
  }

  /// Adds the answers about refunds (docs/spec/refund-answers.md).
  func addRefundCases() {
    addRefundAnswers()
    addRefundDeadlines()
    addRefundDeliveries()
    addRefundUsages()
    addRefundPreferences()
    addRefundPolicies()
    addRefundNumbers()
    addRefundRequests()
    addRefundInputs()
    addRefundUnits()
    addRefundSettings()
  }

  private var asked: JSONText {
    [
      "environment": "Production", "bundleId": "com.example.app",
      "transactionId": "2000000000000001", "product": "com.example.app.coins",
      "type": "Consumable", "ownership": "PURCHASED",
      "purchasedAtMs": .integer(now - 48 * Self.hour), "askedAtMs": .integer(now - Self.hour),
      "isGranted": true,
    ]
  }

  private var consented: JSONText {
    ["consent": ["isGiven": true, "answeredAtMs": .integer(now)]]
  }

  private func usage(_ consumed: Int64, of granted: Int64) -> (String, JSONText) {
    ("usage", ["consumed": .integer(consumed), "granted": .integer(granted)])
  }

  private static let statuses = [
    "send": "ok", "silent": "rejected.refund.silent", "late": "rejected.refund.late",
    "wait": "unavailable.refund.wait",
  ]

  /// Adds an assessment of the good case with these changes; `deciding` is the rule of the answer.
  private func refund(
    _ rule: String, _ name: String, _ changes: [(String, JSONText)] = [],
    _ observed: [(String, JSONText)] = [], verifier: String = "refunds", _ answer: String = "send",
    by deciding: String = "RFA-13", facts: Facts = []
  ) {
    let expected: Facts = [
      ("refund.answer", .text(answer)), ("refund.fields.0.field", "answer"),
      ("refund.fields.0.value", .text(answer)), ("refund.fields.0.rule", .text(deciding)),
      ("refund.fields.1.field", "customerConsented"), ("refund.fields.1.rule", "RFA-20"),
    ]
    let sends: Facts =
      answer == "send"
      ? [("refund.request.customerConsented", .flag(true))] : [("refund.request", .null)]
    request(
      rule, "refund: \(name)",
      [
        "operation": "assess-refund", "case": asked.setting(changes),
        "observations": consented.setting(observed),
      ], verifier: verifier, Self.statuses[answer] ?? "", facts: expected + sends + facts)
  }

  /// Returns the facts of the field at an index: its name, value and rule.
  private func field(
    _ index: Int, _ name: String, _ value: EvidenceCase.Fact, _ rule: String
  ) -> Facts {
    [
      ("refund.fields.\(index).field", .text(name)), ("refund.fields.\(index).value", value),
      ("refund.fields.\(index).rule", .text(rule)),
    ]
  }

  private func percentage(_ value: EvidenceCase.Fact, _ rule: String) -> Facts {
    field(4, "consumptionPercentage", value, rule)
      + [("refund.request.consumptionPercentage", value)]
  }

  private func preference(_ value: EvidenceCase.Fact, _ rule: String) -> Facts {
    field(5, "refundPreference", value, rule) + [("refund.request.refundPreference", value)]
  }

  /// Returns the facts of the list of all rules that matched.
  private func fired(_ numbers: Int...) -> Facts {
    numbers.enumerated().map { ("refund.fired.\($0.offset)", .text("RFA-\($0.element)")) }
      + [("refund.fired.\(numbers.count)", .null)]
  }

  // MARK: the answer

  private func addRefundAnswers() {
    func silent(
      _ rule: String, _ name: String, _ changes: [(String, JSONText)],
      _ observed: [(String, JSONText)] = []
    ) {
      refund(rule, name, changes, observed, "silent", by: rule)
    }
    refund(
      "RFA-20", "with consent", facts: [("refund.would", .null), ("refund.notBeforeMs", .null)])
    silent("RFA-20", "without consent", [], [("consent", .null)])
    silent("RFA-20", "the customer said no", [], [("consent.isGiven", false)])
    silent(
      "RFA-20", "consent of the future", [], [("consent.answeredAtMs", .integer(now + 1))])
    silent(
      "RFA-20", "consent that was withdrawn at once", [],
      [("consent.withdrawnAtMs", .integer(now))])
    silent(
      "RFA-20", "consent that was withdrawn", [],
      [
        ("consent.answeredAtMs", .integer(now - 5)), ("consent.withdrawnAtMs", .integer(now - 4)),
      ])
    refund(
      "RFA-20", "consent given anew",
      [], [("consent.withdrawnAtMs", .integer(now - 1))])
    for ownership in ["FAMILY_SHARED", "ASSIGNED", "LENT"] {
      silent("RFA-21", "ownership \(ownership)", [("ownership", .string(ownership))])
    }
    for environment in ["Xcode", "LocalTesting"] {
      silent("RFA-21", "a purchase of \(environment)", [("environment", .string(environment))])
    }
    silent("RFA-21", "a restricted account", [("isRestricted", true)])
    silent(
      "RFA-21", "consent of another account", [("account", "u-1")], [("consent.account", "u-2")])
    silent(
      "RFA-21", "consent of an account, the purchase has none", [],
      [
        ("consent.account", "u-1")
      ])
    refund(
      "RFA-21", "consent of the account", [("account", "u-1")], [("consent.account", "u-1")])
    refund("RFA-21", "an account, and consent that names none", [("account", "u-1")])
    refund(
      "RFA-12", "two reasons for silence", [("isRestricted", true)], [("consent", .null)],
      "silent", by: "RFA-20",
      facts: fired(20, 21, 23, 26, 30, 39) + [
        ("refund.fields.0.inputs.0", "observations.consent"),
        ("refund.fields.1.value", .flag(false)),
      ])
  }

  private func addRefundDeadlines() {
    let wait: Int64 = 43_200_000
    func asked(_ margin: Int64, _ past: Int64) -> [(String, JSONText)] {
      [("askedAtMs", .integer(now - wait + margin - past))]
    }
    let due: Facts = [("refund.dueAtMs", .integer(now + 1_800_000))]
    refund("RFA-5", "at the last moment", asked(1_800_000, 0), facts: due)
    refund("RFA-5", "a moment later", asked(1_800_000, 1), [], "late", by: "RFA-5")
    refund(
      "RFA-5", "late, and sent all the same", asked(1_800_000, 1), verifier: "refunds-late")
    refund(
      "RFA-5", "at the last moment without a margin", asked(0, 0), [usage(1, of: 1)],
      verifier: "refunds-own")
    refund(
      "RFA-5", "later than without a margin", asked(0, 1), [usage(1, of: 1)],
      verifier: "refunds-own", "late", by: "RFA-5")
    refund(
      "RFA-5", "late and without consent", asked(0, 1), [("consent", .null)], "silent",
      by: "RFA-20")
  }

  private func addRefundDeliveries() {
    func delivery(_ value: EvidenceCase.Fact, _ rule: String) -> Facts {
      field(3, "deliveryStatus", value, rule) + [("refund.request.deliveryStatus", value)]
    }
    for (word, name) in [
      ("delivered", "DELIVERED"), ("quality-issue", "UNDELIVERED_QUALITY_ISSUE"),
      ("wrong-item", "UNDELIVERED_WRONG_ITEM"), ("server-outage", "UNDELIVERED_SERVER_OUTAGE"),
      ("other", "UNDELIVERED_OTHER"),
    ] {
      refund(
        "RFA-22", "delivery \(word)", [], [("delivery", .string(word))],
        facts: delivery(.text(name), "RFA-22"))
    }
    refund("RFA-23", "granted", facts: delivery("DELIVERED", "RFA-23"))
    func bought(_ ago: Int64) -> [(String, JSONText)] {
      [("isGranted", false), ("purchasedAtMs", .integer(now - ago))]
    }
    refund(
      "RFA-24", "not granted in an hour", bought(Self.hour),
      facts: delivery("UNDELIVERED_OTHER", "RFA-24"))
    refund(
      "RFA-25", "not granted yet", bought(Self.hour - 1), [], "wait", by: "RFA-25",
      facts: field(3, "deliveryStatus", .null, "RFA-25") + fired(25, 26) + [
        ("refund.notBeforeMs", .integer(now + 1)), ("refund.fields.4", .null),
      ])
    refund(
      "RFA-25", "not granted yet, without consent", bought(0), [("consent", .null)], "silent",
      by: "RFA-20", facts: [("refund.notBeforeMs", .null)])
    refund(
      "RFA-22", "not granted yet, and delivered by another way", bought(0),
      [("delivery", "delivered")], facts: delivery("DELIVERED", "RFA-22"))
    refund(
      "RFA-24", "granted at once or never", bought(0), verifier: "refunds-late",
      facts: delivery("UNDELIVERED_OTHER", "RFA-24"))
    for (name, ago, value) in [
      ("before", 48 * Self.hour + 1, "UNDELIVERED_OTHER"),
      ("at the begin of", 48 * Self.hour, "UNDELIVERED_SERVER_OUTAGE"),
      ("at the last moment of", 47 * Self.hour + 1, "UNDELIVERED_SERVER_OUTAGE"),
      ("at the end of", 47 * Self.hour, "UNDELIVERED_OTHER"),
    ] as [(String, Int64, String)] {
      refund(
        "RFA-24", "not granted, bought \(name) an outage", bought(ago), [usage(1, of: 1)],
        verifier: "refunds-own", facts: delivery(.text(value), "RFA-24"))
    }
    func sample(_ value: Bool, _ input: String) -> Facts {
      field(2, "sampleContentProvided", .flag(value), "RFA-26") + [
        ("refund.request.sampleContentProvided", .flag(value)),
        ("refund.fields.2.inputs.0", .text(input)),
      ]
    }
    refund("RFA-26", "no sample", facts: sample(false, "case.isTrial"))
    refund("RFA-26", "a trial", [("isTrial", true)], facts: sample(true, "case.isTrial"))
    refund(
      "RFA-26", "a trial, and no sample", [("isTrial", true)], [("hasSample", false)],
      facts: sample(false, "observations.hasSample"))
    refund(
      "RFA-26", "a sample", [], [("hasSample", true)],
      facts: sample(true, "observations.hasSample"))
    let used = usage(1, of: 1)
    refund(
      "RFA-26", "a product with a sample", [], [used], verifier: "refunds-own",
      facts: sample(true, "refunds.samples"))
    refund(
      "RFA-26", "a product with a sample, which was not shown", [], [used, ("hasSample", false)],
      verifier: "refunds-own", facts: sample(false, "observations.hasSample"))
    refund(
      "RFA-26", "a product without one, and a trial",
      [("product", "com.example.app.gems"), ("isTrial", true)], [used], verifier: "refunds-own",
      facts: sample(false, "refunds.samples"))
  }

  private static let subscription: (String, JSONText) = ("type", "Auto-Renewable Subscription")

  private func addRefundUsages() {
    let full: Int64 = 100_000
    for (consumed, granted, value) in [
      (0, 5, 0), (1, 3, 33_333), (2, 3, 66_666), (1, 100_000, 1), (1, 100_001, 1),
      (1, 1_000_000, 1),
      (99_999, 100_000, 99_999), (999_999, 1_000_000, 99_999), (7, 7, full), (8, 7, full),
      (1, 0, full), (9_007_199_254_740_990, 9_007_199_254_740_991, 99_999),
      (3_002_399_751_580_331, 9_007_199_254_740_991, 33_333),
    ] as [(Int64, Int64, Int64)] {
      let warns: EvidenceCase.Fact = consumed > granted ? "usage-above-granted" : .null
      refund(
        "RFA-11", "\(consumed) of \(granted)", [], [usage(consumed, of: granted)],
        facts: percentage(.integer(value), "RFA-29") + [("/warnings.0.id", warns)])
    }
    refund("RFA-11", "0 of 0", [], [usage(0, of: 0)], facts: percentage(.null, "RFA-30"))
    for value: Int64 in [0, 1, 100_000] {
      refund(
        "RFA-29", "a percentage of \(value)", [], [("usage", ["percentage": .integer(value)])],
        facts: percentage(.integer(value), "RFA-29"))
    }
    refund("RFA-30", "no usage", facts: percentage(.null, "RFA-30") + fired(23, 26, 30, 39))
    refund(
      "RFA-27", "a subscription, half used", [Self.subscription], [usage(1, of: 2)],
      facts: percentage(.null, "RFA-27") + fired(23, 26, 27, 29, 36))
    refund(
      "RFA-27", "a subscription that was not delivered", [Self.subscription, ("isGranted", false)],
      facts: percentage(.null, "RFA-27") + fired(24, 26, 27, 28, 31))
    for type in ["Non-Consumable", "Non-Renewing Subscription"] {
      refund(
        "RFA-27", "\(type), half used", [("type", .string(type))], [usage(1, of: 2)],
        facts: percentage(50_000, "RFA-29"))
    }
    refund(
      "RFA-28", "not delivered, and half used", [("isGranted", false)], [usage(1, of: 2)],
      facts: percentage(0, "RFA-28") + fired(24, 26, 28, 29, 31, 37))
  }

  private func addRefundPreferences() {
    let half = usage(1, of: 2)
    let (none, all) = (usage(0, of: 2), usage(2, of: 2))
    refund(
      "RFA-31", "not delivered, and all used", [("isGranted", false)], [all],
      facts: preference("GRANT_FULL", "RFA-31"))
    refund(
      "RFA-32", "a legal reason", [("reason", "LEGAL")], [half],
      facts: preference(.null, "RFA-32") + percentage(50_000, "RFA-29"))
    refund(
      "RFA-32", "another reason", [("reason", "UNINTENDED_PURCHASE")], [half],
      facts: preference("GRANT_PRORATED", "RFA-37"))
    refund(
      "RFA-2", "a reason of later", [("reason", "OF_LATER")], [half],
      facts: preference("GRANT_PRORATED", "RFA-37"))
    func history(_ refunds: Int64, _ purchases: Int64) -> (String, JSONText) {
      ("history", ["refunds": .integer(refunds), "purchases": .integer(purchases)])
    }
    for (refunds, purchases, isMany) in [
      (3, 6, true), (3, 7, false), (2, 2, false), (3, 0, true),
      (9_007_199_254_740_991, 9_007_199_254_740_991, true),
    ] as [(Int64, Int64, Bool)] {
      refund(
        "RFA-33", "\(refunds) refunds of \(purchases)", [history(refunds, purchases)], [none],
        facts: isMany
          ? preference("DECLINE", "RFA-33") : preference("GRANT_FULL", "RFA-38"))
    }
    refund(
      "RFA-33", "one refund is too many", [history(1, 2)], [none], verifier: "refunds-repeat",
      facts: preference("DECLINE", "RFA-33"))
    let unfulfilled: (String, JSONText) = ("reason", "FULFILLMENT_ISSUE")
    refund(
      "RFA-34", "not fulfilled, and not used", [unfulfilled], [none],
      facts: preference("GRANT_FULL", "RFA-34") + fired(23, 26, 29, 34, 38))
    refund(
      "RFA-34", "not fulfilled, and half used", [unfulfilled], [half],
      facts: preference("GRANT_PRORATED", "RFA-37"))
    refund(
      "RFA-34", "not fulfilled, and usage unknown", [unfulfilled],
      facts: preference(.null, "RFA-39"))
    refund("RFA-35", "all used", [], [all], facts: preference("DECLINE", "RFA-35"))
    refund(
      "RFA-35", "a subscription, all used", [Self.subscription], [all],
      facts: preference("DECLINE", "RFA-35"))
    refund(
      "RFA-36", "a subscription, half used", [Self.subscription], [half],
      facts: preference("GRANT_PRORATED", "RFA-36"))
    refund("RFA-37", "half used", [], [half], facts: preference("GRANT_PRORATED", "RFA-37"))
    refund("RFA-38", "not used", [], [none], facts: preference("GRANT_FULL", "RFA-38"))
    refund("RFA-39", "nothing known", facts: preference(.null, "RFA-39"))
  }

  // MARK: policies

  private func addRefundPolicies() {
    let half = usage(1, of: 2)
    refund(
      "RFA-14", "record mode, which is the default", [], [half], verifier: "standard", "silent",
      by: "RFA-14",
      facts: field(5, "refundPreference", "GRANT_PRORATED", "RFA-37") + [
        ("refund.would", "send"), ("refund.fields.0.inputs.0", "refunds.mode"),
      ])
    refund(
      "RFA-14", "record mode, without consent", [], [("consent", .null)], verifier: "standard",
      "silent", by: "RFA-20", facts: [("refund.would", "silent")])
    refund(
      "RFA-14", "record mode, not granted yet",
      [("isGranted", false), ("purchasedAtMs", .integer(now))], verifier: "standard", "wait",
      by: "RFA-25", facts: [("refund.would", "wait")])
    func own(
      _ name: String, _ changes: [(String, JSONText)] = [], _ observed: [(String, JSONText)] = [],
      _ answer: String = "send", by rule: String = "RFA-13", facts: Facts
    ) {
      refund(
        "RFA-15", "own rules: \(name)", changes, observed, verifier: "refunds-own", answer,
        by: rule, facts: facts)
    }
    own(
      "silence", [], [usage(0, of: 2)], "silent", by: "RFA-38",
      facts: field(5, "refundPreference", .null, "RFA-38")
        + [("refund.fields.0.inputs.0", "observations.usage")])
    own(
      "a rule that comes earlier", [("reason", "LEGAL")], [half],
      facts: preference("DECLINE", "RFA-37"))
    own(
      "a rule that is off", [("history", ["refunds": 9, "purchases": 9])],
      facts: preference("GRANT_FULL", "RFA-39") + fired(23, 26, 30, 39))
    own(
      "no preference", [Self.subscription], [half], facts: preference(.null, "RFA-36"))
    own(
      "a share without a percentage", [("reason", "LEGAL")],
      facts: preference(.null, "RFA-32") + [
        ("/warnings.0.id", "prorated-without-percentage"), ("/warnings.0.at", "refundPreference"),
      ])
    own(
      "a share of a subscription", [("reason", "LEGAL"), Self.subscription],
      facts: preference("GRANT_PRORATED", "RFA-32") + [("/warnings.0", .null)])
    own(
      "silence comes after waiting", [("isGranted", false), ("purchasedAtMs", .integer(now - 1))],
      [usage(0, of: 2)], "wait", by: "RFA-25",
      facts: [("refund.notBeforeMs", .integer(now - 1 + 7_200_000))])
    own(
      "silence of what was not delivered", [("isGranted", false)], [], "silent", by: "RFA-31",
      facts: field(5, "refundPreference", .null, "RFA-31"))
  }

  /// Adds the members of `send-consumption-data` (RFA-16).
  private func addRefundNumbers() {
    let commerce: (String, JSONText) = ("isAdvancedCommerce", true)
    func numbers(
      _ name: String, _ observed: [(String, JSONText)], _ changes: [(String, JSONText)] = [],
      facts: [(String, EvidenceCase.Fact)]
    ) {
      refund(
        "RFA-16", "numbers: \(name)", [commerce] + changes, observed,
        facts: facts.map { ("refund.request." + $0.0, $0.1) })
    }
    numbers(
      "nothing known", [],
      facts: [
        ("operation", "send-consumption-data"), ("consumptionStatus", 0), ("deliveryStatus", 0),
        ("refundPreference", 0), ("platform", 0), ("userStatus", 0), ("accountTenure", 0),
        ("playTime", 0), ("lifetimeDollarsPurchased", 0), ("lifetimeDollarsRefunded", 0),
        ("appAccountToken", ""), ("sampleContentProvided", .flag(false)),
        ("consumptionPercentage", .null),
      ])
    refund(
      "RFA-16", "numbers: the rules of the fields", [commerce], [usage(1, of: 2)],
      facts: field(4, "consumptionStatus", 2, "RFA-29") + field(5, "refundPreference", 3, "RFA-37")
        + field(6, "platform", 0, "RFA-16") + field(12, "appAccountToken", "", "RFA-16")
        + [("refund.fields.13", .null), ("refund.fields.7.field", "accountTenure")])
    for (consumed, status, preference) in [(0, 1, 1), (1, 2, 3), (2, 3, 2)]
      as [(Int64, Int64, Int64)]
    {
      for type in ["Consumable", "Auto-Renewable Subscription"] {
        numbers(
          "\(type), \(consumed) of 2", [usage(consumed, of: 2)], [("type", .string(type))],
          facts: [
            ("consumptionStatus", .integer(status)), ("refundPreference", .integer(preference)),
          ])
      }
    }
    for (word, number) in [
      ("delivered", 0), ("quality-issue", 1), ("wrong-item", 2), ("server-outage", 3), ("other", 5),
    ] as [(String, Int64)] {
      numbers(
        "delivery \(word)", [("delivery", .string(word))],
        facts: [
          ("deliveryStatus", .integer(number)),
          ("consumptionStatus", .integer(number == 0 ? 0 : 1)),
        ])
    }
    func account(
      _ member: String, _ sent: String, _ values: [(JSONText, EvidenceCase.Fact)]
    ) {
      for (index, (value, number)) in values.enumerated() {
        numbers(
          "\(member), \(index + 1)", [("account", .object([.init(member, value)]))],
          facts: [(sent, number)])
      }
    }
    account("platform", "platform", [("apple", 1), ("other", 2)])
    account(
      "status", "userStatus", [("active", 1), ("suspended", 2), ("terminated", 3), ("limited", 4)])
    let day: Int64 = 86_400_000
    func classes(_ ends: [Int64], _ value: (Int64) -> Int64) -> [(JSONText, EvidenceCase.Fact)] {
      ends.enumerated().flatMap { index, end in
        [
          (.integer(value(end) - 1), .integer(Int64(index + 1))),
          (.integer(value(end)), .integer(Int64(index + 2))),
        ] as [(JSONText, EvidenceCase.Fact)]
      }
    }
    account("playMs", "playTime", classes([5, 60, 360, 1440, 5760, 23_040]) { $0 * 60_000 })
    for (member, sent) in [
      ("spentUsdCents", "lifetimeDollarsPurchased"),
      ("refundedUsdCents", "lifetimeDollarsRefunded"),
    ] {
      account(member, sent, classes([1, 5000, 10_000, 50_000, 100_000, 200_000]) { $0 })
    }
    // An account is older the earlier it was created.
    let tenures: [(JSONText, EvidenceCase.Fact)] = [3, 10, 30, 90, 180, 366].enumerated().flatMap {
      index, days in
      [
        (.integer(now - days * day + 1), .integer(Int64(index + 1))),
        (.integer(now - days * day), .integer(Int64(index + 2))),
      ] as [(JSONText, EvidenceCase.Fact)]
    }
    account("createdAtMs", "accountTenure", tenures + [(.integer(now + day), 1)])
    account(
      "appAccountToken", "appAccountToken",
      [
        (
          "7c9e6679-7425-40de-944b-e07fc1f90ae7",
          "7c9e6679-7425-40de-944b-e07fc1f90ae7"
        )
      ])
  }

  private func addRefundRequests() {
    refund(
      "RFA-13", "the whole request", [("environment", "Sandbox"), ("bundleId", "com.example.app")],
      [usage(1, of: 4), ("hasSample", true)],
      facts: [
        ("refund.request.operation", "send-consumption-information"),
        ("refund.request.environment", "Sandbox"), ("refund.request.bundleId", "com.example.app"),
        ("refund.request.transactionId", "2000000000000001"),
        ("refund.request.sampleContentProvided", .flag(true)),
        ("refund.request.deliveryStatus", "DELIVERED"),
        ("refund.request.consumptionPercentage", 25_000),
        ("refund.request.refundPreference", "GRANT_PRORATED"),
      ])
  }

  // MARK: forms

  private func addRefundInputs() {
    func bad(
      _ name: String, _ changes: [(String, JSONText)] = [], _ observed: [(String, JSONText)] = [],
      removing: String? = nil, at: String
    ) {
      let asked = asked.setting(changes)
      request(
        "RFA-2", "refund: \(name)",
        [
          "operation": "assess-refund", "case": removing.map { asked.removing($0) } ?? asked,
          "observations": consented.setting(observed),
        ], verifier: "refunds", "malformed.refund.input", at: at,
        facts: [("refund", .null)])
    }
    for member in [
      "environment", "bundleId", "transactionId", "product", "type", "ownership", "purchasedAtMs",
      "askedAtMs", "isGranted",
    ] {
      bad("a case without \(member)", removing: member, at: "case.\(member)")
      bad("a case with \(member) null", [(member, .null)], at: "case.\(member)")
    }
    for (member, value) in [
      ("environment", "auto"), ("bundleId", ""), ("transactionId", ""), ("transactionId", "12a"),
      ("transactionId", "123456789012345678901"), ("transactionId", 1), ("product", ""),
      ("type", "Coins"), ("type", "consumable"), ("ownership", ""), ("purchasedAtMs", -1),
      ("askedAtMs", "1"), ("isGranted", 1), ("reason", ""), ("isAdvancedCommerce", "yes"),
      ("isTrial", 0), ("account", ""), ("isRestricted", "true"), ("history", 3),
      ("isGrant", true),
    ] as [(String, JSONText)] {
      bad(
        "case.\(member) \(String(decoding: value.bytes, as: UTF8.self))", [(member, value)],
        at: "case.\(member)")
    }
    bad(
      "a history without purchases", [("history", ["refunds": 1])], at: "case.history.purchases")
    bad(
      "a negative count", [("history", ["refunds": -1, "purchases": 1])],
      at: "case.history.refunds")
    for (path, value) in [
      ("consent", true), ("consent.isGiven", "yes"), ("consent.isGiven", .null),
      ("consent.answeredAtMs", .null), ("consent.answeredAtMs", "now"),
      ("consent.withdrawnAtMs", -1), ("consent.account", 1), ("consent.given", true),
      ("usage", 0), ("delivery", "DELIVERED"), ("hasSample", "no"), ("sample", true),
      ("account", "u-1"),
    ] as [(String, JSONText)] {
      bad(
        "\(path) \(String(decoding: value.bytes, as: UTF8.self))", [], [(path, value)],
        at: "observations." + path)
    }
    for (name, usage, at) in [
      ("without granted", ["consumed": 1], ".granted"),
      ("without consumed", ["granted": 1], ".consumed"),
      ("of nothing", [:], ".consumed"), ("below 0", ["consumed": -1, "granted": 1], ".consumed"),
      ("past 100000", ["percentage": 100_001], ".percentage"),
      ("twice", ["percentage": 1, "consumed": 1, "granted": 1], ""),
      ("with a fraction", ["percentage": .text("0.5")], ".percentage"),
    ] as [(String, JSONText, String)] {
      bad("usage \(name)", [], [("usage", usage)], at: "observations.usage" + at)
    }
    for (member, value) in [
      ("createdAtMs", -1), ("status", "gone"), ("playMs", "1"), ("spentUsdCents", -1),
      ("refundedUsdCents", .text("1.5")), ("platform", "ios"), ("appAccountToken", "u-1"),
      ("age", 1),
    ] as [(String, JSONText)] {
      bad(
        "account.\(member)", [], [("account", .object([.init(member, value)]))],
        at: "observations.account.\(member)")
    }
    refund(
      "RFA-2", "every member there is",
      [
        ("reason", "OTHER"), ("isAdvancedCommerce", false), ("isTrial", false), ("account", "u-1"),
        ("isRestricted", false), ("history", ["refunds": 0, "purchases": 1]),
      ],
      [
        ("consent.withdrawnAtMs", .null), ("consent.account", .null), usage(0, of: 1),
        ("delivery", .null), ("hasSample", .null),
        (
          "account",
          [
            "createdAtMs": .integer(now), "status": "active", "playMs": 0, "spentUsdCents": 0,
            "refundedUsdCents": 0, "platform": "apple", "appAccountToken": .null,
          ]
        ),
      ])
  }

  // MARK: units

  private func addRefundUnits() {
    func units(
      _ rule: String, _ name: String, _ members: [(String, JSONText)], _ share: Int64?,
      _ refunded: Int64?, _ remaining: Int64?, take: Int64, warning: EvidenceCase.Fact = .null
    ) {
      func fact(_ value: Int64?) -> EvidenceCase.Fact { value.map { .integer($0) } ?? .null }
      let asked: JSONText = ["operation": "compute-refund-units"]
      request(
        rule, "refund units: \(name)", asked.setting(members),
        facts: [
          ("units.share", fact(share)), ("units.refunded", fact(refunded)),
          ("units.remaining", fact(remaining)), ("units.take", .integer(take)),
          ("/warnings.0.id", warning),
        ])
    }
    for (count, share, refunded) in [
      (3, 33_333, 1), (100, 30_000, 30), (100, 67_932, 68), (1, 50_000, 0), (1, 50_001, 1),
      (1000, 15, 0), (7, 42_857, 3), (0, 100_000, 0), (5, 0, 0),
      (9_007_199_254_740_991, 100_000, 9_007_199_254_740_991),
      (9_007_199_254_740_991, 50_000, 4_503_599_627_370_495),
      (9_007_199_254_740_991, 1, 90_071_992_547),
    ] as [(Int64, Int64, Int64)] {
      units(
        "RFA-41", "\(share) of \(count)",
        [("units", .integer(count)), ("percentage", .integer(share))], share, refunded,
        count - refunded, take: refunded)
    }
    units("RFA-40", "no share", [("units", 4)], 100_000, 4, 0, take: 4)
    for (name, type, isKnown) in [
      ("full", "REFUND_FULL", true), ("of the family", "FAMILY_REVOKE", true),
      ("of later", "REFUND_LATER", false),
    ] {
      units(
        "RFA-40", "no share, \(name)", [("units", 4), ("revocationType", .string(type))], 100_000,
        4, 0, take: 4, warning: isKnown ? .null : "unknown-value")
    }
    let prorated: (String, JSONText) = ("revocationType", "REFUND_PRORATED")
    units("RFA-40", "a share that is not known", [("units", 4), prorated], nil, nil, nil, take: 0)
    units(
      "RFA-40", "a share that is known", [("units", 4), prorated, ("percentage", 25_000)], 25_000,
      1, 3, take: 1)
    for type in ["Non-Consumable", "Non-Renewing Subscription", "Auto-Renewable Subscription"] {
      units(
        "RFA-43", "\(type), in part", [("units", 1), ("percentage", 1), ("type", .string(type))],
        100_000, 1, 0, take: 1)
      units(
        "RFA-43", "\(type), a share that is not known",
        [("units", 1), prorated, ("type", .string(type))], 100_000, 1, 0, take: 1)
    }
    units(
      "RFA-42", "units of the claim", [("units", 10), ("type", "Consumable")], 100_000, 10, 0,
      take: 10)
    for (granted, take) in [(0, 0), (7, 0), (8, 1), (10, 3), (11, 4)] as [(Int64, Int64)] {
      units(
        "RFA-43", "30 % of 10, \(granted) granted",
        [("units", 10), ("percentage", 30_000), ("grantedUnits", .integer(granted))], 30_000, 3, 7,
        take: take)
    }
    units(
      "RFA-45", "a larger share than before",
      [("units", 10), ("percentage", 50_000), ("grantedUnits", 7)], 50_000, 5, 5, take: 2)
    units(
      "RFA-45", "a smaller share than before",
      [("units", 10), ("percentage", 20_000), ("grantedUnits", 7)], 20_000, 2, 8, take: 0)
  }

  // MARK: the block

  private func addRefundSettings() {
    func refunds(
      _ name: String, _ block: JSONText, _ status: String = "ok", at: String? = nil,
      facts: Facts = []
    ) {
      let config = standardConfig.setting("refunds", block)
      add(
        "RFA-15", "refunds: \(name)", .verifierNew(config: .bytes(config.bytes)),
        .init(status, at: at, facts: facts))
    }
    let rules = "config.refunds.rules"
    let range = "config.document.range"
    refunds(
      "nothing", [:], facts: [("/warnings.0", .null), ("refunds.mode", "record")])
    refunds("another mode", ["mode": "enforce"], range, at: "refunds.mode")
    refunds("an unknown member", ["modes": "record"], "config.document.unknown-member")
    for effect in ["off", "DECLINE", "GRANT_FULL", "GRANT_PRORATED", "none", "silent"] {
      for rule in [31, 38] {
        refunds(
          "RFA-\(rule) \(effect)", ["rules": .object([.init("RFA-\(rule)", .string(effect))])])
      }
      refunds(
        "RFA-39 \(effect)", ["rules": ["RFA-39": .string(effect)]], effect == "off" ? rules : "ok",
        at: effect == "off" ? "refunds.rules.RFA-39" : nil)
    }
    for (name, value) in [
      ("RFA-30", ["RFA-30": "off"]), ("RFA-20", ["RFA-20": "off"]), ("RFA-40", ["RFA-40": "off"]),
      ("a rule in lower case", ["rfa-31": "off"]), ("another effect", ["RFA-31": "grant"]),
      ("an effect in lower case", ["RFA-31": "decline"]), ("a number", ["RFA-31": 1]),
      ("a null", ["RFA-31": .null]), ("a list", []),
    ] as [(String, JSONText)] {
      refunds("rules: \(name)", ["rules": value], rules)
    }
    refunds(
      "a rule that comes first", ["order": ["RFA-38"]], facts: [("refunds.order.0", "RFA-38")])
    for (name, last) in [("twice", "RFA-38"), ("last", "RFA-39"), ("unknown", "RFA-30")] {
      refunds(
        "an order, \(name)", ["order": ["RFA-38", .string(last)]], rules, at: "refunds.order[1]")
    }
    refunds("an order that is none", ["order": "RFA-31"], rules, at: "refunds.order")
    for (path, low, high) in [
      ("deliverWithinMs", 0, 21_600_000), ("marginMs", 0, 18_000_000), ("repeat.count", 1, 100),
      ("repeat.percent", 0, 100),
    ] as [(String, Int64, Int64)] {
      for (value, isGood) in [(low - 1, false), (low, true), (high, true), (high + 1, false)] {
        let block: JSONText = ["repeat": [:]]
        refunds(
          "\(path) \(value)", block.setting(path, .integer(value)), isGood ? "ok" : range,
          at: isGood ? nil : "refunds." + path)
      }
    }
    refunds("samples", ["samples": ["p.1": true]], facts: [])
    refunds(
      "a sample that is no flag", ["samples": ["p.1": "yes"]], "config.document.type",
      at: "refunds.samples.p.1")
    func outage(_ from: JSONText, _ until: JSONText) -> JSONText {
      ["outages": [["fromMs": from, "untilMs": until]]]
    }
    refunds("an outage", outage(0, 1))
    refunds("an outage without time", outage(1, 1), range, at: "refunds.outages[0].untilMs")
    refunds("an outage that ends before", outage(2, 1), range, at: "refunds.outages[0].untilMs")
    refunds("an outage before 1970", outage(-1, 1), range, at: "refunds.outages[0].fromMs")
    refunds(
      "an outage without an end", ["outages": [["fromMs": 1]]], "config.document.missing",
      at: "refunds.outages[0].untilMs")
    refunds(
      "an outage with a name", ["outages": [["fromMs": 1, "untilMs": 2, "name": "x"]]],
      "config.document.unknown-member")
    for (count, isGood) in [(100, true), (101, false)] {
      let many: [JSONText] = (0..<count).map {
        ["fromMs": .integer(Int64($0)), "untilMs": .integer(Int64($0) + 1)]
      }
      refunds(
        "\(count) outages", ["outages": .array(many)], isGood ? "ok" : range,
        at: isGood ? nil : "refunds.outages")
    }
    refunds("late answers", ["late": "send"], facts: [("refunds.late", "send")])
    refunds("another word for late", ["late": "wait"], range, at: "refunds.late")
    let never: JSONText = [
      "rules": ["RFA-31": "none", "RFA-34": "DECLINE", "RFA-38": "off"]
    ]
    refunds(
      "no rule that grants", never,
      facts: [("/warnings.0.id", "no-full-refund"), ("/warnings.0.at", "refunds.rules")])
    refunds(
      "one rule that grants", never.setting("rules.RFA-39", "GRANT_FULL"),
      facts: [("/warnings.0", .null)])
  }
}
