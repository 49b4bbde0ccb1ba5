/// Whose counters they are: one row's first key (docs/spec/stores.md §4).
enum MeterScope {
  static func account(_ account: Text) -> Text { Text(Text("USER#").utf8 + account.utf8) }
}
