/// One row of the table of statuses.
struct StatusEntry: Sendable {
  let name: StaticString
  /// What a back end answers its own client; 500 where no client is answered.
  let http: Int32
  let retryClass: StaticString
  let message: StaticString
  let hint: StaticString
}
