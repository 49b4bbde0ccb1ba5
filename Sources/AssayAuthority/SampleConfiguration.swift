extension Authority {
  /// A configuration that accepts what this authority mints for the app of
  /// `purchase`, with a small catalogue to decide by; with `receipts`, what that
  /// authority mints as well.
  public func sampleConfiguration(
    for purchase: Purchase, receipts: ReceiptAuthority? = nil
  ) -> JSONText {
    var app: JSONText = ["bundleId": .string(purchase.bundleId)]
    app.add("appAppleId", purchase.appAppleId)
    let configuration: JSONText = [
      "apps": [app],
      "environments": ["Production", "Sandbox"],
      "plans": ["free", "standard", "premium"],
      "products": [
        "com.example.app.standard.monthly": ["plan": "standard", "type": "auto-renewable"],
        "com.example.app.premium.monthly": ["plan": "premium", "type": "auto-renewable"],
        "com.example.app.season": [
          "plan": "standard", "type": "non-renewing", "duration": "P90D",
        ],
        "com.example.app.lifetime": ["plan": "premium", "type": "non-consumable"],
        "com.example.app.coins100": ["type": "consumable"],
      ],
      "storekit": ["anchors": [.string(anchor)]],
    ]
    guard let receipts else { return configuration }
    return configuration.appending("receipts", receipts.configuration)
  }
}
