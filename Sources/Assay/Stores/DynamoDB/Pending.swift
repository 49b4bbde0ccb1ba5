// Until h15-trust is merged; removed by that merge.
enum GuardScript { static let text: StaticString = ""; static let sha1: StaticString = "" }
