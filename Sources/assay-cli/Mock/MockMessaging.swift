/// What an app has uploaded for retention messaging, in one environment.
struct MockMessaging: Sendable {
  /// The sizes of the images, and the messages, by their ids.
  var images: [(id: String, size: String)] = []
  var messages: [(id: String, image: String?)] = []
  /// The default messages, by product and locale.
  var defaults: [String: String] = [:]
  var realtimeURL: String?
  /// The tests that have passed, without which Production takes no address.
  var tests: [String] = []
}
