import AssayAuthority
import Testing

@testable import Assay

/// verifyReceipt responses that the tests change in one thing each. All ids and names are invented.
enum AnswerSample {
  /// 2025-06-15T12:00:00Z.
  static let now: Int64 = 1_749_988_800_000
  static let hour: Int64 = 3_600_000
  static let day: Int64 = 86_400_000
  static let bundle = "com.example.app"
  static let product = "com.example.app.monthly"
  static let appId: Int64 = 1_234_567_890
  static let first = "700001000000001"
  static let second = "700001000000002"

  /// Returns a configuration for both environments; `product` is an auto-renewable subscription.
  static func configuration(
    _ change: (inout Configuration) -> Void = { _ in }
  ) -> Configuration {
    var configuration = Configuration()
    configuration.apps = [
      .init(bundleId: Text(bundle), appAppleId: appId, teamId: nil),
      .init(bundleId: "com.example.other", appAppleId: 77, teamId: nil),
    ]
    configuration.environments = [.production, .sandbox]
    configuration.plans = ["free", "pro"]
    configuration.products.add(
      .init(id: Text(product), plan: 1, type: .autoRenewable, group: "subscriptions"))
    change(&configuration)
    return configuration
  }

  /// Returns a date in its three forms; the `_pst` one is wrong, because it is never read.
  static func date(_ name: String, _ milliseconds: Int64) -> [JSONText.Member] {
    let days = milliseconds / day
    let date = CivilDate.date(days: days)
    let rest = milliseconds % day / 1000
    func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
    let plain =
      "\(date.year)-\(two(date.month))-\(two(date.day)) "
      + "\(two(rest / 3600)):\(two(rest / 60 % 60)):\(two(rest % 60)) Etc/GMT"
    return [
      .init(name, .string(plain)), .init(name + "_ms", .string("\(milliseconds)")),
      .init(name + "_pst", "never read"),
    ]
  }

  /// Returns one entry of `in_app` or `latest_receipt_info`.
  static func entry(
    _ id: String = first, start: Int64 = now - 10 * day, end: Int64? = now + 20 * day
  ) -> JSONText {
    var members: [JSONText.Member] = [
      .init("quantity", "1"), .init("product_id", .string(product)),
      .init("transaction_id", .string(id)), .init("original_transaction_id", .string(first)),
      .init("web_order_line_item_id", "700001000000091"),
      .init("is_trial_period", "false"), .init("is_in_intro_offer_period", "false"),
    ]
    members += date("purchase_date", start) + date("original_purchase_date", start)
    if let end { members += date("expires_date", end) }
    return .object(members)
  }

  static func renewal() -> JSONText {
    [
      "product_id": .string(product), "original_transaction_id": .string(first),
      "auto_renew_product_id": .string(product), "auto_renew_status": "1",
    ]
  }

  /// Returns an active subscription, in the style of app receipts.
  static func ios7(
    inApp: [JSONText] = [entry()], latest: [JSONText]? = [entry()],
    renewals: [JSONText]? = [renewal()]
  ) -> JSONText {
    var receipt: [JSONText.Member] = [
      .init("receipt_type", "Production"), .init("adam_id", .integer(appId)),
      .init("app_item_id", .integer(appId)), .init("bundle_id", .string(bundle)),
      .init("application_version", "12"),
      .init("download_id", .text("500000000000000123")),
      .init("version_external_identifier", .integer(815_000_001)),
      .init("original_application_version", "1.0"),
    ]
    receipt += date("receipt_creation_date", now - day) + date("request_date", now)
    receipt += date("original_purchase_date", now - 100 * day)
    receipt.append(.init("in_app", .array(inApp)))
    var answer: [JSONText.Member] = [
      .init("status", .integer(0)), .init("environment", "Production"),
      .init("receipt", .object(receipt)),
    ]
    if let latest { answer.append(.init("latest_receipt_info", .array(latest))) }
    if let renewals { answer.append(.init("pending_renewal_info", .array(renewals))) }
    return .object(answer)
  }

