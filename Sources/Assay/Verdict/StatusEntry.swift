/// One row of the status table.
struct StatusEntry: Sendable {
  let name: StaticString
  /// The HTTP status that a back end should return to its own client; 500 if no client waits.
  let http: Int32
  let retryClass: StaticString
  let message: StaticString
  let hint: StaticString
}
