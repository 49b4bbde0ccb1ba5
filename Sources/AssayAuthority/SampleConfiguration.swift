extension Authority {
  /// Returns a configuration that accepts evidence of this authority for the app of `purchase`,
  /// with a small catalogue, and evidence of `receipts` if it is given.
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
