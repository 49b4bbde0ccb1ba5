/// One row of the table of statuses.
struct StatusEntry: Sendable {
  let name: StaticString
  let message: StaticString
  let hint: StaticString
  let retryClass: StaticString
}
