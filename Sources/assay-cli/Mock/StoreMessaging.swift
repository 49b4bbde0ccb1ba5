import AssayAuthority

/// Mocks retention messaging (docs/spec/app-store-server-api.md §6). All uploads are approved at
/// once, as in Sandbox, and all tests pass.
struct StoreMessaging {
  let store: MockStore

  func uploadImage(_ id: String, _ state: inout MockState) throws -> HTTPResponse {
    let size = store.request.one("imageSize") ?? "FULL_SIZE"
    guard ["FULL_SIZE", "BULLET_POINT"].contains(size) else { throw StoreError(4_000_216) }
    guard store.request.body.starts(with: [0x89, 0x50, 0x4e, 0x47]),
      store.request.header("content-type") == "image/png"
    else { throw StoreError(4_000_161) }
    guard !messaging(state).images.contains(where: { $0.id == id }) else {
      throw StoreError(4_090_000)
    }
    change(&state) { $0.images.append((id, size)) }
    return .empty(200)
  }

  func deleteImage(_ id: String, _ state: inout MockState) throws -> HTTPResponse {
    let found = messaging(state)
    guard found.images.contains(where: { $0.id == id }) else { throw StoreError(4_040_014) }
    guard !found.messages.contains(where: { $0.image == id }) else { throw StoreError(4_030_019) }
    change(&state) { $0.images.removeAll { $0.id == id } }
    return .empty(200)
  }

  func images(_ state: MockState) -> HTTPResponse {
    let list: [JSONText] = messaging(state).images.map {
      [
        "imageIdentifier": .string($0.id), "imageState": "APPROVED", "imageSize": .string($0.size),
      ]
    }
    return .json(["imageIdentifiers": .array(list)])
  }

  func uploadMessage(_ id: String, _ state: inout MockState) throws -> HTTPResponse {
    let json = try store.body()
    guard let header = json["header"]?.text, header.unicodeScalars.count <= 66 else {
      throw StoreError(4_000_162)
    }
    guard let body = json["body"]?.text, body.unicodeScalars.count <= 144 else {
      throw StoreError(4_000_163)
    }
    let found = messaging(state)
    let image = json["image"]?["imageIdentifier"]?.text
    if let image, !found.images.contains(where: { $0.id == image }) { throw StoreError(4_040_014) }
    if json["headerPosition"]?.text == "ABOVE_IMAGE", image == nil { throw StoreError(4_000_224) }
    guard !found.messages.contains(where: { $0.id == id }) else { throw StoreError(4_090_001) }
    change(&state) { $0.messages.append((id, image)) }
    return .empty(200)
  }

  func deleteMessage(_ id: String, _ state: inout MockState) throws -> HTTPResponse {
    guard messaging(state).messages.contains(where: { $0.id == id }) else {
      throw StoreError(4_040_015)
    }
    change(&state) { $0.messages.removeAll { $0.id == id } }
    return .empty(200)
  }

  func messages(_ state: MockState) -> HTTPResponse {
    let list: [JSONText] = messaging(state).messages.map {
      ["messageIdentifier": .string($0.id), "messageState": "APPROVED"]
    }
    return .json(["messageIdentifiers": .array(list)])
  }

  func setDefault(
    _ product: String, _ locale: String, _ state: inout MockState
  ) throws -> HTTPResponse {
    guard let id = try store.body()["messageIdentifier"]?.text,
      messaging(state).messages.contains(where: { $0.id == id })
    else { throw StoreError(4_040_015) }
    change(&state) { $0.defaults[product + " " + locale] = id }
    return .empty(200)
  }

  func getDefault(_ product: String, _ locale: String, _ state: MockState) throws -> HTTPResponse {
    guard let id = messaging(state).defaults[product + " " + locale] else {
      throw StoreError(4_040_020)
    }
    return .json(["messageIdentifier": .string(id)])
  }

  func deleteDefault(
    _ product: String, _ locale: String, _ state: inout MockState
  ) throws -> HTTPResponse {
    guard messaging(state).defaults[product + " " + locale] != nil else {
      throw StoreError(4_040_020)
    }
    change(&state) { $0.defaults[product + " " + locale] = nil }
    return .empty(200)
  }

  func setURL(_ state: inout MockState) throws -> HTTPResponse {
    guard let url = try store.body()["realtimeURL"]?.text, url.hasPrefix("https://"),
      url.utf8.count <= 256
    else { throw StoreError(4_000_215) }
    if store.environment == "Production", state.messaging["Sandbox"]?.tests.isEmpty ?? true {
      throw StoreError(4_030_026)
    }
    change(&state) { $0.realtimeURL = url }
    return .empty(200)
  }

  func getURL(_ state: MockState) throws -> HTTPResponse {
    guard let url = messaging(state).realtimeURL else { throw StoreError(4_040_021) }
    return .json(["realtimeURL": .string(url)])
  }

  func deleteURL(_ state: inout MockState) throws -> HTTPResponse {
    guard messaging(state).realtimeURL != nil else { throw StoreError(4_040_021) }
    change(&state) { $0.realtimeURL = nil }
    return .empty(200)
  }

  private static let config: JSONText = [
    "maxConcurrentRequests": 10, "totalRequests": 100, "totalDuration": 60_000,
    "responseTimeThreshold": 700, "successRateThreshold": 99,
  ]

  func test(_ state: inout MockState) throws -> HTTPResponse {
    guard store.environment == "Sandbox" else { return .empty(404) }
    guard let id = try store.body()["originalTransactionId"]?.text else {
      throw StoreError(4_000_211)
    }
    _ = try store.place(of: id, state)
    guard messaging(state).realtimeURL != nil else { throw StoreError(4_040_021) }
    let name = state.uuid("performance test")
    change(&state) { $0.tests.append(name) }
    return .json(["config": Self.config, "requestId": .string(name)])
  }

  func tested(_ id: String, _ state: MockState) throws -> HTTPResponse {
    let found = messaging(state)
    guard found.tests.contains(id) else { throw StoreError(4_040_018) }
    return .json([
      "config": Self.config, "target": .string(found.realtimeURL ?? ""), "result": "PASS",
      "successRate": 100, "numPending": 0, "failures": [:],
      "responseTimes": ["average": 21, "p50": 20, "p90": 30, "p95": 35, "p99": 40],
    ])
  }

  private func messaging(_ state: MockState) -> MockMessaging {
    state.messaging[store.environment] ?? MockMessaging()
  }

  private func change(_ state: inout MockState, _ body: (inout MockMessaging) -> Void) {
    body(&state.messaging[store.environment, default: MockMessaging()])
  }
}