  /// Returns one purchase in the form of `receipt` in the iOS 6 style.
  static func flat(
    _ id: String = first, start: Int64 = now - 10 * day, end: Int64 = now + 20 * day
  ) -> JSONText {
    .object(
      [
        .init("bid", .string(bundle)), .init("bvrs", "12"),
        .init("product_id", .string(product)), .init("item_id", "900000001"),
        .init("app_item_id", .string("\(appId)")),
        .init("version_external_identifier", "815000001"), .init("quantity", "1"),
        .init("transaction_id", .string(id)),
        .init("original_transaction_id", .string(first)),
        .init("web_order_line_item_id", "700001000000091"),
        .init("expires_date", .string("\(end)")),
        .init("expires_date_formatted", "never read beside expires_date"),
        .init("unique_identifier", .string(deviceId)),
        .init("unique_vendor_identifier", .string(vendorId)),
      ] + date("purchase_date", start) + date("original_purchase_date", start))
  }

  static let deviceId = "00112233445566778899aabbccddeeff00112233"
  static let vendorId = "0A1B2C3D-0000-4000-8000-0A1B2C3D4E5F"

  /// Returns an active subscription, in the style of transaction receipts.
  static func ios6(_ receipt: JSONText = flat()) -> JSONText {
    [
      "status": .integer(0), "receipt": receipt, "latest_receipt_info": receipt,
      "auto_renew_status": .integer(1), "auto_renew_product_id": .string(product),
    ]
  }

  // MARK: reading

  struct Outcome {
    var response: Assay.ReceiptResponse?
    var refusal: Refusal?
    var checks: CheckLog
    var document: Document

    var status: Status { refusal?.status ?? .ok }
    var place: String { refusal?.place ?? "" }
    /// The retry class in the document.
    var retryClass: String { document.text("error.retryClass") ?? "" }

    func text(_ path: String) -> String? { document.text("verifyReceipt." + path) }
    func integer(_ path: String) -> Int64? { document.integer("verifyReceipt." + path) }
    func value(_ path: String) -> JSONValue? { document.tree?.at("verifyReceipt." + path) }
    /// Returns the JSON of a value in the document, such as "true" or "null".
    func source(_ path: String) -> String? {
      value(path).map { String(decoding: $0.source, as: UTF8.self) }
    }
    var warnings: [String] {
      (document.tree?.member("warnings")?.children).map {
        $0.map { $0.string("id") + " " + $0.string("at") }
      } ?? []
    }
    var evidence: PurchaseEvidence? { try? response?.purchaseEvidence(Catalogue()) }
  }

  static func read(
    _ body: [UInt8], nowMs: Int64 = now, _ configuration: Configuration = configuration()
  ) -> Outcome {
    do throws(Refusal) {
      let trust = try ReceiptTrust.make(configuration)
      var reading = ReceiptResponseReading(trust, nowMs: nowMs)
      func envelope() -> Envelope {
        Envelope(
          kind: "verify-receipt-response", factsMember: "verifyReceipt",
          checks: reading.checks.log)
      }
      do throws(Refusal) {
        let response = try reading.run(body)
        let document = envelope().accepted(
          nil, warnings: { response.writeWarnings(&$0) }
        ) { response.write(&$0) }
        return Outcome(
          response: response, refusal: nil, checks: reading.checks.log, document: document)
      } catch {
        return Outcome(
          response: nil, refusal: error, checks: reading.checks.log,
          document: envelope().refused(error))
      }
    } catch {
      return Outcome(
        response: nil, refusal: error, checks: .empty,
        document: Document(status: error.status, json: []))
    }
  }

  static func read(
    _ answer: JSONText, nowMs: Int64 = now, _ configuration: Configuration = configuration()
  ) -> Outcome {
    read(answer.bytes, nowMs: nowMs, configuration)
  }
}
