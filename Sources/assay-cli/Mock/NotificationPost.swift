import AssayAuthority
import CSystem

/// The request `/play/notify`, which signs a notification with the state locked and posts it
/// without the lock, so that the host may call the mock while it handles the notification.
struct NotificationPost {
  let player: MockApple
  let request: HTTPRequest

  /// The hours after which Apple sends a notification again.
  private static let hours: [Int64] = [0, 1, 12, 24, 48, 72]

  func answer() -> HTTPResponse {
    do {
      guard let json = request.json else { throw Problem("the body is not JSON") }
      let url = try json["url"].map { try MockValue($0, "url").text() }
      let address = try url.map { try LoopbackURL($0) }
      if let repeats = json["repeat"] { _ = try MockValue(repeats, "repeat").boolean() }
      let (note, known) = try player.locked { state throws in
        if let url { state.notificationURL = url }
        return (try make(json, &state), state.notificationURL)
      }
      guard let target = try address ?? known.map({ try LoopbackURL($0) }) else {
        throw Problem("url is missing: where the notification is posted")
      }
      return deliver(note, to: target, isRepeated: json["repeat"]?.boolean == true)
    } catch {
      return .json(["error": .string("\(error)")], status: 400)
    }
  }

  private func make(_ json: JSONTree, _ state: inout MockState) throws -> MockNotification {
    let type = try json["type"].map { try MockValue($0, "type").text() } ?? "TEST"
    let subtype = try json["subtype"].map { try MockValue($0, "subtype").text() }
    try MintedValues.word(type, "type")
    if let subtype { try MintedValues.word(subtype, "subtype") }
    var purchase = state.purchases.first?.purchase
    if let id = json["transactionId"]?.text {
      purchase = state.place(of: id).map { state.purchases[$0].purchase }
    }
    guard let purchase else { throw Problem("there is no such transaction") }
    let fault = try json["fault"].map { try MockFault($0, at: "fault") } ?? MockFault()
    let signer = MockSigner(authority: state.authority, fault: fault)
    let note = try NotificationMaker(signer: signer).make(type, subtype, purchase, &state)
    if state.notifications.count >= 10_000 { state.notifications.removeFirst(1000) }
    state.notifications.append(note)
    return note
  }

  private func deliver(
    _ note: MockNotification, to url: LoopbackURL, isRepeated: Bool
  ) -> HTTPResponse {
    let attempts = NotificationPost.send(note, to: url, isRepeated: isRepeated)
    player.locked { state in
      guard let place = state.notifications.firstIndex(where: { $0.uuid == note.uuid }) else {
        return
      }
      state.notifications[place].attempts = attempts
    }
    return .json([
      "notificationUUID": .string(note.uuid), "signedPayload": .string(utf8: note.jws),
      "attempts": .array(
        attempts.map { $0.json.appending("status", .integer(Int64($0.status))) }),
    ])
  }

  /// Posts a notification; a repeated one until it is accepted, six times at most.
  static func send(
    _ note: MockNotification, to url: LoopbackURL, isRepeated: Bool
  ) -> [MockNotification.Attempt] {
    let body: JSONText = ["signedPayload": .string(utf8: note.jws)]
    var attempts: [MockNotification.Attempt] = []
    for hour in isRepeated ? hours : [0] {
      let attempt = MockNotification.Attempt(
        dateMs: note.madeMs + hour * 3_600_000, status: url.post(body.bytes))
      attempts.append(attempt)
      if attempt.result == "SUCCESS" { break }
    }
    return attempts
  }

  /// Delivers the test notifications requested by the App Store Server API.
  static func sendTests(_ player: MockApple) {
    let (open, url) = player.locked { state in
      (
        state.notifications.filter { $0.token != nil && $0.attempts.isEmpty },
        state.notificationURL
      )
    }
    guard let url, let address = try? LoopbackURL(url) else { return }
    for note in open {
      let attempts = send(note, to: address, isRepeated: false)
      player.locked { state in
        if let place = state.notifications.firstIndex(where: { $0.uuid == note.uuid }) {
          state.notifications[place].attempts = attempts
        }
      }
    }
  }
}
