import AssayAuthority

// MARK: - retention messaging

extension AppStoreTranscript {
  private static let base = "/inApps/v1/messaging"
  private static let messageId = "0f8fad5b-d9cb-469f-a165-70867728950e"
  private static let imageId = "7c9e6679-7425-40de-944b-e07fc1f90ae7"

  /// Adds the calls of retention messaging (RTM-1 … RTM-5, ENP-3 … ENP-5).
  func addMessaging() {
    addUploads()
    addLists()
    addDefaults()
    addTests()
    addUnclearEnds()
    addMessagingRefusals()
    addUploadRefusals()
  }

  private func named(_ operation: String, _ more: [(String, JSONText)] = []) -> JSONText {
    Self.request(operation, more)
  }

  private var image: JSONText {
    named(
      "upload-image",
      [
        ("imageIdentifier", .string(Self.imageId.uppercased())),
        ("image", .string(utf8: Base64Text.encode(Self.png()))),
      ])
  }

  private var message: JSONText {
    named(
      "upload-message",
      [
        ("messageIdentifier", .string(Self.messageId)), ("header", "Stay"),
        ("body", "It is cheap."),
      ])
  }

  private func deletion(_ what: String) -> JSONText {
    named("delete-" + what, [(what + "Identifier", .string(Self.messageId))])
  }

