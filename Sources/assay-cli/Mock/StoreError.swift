/// A refusal by the App Store Server API (docs/spec/app-store-server-api.md §7).
struct StoreError: Error {
  let code: Int64
  init(_ code: Int64) { self.code = code }

  var answer: HTTPResponse { .store(code, StoreError.message(code)) }

  static func message(_ code: Int64) -> String { messages[code] ?? "An error occurred." }

  private static let messages: [Int64: String] = [
    4_000_000: "Bad request.", 4_000_005: "Invalid request revision.",
    4_000_006: "Invalid transaction id.", 4_000_008: "Invalid original transaction id.",
    4_000_009: "Invalid extend by days.", 4_000_010: "Invalid extend reason code.",
    4_000_011: "Invalid request identifier.", 4_000_012: "Start date too far in the past.",
    4_000_013: "Start date after end date.", 4_000_014: "Invalid pagination token.",
    4_000_015: "Invalid start date.", 4_000_016: "Invalid end date.",
    4_000_018: "Invalid notification type.", 4_000_019: "Multiple filters supplied.",
    4_000_020: "Invalid test notification token.", 4_000_021: "Invalid sort.",
    4_000_022: "Invalid product type.", 4_000_026: "Invalid in-app ownership type.",
    4_000_027: "Empty storefront country code list.", 4_000_030: "Invalid revoked.",
    4_000_031: "Invalid status.", 4_000_035: "Invalid customer consented.",
    4_000_036: "Invalid delivery status.", 4_000_041: "Invalid sample content provided.",
    4_000_048: "App transaction id not supported.",
    4_000_079: "No request info.", 4_000_080: "No request reference id.",
    4_000_081: "Invalid request reference id.", 4_000_086: "Negative price.",
    4_000_097: "Request reference id was used before.", 4_000_101: "No items.",
    4_000_103: "No descriptors.", 4_000_156: "No refund reason.",
    4_000_158: "A refund decline is simulated only in the sandbox.",
    4_000_160: "At least one item is needed.", 4_000_166: "No target product id.",
    4_000_161: "Invalid image.", 4_000_162: "Header too long.", 4_000_163: "Body too long.",
    4_000_183: "Invalid app account token UUID.", 4_000_185: "Family transaction not supported.",
    4_000_187: "Transaction id is not an original transaction id.",
    4_000_211: "Invalid performance test request.", 4_000_215: "Invalid realtime URL.",
    4_000_216: "Invalid image size.", 4_000_224: "Above image requires an image.",
    4_030_004: "Subscription is not eligible for an extension.",
    4_030_005: "Subscription has been extended as often as is allowed.",
    4_030_007: "Family-shared subscription is not eligible for an extension.",
    4_030_010: "Subscription is not eligible.", 4_030_019: "Image in use.",
    4_030_021: "Already refunded.", 4_030_026: "No passing performance test.",
    4_040_001: "Account not found.", 4_040_005: "Original transaction id not found.",
    4_040_007: "Server notification URL not found.", 4_040_008: "Test notification not found.",
    4_040_009: "Status request not found.", 4_040_010: "Transaction id not found.",
    4_040_014: "Image not found.", 4_040_015: "Message not found.",
    4_040_018: "Performance test run not found.", 4_040_020: "Default message not found.",
    4_040_021: "Realtime URL not found.", 4_090_000: "Image already exists.",
    4_090_001: "Message already exists.",
    4_040_019: "App transaction does not exist.", 4_290_000: "Rate limit exceeded.",
    5_000_000: "An unknown error occurred.",
    5_000_001: "An unknown error occurred. Please try again.",
  ]
}
