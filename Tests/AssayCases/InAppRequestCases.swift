import AssayAuthority

extension CaseFixture {
  private static let nonce = "9f2d4d1c-5a55-4b2e-8c3b-0d4f1a2b3c4d"
  private static let misuse = "misuse.aca.parameter"
  private static let info =
    #""requestInfo":{"requestReferenceId":"0f8fad5b-d9cb-469f-a165-70867728950e"}"#

  /// Adds requests of Advanced Commerce that are signed for the app (ACA-1, ACA-3, ACA-9). The
  /// Swift tests open the JWS; the cases have the JSON in it.
  func addInAppRequestCases() {
    addInAppRequests()
    addInAppRefusals()
  }

  private func asked(_ operation: String, _ more: [(String, JSONText)]) -> JSONText {
    let common: JSONText = [
      "operation": .string(operation), "bundleId": "com.example.app",
      "nonce": .string(Self.nonce),
      "requestInfo": ["requestReferenceId": "0f8fad5b-d9cb-469f-a165-70867728950e"],
    ]
    return common.setting(more)
  }

  private static let item: JSONText = [
    "price": 1990, "displayName": "A", "description": "An A", "SKU": "a",
  ]
  private static let written = #""SKU":"a","description":"An A","displayName":"A","price":1990"#

  private var charge: JSONText {
    asked(
      "sign-one-time-charge",
      [
        ("currency", "USD"), ("item", Self.item), ("taxCode", "C003-00-1"), ("storefront", "USA"),
      ])
  }

  private var creation: JSONText {
    let offer: JSONText = [
      "period": "P1M", "periodCount": 12, "price": 0, "reason": "ACQUISITION",
    ]
    return asked(
      "sign-subscription-creation",
      [
        ("currency", "USD"), ("descriptors", ["description": "All", "displayName": "All"]),
        ("items", [Self.item.appending("offer", offer)]), ("period", "P1M"),
        ("taxCode", "C003-00-1"), ("previousTransactionId", "7"), ("storefront", "USA"),
      ])
  }

  private var modification: JSONText {
    asked(
      "sign-subscription-modification",
      [
        ("transactionId", "7"), ("retainBillingCycle", true),
        ("addItems", [Self.item.appending("proratedPrice", 5)]),
        (
          "changeItems",
          [
            Self.item.setting([
              ("effective", "IMMEDIATELY"), ("reason", "UPGRADE"), ("currentSKU", "b"),
            ])
          ]
        ), ("removeItems", [["SKU": "c"]]),
        ("periodChange", ["period": "P1Y", "effective": "NEXT_BILL_CYCLE"]),
        ("descriptors", ["displayName": "All", "effective": "IMMEDIATELY"]),
        ("currency", "USD"), ("storefront", "USA"), ("taxCode", "C003-00-1"),
      ])
  }

  private var reactivation: JSONText {
    asked(
      "sign-subscription-reactivation",
      [("transactionId", "7"), ("items", [["SKU": "a"]]), ("storefront", "USA")])
  }

  private func addInAppRequests() {
    for (name, request, operation, rest) in [
      (
        "a charge", charge, "CREATE_ONE_TIME_CHARGE",
        #","currency":"USD","item":{\#(Self.written)},"taxCode":"C003-00-1","storefront":"USA""#
      ),
      (
        "a new subscription", creation, "CREATE_SUBSCRIPTION",
        #","currency":"USD","descriptors":{"description":"All","displayName":"All"},"items":[{"#
          + Self.written
          + #","offer":{"period":"P1M","periodCount":12,"price":0,"reason":"ACQUISITION"}}],"#
          + #""period":"P1M","taxCode":"C003-00-1","previousTransactionId":"7","#
          + #""storefront":"USA""#
      ),
      (
        "a change", modification, "MODIFY_SUBSCRIPTION",
        #","transactionId":"7","retainBillingCycle":true,"addItems":[{\#(Self.written),"#
          + #""proratedPrice":5}],"changeItems":[{"currentSKU":"b",\#(Self.written),"#
          + #""reason":"UPGRADE","effective":"IMMEDIATELY"}],"removeItems":[{"SKU":"c"}],"#
          + #""periodChange":{"effective":"NEXT_BILL_CYCLE","period":"P1Y"},"descriptors":{"#
          + #""effective":"IMMEDIATELY","displayName":"All"},"currency":"USD","#
          + #""storefront":"USA","taxCode":"C003-00-1""#
      ),
      (
        "a subscription that renews again", reactivation, "REACTIVATE_SUBSCRIPTION",
        #","transactionId":"7","items":[{"SKU":"a"}],"storefront":"USA""#
      ),
      (
        "a subscription whose items all renew", reactivation.removing("items"),
        "REACTIVATE_SUBSCRIPTION", #","transactionId":"7","storefront":"USA""#
      ),
    ] as [(String, JSONText, String, String)] {
      self.request(
        "ACA-3", name, request, verifier: "signing", "ok", at: nil,
        facts: [
          ("nonce", .text(Self.nonce)), ("iat", .integer(now / 1000)), ("sensitivePaths", .null),
          (
            "request",
            .text(#"{"operation":"\#(operation)","version":"1",\#(Self.info)\#(rest)}"#)
          ),
        ])
    }
    let changes = ["addItems", "changeItems", "removeItems", "periodChange", "descriptors"]
    for kept in changes {
      self.request(
        "ACA-9", "a change with \(kept) alone",
        modification.removing(changes.filter { $0 != kept }), verifier: "signing", "ok", at: nil,
        facts: [])
    }
    refuse("ACA-9", "a change of nothing", modification.removing(changes), "addItems")
  }

  private func refuse(_ rule: String, _ name: String, _ request: JSONText, _ at: String) {
    self.request(
      rule, name, request, verifier: "signing", Self.misuse, at: at, facts: [])
  }

  private func addInAppRefusals() {
    for (name, request, at) in [
      ("no item", charge.removing("item"), "item"),
      ("no request info", charge.removing("requestInfo"), "requestInfo"),
      ("a typing error in a price", charge.setting("item.prize", 1), "item.prize"),
      ("no price", charge.removing("item.price"), "item.price"),
      ("a price below 0", charge.setting("item.price", -1), "item.price"),
      ("a price of another type", charge.setting("item.price", "1990"), "item.price"),
      ("an empty SKU", charge.setting("item.SKU", ""), "item.SKU"),
      ("no items at all", creation.setting("items", []), "items"),
      ("another period", creation.setting("period", "P2Y"), "period"),
      (
        "13 periods of an offer",
        creation.setting(
          "items",
          [
            Self.item.appending(
              "offer", ["period": "P1M", "periodCount": 13, "price": 0, "reason": "WIN_BACK"])
          ]), "items[0].offer.periodCount"
      ),
      (
        "another reason of a change",
        modification.setting(
          "changeItems",
          [
            Self.item.setting([
              ("currentSKU", "b"), ("reason", "OTHER"), ("effective", "IMMEDIATELY"),
            ])
          ]), "changeItems[0].reason"
      ),
      ("no transaction", reactivation.removing("transactionId"), "transactionId"),
    ] as [(String, JSONText, String)] {
      refuse("ACA-1", "an in-app request with \(name)", request, at)
    }
    self.request(
      "EXC-1", "an in-app request with an unknown member", charge.setting("price", 1),
      verifier: "signing", "misuse.exchange.request", at: "price", facts: [])
    self.request(
      "EXC-8", "an in-app request without a key", charge, verifier: "standard",
      "config.exchange.block-missing", at: "appStoreServerApi", facts: [])
  }
}