  /// Returns the start of a PNG file; none of its pixels are read.
  private static func png(
    width: UInt32 = 3840, height: UInt32 = 160, color: UInt8 = 2, before: [UInt8] = [],
    hasPixels: Bool = true
  ) -> [UInt8] {
    func number(_ value: UInt32) -> [UInt8] {
      [
        UInt8(value >> 24), UInt8(value >> 16 & 0xff), UInt8(value >> 8 & 0xff),
        UInt8(value & 0xff),
      ]
    }
    func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
      number(UInt32(data.count)) + Array(type.utf8) + data + [0, 0, 0, 0]
    }
    let header = chunk("IHDR", number(width) + number(height) + [8, color, 0, 0, 0])
    return [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] + header
      + (before.isEmpty ? [] : chunk("tRNS", before)) + (hasPixels ? chunk("IDAT", []) : [])
  }

  // MARK: good ones

  private func addUploads() {
    let file = String(decoding: Base64Text.encode(Self.png()), as: UTF8.self)
    transcript(
      "ENP-5", "an image", asks: image,
      [
        api(
          1, 200, path: "\(Self.base)/image/\(Self.imageId)",
          facts: [
            ("http.method", "PUT"), ("http.body.base64", .text(file)),
            ("http.headers.3.0", "Content-Type"), ("http.headers.3.1", "image/png"),
          ])
      ], facts: [("/warnings.0", .null)])
    transcript(
      "ENP-5", "an image of a bullet point",
      asks: image.setting("imageSize", "BULLET_POINT").setting(
        "image", .string(utf8: Base64Text.encode(Self.png(width: 1024, height: 1024)))),
      [api(1, 200, path: "\(Self.base)/image/\(Self.imageId)?imageSize=BULLET_POINT")])
    transcript(
      "ENP-5", "an image of the greatest height",
      asks: image.setting("image", .string(utf8: Base64Text.encode(Self.png(height: 2160)))),
      [api(1, 200)])
    let whole = message.setting([
      ("image", ["altText": "A tree", "imageIdentifier": .string(Self.imageId)]),
      ("headerPosition", "ABOVE_IMAGE"),
      (
        "bulletPoints",
        [["text": "One", "imageIdentifier": .string(Self.imageId), "altText": "A leaf"]]
      ),
    ])
    transcript(
      "ENP-3", "a message with everything", asks: whole,
      [
        api(
          1, 200, path: "\(Self.base)/message/\(Self.messageId)",
          facts: [
            ("http.method", "PUT"),
            (
              "http.body.text",
              .text(
                "{\"header\":\"Stay\",\"body\":\"It is cheap.\",\"image\":{\"imageIdentifier\":\""
                  + "\(Self.imageId)\",\"altText\":\"A tree\"},\"headerPosition\":\"ABOVE_IMAGE\","
                  + "\"bulletPoints\":[{\"text\":\"One\",\"imageIdentifier\":\"\(Self.imageId)\","
                  + "\"altText\":\"A leaf\"}]}")
            ),
          ])
      ])
    transcript("RTM-2", "a message of text", asks: message, [api(1, 200)])
    for what in ["image", "message"] {
      transcript(
        "RTM-3", "\(what) deleted", asks: deletion(what),
        [
          api(
            1, 200, path: "\(Self.base)/\(what)/\(Self.messageId)",
            facts: [("http.method", "DELETE"), ("http.body", .null)])
        ])
    }
  }

  private func addLists() {
    transcript(
      "RTM-3", "all images", asks: named("get-image-list"),
      [
        apple(
          1,
          [
            "imageIdentifiers": [
              [
                "imageIdentifier": .string(Self.imageId), "imageState": "APPROVED",
                "imageSize": "FULL_SIZE",
              ], ["imageIdentifier": "x", "imageState": "LOST"],
            ]
          ], path: Self.base + "/image/list")
      ],
      facts: [
        ("result.unsigned.imageIdentifiers.0.imageState", "APPROVED"),
        ("/warnings.0.id", "unknown-value"), ("/warnings.0.at", "imageIdentifiers[1].imageState"),
      ])
    transcript(
      "RTM-3", "all messages", asks: named("get-message-list"),
      [
        apple(
          1,
          [
            "messageIdentifiers": [
              ["messageIdentifier": .string(Self.messageId), "messageState": "PENDING"]
            ]
          ], path: Self.base + "/message/list")
      ], facts: [("result.unsigned.messageIdentifiers.0.messageState", "PENDING")])
    transcript(
      "API-30", "images that are no objects", asks: named("get-image-list"),
      [apple(1, ["imageIdentifiers": [1]])], "malformed.app-store.response", check: "reply",
      at: "imageIdentifiers")
    transcript(
      "API-30", "an image with another type", asks: named("get-image-list"),
      [apple(1, ["imageIdentifiers": [["imageState": 1]]])], "malformed.app-store.response",
      check: "reply", at: "imageIdentifiers[0].imageState")
  }

  private func addDefaults() {
    let place: [(String, JSONText)] = [("productId", "p/1"), ("locale", "en-US")]
    let path = Self.base + "/default/p%2F1/en-US"
    transcript(
      "RTM-3", "a default message",
      asks: named(
        "configure-default-message", place + [("messageIdentifier", .string(Self.messageId))]),
      [
        api(
          1, 200, path: path,
          facts: [("http.body.text", .text("{\"messageIdentifier\":\"\(Self.messageId)\"}"))])
      ])
    transcript(
      "RTM-3", "which default message there is", asks: named("get-default-message", place),
      [apple(1, ["messageIdentifier": .string(Self.messageId)], path: path)],
      facts: [("result.unsigned.messageIdentifier", .text(Self.messageId))])
    transcript(
      "RTM-3", "no default message any more", asks: named("delete-default-message", place),
      [api(1, 200, path: path)])
    let url = Self.base + "/realtime/url"
    transcript(
      "RTM-4", "the address to ask",
      asks: named("configure-realtime-url", [("realtimeURL", "https://a.example/ask?x=1")]),
      [
        api(
          1, 200, path: url,
          facts: [("http.body.text", "{\"realtimeURL\":\"https://a.example/ask?x=1\"}")])
      ])
    transcript(
      "RTM-4", "which address is asked", asks: named("get-realtime-url"),
      [apple(1, ["realtimeURL": "https://a.example/ask"], path: url)],
      facts: [("result.unsigned.realtimeURL", "https://a.example/ask")])
    transcript("RTM-4", "no address any more", asks: named("delete-realtime-url"), [api(1, 200)])
  }

  private func addTests() {
    let config: JSONText = [
      "maxConcurrentRequests": 10, "totalRequests": 100, "totalDuration": 60_000,
      "responseTimeThreshold": 700, "successRateThreshold": 99,
    ]
    let asked = named("initiate-performance-test", [("originalTransactionId", "2000000000000001")])
      .setting("environment", "Sandbox")
    transcript(
      "RTM-5", "a test", asks: asked,
      [
        apple(
          1, ["config": config, "requestId": "r-1"], to: Self.sandbox,
          path: Self.base + "/performanceTest",
          facts: [
            ("http.method", "POST"),
            ("http.body.text", "{\"originalTransactionId\":\"2000000000000001\"}"),
          ])
      ],
      facts: [
        ("result.unsigned.requestId", "r-1"), ("result.unsigned.config.totalRequests", 100),
      ])
    transcript("RTM-5", "a test is not repeated", asks: asked, [api(1, 503)], Self.noAnswer)
    transcript(
      "RTM-5", "a test in Production", asks: asked.setting("environment", "Production"), [],
      "unsupported.app-store.environment", at: "environment")
    let found: JSONText = [
      "config": config, "target": "https://a.example/ask", "result": "FAIL", "successRate": 50,
      "numPending": 1, "failures": ["TIMED_OUT": 2, "ASLEEP": 1],
      "responseTimes": ["average": 20, "p50": 20, "p90": 30, "p95": 40, "p99": 50],
    ]
    let results = named("get-performance-test-results", [("requestId", "r-1")])
    transcript(
      "RTM-5", "the results of a test", asks: results,
      [apple(1, found, path: Self.base + "/performanceTest/result/r-1")],
      facts: [
        ("result.unsigned.result", "FAIL"), ("result.unsigned.responseTimes.p99", 50),
        ("result.unsigned.failures.TIMED_OUT", 2), ("/warnings.0.id", "unknown-value"),
        ("/warnings.0.at", "failures.ASLEEP"), ("/warnings.1", .null),
      ])
    for (name, member, value, at) in [
      ("failures that are no numbers", "failures", ["OTHER": "x"], "failures.OTHER"),
      ("a configuration of another type", "config", ["totalRequests": "x"], "config.totalRequests"),
      ("times of another type", "responseTimes", ["p50": .null, "p90": "x"], "responseTimes.p90"),
    ] as [(String, String, JSONText, String)] {
      transcript(
        "RTM-5", name, asks: results, [apple(1, found.setting(member, value))],
        "malformed.app-store.response", at: at)
    }
  }

  // MARK: repetitions

  /// Adds requests whose first attempt was executed although no answer came (ENP-4).
  private func addUnclearEnds() {
    let conflict = "rejected.app-store.conflict"
    let path = "\(Self.base)/message/\(Self.messageId)"
    let done: Facts = [
      ("/warnings.0.id", "already-done"), ("/warnings.0.at", "status"), ("api", .null),
    ]
    transcript(
      "ENP-4", "a message that is there", asks: message, [error(1, 4_090_001)], conflict)
    transcript(
      "ENP-4", "a message that an unclear attempt has uploaded", asks: message,
      [api(1, 503), wait(Self.pause(1000, 1, path)), error(3, 4_090_001, after: 2000)],
      facts: done)
    transcript(
      "ENP-4", "a message that an earlier exchange has uploaded",
      asks: message.setting("attempt", 2), [error(1, 4_090_001)], facts: done)
    transcript(
      "ENP-4", "a message after a limit", asks: message,
      [
        api(1, 429, headers: [("Retry-After", "1")]), wait(1000, reason: "rate-limited"),
        error(3, 4_090_001, after: 2000),
      ], conflict)
    transcript(
      "ENP-4", "an image that an earlier exchange has uploaded", asks: image.setting("attempt", 2),
      [error(1, 4_090_000)], facts: done)
    transcript(
      "ENP-4", "another refusal of a repetition", asks: message.setting("attempt", 2),
      [error(1, 4_030_016)], "rejected.app-store.forbidden")
    for (what, code) in [("image", 4_040_014), ("message", 4_040_015)] as [(String, Int64)] {
      transcript(
        "ENP-4", "\(what) that an earlier exchange has deleted",
        asks: deletion(what).setting("attempt", 2), [error(1, code)], facts: done)
      transcript(
        "ENP-4", "\(what) that was never there", asks: deletion(what), [error(1, code)],
        "rejected.app-store.not-found")
    }
    transcript(
      "ENP-4", "a default message that is not there",
      asks: named(
        "get-default-message", [("productId", "p"), ("locale", "en"), ("attempt", 2)]),
      [error(1, 4_040_020)], "rejected.app-store.not-found")
  }

  // MARK: refused ones

  private func addMessagingRefusals() {
    transcript(
      "RTM-1", "an app without access", asks: message, [api(1, 404)],
      "rejected.app-store.not-found", check: "result", at: "status",
      hint: "this app has no access to retention messaging, which Apple lends on request, or the"
        + " path is wrong")
    transcript(
      "RTM-1", "both environments for a message", asks: message.setting("environment", "auto"), [],
      "unsupported.app-store.environment", at: "environment")
    for (name, url) in [
      ("http", "http://a.example/"), ("no host", "https:///x"), ("a user", "https://u@a.example/"),
      ("a fragment", "https://a.example/#x"), ("a space", "https://a.example/a b"),
      ("257 bytes", "https://a.example/" + String(repeating: "a", count: 239)),
    ] {
      refuse(
        "API-21", "an address with \(name)",
        named("configure-realtime-url", [("realtimeURL", .string(url))]), "realtimeURL")
    }
    for locale in ["", "en/US", String(repeating: "a", count: 36)] {
      refuse(
        "API-21", "the locale \"\(locale)\"",
        named("get-default-message", [("productId", "p"), ("locale", .string(locale))]), "locale")
    }
  }

  private func refuse(_ rule: String, _ name: String, _ request: JSONText, _ at: String) {
    transcript(rule, name, asks: request, [], Self.parameter, at: at)
  }

  private func addUploadRefusals() {
    let point: JSONText = [
      "text": "One", "imageIdentifier": .string(Self.imageId), "altText": "A leaf",
    ]
    for (name, member, value, at) in [
      ("a headline of 67 characters", "header", .string(String(repeating: "é", count: 67)), ""),
      ("a text of 145 characters", "body", .string(String(repeating: "a", count: 145)), ""),
      ("an empty text", "body", "", ""), ("a control character", "header", "a\n", ""),
      ("six bullet points", "bulletPoints", .array(Array(repeating: point, count: 6)), ""),
      ("a bullet point without text", "bulletPoints", [point.removing("text")], "[0].text"),
      ("an image that is a text", "image", "x", ""),
    ] as [(String, String, JSONText, String)] {
      refuse("API-21", "a message with \(name)", message.setting(member, value), member + at)
    }
    refuse(
      "ENP-3", "a message with a typing error",
      message.setting("bulletPoints", [point, point.setting("alttext", "x")]),
      "bulletPoints[1].alttext")
    refuse(
      "RTM-2", "a headline above no image", message.setting("headerPosition", "ABOVE_IMAGE"),
      "headerPosition")
    let bullet = image.setting("imageSize", "BULLET_POINT")
    for (name, request, file) in [
      ("no file", image, []), ("no PNG file", image, Array("GIF89a".utf8)),
      ("a file that ends too soon", image, Array(Self.png().prefix(40))),
      ("a file without pixels", image, Self.png(hasPixels: false)),
      ("transparent pixels", image, Self.png(color: 6)),
      ("grey transparent pixels", image, Self.png(color: 4)),
      ("a transparent colour", image, Self.png(before: [0, 0])),
      ("a small width", image, Self.png(width: 3839)),
      ("a small height", image, Self.png(height: 159)),
      ("a great height", image, Self.png(height: 2161)),
      ("another width of a bullet point", bullet, Self.png(width: 1023, height: 1024)),
      ("another height of a bullet point", bullet, Self.png(width: 1024, height: 1023)),
    ] as [(String, JSONText, [UInt8])] {
      refuse(
        "ENP-5", "an image with \(name)",
        request.setting("image", .string(utf8: Base64Text.encode(file))), "image")
    }
    refuse("ENP-5", "an image that is no base64", image.setting("image", "*"), "image")
  }
}
